"""Whether the images that pass are still like the good images that were learnt.

If light, camera or material change slowly, good images score higher and higher, and the stated false-reject rate no
longer holds. Defective images score high, too. So only images that pass are compared with good images that would pass:
if nothing changed, every order of their scores is equally likely, and a rank test (Mann and Whitney, 1947) tells
whether the new ones are higher. It needs no model of the scores.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vwkde.inspection.model.calibration import Calibration

_FEWEST = 8
"""Minimum number of images that pass, new and learnt: with fewer, a test can hardly find anything."""
_LEVEL = 0.001
"""The p-value below which a drift is reported: a run of good images is told wrongly once in a thousand."""
_MOST_REJECTED = 0.5
"""If more than this share of at least as many images is rejected, so little passes that only the share is reported."""


@dataclass(frozen=True)
class Drift:
    """How the images of a run compare with the good images of the model.

    Attributes
    ----------
    p_value : float or None
        Of the test that images that pass score higher than good images; None if there are too few of them.
    rejected_share : float
        The share of images that were rejected.
    """

    p_value: float | None
    rejected_share: float

    @property
    def words(self) -> str | None:
        """The warning in words; None if there is nothing to report."""
        advice = "Look at recent good images, and add them to the model or fit again."
        if self.p_value is not None and self.p_value < _LEVEL:
            return (
                f"Images that pass score higher than the good images of the model (p = {self.p_value:.1g}): the "
                f"surface, the light or the camera may have changed, and the false-reject rate no longer holds. "
                f"{advice}"
            )
        if self.p_value is None and self.rejected_share > _MOST_REJECTED:
            return (
                f"{self.rejected_share:.0%} of the images are rejected. If most of them are good, the surface, the "
                f"light or the camera have changed, and the false-reject rate no longer holds. {advice}"
            )
        return None


def drift_of_good(calibration: Calibration, scores: Sequence[float]) -> Drift | None:
    """Return how the scores of a run compare with those of the good images; None if there are few of them."""
    if len(scores) < _FEWEST or not np.isfinite(calibration.threshold):
        return None
    new, known = (_passing(np.asarray(each), calibration.threshold) for each in (scores, calibration.scores))
    share = 1 - len(new) / len(scores)
    if min(len(new), len(known)) < _FEWEST:
        return Drift(None, share)
    from scipy.stats import mannwhitneyu  # only now: a check of few images does not wait for it

    return Drift(float(mannwhitneyu(new, known, alternative="greater").pvalue), share)


def _passing(scores: np.ndarray, threshold: float) -> np.ndarray:
    return scores[scores <= threshold]
