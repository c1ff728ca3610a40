"""The fitted ratio as a mean of log ratios: of one member, or of several candidates that are about equally good.

Single points and averages get different answers. A ratio at a point suffers from noise as much as from bias. An average
of log ratios does not: noise that differs from point to point averages out. So for averages the loss that an unbiased
guide's own noise causes is subtracted. In high dimension the choice for single points is a shrunken model, the choice
for averages is not.

Candidates with similar losses share the answer: their log ratios are averaged with weights that decrease exponentially
with the loss. At single points only the best bandwidth of each form takes part. In averages all bandwidths do, since
their losses hardly differ although their bias does. Candidates that depend on the choice of axes take part only if they
are clearly better; otherwise any affine copy of the data gives the same answer.
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
"""Points farther out than this many standard deviations are moved to this distance, so that nothing overflows."""
_CLEARLY = 2.0
"""Standard errors by which a candidate that depends on the axes must be better."""
_TEMPERATURE = 0.25
"""Share of the log likelihood that enters the shares of candidates: their losses are noisy and similar."""
_SMALLEST_SHARE = 0.01
_IGNORANCE = np.log(2) + 1e-12
"""The loss of a ratio that is one everywhere: a candidate with a larger loss is worse than no estimate."""


@dataclass(frozen=True)
class Member:
    """A ratio, its coordinates, and its shares in the answer at single points and in averages."""

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
        """Whether the guides of all members use all rows of the samples, in memory or not."""
        return all(member.ratio.guide.by_moments for member in self.members)

    def log_ratio(self, x: Array) -> Floats:
        """Return the log ratio at new points."""
        return _mean([(share, member.ratio.log_ratio(member.place(x))) for member, share in self._shares(False)])

    def at_samples(self, averages: bool) -> AtBoth:
        """Return the log ratios at both samples, each point left out, for averages or for single points."""
        parts = [(share, member.ratio.at_samples) for member, share in self._shares(averages)]
        return _mean([(share, at[0]) for share, at in parts]), _mean([(share, at[1]) for share, at in parts])

    def noise(self) -> AtBoth:
        """Return the variance, at both samples, that the guides' fits add to the log ratios used in averages."""
        parts = [(share, member.ratio.noise) for member, share in self._shares(averages=True)]
        sides = [_mean([(share, np.sqrt(noise[side])) for share, noise in parts]) ** 2 for side in (0, 1)]
        return sides[0], sides[1]

    def _shares(self, averages: bool) -> list[tuple[Member, float]]:
        shares = [(member, member.average if averages else member.pointwise) for member in self.members]
        return [(member, share) for member, share in shares if share > 0]


def average_of(
    candidates: list[Candidate], spaces: list[Space], bandwidth: float | None, numerics: Numerics
) -> Average:
    """Return the mean of the candidates that share the answer, each fitted to all rows of its space."""
    pointwise, average = shares(candidates, averages=False), shares(candidates, averages=True)
    members = []
    for space in spaces:
        chosen = [i for i, c in enumerate(candidates) if c.space.name == space.name and (pointwise[i] or average[i])]
        ratios = on_all_rows([candidates[i] for i in chosen], space, bandwidth, numerics)
        for i, ratio in zip(chosen, ratios, strict=True):
            members.append(Member(space.coordinates, space.name, ratio, pointwise[i], average[i]))
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
    """Mark the candidates that do not depend on the axes, or those that do if they are clearly better."""
    axes_matter = np.array([c.axes_matter for c in candidates])
    if axes_matter.all() or not axes_matter.any():
        return np.ones(len(candidates), dtype=bool)
    free, bound = (candidates[np.flatnonzero(mask)[np.argmin(losses[mask])]] for mask in (~axes_matter, axes_matter))
    fall = losses[~axes_matter].min() - losses[axes_matter].min()
    _, error = fall_of_log_loss(free.at_samples, bound.at_samples, free.space.samples)
    return axes_matter if fall > _CLEARLY * error else ~axes_matter


def _mean(parts: list[tuple[float, Floats]]) -> Floats:
    return np.sum([share * values for share, values in parts], axis=0)
