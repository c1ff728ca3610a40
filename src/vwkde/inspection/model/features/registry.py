"""What is measured in each patch of an image.

A feature set is a function of an image, evaluated on the patches of its own grid. It stores nothing about the images;
`coordinates.py` later learns from good images the coordinates in which patches are compared.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from vwkde._runtime.extras import require
from vwkde.inspection.model.features.backbone import Backbone
from vwkde.inspection.model.features.combined import Combined, Marking
from vwkde.inspection.model.features.multiscale import MultiScale
from vwkde.inspection.model.features.patches import PAPER_GRID, Grid, PatchGrid
from vwkde.inspection.model.features.texture import Texture
from vwkde.inspection.model.pretrained.networks import BACKBONE, ONNX, network_of

Singles = NDArray[np.float32]

_SMOOTHING = 1.0
"""Standard deviation, in pixels, of the Gaussian that smooths an image before its gradient is taken."""
_SCHARR = np.array([[3, 10, 3], [0, 0, 0], [-3, -10, -3]]) / 32
"""The vertical derivative, smoothed horizontally and scaled to return 1 for a slope of 1."""


class FeatureSet(Protocol):
    """Measures the patches of an image, and says how the score uses these features."""

    @property
    def grid(self) -> Grid:
        """Where the patches are."""

    @property
    def components(self) -> int | None:
        """How many principal components are kept; None for all."""

    @property
    def worst(self) -> int | None:
        """How many of the worst patches make up the score; None for all patches."""

    @property
    def scaled(self) -> bool:
        """Whether patches are from several copies of an image; the last feature is then the number of the copy."""

    def __call__(self, image: Singles) -> Singles:
        """Return the features of every patch, of shape (rows, columns, features)."""


@dataclass(frozen=True)
class GradientMoments:
    """The paper's four features: mean, standard deviation, skewness and kurtosis of the gradient magnitude."""

    components: int | None = None
    worst: int | None = None
    scaled: bool = False
    grid: PatchGrid = PAPER_GRID

    def __call__(self, image: Singles) -> Singles:
        """Return the features of every patch, of shape (rows, columns, 4)."""
        self.grid.shape(image.shape)
        smooth = ndimage.gaussian_filter(image.astype(np.float64), _SMOOTHING)
        length = np.hypot(ndimage.correlate(smooth, _SCHARR), ndimage.correlate(smooth, _SCHARR.T))
        return np.stack(self.grid.moments(length), axis=-1).astype(np.float32)


@dataclass(frozen=True)
class _Given:
    """A user's function, whose output is checked at each call."""

    function: Callable[[Singles], Any]
    components: int | None = None
    worst: int | None = None
    scaled: bool = False
    grid: PatchGrid = PAPER_GRID

    def __call__(self, image: Singles) -> Singles:
        features = np.asarray(self.function(image), dtype=np.float32)
        rows, columns = self.grid.shape(image.shape)
        if features.ndim != 3 or features.shape[:2] != (rows, columns):
            raise ValueError(
                f"The 'features' function must return an array of shape ({rows}, {columns}, any number): one entry for "
                f"each patch of {self.grid.size} × {self.grid.size} pixels, {self.grid.step} pixels apart. "
                f"Got shape {features.shape} instead."
            )
        if not np.isfinite(features).all():
            raise ValueError("The 'features' function must return finite numbers. Got NaN or infinity instead.")
        return features


def by_neighbours(features: FeatureSet) -> bool:
    """Return whether patches are compared with the nearest good ones, as features of a network are."""
    return getattr(features, "by_neighbours", False)


def is_trained(features: FeatureSet) -> bool:
    """Return whether networks are trained on good images with made-up defects."""
    return getattr(features, "trained", False)


def whole_of(features: FeatureSet) -> FeatureSet:
    """Return the features of a whole image, if these are of a part of it."""
    return getattr(features, "features", features)


def marking_of(features: FeatureSet) -> Marking | None:
    """Return how single marks are measured, if they are."""
    return getattr(features, "marking", None)


FEATURES: dict[str, FeatureSet] = {
    "gradient": GradientMoments(),
    "texture": Texture(),
    "multiscale": MultiScale(),
    "combined": Combined(),
    "trained": Combined(trained=True),
}
"""The named feature sets."""


def as_features(features: Any) -> FeatureSet:
    """Return the feature set with this name, or wrap a function of an image as one."""
    if isinstance(features, str) and features in FEATURES:
        if is_trained(named := FEATURES[features]) and find_spec("torch") is None:  # it takes its time to load
            require("torch", f"The features named '{features}' need torch", "torch")
        return named
    if isinstance(features, str) and (network := network_of(features)) is not None:
        return Backbone(network)
    if callable(features):
        return _Given(features)
    raise ValueError(
        f"The 'features' parameter must be one of {[*FEATURES, BACKBONE]}, '{ONNX}' and a file, or a function of an "
        f"image. Got {features!r} instead."
    )
