"""The fitted ratio as a mean of log ratios: of one member, or of several where close candidates share."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vwkde._data.validation import Array
from vwkde._fit.guided_ratio import GuidedRatio

Floats = NDArray[np.float64]

_FARTHEST = 1e9
"""Points farther out than this many standard deviations count as if they were there, and overflow nothing."""


@dataclass(frozen=True)
class Member:
    """A guided ratio, the coordinates it lives in, and its shares in single points and in averages."""

    coordinates: Callable[[Array], Floats]
    space: str
    ratio: GuidedRatio
    pointwise: float = 1.0
    average: float = 1.0

    def place(self, x: Array) -> Floats:
        """Return points in the member's coordinates."""
        return np.clip(self.coordinates(x), -_FARTHEST, _FARTHEST)


@dataclass(frozen=True)
class Pool:
    """The members that share the answer."""

    members: tuple[Member, ...]

    @property
    def main(self) -> Member:
        """The member with the largest share in averages."""
        return max(self.members, key=lambda member: member.average)

    def log_ratio(self, x: Array) -> Floats:
        """Return the log ratio at new points."""
        return _mean([(share, member.ratio.log_ratio(member.place(x))) for member, share in self._shares(False)])

    def at_numerator(self, averages: bool) -> Floats:
        """Return the log ratio at the numerator's points, left out, as it goes into averages or stands for itself."""
        return _mean([(share, member.ratio.at_numerator) for member, share in self._shares(averages)])

    def at_denominator(self, averages: bool) -> Floats:
        """Return the log ratio at the denominator's points, likewise."""
        return _mean([(share, member.ratio.at_denominator) for member, share in self._shares(averages)])

    def noise(self) -> tuple[Floats, Floats]:
        """Return the variance, at both samples, that the guides' own fits give the log ratios that averages use."""
        parts = [(share, member.ratio) for member, share in self._shares(averages=True)]
        sides = [[(share, np.sqrt(ratio.noise[side])) for share, ratio in parts] for side in (0, 1)]
        return _mean(sides[0]) ** 2, _mean(sides[1]) ** 2

    def _shares(self, averages: bool) -> list[tuple[Member, float]]:
        shares = [(member, member.average if averages else member.pointwise) for member in self.members]
        return [(member, share) for member, share in shares if share > 0]


def _mean(parts: list[tuple[float, Floats]]) -> Floats:
    return np.sum([share * values for share, values in parts], axis=0)
