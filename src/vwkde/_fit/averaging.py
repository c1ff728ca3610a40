"""The fitted ratio as a mean of log ratios: of one member, or of several where close candidates share.

Two questions get two answers. A ratio at a point suffers from noise as much as from bias. An average of log ratios does
not: noise that differs from point to point averages out. So where averages are wanted an unbiased guide is judged less
the loss that its own noise causes. In high dimension the first answer is a shrunken model, the second is not.

Close candidates share: their log ratios are averaged with weights that fall off exponentially with the loss. At single
points that is the best bandwidth of each form; in averages it is all of them, since the loss hardly tells them apart
although their bias differs. Those that depend on the choice of axes must show clearly that they are better; otherwise
any affine copy of the data gives the same answer.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vwkde._data.validation import Array
from vwkde._fit.candidates import Candidate, Coordinates, Space, on_all_rows
from vwkde._fit.guided_ratio import Ratio
from vwkde._fit.kernel_estimate import Numerics
from vwkde._models.log_loss import AtBoth, fall_of_log_loss

Floats = NDArray[np.float64]

_FARTHEST = 1e9
"""Points farther out than this many standard deviations count as if they were there, so that nothing overflows."""
_CLEARLY = 2.0
"""Standard errors by which a candidate that depends on the axes must be better."""
_TEMPERATURE = 0.25
"""Share of the log likelihood that counts when candidates share: their losses are noisy and alike."""
_SMALLEST_SHARE = 0.01
_IGNORANCE = np.log(2) + 1e-12
"""The loss of a ratio that is one everywhere: what loses more is worse than knowing nothing."""


@dataclass(frozen=True)
class Member:
    """A ratio, the coordinates it lives in, and its shares in single points and in averages."""

    coordinates: Coordinates
    space: str
    ratio: Ratio
    pointwise: float = 1.0
    average: float = 1.0

    def place(self, x: Array) -> Floats:
        """Return points in the member's coordinates."""
        return np.clip(self.coordinates(x), -_FARTHEST, _FARTHEST)


@dataclass(frozen=True)
class Average:
    """The members that share the answer."""

    members: tuple[Member, ...]

    @property
    def main(self) -> Member:
        """The member with the largest share in averages."""
        return max(self.members, key=lambda member: member.average)

    @property
    def by_moments(self) -> bool:
        """Whether all members know all rows of the samples, in memory or not."""
        return all(member.ratio.guide.by_moments for member in self.members)

    def log_ratio(self, x: Array) -> Floats:
        """Return the log ratio at new points."""
        return _mean([(share, member.ratio.log_ratio(member.place(x))) for member, share in self._shares(False)])

    def at_samples(self, averages: bool) -> AtBoth:
        """Return the log ratios at both samples, each point left out, as averages use them or as single values."""
        parts = [(share, member.ratio.at_samples) for member, share in self._shares(averages)]
        return _mean([(share, at[0]) for share, at in parts]), _mean([(share, at[1]) for share, at in parts])

    def noise(self) -> AtBoth:
        """Return the variance, at both samples, that the guides' own fits give the log ratios that averages use."""
        parts = [(share, member.ratio.noise) for member, share in self._shares(averages=True)]
        sides = [_mean([(share, np.sqrt(noise[side])) for share, noise in parts]) ** 2 for side in (0, 1)]
        return sides[0], sides[1]

    def _shares(self, averages: bool) -> list[tuple[Member, float]]:
        shares = [(member, member.average if averages else member.pointwise) for member in self.members]
        return [(member, share) for member, share in shares if share > 0]


def average_of(
    candidates: list[Candidate], spaces: list[Space], bandwidth: float | None, numerics: Numerics
) -> Average:
    """Return the mean of the candidates that share the answer, with all rows of their spaces in them."""
    rated = list(zip(candidates, shares(candidates, False), shares(candidates, True), strict=True))
    members = []
    for space in spaces:
        chosen = [(c, one, mean) for c, one, mean in rated if c.space.name == space.name and (one or mean)]
        ratios = on_all_rows([c for c, _, _ in chosen], space, bandwidth, numerics)
        parts = zip(ratios, chosen, strict=True)
        members += [Member(space.coordinates, space.name, ratio, one, mean) for ratio, (_, one, mean) in parts]
    return Average(tuple(members))


def shares(candidates: list[Candidate], averages: bool) -> list[float]:
    """Return the share of each candidate in the answer, for averages or for single points."""
    losses = np.array([c.average_loss if averages else c.loss for c in candidates])
    allowed = _allowed_axes(candidates, losses)
    allowed &= losses <= max(_IGNORANCE, losses[allowed].min())
    if not averages:
        allowed &= _best_bandwidths(candidates, losses)
    rows = 4 / sum(1 / sample.effective_rows for sample in candidates[0].space.samples)
    share = np.where(allowed, np.exp(-_TEMPERATURE * rows * (losses - losses[allowed].min())), 0.0)
    share[share < _SMALLEST_SHARE * share.max()] = 0.0
    return list(share / share.sum())


def _best_bandwidths(candidates: list[Candidate], losses: Floats) -> NDArray[np.bool_]:
    """Mark, for each form in each space, the bandwidth with the smallest loss."""
    best: dict[tuple[str, tuple[str, bool]], int] = {}
    for i, c in enumerate(candidates):
        key = c.space.name, c.form.key
        if key not in best or losses[i] < losses[best[key]]:
            best[key] = i
    return np.isin(np.arange(len(candidates)), list(best.values()))


def _allowed_axes(candidates: list[Candidate], losses: Floats) -> NDArray[np.bool_]:
    """Mark the candidates that do not depend on the axes, or those that do where they are clearly better."""
    axes_matter = np.array([c.axes_matter for c in candidates])
    if axes_matter.all() or not axes_matter.any():
        return np.ones(len(candidates), dtype=bool)
    free, bound = (candidates[np.flatnonzero(mask)[np.argmin(losses[mask])]] for mask in (~axes_matter, axes_matter))
    fall = losses[~axes_matter].min() - losses[axes_matter].min()
    _, error = fall_of_log_loss(free.at_samples, bound.at_samples, free.space.samples)
    return axes_matter if fall > _CLEARLY * error else ~axes_matter


def _mean(parts: list[tuple[float, Floats]]) -> Floats:
    return np.sum([share * values for share, values in parts], axis=0)
