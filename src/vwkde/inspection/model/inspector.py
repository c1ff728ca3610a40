"""The inspection as one object: learn a surface from good images, then judge others."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
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
from vwkde._display.style import RED, TEAL
from vwkde.inspection.data.images import as_image, encode_png
from vwkde.inspection.data.pictures import check_shape
from vwkde.inspection.model.calibration import Calibration, calibrate, check_rate
from vwkde.inspection.model.coordinates import Coordinates, fit_coordinates
from vwkde.inspection.model.features import FeatureSet, as_features
from vwkde.inspection.model.library import Library, make_library
from vwkde.inspection.model.map_colours import map_colours
from vwkde.inspection.model.measuring import Images, mapped, measure_all, rows_of
from vwkde.inspection.model.model_file import ModelFileError, read_model, write_model
from vwkde.inspection.model.patches import PatchGrid
from vwkde.inspection.model.regions import Box, find_regions, near_peak

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]

_FEWEST = 3
"""Good images without which nothing can be said: each is judged by at least two others."""
_AT_LEAST_SHOWN = 0.9
"""What reaches this share of a rejected image's largest value is shown, even if none reaches the threshold."""
_LARGEST_MAP = 256
"""Pixels of the longer side of a map in a notebook, at most."""


@dataclass(frozen=True)
class Inspection:
    """What was found about one image.

    `score` is its divergence from the nearest good image, or how unlike the nearest good ones its worst patches are, in
    nats; the features tell which. `p_value` is the share of good images that score as high. `log_ratio` is the map of
    how much more likely each patch is in this image than in good ones, in nats, spread to pixels; where it reaches
    `map_threshold`, which hardly any good image does anywhere, there are `boxes`.
    """

    name: str
    score: float
    p_value: float
    threshold: float
    rejected: bool
    nearest: str
    log_ratio: Singles
    map_threshold: float
    milliseconds: float

    @property
    def verdict(self) -> str:
        """OK or NG."""
        return "NG" if self.rejected else "OK"

    @property
    def boxes(self) -> list[Box]:
        """The regions where the map reaches its threshold, highest first; none in an image that passes."""
        if not self.rejected:
            return []
        level = min(self.map_threshold, near_peak(self.log_ratio, _AT_LEAST_SHOWN))
        return [region.box for region in find_regions(self.log_ratio, level)]

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the verdict, where the score lies, and the map."""
        colour = RED if self.rejected else TEAL
        marks = [svg.Mark(self.threshold, "threshold"), svg.Mark(self.score, f"{self.score:.3g}", colour)]
        step = -(-max(self.log_ratio.shape) // _LARGEST_MAP)
        colours = map_colours(self.log_ratio[::step, ::step], self.map_threshold)
        boxes = ", ".join(f"rows {b.top} to {b.bottom}, columns {b.left} to {b.right}" for b in self.boxes)
        return html.card(
            f"{self.name}: {self.verdict}, p = {self.p_value:.3g}",
            svg.on_a_line(marks),
            f"most like {self.nearest}; coloured where the map exceeds what good images reach",
            html.picture(encode_png(colours), "map of log ratios"),
            details={
                "score": f"{self.score:.4g}",
                "threshold": f"{self.threshold:.4g}",
                "boxes": boxes or "none",
                "milliseconds": f"{self.milliseconds:.0f}",
            },
        )


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
    """

    def __init__(
        self,
        features: Any = "gradient",
        *,
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
        """Learn from good images: gray arrays of one shape, or pairs of a name and an array.

        Values are from 0 to 1, or whole numbers of 8 or 16 bits. Images are taken one after the other, so that a
        generator need not hold them all.
        """
        features = self.check_parameters()
        with at_most(self.n_threads):
            return self._fit(images, features)

    def _fit(self, images: Images, features: FeatureSet) -> Self:
        seen = measure_all(images, features)
        count = len(seen.names)
        if count < _FEWEST:
            raise ValueError(f"There are {count} good images; at least {_FEWEST} are needed, and 20 or more help.")
        coordinates = fit_coordinates(seen.features, features.components)
        library = make_library(mapped(seen.features, coordinates), self.candidates, self.random_state, features.worst)
        sums = library.mutual_sums(resources=self._resources)
        calibrations = self._calibrations(library, sums, features.grid, seen.shape)
        self._features, self._coordinates, self.image_shape = features, coordinates, seen.shape
        self._library, self._sums = library, sums
        self.names_, self.thumbnails_, self.fingerprints_ = seen.names, seen.thumbnails, seen.fingerprints
        self.calibration_, self.map_calibration_ = calibrations
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
        """Add good images; coordinates and widths stay as they are, the threshold follows."""
        self._check_fitted()
        with at_most(self.n_threads):
            return self._add(images)

    def _add(self, images: Images) -> Self:
        seen = measure_all(images, self._features, self.image_shape, self.names_)
        if seen.names:
            library = self._library.grown(mapped(seen.features, self._coordinates))
            sums = library.mutual_sums(self._sums, self._resources)
            calibrations = self._calibrations(library, sums, self._features.grid, self.image_shape)
            self._library, self._sums = library, sums
            self.names_ = [*self.names_, *seen.names]
            self.thumbnails_ = np.concatenate([self.thumbnails_, seen.thumbnails])
            self.fingerprints_ = [*self.fingerprints_, *seen.fingerprints]
            self.calibration_, self.map_calibration_ = calibrations
        return self

    def check(self, image: Singles, name: str = "image") -> Inspection:
        """Judge one image, an array as `fit` takes it."""
        self._check_fitted()
        start = perf_counter()
        image = as_image(image, name)
        check_shape(image, self.image_shape, name)
        with at_most(self.n_threads):
            measured = rows_of(self._features(image))
            found = self._library.compare(self._coordinates(measured), self._resources)
        ratio_map = _map(found.log_ratio, self._features.grid, self.image_shape)
        return Inspection(
            name,
            found.score,
            self.calibration_.p_value(found.score),
            self.calibration_.threshold,
            self.calibration_.rejects(found.score),
            self.names_[found.nearest],
            ratio_map,
            self.map_calibration_.threshold,
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

    def thumbnail(self, name: str) -> NDArray[np.uint8]:
        """Return a small gray picture of a good image."""
        return self.thumbnails_[self.names_.index(name)]

    def save(self, path: Path) -> None:
        """Write the fitted inspection to one file."""
        self._check_fitted()
        if not isinstance(self.features, str):
            raise ValueError("Only inspections with named features can be saved: a function is not data. Use a name.")
        settings = {
            "features": self.features,
            "false_reject_rate": self.false_reject_rate,
            "candidates": self.candidates,
            "random_state": self.random_state,
            "bandwidth": self._library.bandwidth,
            "length_scale": self._library.length_scale,
            "image_shape": list(self.image_shape),
            "names": self.names_,
            "fingerprints": self.fingerprints_,
        }
        arrays: dict[str, NDArray[Any]] = {
            "patches": self._library.patches,
            "mean": self._coordinates.mean,
            "matrix": self._coordinates.matrix,
            "sums": self._sums,
            "scores": self.calibration_.scores,
            "peaks": self.map_calibration_.scores,
            "thumbnails": self.thumbnails_,
        }
        write_model(path, arrays, settings)

    @classmethod
    def load(
        cls,
        path: Path,
        n_threads: int | None = None,
        engine: Literal["auto", "dask"] = "auto",
        device: str | None = None,
    ) -> Self:
        """Return the inspection that `save` wrote."""
        arrays, settings = read_model(path)
        try:
            inspector = cls(
                settings["features"],
                false_reject_rate=settings["false_reject_rate"],
                candidates=settings["candidates"],
                random_state=settings["random_state"],
                n_threads=n_threads,
                engine=engine,
                device=device,
            )
            inspector._features = inspector.check_parameters()
            inspector.image_shape = tuple(settings["image_shape"])
            inspector._coordinates = Coordinates(arrays["mean"], arrays["matrix"])
            inspector._library = Library(
                arrays["patches"],
                settings["bandwidth"],
                settings["length_scale"],
                settings["candidates"],
                inspector._features.worst,
            )
            inspector._sums, inspector.names_ = arrays["sums"], list(settings["names"])
            inspector.thumbnails_ = arrays["thumbnails"]
            inspector.fingerprints_ = list(settings.get("fingerprints", [None] * len(inspector.names_)))
            inspector.calibration_ = calibrate(arrays["scores"], inspector.false_reject_rate)
            inspector.map_calibration_ = Calibration(arrays["peaks"], inspector.false_reject_rate)
        except KeyError as error:
            raise ModelFileError(f"{path}: the part {error} is missing. Fit it again, or take a copy.") from None
        return inspector

    @property
    def _resources(self) -> Resources:
        return choose_resources(self.engine, self.device)

    def _calibrations(
        self, library: Library, sums: Floats, grid: PatchGrid, shape: tuple[int, ...]
    ) -> tuple[Calibration, Calibration]:
        """Return the calibrations of scores and of maps by what the images of a library say of one another."""
        found = library.left_out(sums, self._resources)
        scores = np.array([comparison.score for comparison in found])
        peaks = np.array([_map(comparison.log_ratio, grid, shape).max() for comparison in found], dtype=np.float64)
        return calibrate(scores, self.false_reject_rate), Calibration(peaks, self.false_reject_rate)

    def _repr_html_(self) -> str:
        """Return what a notebook shows: what was learnt, and the scores of good images."""
        title = f"SurfaceInspector: {self.features_name} features, false-reject rate {self.false_reject_rate:g}"
        if not hasattr(self, "_library"):
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
        if not hasattr(self, "_library"):
            raise NotFittedError("The inspector has seen no good images yet. Call fit with some first.")


def _check_count(value: Any, name: str, example: int) -> None:
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(
            f"The '{name}' parameter must be a whole number from 1 up, for example {example}. Got {value!r} instead."
        )


def _check(inspector: SurfaceInspector, named: tuple[str, Singles]) -> Inspection:
    name, image = named
    return inspector.check(image, name)


def _map(log_ratio: Floats, grid: PatchGrid, shape: tuple[int, ...]) -> Singles:
    """Return the log ratios of patches, spread to the pixels of an image."""
    return grid.spread(log_ratio.reshape(grid.shape(shape)), shape).astype(np.float32)
