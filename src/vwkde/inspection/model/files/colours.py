"""The planes of a coloured surface in a model file: brightness under the usual names, the others with a prefix."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vwkde.inspection.data.colours import PLANES
from vwkde.inspection.model.files.soundness import is_within
from vwkde.inspection.model.learnt.base import Learnt
from vwkde.inspection.model.learnt.colours import LearntColours, combined
from vwkde.inspection.model.tails import Tail

Arrays = dict[str, NDArray[Any]]
Settings = dict[str, Any]

_SHARED = ("thumbnails", "bad", "reference", "ignored")
"""Arrays that all planes have in common."""
_WIDTHS = ("bandwidth", "length_scale")
_LARGEST = 1e30


def colour_parts(learnt: LearntColours, parts: Callable[[Learnt], tuple[Arrays, Settings]]) -> tuple[Arrays, Settings]:
    """Return the arrays and settings of all planes but brightness; `parts` are those of one plane."""
    arrays: Arrays = {"colour_scores": _array(learnt.score_tail), "colour_peaks": _array(learnt.peak_tail)}
    settings: Settings = {}
    for kind, plane in zip(learnt.kinds[1:], learnt.planes[1:], strict=True):
        own, about = parts(plane)
        arrays |= {f"{_prefix(kind)}{name}": array for name, array in own.items() if name not in _SHARED}
        settings[str(kind)] = {name: about[name] for name in _WIDTHS if name in about}
    return arrays, {"planes": settings}


def read_colours(
    first: Learnt, arrays: Arrays, settings: Settings, read: Callable[[Arrays, Settings], Learnt]
) -> Learnt:
    """Return what was learnt of all planes, given that of brightness; `read` reads one plane."""
    about = settings.get("planes", {})
    if not isinstance(about, dict) or not set(about) <= {str(kind) for kind in range(1, PLANES)}:
        raise ValueError("planes must be those of colours")
    if not about:
        return first
    planes, shared = [first], {name: arrays[name] for name in _SHARED if name in arrays}
    for kind in sorted(about):
        prefix = _prefix(int(kind))
        own = {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
        planes.append(read(shared | own, settings | dict(about[kind]) | {"planes": {}}))
    tails = [_tail(arrays[name], len(planes)) for name in ("colour_scores", "colour_peaks")]
    kinds = [0, *(int(kind) for kind in sorted(about))]
    return combined(planes, kinds, tails[0], tails[1], settings["false_reject_rate"])


def _prefix(kind: int) -> str:
    return f"plane {kind}: "


def _array(tail: Tail) -> NDArray[np.float64]:
    return np.stack([tail.centre, tail.width])


def _tail(array: NDArray[Any], planes: int) -> Tail:
    is_tail = array.dtype.kind == "f" and array.shape == (2, planes) and is_within(array, _LARGEST)
    if not is_tail or not (array[1] >= 1 / _LARGEST).all():
        raise ValueError("the tails of colours must be finite numbers for each plane, with positive widths")
    return Tail(*array)
