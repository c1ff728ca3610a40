"""A threshold from good images alone.

Every good image gets the score that it would have if it were not among the good ones. If a new good image comes from
the same distribution, its score is equally likely to take any rank among theirs. Hence

    p = (1 + number of good images that score as high or higher) / (1 + number of good images)

is at most α with a probability of at most α, whatever the distribution of the scores (conformal prediction: Vovk,
Gammerman and Shafer, "Algorithmic learning in a random world", 2005). Images with p ≤ α are rejected. No labels are
used.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, Context, Decimal

import numpy as np
from numpy.typing import NDArray

from vwkde._runtime.warn import warn
from vwkde.exceptions import FewImagesWarning, UnlikeImagesWarning

Floats = NDArray[np.float64]

_ENOUGH = 20
"""Good images from which it can be said that some are unlike the others."""
_FAR_ABOVE = 5.0
"""How far a score is above the median if the image is unlike the others, in units of the way to the ninth decile."""
_MOST_NAMED = 3
"""Images unlike the others that a warning names."""


@dataclass(frozen=True)
class Calibration:
    """The threshold of a score, set by good images alone.

    Attributes
    ----------
    scores : ndarray of shape (images,)
        The score of each good image, computed from the other good images.
    false_reject_rate : float
        The share of good images that may be rejected.
    bad : ndarray of shape (bad images,)
        The scores of images that are known to be bad, if there are any. They can only raise the threshold.

    Examples
    --------
    >>> import numpy as np
    >>> calibration = Calibration(np.arange(1.0, 20.0), false_reject_rate=0.05)
    >>> calibration.threshold, calibration.p_value(19.5), calibration.p_value(10.0)
    (19.0, 0.05, 0.55)
    """

    scores: Floats
    false_reject_rate: float
    bad: Floats = field(default_factory=lambda: np.empty(0))

    @property
    def threshold(self) -> float:
        """The score above which an image is rejected; infinite if there are too few good images for the rate.

        If the threshold of the good images finds all known bad ones, it moves up into the gap below these: half-way to
        the next lower good score. So fewer good images are rejected than may be, and never more.
        """
        threshold = self.threshold_of_good
        if not len(self.bad) or threshold >= self.bad.min():
            return threshold
        lowest = float(self.bad.min())
        return (float(self.scores[self.scores < lowest].max()) + lowest) / 2

    @property
    def threshold_of_good(self) -> float:
        """The threshold that the good images alone would set."""
        rank = int(np.ceil((1 - self.false_reject_rate) * (len(self.scores) + 1) - _ROUNDING))
        return float(np.sort(self.scores)[rank - 1]) if rank <= len(self.scores) else np.inf

    @property
    def unlike(self) -> list[int]:
        """The numbers of the good images whose scores are far above those of the others, highest first."""
        order = np.argsort(-self.scores, kind="stable")
        return [int(number) for number in order if self.scores[number] > self.usual]

    @property
    def usual(self) -> float:
        """The score above which a good image is unlike the others; infinite if there are too few to say so."""
        if len(self.scores) < _ENOUGH:
            return np.inf
        middle, high = np.quantile(self.scores, [0.5, 0.9])
        return float(middle + _FAR_ABOVE * (high - middle))

    def p_value(self, score: float) -> float:
        """Return the share of good images that score at least this high, counting the new image itself.

        Parameters
        ----------
        score : float
            The score of the new image.

        Returns
        -------
        float
            From 1 / (number of good images + 1) to 1.
        """
        return float((1 + np.count_nonzero(self.scores >= score)) / (1 + len(self.scores)))


_ROUNDING = 1e-9


def check_rate(false_reject_rate: float) -> None:
    """Raise an error if the rate is not between 0 and 1."""
    if not 0 < false_reject_rate < 1:
        raise ValueError(
            f"The 'false_reject_rate' parameter must be between 0 and 1, for example 0.01. "
            f"Got {false_reject_rate!r} instead."
        )


def calibrate(scores: Floats, false_reject_rate: float, bad: Floats | None = None) -> Calibration:
    """Return the calibration for these scores; warn if there are too few of them for the rate."""
    check_rate(false_reject_rate)
    if not np.isfinite(scores).all():
        raise ValueError("The score of a good image is not finite: its patches are all alike. Leave this image out.")
    known_bad = np.empty(0) if bad is None else bad
    calibration = Calibration(np.asarray(scores, dtype=np.float64), float(false_reject_rate), known_bad)
    if np.isinf(calibration.threshold):
        needed = int(np.ceil(1 / false_reject_rate - _ROUNDING)) - 1
        warn(
            f"{len(scores)} good images are too few for a false-reject rate of {false_reject_rate:g}: no image will be "
            f"rejected. Use at least {needed} good images, or a rate of at least {_least_rate(len(scores))}.",
            FewImagesWarning,
        )
    return calibration


def warn_about_unlike(calibration: Calibration, unlike: list[int], names: Sequence[str]) -> None:
    """Warn if a good image that is unlike the others, one of these numbers, sets the threshold."""
    if not unlike or calibration.threshold < calibration.scores[unlike[-1]]:
        return
    warn(
        f"The threshold of {calibration.threshold:.3g} is set by good images that are unlike the others: "
        f"{_some(calibration, unlike, names)}; half of all good images have at most "
        f"{np.median(calibration.scores):.2g}. Defects below the threshold pass. Look at these images: if they are not "
        f"good, leave them out; if they are, use more images like them, or a higher false-reject rate.",
        UnlikeImagesWarning,
    )


def warn_about_raised(before: Calibration, after: Calibration, names: Sequence[str]) -> bool:
    """Warn if added images that the threshold before clearly rejects have raised it; return whether they have."""
    limit = max(before.threshold, before.usual)
    added = np.argsort(-after.scores[len(before.scores) :], kind="stable") + len(before.scores)
    rejected = [int(number) for number in added if after.scores[number] > limit]
    if not rejected or after.threshold <= before.threshold:
        return False
    warn(
        f"The threshold rises from {before.threshold:.3g} to {after.threshold:.3g}, because images were added that "
        f"this model rejected: {_some(after, rejected, names)}. Defects below the threshold pass. Look at these "
        f"images: if they are not good, `undo` (`vwkde inspect undo`) takes back what was added.",
        UnlikeImagesWarning,
    )
    return True


def _some(calibration: Calibration, numbers: list[int], names: Sequence[str]) -> str:
    """Return the names and scores of the first of these images."""
    some = ", ".join(f"{names[number]} ({calibration.scores[number]:.3g})" for number in numbers[:_MOST_NAMED])
    return some + (f" and {len(numbers) - _MOST_NAMED} more" if len(numbers) > _MOST_NAMED else "")


def _least_rate(images: int) -> str:
    """Return the smallest rate that this many good images allow, in two digits, rounded up."""
    rate = Decimal(1) / (images + 1)
    return f"{Context(prec=2, rounding=ROUND_CEILING).create_decimal(rate):f}"
