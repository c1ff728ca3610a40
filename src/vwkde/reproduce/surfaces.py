"""Surface inspection on DAGM's classes by every method: what tables 1 and 2 and figure 6 have in common.

Of the good images of a class a random half is there to fit, the other to test, and all defective images are tested.
Unseen defects are the digit 3 on a random 15 % of the good images to be tested, against the rest of these. The text of
the paper says "superimposing"; here the digit is once added to the surface, white strokes on it, and once pasted over
it, a black square with the digit in white. When the place of a defect counts as found is told in `readings`.

The network, which needs labels, learns from every other defective image, and is tested on the rest of them.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from vwkde.inspection.coordinates import fit_coordinates
from vwkde.inspection.features import FEATURES
from vwkde.inspection.images import read_image
from vwkde.inspection.inspector import SurfaceInspector
from vwkde.inspection.layouts import Item, Layout, recognise_all
from vwkde.inspection.metrics import Matches, detection_average_precision, image_auroc
from vwkde.inspection.patches import PAPER_GRID
from vwkde.reproduce.detectors import DETECTORS
from vwkde.reproduce.digits import SIDE, read_digits, source
from vwkde.reproduce.figure import Results, Scale, Surfaces
from vwkde.reproduce.readings import READINGS, Judgement, readings_of
from vwkde.reproduce.tasks import Outcome, Task

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Mask = NDArray[np.bool_]

SPOILT = 0.15
"""Share of the good images to be tested that get a digit."""
LEVEL = float(np.log(0.9 / 0.1))
"""Log odds that a patch must reach to belong to the network's detection: a probability of 0.9, as in the paper."""
_CLASSES = 6
"""Classes of DAGM that the paper has: the first."""
_QUICK_IMAGES = 24
"""Images of each kind that a quick run has."""
_FEWEST_GOOD, _FEWEST_DEFECTIVE = 8, 2
_IMAGES_KEPT = 3_000
"""Images whose features a process keeps: more than a class has."""


@dataclass(frozen=True)
class Digit:
    """A digit on an image: which picture of a file, where its square begins, and whether it is pasted or added."""

    file: Path | None
    number: int
    top: int
    left: int
    pasted: bool

    def put_on(self, image: Singles) -> Singles:
        """Return the image with the digit."""
        picture = read_digits(self.file)[self.number]
        found = image.copy()
        below = found[self._place]
        found[self._place] = picture if self.pasted else np.minimum(below + picture, 1)
        return found

    def mask(self, shape: tuple[int, int]) -> Mask:
        """Return the square of the digit."""
        found = np.zeros(shape, dtype=bool)
        found[self._place] = True
        return found

    @property
    def _place(self) -> tuple[slice, slice]:
        return slice(self.top, self.top + SIDE), slice(self.left, self.left + SIDE)


@dataclass(frozen=True)
class Shot:
    """An image of a run: a file, and perhaps a digit on it."""

    item: Item
    digit: Digit | None = None

    def pixels(self) -> Singles:
        """Return the image."""
        image = read_image(self.item.path, PAPER_GRID.size)
        return image if self.digit is None else self.digit.put_on(image)

    def mask(self, shape: tuple[int, int]) -> Mask | None:
        """Return where the defect is, if there is one."""
        if self.digit is not None:
            return self.digit.mask(shape)
        return None if self.item.mask is None else self.item.mask.draw(shape)


@dataclass(frozen=True)
class Deal:
    """The images of a class in one repetition: to fit, good ones to test, and the defective ones by kind."""

    shape: tuple[int, int]
    seed: int
    fit: tuple[Shot, ...]
    good: tuple[Shot, ...]
    defective: tuple[Shot, ...]
    added: tuple[Shot, ...]
    pasted: tuple[Shot, ...]
    seen: tuple[Shot, ...] = ()
    """Defective images that a method with labels may learn from, and is not tested on."""

    def with_labels(self) -> "Deal":
        """Return the deal for a method that uses labels: every other defective image is there to learn from."""
        return replace(self, seen=self.defective[::2], defective=self.defective[1::2])


class Judge(Protocol):
    """A method that has been fitted."""

    def __call__(self, shot: Shot) -> Judgement:
        """Return what the method says of an image."""


def choose_surfaces(
    folder: Path, classes: list[str] | None, images: int | None, digits: Path | None, quick: bool
) -> Surfaces:
    """Return the images of a run: of the classes chosen, by name or number, or the first six in the folder."""
    layouts = recognise_all(folder)
    read_digits(digits)
    names = list(layouts)[:_CLASSES] if classes is None else [_class_named(each, folder, layouts) for each in classes]
    return Surfaces(folder, tuple(names), images or (_QUICK_IMAGES if quick else None), digits)


def _class_named(wanted: str, folder: Path, layouts: dict[str, Layout]) -> str:
    for name in layouts:
        if name.lower() in (wanted.lower(), f"class{wanted}"):
            return name
    raise ValueError(f"{folder}: there is no class {wanted!r}, but {', '.join(layouts)}. Choose among these.")


@lru_cache(maxsize=8)
def layout_of(folder: Path, name: str) -> Layout:
    """Return the images of a class."""
    return recognise_all(folder)[name]


def deal(surfaces: Surfaces, name: str, seed: int) -> Deal:
    """Deal the images of a class for one repetition."""
    good, defective = _good_items(surfaces, name), _defective_items(surfaces, name)
    if len(good) < _FEWEST_GOOD or len(defective) < _FEWEST_DEFECTIVE:
        raise ValueError(
            f"{surfaces.folder}: {name} has {len(good)} good images and {len(defective)} defective ones with a mask. "
            f"Needed are at least {_FEWEST_GOOD} and {_FEWEST_DEFECTIVE}."
        )
    random = np.random.default_rng(seed)
    order = random.permutation(len(good))
    fit, test = np.sort(order[: len(good) // 2]), order[len(good) // 2 :]
    shape = image_shape(good[0].path)
    pictures = len(read_digits(surfaces.digits))
    count = max(1, round(SPOILT * len(test)))
    places = [
        (
            int(random.integers(pictures)),
            int(random.integers(shape[0] - SIDE + 1)),
            int(random.integers(shape[1] - SIDE + 1)),
        )
        for _ in range(count)
    ]
    added, pasted = (
        tuple(
            Shot(good[at], Digit(surfaces.digits, *place, pasted))
            for at, place in zip(test[:count], places, strict=True)
        )
        for pasted in (False, True)
    )
    return Deal(
        shape,
        seed,
        tuple(Shot(good[at]) for at in fit),
        tuple(Shot(good[at]) for at in test),
        tuple(map(Shot, defective)),
        added,
        pasted,
    )


def _good_items(surfaces: Surfaces, name: str) -> list[Item]:
    layout = layout_of(surfaces.folder, name)
    return [*layout.good, *(item for item in layout.test if item.defective is False)][: surfaces.images]


def _defective_items(surfaces: Surfaces, name: str) -> list[Item]:
    items = layout_of(surfaces.folder, name).test
    return [item for item in items if item.defective and item.mask][: surfaces.images]


@lru_cache(maxsize=8)
def image_shape(path: Path) -> tuple[int, int]:
    """Return the shape of an image."""
    height, width = read_image(path, PAPER_GRID.size).shape
    return height, width


@lru_cache(maxsize=_IMAGES_KEPT)
def measure(shot: Shot) -> Singles:
    """Return the gradient features of an image's patches, (patches, 4)."""
    found = FEATURES["gradient"](shot.pixels())
    return found.reshape(-1, found.shape[2])


def judge_by_patches(dealt: Deal, detector: str) -> Judge:
    """Return a detector of gradient features, fitted on the images that are there for it."""
    features = [measure(shot) for shot in dealt.fit]
    coordinates = fit_coordinates(features, None)
    detect = DETECTORS[detector](coordinates(np.stack(features)), dealt.seed)

    def judge(shot: Shot) -> Judgement:
        found = detect(coordinates(measure(shot)))
        return Judgement(found.score, found.values.reshape(PAPER_GRID.shape(dealt.shape)))

    return judge


def judge_by_texture(dealt: Deal) -> Judge:
    """Return the inspection with its richer features, fitted on the images that are there for it.

    What it would reject is of no account here, so that any rate will do, however few the images are.
    """
    inspector = SurfaceInspector("texture", false_reject_rate=0.5, random_state=dealt.seed, n_threads=1)
    inspector.fit(shot.pixels() for shot in dealt.fit)

    def judge(shot: Shot) -> Judgement:
        found = inspector.check(shot.pixels())
        return Judgement(found.score, found.log_ratio.astype(np.float64))

    return judge


def judge_by_network(dealt: Deal) -> Judge:
    """Return the network, which has seen as many good images as defective ones with their masks."""
    from vwkde.reproduce.cnn import train

    def labelled(shots: tuple[Shot, ...]) -> list[tuple[Singles, Mask]]:
        nothing = np.zeros(dealt.shape, dtype=bool)
        return [(shot.pixels(), nothing if (mask := shot.mask(dealt.shape)) is None else mask) for shot in shots]

    network = train(labelled(dealt.fit[: len(dealt.seen)]) + labelled(dealt.seen), PAPER_GRID, dealt.seed)

    def judge(shot: Shot) -> Judgement:
        values = network.log_odds(shot.pixels())
        return Judgement(float(values.max()), values, LEVEL)

    return judge


METHODS: dict[str, Callable[[Deal], Judge]] = {
    **{name: partial(judge_by_patches, detector=name) for name in DETECTORS},
    "texture": judge_by_texture,
    "cnn": judge_by_network,
}
"""The rows of the tables: how each method is fitted on the images dealt."""
LABELS = {
    "vwkde": "VWKDE",
    "kde": "KDE",
    "nn-1": "NN-1",
    "nn-10": "NN-10",
    "nnwang": "NNWang",
    "mmd": "MMD",
    "osvm": "OSVM",
    "texture": "vwkde, texture features",
    "cnn": "CNN (with labels)",
}
"""The methods by the paper's names; it does not have the last but one."""
SUPERVISED = ("cnn",)
COLUMNS = {"dagm": "DAGM defect", "pasted": "unseen defect, pasted", "added": "unseen defect, added"}


def missing_methods() -> dict[str, str]:
    """Return the methods that cannot run here, and why."""
    if find_spec("torch") is None:
        return {"cnn": "left out, since it needs PyTorch: pip install 'vwkde[torch]'"}
    return {}


def surface_tasks(scale: Scale) -> list[Task]:
    """Return one task for every class, repetition and method; those of one class come together."""
    surfaces = surfaces_of(scale)
    return [
        Task(_task_name(surfaces, name, seed, method), try_method, (surfaces, name, seed, method))
        for name in surfaces.classes
        for seed in range(scale.repetitions)
        for method in METHODS
        if method not in missing_methods()
    ]


def surfaces_of(scale: Scale) -> Surfaces:
    """Return the images of a run, which must have some."""
    if scale.surfaces is None:
        raise ValueError("This needs DAGM's images: give the folder that holds the classes with --data.")
    return scale.surfaces


def try_method(surfaces: Surfaces, name: str, seed: int, method: str) -> Results:
    """Return how well a method does on a class in one repetition."""
    dealt = deal(surfaces, name, seed)
    if method in SUPERVISED:
        dealt = dealt.with_labels()
    judge = METHODS[method](dealt)
    groups = {"good": dealt.good, "dagm": dealt.defective, "added": dealt.added, "pasted": dealt.pasted}
    return assess(dealt, {kind: [judge(shot) for shot in shots] for kind, shots in groups.items()})


def assess(dealt: Deal, judged: dict[str, list[Judgement]]) -> Results:
    """Return the area under the ROC curve and the average precision, by every reading, of each column of the tables."""
    results: Results = {"auc": {}, "ap": {reading: {} for reading in READINGS}}
    defective = {"dagm": dealt.defective, "added": dealt.added, "pasted": dealt.pasted}
    for column, shots in defective.items():
        # the digits are on the first of the good images, and compared with the others
        good = judged["good"] if column == "dagm" else judged["good"][len(dealt.added) :]
        bad = judged[column]
        scores = [each.score for each in good + bad]
        results["auc"][column] = _rounded(image_auroc([False] * len(good) + [True] * len(bad), scores))
        right = [readings_of(each, shot.mask(dealt.shape)) for each, shot in zip(bad, shots, strict=True)]
        for reading in READINGS:
            matches = [Matches(np.array([each.score]), np.array([False]), 0) for each in good]
            for each, found in zip(bad, right, strict=True):
                matches.append(Matches(np.array([each.score]), np.array([found[reading]]), 1))
            results["ap"][reading][column] = _rounded(detection_average_precision(matches))
    return results


def collect_surfaces(outcomes: dict[str, Outcome], scale: Scale) -> Results:
    """Return the numbers of every method: of each column, one list per class, with one entry per repetition."""
    surfaces = surfaces_of(scale)
    missing = missing_methods()

    def of(method: str) -> Results:
        found = [
            [outcomes[_task_name(surfaces, name, seed, method)] for seed in range(scale.repetitions)]
            for name in surfaces.classes
        ]
        failures = sorted({outcome.error for group in found for outcome in group if outcome.error})
        if failures:
            raise RuntimeError(f"A task failed: {method}: {failures[0]}")
        return {
            "auc": {column: [[each.value["auc"][column] for each in group] for group in found] for column in COLUMNS},
            "ap": {
                reading: {
                    column: [[each.value["ap"][reading][column] for each in group] for group in found]
                    for column in COLUMNS
                }
                for reading in READINGS
            },
        }

    return {
        "classes": list(surfaces.classes),
        "digits": source(surfaces.digits),
        "images": {name: _counts(deal(surfaces, name, 0)) for name in surfaces.classes},
        "missing": missing,
        "methods": {method: of(method) for method in METHODS if method not in missing},
    }


def _counts(dealt: Deal) -> dict[str, int]:
    return {
        "fit": len(dealt.fit),
        "good": len(dealt.good),
        "defective": len(dealt.defective),
        "spoilt": len(dealt.added),
    }


def _task_name(surfaces: Surfaces, name: str, seed: int, method: str) -> str:
    digits = "mnist" if surfaces.digits else "digits"
    return f"{name}/{len(_good_items(surfaces, name))}/{len(_defective_items(surfaces, name))}/{digits}/{seed}/{method}"


def _rounded(value: float) -> float:
    return round(value, 5)
