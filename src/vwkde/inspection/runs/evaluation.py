"""How well an inspection works on labelled images: measures with their intervals, and shares of images."""

from dataclasses import dataclass
from typing import Any

from vwkde.inspection.metrics.images import PrecisionRecallCurve, RocCurve

LEVEL = 0.95
"""Confidence level of all intervals."""
DIGITS = 6
"""Digits after the point of all measures."""


@dataclass(frozen=True)
class Measure:
    """A figure of merit with its interval; larger is better."""

    name: str
    title: str
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Share:
    """A count out of a total, with the exact binomial interval (Clopper and Pearson) of the rate."""

    count: int
    of: int

    @property
    def rate(self) -> float:
        """The share itself."""
        return self.count / self.of

    @property
    def interval(self) -> tuple[float, float]:
        """The interval of the rate."""
        from scipy.stats import binomtest  # only now: checks do not wait for it

        interval = binomtest(self.count, self.of).proportion_ci(LEVEL, "exact")
        return float(interval.low), float(interval.high)

    def __str__(self) -> str:
        """Return the two numbers in words."""
        return f"{self.count:,} of {self.of:,}"

    def to_dict(self) -> dict[str, Any]:
        """Return the share as in `results.json`."""
        low, high = self.interval
        rates = {"rate": round(self.rate, DIGITS), "interval": [round(low, DIGITS), round(high, DIGITS)]}
        return {"count": self.count, "of": self.of, **rates}


@dataclass(frozen=True)
class Evaluation:
    """The result of comparing a run with labels.

    `found` counts the defective images that were rejected, `false_rejects` the good ones; either is None if there are
    no such images. `by_kind` is `found` for each folder of defective images.
    """

    measures: tuple[Measure, ...]
    found: Share | None
    false_rejects: Share | None
    by_kind: dict[str, Share]
    stated_rate: float
    without_mask: int
    roc: RocCurve | None
    precision_recall: PrecisionRecallCurve | None

    @property
    def values(self) -> dict[str, float]:
        """The measures by their names."""
        return {each.name: each.value for each in self.measures}

    @property
    def confusion(self) -> dict[str, int]:
        """How many images of each kind were rejected, and how many passed."""
        found, false = self.found or Share(0, 0), self.false_rejects or Share(0, 0)
        return {
            "defective_rejected": found.count,
            "defective_passed": found.of - found.count,
            "good_rejected": false.count,
            "good_passed": false.of - false.count,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as in `results.json`."""
        return {
            "level": LEVEL,
            "measures": {each.name: {"value": each.value, "interval": [each.low, each.high]} for each in self.measures},
            "confusion": self.confusion,
            "found": self.found.to_dict() if self.found else None,
            "found_by_kind": {kind: share.to_dict() for kind, share in self.by_kind.items()},
            "false_rejects": self.false_rejects.to_dict() if self.false_rejects else None,
            "stated_false_reject_rate": self.stated_rate,
            "defective_images_without_mask": self.without_mask,
        }
