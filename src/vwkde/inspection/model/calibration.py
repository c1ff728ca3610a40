"""A threshold from good images alone.

Every good image gets the score that it would have if it were not among the good ones. If a new good image is drawn as
those were, its score is as likely as not to take any place among theirs, so that

    p = (1 + how many good images score as high or higher) / (1 + how many there are)

is at most α with a probability of at most α, whatever the scores' distribution (conformal prediction: Vovk, Gammerman
and Shafer, "Algorithmic learning in a random world", 2005). Images with p ≤ α are rejected. No label takes part.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vwkde._runtime.warn import warn
from vwkde.exceptions import FewImagesWarning

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Calibration:
    """The scores of good images, each judged by the others, and the share of good images that may be rejected."""

    scores: Floats
    false_reject_rate: float

    @property
    def threshold(self) -> float:
        """The score above which an image is rejected; infinite if there are too few good images for the rate."""
        place = int(np.ceil((1 - self.false_reject_rate) * (len(self.scores) + 1) - _ROUNDING))
        return float(np.sort(self.scores)[place - 1]) if place <= len(self.scores) else np.inf

    def p_value(self, score: float) -> float:
        """Return the share of good images, the new one included, whose score is as high or higher."""
        return float((1 + np.count_nonzero(self.scores >= score)) / (1 + len(self.scores)))

    def rejects(self, score: float) -> bool:
        """Return whether an image with that score fails."""
        return score > self.threshold


_ROUNDING = 1e-9


def check_rate(false_reject_rate: float) -> None:
    """Refuse a share of good images that cannot be one."""
    if not 0 < false_reject_rate < 1:
        raise ValueError(
            f"The 'false_reject_rate' parameter must lie between 0 and 1, for example 0.01. "
            f"Got {false_reject_rate!r} instead."
        )


def calibrate(scores: Floats, false_reject_rate: float) -> Calibration:
    """Return the calibration by these scores; too few of them for the rate is told in a warning."""
    check_rate(false_reject_rate)
    if not np.isfinite(scores).all():
        raise ValueError("A good image has a score that is not finite: its patches are all alike. Leave it out.")
    found = Calibration(np.asarray(scores, dtype=np.float64), float(false_reject_rate))
    if np.isinf(found.threshold):
        needed = int(np.ceil(1 / false_reject_rate - _ROUNDING)) - 1
        warn(
            f"{len(scores)} good images cannot show a false-reject rate of {false_reject_rate:g}: nothing would be "
            f"rejected. Add good images until there are {needed}, or allow a rate of {1 / (len(scores) + 1):.2g}.",
            FewImagesWarning,
        )
    return found
