"""Surface inspection on DAGM's classes by every method: shared by tables 1 and 2 and figure 6.

`deals` says which images are fitted and tested, and `readings` when a defect counts as located.
The network, which needs labels, learns from every other defective image, and is tested on the rest of them.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial
from importlib.util import find_spec
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from vwkde._compute.parallel import at_most
from vwkde.inspection.metrics.detections import Matches, detection_average_precision
from vwkde.inspection.metrics.images import image_auroc
from vwkde.inspection.model.coordinates import fit_coordinates
from vwkde.inspection.model.features.patches import PAPER_GRID
from vwkde.inspection.model.features.registry import FEATURES
from vwkde.inspection.model.inspector import SurfaceInspector
from vwkde.reproduce.core.digits import source
from vwkde.reproduce.core.figure import Results, Scale, SurfaceImages
from vwkde.reproduce.core.tasks import Outcome, Task, values_of
from vwkde.reproduce.surfaces.deals import Deal, Shot, deal, images_digest, surfaces_of
from vwkde.reproduce.surfaces.detectors import DETECTORS, Finding
from vwkde.reproduce.surfaces.readings import READINGS, readings_of

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Mask = NDArray[np.bool_]

_NETWORK_LEVEL = float(np.log(0.9 / 0.1))
"""Log odds that a patch must reach to belong to the network's detection: a probability of 0.9, as in the paper."""
_IMAGES_KEPT = 3_000
"""Images whose features a process caches: more than a class has."""


class Judge(Protocol):
    """A method that has been fitted."""

    def __call__(self, shot: Shot) -> Finding:
        """Return the method's finding for an image."""


@lru_cache(maxsize=_IMAGES_KEPT)
def measure(shot: Shot) -> Singles:
    """Return the gradient features of an image's patches, (patches, 4)."""
    features = FEATURES["gradient"](shot.pixels())
    return features.reshape(-1, features.shape[2])


def judge_by_patches(dealt: Deal, detector: str) -> Judge:
    """Return a detector that sees gradient features, fitted on the deal's images to fit."""
    features = [measure(shot) for shot in dealt.fit]
    coordinates = fit_coordinates(features, None)
    with at_most(1):
        detect = DETECTORS[detector](coordinates(np.stack(features)), dealt.seed)

    def judge(shot: Shot) -> Finding:
        with at_most(1):
            finding = detect(coordinates(measure(shot)))
        return replace(finding, values=finding.values.reshape(PAPER_GRID.shape(dealt.shape)))

    return judge


def judge_by_texture(dealt: Deal) -> Judge:
    """Return the inspector with its richer features, fitted on the deal's images to fit.

    Its threshold is not used here, so that any false reject rate will do, however few the images are.
    """
    inspector = SurfaceInspector(features="texture", false_reject_rate=0.5, random_state=dealt.seed, n_threads=1)
    inspector.fit(shot.pixels() for shot in dealt.fit)

    def judge(shot: Shot) -> Finding:
        inspection = inspector.check(shot.pixels())
        return Finding(inspection.score, inspection.log_ratio.astype(np.float64))

    return judge


def judge_by_network(dealt: Deal) -> Judge:
    """Return the network, trained on as many good images as defective ones with their masks."""
    from vwkde.reproduce.surfaces.cnn import train

    def labelled(shots: tuple[Shot, ...]) -> list[tuple[Singles, Mask]]:
        nothing = np.zeros(dealt.shape, dtype=bool)
        return [(shot.pixels(), nothing if (mask := shot.mask(dealt.shape)) is None else mask) for shot in shots]

    network = train(labelled(dealt.fit[: len(dealt.seen)]) + labelled(dealt.seen), PAPER_GRID, dealt.seed)

    def judge(shot: Shot) -> Finding:
        values = network.log_odds(shot.pixels())
        return Finding(float(values.max()), values, _NETWORK_LEVEL)

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
"""The methods by the paper's names; `texture` is not in the paper."""
SUPERVISED = ("cnn",)
COLUMNS = {"dagm": "DAGM defect", "pasted": "unseen defect, pasted", "added": "unseen defect, added"}


def missing_methods() -> dict[str, str]:
    """Return the methods that cannot run here, and why."""
    if find_spec("torch") is None:
        return {"cnn": "left out, since it needs PyTorch: pip install 'vwkde[torch]'"}
    return {}


def surface_tasks(scale: Scale) -> list[Task]:
    """Return one task for every class, repetition and method, grouped by class."""
    surfaces = surfaces_of(scale)
    return [
        Task(_task_name(surfaces, name, seed, method), try_method, (surfaces, name, seed, method))
        for name in surfaces.classes
        for seed in range(scale.repetitions)
        for method in METHODS
        if method not in missing_methods()
    ]


def try_method(surfaces: SurfaceImages, name: str, seed: int, method: str) -> Results:
    """Return how well a method does on a class in one repetition."""
    dealt = deal(surfaces, name, seed)
    if method in SUPERVISED:
        dealt = dealt.with_labels()
    judge = METHODS[method](dealt)
    groups = {"good": dealt.good, "dagm": dealt.defective, "added": dealt.added, "pasted": dealt.pasted}
    return assess(dealt, {kind: [judge(shot) for shot in shots] for kind, shots in groups.items()})


def assess(dealt: Deal, judged: dict[str, list[Finding]]) -> Results:
    """Return the area under the ROC curve and the average precision, by every reading, of each column of the tables."""
    results: Results = {"auc": {}, "ap": {reading: {} for reading in READINGS}}
    defective = {"dagm": dealt.defective, "added": dealt.added, "pasted": dealt.pasted}
    for column, shots in defective.items():
        # digits are on the first good images, and are compared with the other good ones
        good = judged["good"] if column == "dagm" else judged["good"][len(dealt.added) :]
        bad = judged[column]
        scores = [each.score for each in good + bad]
        results["auc"][column] = _rounded(image_auroc([False] * len(good) + [True] * len(bad), scores))
        right = [readings_of(each, shot.mask(dealt.shape)) for each, shot in zip(bad, shots, strict=True)]
        for reading in READINGS:
            matches = [Matches(np.array([each.score]), np.array([False]), 0) for each in good]
            for each, by_reading in zip(bad, right, strict=True):
                matches.append(Matches(np.array([each.score]), np.array([by_reading[reading]]), 1))
            results["ap"][reading][column] = _rounded(detection_average_precision(matches))
    return results


def collect_surfaces(outcomes: dict[str, Outcome], scale: Scale) -> Results:
    """Return the numbers of every method: for each column, one list per class with one entry per repetition."""
    surfaces = surfaces_of(scale)
    missing = missing_methods()
    values = values_of(outcomes)

    def of(method: str) -> Results:
        by_class = [
            [values[_task_name(surfaces, name, seed, method)] for seed in range(scale.repetitions)]
            for name in surfaces.classes
        ]
        return {
            "auc": {column: [[each["auc"][column] for each in group] for group in by_class] for column in COLUMNS},
            "ap": {
                reading: {
                    column: [[each["ap"][reading][column] for each in group] for group in by_class]
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


def _task_name(surfaces: SurfaceImages, name: str, seed: int, method: str) -> str:
    return f"{name}/{images_digest(surfaces, name)}/{seed}/{method}"


def _rounded(value: float) -> float:
    return round(value, 5)
