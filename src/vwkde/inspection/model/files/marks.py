"""What is known about single marks, and trained networks if there are some, as arrays of a model file."""

from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vwkde.inspection.model.features.combined import Marking
from vwkde.inspection.model.features.patches import GridOnCopies
from vwkde.inspection.model.features.registry import is_trained
from vwkde.inspection.model.files.networks import network_arrays, read_networks
from vwkde.inspection.model.files.soundness import is_within
from vwkde.inspection.model.files.weighing import check_weighing, read_weighing, weighing_arrays
from vwkde.inspection.model.learnt.base import Learnt
from vwkde.inspection.model.learnt.combined import LearntCombined
from vwkde.inspection.model.learnt.joint import Joint
from vwkde.inspection.model.learnt.rarity import LEVELS, Rarities
from vwkde.inspection.model.marks.filters import KINDS
from vwkde.inspection.model.marks.known import KnownMarks
from vwkde.inspection.model.marks.strengths import MARKS
from vwkde.inspection.model.tails import Tail

_LARGEST = 1e30
"""Of the numbers and, inverted, the smallest width: a fit is far from these, and dividing by a width is no error."""


def marks_arrays(learnt: Learnt) -> dict[str, NDArray[Any]]:
    """Return the arrays that a model file has in addition if its features have marks."""
    if not isinstance(learnt, LearntCombined):
        return {}
    known, joint = learnt.known, learnt.joint
    arrays = {
        "mark_mean": known.mean,
        "mark_spread": known.spread,
        "mark_tail": _array(known.tail),
        **weighing_arrays(known.weighing),
        "image_values": learnt.values,
        "score_tail": _array(joint.tail),
        "rarities": joint.rarities.tables,
        "patches_shown": np.array([joint.rarities.patches_shown], dtype=np.uint8),
    }
    return arrays if learnt.networks is None else arrays | network_arrays(learnt.networks)


def with_marks(
    learnt: Learnt, marking: Marking, arrays: dict[str, NDArray[Any]], kind: type[LearntCombined]
) -> LearntCombined:
    """Return what was learnt, as one of this kind with the marks, and perhaps the networks, of a model file."""
    shape = marking.shape(learnt.image_shape)
    networks = read_networks(arrays) if is_trained(learnt.features) else None
    _check(arrays, len(learnt.names), shape, marking.patches, 1 if networks is None else 2)
    of_marks = arrays["mark_mean"], arrays["mark_spread"], Tail(*arrays["mark_tail"])
    known = KnownMarks(shape, *of_marks, read_weighing(arrays))
    rarities = Rarities(shape, arrays["rarities"], marking.patches, _patches_shown(arrays))
    joint = Joint(Tail(*arrays["score_tail"]), rarities, kind.shares)
    same = {field.name: getattr(learnt, field.name) for field in fields(learnt)}
    return kind(**same, marking=marking, known=known, values=arrays["image_values"], joint=joint, networks=networks)


def _check(
    arrays: dict[str, NDArray[Any]], images: int, shape: tuple[int, int], patches: GridOnCopies, on_largest: int
) -> None:
    """Raise ValueError if the arrays do not fit together; `on_largest` tables are those of the largest copy only."""
    copies, counted = MARKS.cells(shape), len(LearntCombined.shares)
    tables = len(patches.places(shape)) + len(copies) + on_largest
    shapes = {
        "rarities": (tables, len(LEVELS)),
        "mark_mean": (KINDS, copies[-1].stop),
        "mark_spread": (KINDS, copies[-1].stop),
        "mark_tail": (2, len(copies), KINDS),
        "image_values": (images, counted + 1),
        "score_tail": (2, counted),
    }
    for name, wanted in shapes.items():
        if arrays[name].dtype.kind != "f" or arrays[name].shape != wanted or not is_within(arrays[name], _LARGEST):
            raise ValueError(f"{name} must be finite numbers of shape {wanted}, at most {_LARGEST:g}")
    check_weighing(arrays, len(copies))
    widths = [
        arrays["mark_spread"],
        *(arrays[name][1] for name in ("mark_tail", "score_tail")),
        np.diff(arrays["rarities"]),
    ]
    if not all((width >= 1 / _LARGEST).all() for width in widths):
        raise ValueError(
            f"spreads, widths of tails and steps of rarities must be positive, and at least {1 / _LARGEST:g}"
        )


def _patches_shown(arrays: dict[str, NDArray[Any]]) -> bool:
    """Return whether patches count in what maps show; in earlier files they always do."""
    shown = arrays.get("patches_shown", np.ones(1, dtype=np.uint8))
    if shown.dtype != np.uint8 or shown.shape != (1,) or shown[0] > 1:
        raise ValueError("patches_shown must be 0 or 1")
    return bool(shown[0])


def _array(tail: Tail) -> NDArray[Any]:
    return np.stack([tail.centre, tail.width])
