"""Surface inspection as one object: learn a surface from good images, then judge others."""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from vwkde._compute.choice import choose_resources
from vwkde._compute.executors import DASK
from vwkde._compute.parallel import at_most
from vwkde._display.waiting import shown_while_waiting
from vwkde.inspection.model.calibration import check_rate, warn_about_unlike
from vwkde.inspection.model.checks_images import ChecksImages
from vwkde.inspection.model.features.registry import (
    FEATURES,
    FeatureSet,
    as_features,
    by_neighbours,
    is_trained,
    marking_of,
)
from vwkde.inspection.model.files.model import Origin, SavedModel, read_model, write_model
from vwkde.inspection.model.frames import Framing
from vwkde.inspection.model.history import make_change, make_making
from vwkde.inspection.model.inspected_part import ignoring
from vwkde.inspection.model.learnt.base import Learnt, learn
from vwkde.inspection.model.learnt.by_neighbours import learn_nearest
from vwkde.inspection.model.learnt.colours import learn_planes
from vwkde.inspection.model.learnt.combined import learn_combined
from vwkde.inspection.model.measuring import Images, Measured, measure_all
from vwkde.inspection.model.parameters import RECOMMENDED, check_count, check_enough, check_size
from vwkde.inspection.model.pretrained.networks import stored_name

Singles = NDArray[np.float32]


class SurfaceInspector(ChecksImages):
    """Learn a surface from good images alone, and judge whether other images show the same surface.

    Parameters
    ----------
    features : str or callable, default="combined"
        What is measured in each patch of an image. "gradient": the paper's four moments of the gradient. "texture":
        gray value, oriented grain and roughness at several scales; it finds more defects. "multiscale": the like, also
        on smaller copies of the image; faster on large images. "combined": that, and single marks such as spots, cracks
        and edges, compared with those that good images have at the same place; it finds most. "trained": that, and
        what small networks find that `fit` trains on the good images with made-up defects; needs torch and some minutes
        of training. "backbone": such marks, and the middle layers of a small network that was trained on photographs,
        from an installed package. "onnx:" and a file: those of another network. A function of a gray image must return
        an array of shape (rows, columns, any number), one entry for each patch of `PAPER_GRID`.
    false_reject_rate : float, default=0.05
        The share of good images that may be rejected. The good images set the threshold accordingly.
    candidates : int, default=10
        Number of good images that an image is compared with closely, after a coarse comparison with all of them.
    ignore : ndarray of bool of shape (height, width), default=None
        True at the pixels that are not inspected: nothing there changes a score, map or box. None inspects all.
    size : tuple of int, default=None
        Height and width to which images are scaled before they are compared, so that they may differ in size. Maps and
        boxes are those of each image as it was. None means that all images have one shape.
    align : bool, default=False
        Whether to shift images, by up to a tenth of a side, to where the good images have the same part. For parts that
        lie a little elsewhere each time.
    colour : bool, default=False
        Whether images have three colours, (height, width, 3), and differences of colours count as brightness does. It
        takes three times as long. A gray image has three equal colours.
    random_state : int, default=0
        Seed of every random choice.
    n_threads : int, default=None
        Number of threads. None uses all that the machine and its environment allow.
    engine : {"auto", "dask"}, default="auto"
        "dask" compares images on the workers of the current Dask client: all pairs of good images in `fit`, each image
        in `check_all`.
    device : str, default=None
        A torch device, for example "cuda". It does nearly everything for the features "combined", "trained" and
        "texture", with scores that differ by rounding; for others, and for colours, it compares with all good images,
        and the CPU does the rest. Networks are always trained there. None is the CPU.

    Examples
    --------
    >>> from vwkde.inspection import SurfaceInspector, make_surfaces
    >>> surfaces = make_surfaces("woven", n_good=25, n_bad=1, size=128)
    >>> inspector = SurfaceInspector(features="texture").fit(surfaces.images[:25])
    >>> inspector.check(surfaces.images[25]).verdict
    'NG'
    >>> inspector.names_[:2], inspector.image_shape, inspector.thumbnail("good 0").shape
    (['good 0', 'good 1'], (128, 128), (64, 64))
    """

    def __init__(
        self,
        *,
        features: Any = RECOMMENDED,
        false_reject_rate: float = 0.05,
        candidates: int = 10,
        ignore: NDArray[np.bool_] | None = None,
        size: tuple[int, int] | None = None,
        align: bool = False,
        colour: bool = False,
        random_state: int = 0,
        n_threads: int | None = None,
        engine: Literal["auto", "dask"] = "auto",
        device: str | None = None,
    ) -> None:
        self.features = features
        self.false_reject_rate = false_reject_rate
        self.candidates = candidates
        self.ignore = ignore
        self.size = size
        self.align = align
        self.colour = colour
        self.random_state = random_state
        self.n_threads = n_threads
        self.engine = engine
        self.device = device
        self._origin: Origin | None = None

    @shown_while_waiting
    def fit(self, images: Images, *, note: str = "") -> Self:
        """Learn from good images.

        Images are read one by one, so a generator does not need to keep them all in memory. An image with the same
        pixels as an earlier one is left out.

        Parameters
        ----------
        images : iterable of ndarray, or of pairs (name, ndarray)
            Gray images, or with `colour` coloured ones, of one shape, or with `size` of any: floats from 0 to 1, or
            integers of type uint8 or uint16. At least 3 images.
        note : str, default=""
            A text for the model card, such as the part, the camera and the light.

        Returns
        -------
        self : SurfaceInspector

        Raises
        ------
        ImageError
            If an image cannot be used, or has another shape than the first.
        ValueError
            If a parameter is invalid, or there are fewer than 3 images.

        Warns
        -----
        FewImagesWarning
            If there are too few good images for `false_reject_rate`, so that no image will be rejected.
        RepeatedImagesWarning
            If images were left out.
        UnlikeImagesWarning
            If the threshold is set by images that are unlike the others.
        """
        features = self.check_parameters()
        with at_most(self.n_threads):
            framing = Framing(self.size, self.align, self.colour)
            seen = measure_all(images, features, framing, measure=self._measure_on_device(features), make_up=True)
            check_enough(len(seen.names))
            learnt = learn_planes(seen, partial(self._learn, features), self.false_reject_rate)
            self._learnt = replace(learnt, made=make_making(note), own_frame=seen.frame)
        self._origin = None
        warn_about_unlike(self._learnt.scores, self._learnt.unlike, self._learnt.names)
        return self

    def _learn(self, features: FeatureSet, seen: Measured) -> Learnt:
        """Return what is learnt from one plane of good images."""
        if by_neighbours(features):
            return learn_nearest(seen, features, self.random_state, self.false_reject_rate)
        learning = learn if marking_of(features) is None else learn_combined
        settings = self.candidates, self.random_state, self.false_reject_rate
        return learning(seen, features, *settings, self._resources)

    def check_parameters(self) -> FeatureSet:
        """Check the parameters, as `fit` does before it reads any image.

        Returns
        -------
        FeatureSet
            The features that the `features` parameter names.

        Raises
        ------
        ValueError
            If a parameter is invalid.

        Examples
        --------
        >>> from vwkde.inspection import SurfaceInspector
        >>> SurfaceInspector(false_reject_rate=5).check_parameters()
        Traceback (most recent call last):
            ...
        ValueError: The 'false_reject_rate' parameter must be between 0 and 1, for example 0.01. Got 5 instead.
        """
        check_rate(self.false_reject_rate)
        check_count(self.candidates, "candidates", 10)
        if self.n_threads is not None:
            check_count(self.n_threads, "n_threads", 2)
        if self.engine not in ("auto", DASK.name):
            raise ValueError(f"The 'engine' parameter must be 'auto' or 'dask'. Got {self.engine!r} instead.")
        check_size(self.size)
        for name in ("align", "colour"):
            if not isinstance(value := getattr(self, name), bool):
                raise ValueError(f"The '{name}' parameter must be True or False. Got {value!r} instead.")
        choose_resources(self.engine, self.device)
        return ignoring(as_features(self.features), self.ignore)

    def warm_up(self) -> None:
        """Load what the first check would load, such as a network; the next check is then as fast as others.

        Examples
        --------
        >>> from vwkde.inspection import SurfaceInspector, make_surfaces
        >>> surfaces = make_surfaces("woven", n_good=20, n_bad=1, size=96)
        >>> SurfaceInspector(features="texture").fit(surfaces.images[:20]).warm_up()
        """
        learnt = self._fitted
        if by_neighbours(learnt.features):
            learnt.features(np.zeros(learnt.image_shape, dtype=np.float32))
        elif is_trained(learnt.features):
            import torch  # noqa: F401

    def calibrate(self, bad: Iterable[tuple[str, Singles]], *, by: str | None = None) -> Self:
        """Move the threshold up into the gap below images that are known to be bad, if there is one.

        The good images alone set a threshold for the stated rate. If it finds all of these images, it moves half-way
        from the next lower good score towards the lowest of theirs: fewer good images are rejected, never more. If it
        misses some of them, it stays. `add` and `undo` forget them, because scores change.

        Parameters
        ----------
        bad : iterable of pairs (name, ndarray)
            Images with a defect, as for `check`. None at all takes back an earlier call.
        by : str, default=None
            Who does it, for `changes_`. None means the user of this process.

        Returns
        -------
        self : SurfaceInspector

        Raises
        ------
        ImageError
            If an image cannot be used, or has another shape than the good ones; then nothing is changed.

        Examples
        --------
        >>> from vwkde.inspection import SurfaceInspector, make_surfaces
        >>> surfaces = make_surfaces("woven", n_good=20, n_bad=1, size=96)
        >>> inspector = SurfaceInspector(features="texture").fit(surfaces.images[:20])
        >>> before = inspector.calibration_.threshold
        >>> inspector.calibrate([("scratch.png", surfaces.images[20])]).calibration_.threshold > before
        True
        """
        learnt = self._fitted
        checked = [(result.name, result.score) for result in self.check_all(bad)]
        scores = np.array([score for _, score in checked], dtype=np.float64)
        change = make_change("calibrate", [name for name, _ in checked], by)
        self._learnt = replace(learnt, scores=replace(learnt.scores, bad=scores), changes=(*learnt.changes, change))
        return self

    def save(self, path: str | Path) -> None:
        """Write the fitted inspector to one file, which `load` reads.

        The file contains numbers and settings, but no code. The features must be named ones.

        Parameters
        ----------
        path : str or Path
            The model file; an existing file is replaced. If the inspector was loaded from this file or saved to it
            before, the file must not have changed since.

        Raises
        ------
        ValueError
            If `features` is a function.
        ModelFileError
            If another program has changed the file since it was read. Load it again and repeat the change.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from vwkde.inspection import SurfaceInspector, make_surfaces
        >>> surfaces = make_surfaces("woven", n_good=20, n_bad=1, size=96)
        >>> inspector = SurfaceInspector(features="texture").fit(surfaces.images[:20])
        >>> with TemporaryDirectory() as folder:
        ...     inspector.save(Path(folder) / "part.vwkde")
        ...     loaded = SurfaceInspector.load(Path(folder) / "part.vwkde")
        >>> loaded.calibration_.threshold == inspector.calibration_.threshold
        True
        """
        learnt = self._fitted
        if not isinstance(self.features, str):
            raise ValueError(
                "Only inspectors with named features can be saved, because a model file contains no code. "
                f"Use one of these as features: {list(FEATURES)}."
            )
        settings = self.false_reject_rate, self.candidates, self.random_state
        model = SavedModel(stored_name(self.features), *settings, learnt, ignored=self.ignore)
        self._origin = write_model(Path(path), model, self._origin)

    @classmethod
    def load(
        cls,
        path: str | Path,
        *,
        n_threads: int | None = None,
        engine: Literal["auto", "dask"] = "auto",
        device: str | None = None,
    ) -> Self:
        """Return the inspector that `save` wrote; see there for an example.

        Parameters
        ----------
        path : str or Path
            The model file.
        n_threads, engine, device
            As for the class. They are not stored in the model file.

        Returns
        -------
        SurfaceInspector
            A fitted inspector.

        Raises
        ------
        ModelFileError
            If the file is missing, damaged, or not a model file that this version can read.
        """
        saved = read_model(Path(path))
        inspector = cls(
            features=saved.features,
            false_reject_rate=saved.false_reject_rate,
            candidates=saved.candidates,
            ignore=saved.ignored,
            size=saved.learnt.frame.shape if saved.learnt.frame.any_size else None,
            align=saved.learnt.frame.reference is not None,
            colour=saved.learnt.frame.colour,
            random_state=saved.random_state,
            n_threads=n_threads,
            engine=engine,
            device=device,
        )
        inspector.check_parameters()
        inspector._learnt, inspector._origin = saved.learnt, saved.origin
        return inspector
