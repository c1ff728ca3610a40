"""What is known about a coloured surface: its brightness and its two differences of colours are learnt apart.

Each plane has a score and a map. The tails of those of good images make them comparable: a plane in which good images
vary counts less. A plane without any contrast, as in gray images that were saved with colours, is left out.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from vwkde._compute.resources import Resources
from vwkde._runtime.warn import without
from vwkde.exceptions import FewImagesWarning
from vwkde.inspection.data.colours import planes_of
from vwkde.inspection.model.calibration import Calibration, calibrate
from vwkde.inspection.model.learnt.base import Judgement, Learnt
from vwkde.inspection.model.measuring import Measured
from vwkde.inspection.model.tails import Tail, fit_tail

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]

_CONTRAST = 2e-3
"""Least standard deviation of the pixels of a plane, in some good image: half a gray level of 256."""


@dataclass(frozen=True, eq=False, kw_only=True)
class LearntColours(Learnt):
    """What was learnt from the planes of good images; `kinds` are their numbers, brightness first."""

    coloured: ClassVar[bool] = True

    planes: tuple[Learnt, ...]
    kinds: tuple[int, ...]
    score_tail: Tail
    peak_tail: Tail

    @property
    def n_networks(self) -> int:
        """The number of trained networks of all planes."""
        return sum(plane.n_networks for plane in self.planes)

    def judge(self, image: Singles, resources: Resources) -> Judgement:
        """Return how an image compares with the good ones: by a smooth maximum of the rarities of its planes."""
        parts = planes_of(image)
        judged = [plane.judge(parts[kind], resources) for kind, plane in zip(self.kinds, self.planes, strict=True)]
        score = self._score(np.array([each.score for each in judged]))
        maps = self.peak_tail(np.stack([each.log_ratio for each in judged], axis=-1))
        return Judgement(float(score), judged[0].nearest, maps.max(axis=-1).astype(np.float32))

    def more(self, seen: Measured, false_reject_rate: float, resources: Resources) -> Learnt:
        """Return what is known with more good images; the tails do not change."""
        pairs = zip(self.kinds, self.planes, strict=True)
        with without(FewImagesWarning):
            planes = [plane.more(seen.plane(kind), false_reject_rate, resources) for kind, plane in pairs]
        return self.with_planes(planes, false_reject_rate)

    def fewer(self, count: int, false_reject_rate: float, resources: Resources) -> Learnt:
        """Return what was known with the first good images only."""
        with without(FewImagesWarning):
            planes = [plane.fewer(count, false_reject_rate, resources) for plane in self.planes]
        return self.with_planes(planes, false_reject_rate)

    def with_planes(self, planes: Sequence[Learnt], false_reject_rate: float) -> "LearntColours":
        """Return this with other planes: the scores of their good images set the thresholds."""
        first = planes[0]
        scores, peaks = (np.stack(each, axis=-1) for each in _values(planes))
        return replace(
            self,
            planes=tuple(planes),
            names=first.names,
            fingerprints=first.fingerprints,
            thumbnails=first.thumbnails,
            library=first.library,
            sums=first.sums,
            scores=calibrate(self._score(scores), false_reject_rate),
            peaks=Calibration(self.peak_tail(peaks).max(axis=-1), false_reject_rate),
        )

    def _score(self, scores: Floats) -> Floats:
        return np.asarray(np.logaddexp.reduce(self.score_tail(scores), axis=-1))


def learn_planes(seen: Measured, learn: Callable[[Measured], Learnt], false_reject_rate: float) -> Learnt:
    """Learn from good images: gray ones as they are, the planes of coloured ones apart."""
    kinds = [0, *(kind for kind, contrast in enumerate(seen.contrasts, start=1) if contrast >= _CONTRAST)]
    if len(kinds) == 1:
        return learn(seen.plane(0))
    with without(FewImagesWarning):
        planes = [learn(seen.plane(kind)) for kind in kinds]
    tails = [fit_tail(np.stack(each, axis=-1)) for each in _values(planes)]
    return combined(planes, kinds, tails[0], tails[1], false_reject_rate)


def combined(
    planes: Sequence[Learnt], kinds: Sequence[int], score_tail: Tail, peak_tail: Tail, false_reject_rate: float
) -> LearntColours:
    """Return what was learnt from several planes, brightness first."""
    same: dict[str, Any] = {field.name: getattr(planes[0], field.name) for field in fields(Learnt)}
    parts: dict[str, Any] = {"planes": tuple(planes), "kinds": tuple(kinds)}
    learnt = LearntColours(**same, **parts, score_tail=score_tail, peak_tail=peak_tail)
    return learnt.with_planes(planes, false_reject_rate)


def _values(planes: Sequence[Learnt]) -> tuple[list[Floats], list[Floats]]:
    """Return the scores and the largest values of the maps of good images, for each plane."""
    return [plane.scores.scores for plane in planes], [plane.peaks.scores for plane in planes]
