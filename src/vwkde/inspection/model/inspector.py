"""The inspection as one object: learn a surface from good images, then judge others."""

from collections.abc import Iterable, Iterator
from numbers import Integral
from pathlib import Path
from time import perf_counter
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from vwkde._compute.choice import choose_resources
from vwkde._compute.executors import DASK
from vwkde._compute.parallel import at_most
from vwkde._compute.resources import Resources
from vwkde._display import html, svg
from vwkde._display.style import RED
from vwkde.inspection.data.arrays import as_image, check_shape
from vwkde.inspection.model.calibration import Calibration, check_rate
from vwkde.inspection.model.features import FeatureSet, as_features
from vwkde.inspection.model.inspection import Inspection
from vwkde.inspection.model.learnt import Learnt, learn, pixel_map
from vwkde.inspection.model.measuring import Images, measure_all, rows_of
from vwkde.inspection.model.model_file import SavedModel, read_model, write_model

Singles = NDArray[np.float32]

_FEWEST = 3
"""Good images without which nothing can be said: each is judged by at least two others."""


class SurfaceInspector:
    """Learns a surface from good images alone, and tells whether other images show the same.

    Parameters
    ----------
    features : "gradient", "texture" or a callable
        What is measured in each patch: the paper's four moments of the gradient; gray value, oriented grain and
        roughness at several scales; or any function of an image that returns an array (rows, columns, features).
    false_reject_rate : float
        The share of good images that may be rejected. The threshold is set from good images to keep it.
    candidates : int
        Good images that an image is compared with closely, after a coarse comparison with all of them.
    random_state : int
        Seeds every random choice.
    n_threads : int or None
        Threads to use; by default all that the machine and its environment allow.
    engine : "auto" or "dask"
        "dask" compares images on the workers of the Dask client in use: all pairs of good ones in `fit`, each image in
        `check_all`.
    device : str or None
        Where images are compared with all good ones: "cuda" for a GPU. By default the CPU, which also does all else.

    Examples
    --------
    >>> from vwkde.inspection import SurfaceInspector, make_surfaces
    >>> surfaces = make_surfaces("woven", n_good=25, n_bad=1, size=128)
    >>> inspector = SurfaceInspector(features="texture").fit(surfaces.images[:25])
    >>> inspector.check(surfaces.images[25]).verdict
    'NG'
    """

    def __init__(
        self,
        *,
        features: Any = "gradient",
        false_reject_rate: float = 0.05,
        candidates: int = 10,
        random_state: int = 0,
        n_threads: int | None = None,
        engine: Literal["auto", "dask"] = "auto",
        device: str | None = None,
    ) -> None:
        self.features = features
        self.false_reject_rate = false_reject_rate
        self.candidates = candidates
        self.random_state = random_state
        self.n_threads = n_threads
        self.engine = engine
        self.device = device

    def fit(self, images: Images) -> Self:
        """Learn from good images.

        Images are taken one after the other, so that a generator need not hold them all.

        Parameters
        ----------
        images : iterable of ndarray, or of pairs (name, ndarray)
            Gray images of one shape, with values from 0 to 1, or integers of 8 or 16 bits.

        Returns
        -------
        self : SurfaceInspector

        Warns
        -----
        FewImagesWarning
            If there are too few good images for the stated rate, so that nothing would be rejected.
        """
        features = self.check_parameters()
        settings = self.candidates, self.random_state, self.false_reject_rate
        with at_most(self.n_threads):
            seen = measure_all(images, features)
            _check_enough(len(seen.names))
            self._learnt = learn(seen, features, *settings, self._resources)
        return self

    def check_parameters(self) -> FeatureSet:
        """Refuse parameters that cannot be meant; return the features that they name. `fit` does so first of all."""
        check_rate(self.false_reject_rate)
        _check_count(self.candidates, "candidates", 10)
        if self.n_threads is not None:
            _check_count(self.n_threads, "n_threads", 2)
        if self.engine not in ("auto", DASK.name):
            raise ValueError(f"The 'engine' parameter must be 'auto' or 'dask'. Got {self.engine!r} instead.")
        choose_resources(self.engine, self.device)
        return as_features(self.features)

    def add(self, images: Images) -> Self:
        """Add good images; coordinates and widths stay as they are, the threshold follows.

        Parameters
        ----------
        images : iterable of ndarray, or of pairs (name, ndarray)
            As for `fit`. A name that another good image has already gets a number.

        Returns
        -------
        self : SurfaceInspector
        """
        learnt = self._fitted
        with at_most(self.n_threads):
            seen = measure_all(images, learnt.features, learnt.image_shape, learnt.names)
            if seen.names:
                self._learnt = learnt.more(seen, self.false_reject_rate, self._resources)
        return self

    def check(self, image: Singles, name: str = "image") -> Inspection:
        """Judge one image.

        Parameters
        ----------
        image : ndarray of shape (height, width)
            A gray image of the shape of the good ones, with values as `fit` takes them.
        name : str
            What the image is called, in the result and in errors.

        Returns
        -------
        Inspection
        """
        learnt = self._fitted
        start = perf_counter()
        image = as_image(image, name)
        check_shape(image, learnt.image_shape, name)
        with at_most(self.n_threads):
            measured = rows_of(learnt.features(image))
            compared = learnt.library.compare(learnt.coordinates(measured), self._resources)
        return Inspection(
            name,
            compared.score,
            learnt.scores.p_value(compared.score),
            learnt.scores.threshold,
            learnt.names[compared.nearest],
            pixel_map(compared, learnt.features, learnt.image_shape),
            learnt.peaks.threshold,
            1000 * (perf_counter() - start),
        )

    def check_all(self, images: Iterable[tuple[str, Singles]]) -> Iterator[Inspection]:
        """Judge images, pairs of a name and an array, one after the other or on the workers; in their order."""
        self._check_fitted()
        return self._resources.executor.spread(_check, self, images)

    @property
    def features_name(self) -> str:
        """What the features are called; a function goes by its own name."""
        return self.features if isinstance(self.features, str) else getattr(self.features, "__name__", "given")

    @property
    def image_shape(self) -> tuple[int, ...]:
        """The shape of all images, (height, width)."""
        return self._fitted.image_shape

    @property
    def names_(self) -> list[str]:
        """The names of the good images."""
        return self._fitted.names

    @property
    def fingerprints_(self) -> list[str | None]:
        """What tells the pixels of each good image from others; None where an old model file does not know."""
        return self._fitted.fingerprints

    @property
    def thumbnails_(self) -> NDArray[np.uint8]:
        """Small gray pictures of the good images, (images, height, width)."""
        return self._fitted.thumbnails

    @property
    def calibration_(self) -> Calibration:
        """The scores of the good images, each judged by the others, and the threshold."""
        return self._fitted.scores

    @property
    def map_calibration_(self) -> Calibration:
        """The largest values of the good images' maps, and the threshold of maps."""
        return self._fitted.peaks

    def thumbnail(self, name: str) -> NDArray[np.uint8]:
        """Return a small gray picture of a good image."""
        return self.thumbnails_[self.names_.index(name)]

    def save(self, path: Path) -> None:
        """Write the fitted inspection to one file; its features must be named ones."""
        learnt = self._fitted
        if not isinstance(self.features, str):
            raise ValueError("Only inspections with named features can be saved: a function is not data. Use a name.")
        write_model(path, SavedModel(self.features, self.false_reject_rate, self.candidates, self.random_state, learnt))

    @classmethod
    def load(
        cls,
        path: Path,
        *,
        n_threads: int | None = None,
        engine: Literal["auto", "dask"] = "auto",
        device: str | None = None,
    ) -> Self:
        """Return the inspection that `save` wrote.

        Parameters
        ----------
        path : Path
            The model file.
        n_threads, engine, device
            As for the class; a model file does not hold them.

        Returns
        -------
        SurfaceInspector

        Raises
        ------
        ModelFileError
            If the file is missing, damaged, or no model file that this version can read.
        """
        saved = read_model(path)
        inspector = cls(
            features=saved.features,
            false_reject_rate=saved.false_reject_rate,
            candidates=saved.candidates,
            random_state=saved.random_state,
            n_threads=n_threads,
            engine=engine,
            device=device,
        )
        inspector.check_parameters()
        inspector._learnt = saved.learnt
        return inspector

    @property
    def _resources(self) -> Resources:
        return choose_resources(self.engine, self.device)

    @property
    def _fitted(self) -> Learnt:
        self._check_fitted()
        return self._learnt

    def _repr_html_(self) -> str:
        """Return what a notebook shows: what was learnt, and the scores of good images."""
        title = f"SurfaceInspector: {self.features_name} features, false-reject rate {self.false_reject_rate:g}"
        if not hasattr(self, "_learnt"):
            return html.card(title, "not fitted yet")
        threshold = self.calibration_.threshold
        height, width = self.image_shape
        return html.card(
            title,
            f"{len(self.names_):,} good images of {width} × {height} pixels",
            svg.histograms(
                {"scores of good images, each judged by the others": self.calibration_.scores},
                [svg.Mark(threshold, f"threshold {threshold:.3g}", RED)],
            ),
            None if np.isfinite(threshold) else html.note("too few good images for this rate: nothing is rejected"),
        )

    def _check_fitted(self) -> None:
        if not hasattr(self, "_learnt"):
            raise NotFittedError("The inspector has seen no good images yet. Call fit with some first.")


def _check_enough(count: int) -> None:
    if count < _FEWEST:
        raise ValueError(f"There are {count} good images; at least {_FEWEST} are needed, and 20 or more help.")


def _check_count(value: Any, name: str, example: int) -> None:
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(
            f"The '{name}' parameter must be a whole number from 1 up, for example {example}. Got {value!r} instead."
        )


def _check(inspector: SurfaceInspector, named: tuple[str, Singles]) -> Inspection:
    name, image = named
    return inspector.check(image, name)
