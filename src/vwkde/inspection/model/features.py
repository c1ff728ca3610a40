"""What is measured in each patch of an image.

A set of features is a function of an image, over the patches of its own grid. It keeps nothing of the images it sees;
the coordinates in which patches are compared are learnt from good images afterwards, by `coordinates.py`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from vwkde.inspection.model.patches import PAPER_GRID, PatchGrid
from vwkde.inspection.model.texture import Texture

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]

_SMOOTHING = 1.0
"""Standard deviation, in pixels, of the Gaussian that is run over an image before its gradient is taken."""
_SCHARR = np.array([[3, 10, 3], [0, 0, 0], [-3, -10, -3]]) / 32
"""The derivative downwards: smoothed across, and right for a slope of one."""


class FeatureSet(Protocol):
    """Measures the patches of an image, and tells how what it measures is to be used."""

    @property
    def grid(self) -> PatchGrid:
        """Where the patches are."""

    @property
    def components(self) -> int | None:
        """How many principal components are kept; None for all."""

    @property
    def worst(self) -> int | None:
        """How many of the patches make the score, the most unlike the good ones; None for all."""

    def __call__(self, image: Singles) -> Singles:
        """Return the features of every patch, of shape (down, across, features)."""


@dataclass(frozen=True)
class GradientMoments:
    """The paper's four features: mean, standard deviation, skewness and kurtosis of the gradient's length."""

    components: int | None = None
    worst: int | None = None
    grid: PatchGrid = PAPER_GRID

    def __call__(self, image: Singles) -> Singles:
        """Return the features of every patch, of shape (down, across, 4)."""
        self.grid.shape(image.shape)
        smooth = ndimage.gaussian_filter(image.astype(np.float64), _SMOOTHING)
        length = np.hypot(ndimage.correlate(smooth, _SCHARR), ndimage.correlate(smooth, _SCHARR.T))
        return np.stack(self.grid.moments(length), axis=-1).astype(np.float32)


@dataclass(frozen=True)
class _Given:
    """A function of the user's, checked each time it is called."""

    function: Callable[[Singles], Any]
    components: int | None = None
    worst: int | None = None
    grid: PatchGrid = PAPER_GRID

    def __call__(self, image: Singles) -> Singles:
        found = np.asarray(self.function(image), dtype=np.float32)
        wanted = self.grid.shape(image.shape)
        if found.ndim != 3 or found.shape[:2] != wanted:
            raise ValueError(
                f"The features must have shape ({wanted[0]}, {wanted[1]}, any number), one row for each patch of "
                f"{self.grid.size} pixels at a step of {self.grid.step}. Got shape {found.shape} instead."
            )
        if not np.isfinite(found).all():
            raise ValueError("The features must be finite. Got NaN or infinity instead.")
        return found


FEATURES: dict[str, FeatureSet] = {"gradient": GradientMoments(), "texture": Texture()}
"""The sets of features that have a name."""


def as_features(features: Any) -> FeatureSet:
    """Return a set of features by its name, or made of any function of an image."""
    if isinstance(features, str) and features in FEATURES:
        return FEATURES[features]
    if callable(features):
        return _Given(features)
    raise ValueError(
        f"The 'features' parameter must be one of {list(FEATURES)}, or a function of an image. "
        f"Got {features!r} instead."
    )
