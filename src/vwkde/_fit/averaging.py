"""The fitted ratio as a combination of log ratios: of one member, or of several candidates.

Single points and averages get different answers. A ratio at a point suffers from noise as much as from bias. An average
of log ratios does not: noise that differs from point to point averages out. So for averages the loss that an unbiased
guide's own noise causes is subtracted. In high dimension the choice for single points is a shrunken model, the choice
for averages is not.

Candidates with similar losses share the answer; see `sharing`. For averages there are two ways to combine them, a mean
and a stack. Where both agree, nothing changes. Where they differ, something is missed by most models, and what is
missed makes the samples look more alike: averages use the one in which they are farther apart. How far the two differ
also tells how much may be missed altogether; see `_answers/uncertainty.py`.
"""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import chain, compress

import numpy as np
from numpy.typing import NDArray

from vwkde._compute import parallel
from vwkde._data.validation import Array
from vwkde._fit.candidates import Candidate, Coordinates, FormKey, Space, judged_by_all_rows, on_all_rows
from vwkde._fit.few_centres import QUICK_COLUMNS
from vwkde._fit.guided_ratio import Ratio
from vwkde._fit.kernel_estimate import Numerics
from vwkde._fit.sharing import FoldShares, Ways, combine, trust
from vwkde._models.log_loss import AtBoth, fall_of_log_loss, log_loss

Floats = NDArray[np.float64]

_FARTHEST = 1e9
"""Points farther out than this many standard deviations are moved to this distance, so that nothing overflows."""
_MANY_ROWS = 10_000
"""Rows of each sample that decide, if there are many more, which candidates are fitted to all of them."""
_LEAST_OF_STACK = 0.1
"""Mean coefficient in the stack that makes a guide worth fitting to many rows, if it has no other share."""
_HARDLY_BY_CHANCE = 2.0
"""Standard errors by which a guide with much noise must separate the samples further than the answer does."""
_ERROR_OF_LOSS = 0.25
"""By how much the loss of such a guide may be larger, in units of that standard error."""
_WIDTHS_AGAIN = 2.0 ** np.arange(-1.5, 1.5, 0.5)
"""Bandwidths, in units of Scott's, that are tried again with more rows."""


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
    """The members that share the answer.

    `by_fold` has the shares in averages for each fold; without it, all rows use the members' own shares. `alternatives`
    are the ways to combine the members that it was chosen from. `further` is how much further
    apart the samples may be, in the mean of both KL divergences, by a guide that has too much noise to be chosen.
    """

    members: tuple[Member, ...]
    by_fold: FoldShares | None = None
    alternatives: tuple[FoldShares, ...] = ()
    further: float = 0.0

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
        parts = [(m.pointwise, m.ratio.log_ratio(m.place(x))) for m in self.members if m.pointwise]
        return np.sum([share * values for share, values in parts], axis=0)

    def at_samples(self, averages: bool) -> AtBoth:
        """Return the log ratios at both samples, each point left out, for averages or for single points."""
        p, q = (self._at(side, averages) for side in (0, 1))
        return p, q

    def _at(self, side: int, averages: bool) -> Floats:
        values = self._mean(lambda ratio: ratio.at_samples[side], side, averages)
        return values + self.by_fold.level_at(side) if averages and self.by_fold is not None else values

    def separation(self) -> float:
        """Return how far apart the samples are: half the difference of the mean log ratios over both, in averages."""
        samples = self.main.ratio.samples
        p, q = (np.average(u, weights=s.weight) for u, s in zip(self.at_samples(averages=True), samples, strict=True))
        return float(p - q) / 2

    def noise(self) -> AtBoth:
        """Return the variance, at both samples, that the guides' fits add to the log ratios used in averages."""
        p, q = (self._spread(side) ** 2 for side in (0, 1))
        return p, q

    def _spread(self, side: int) -> Floats:
        return self._mean(lambda ratio: ratio.spread[side], side, averages=True)

    def _mean(self, values: Callable[[Ratio], Floats], side: int, averages: bool) -> Floats:
        """Return the mean over the members of values at the rows of a sample."""
        if averages and self.by_fold is not None:
            return self.by_fold.mean(lambda k: values(self.members[k].ratio), side)
        shares = [(member.average if averages else member.pointwise, member.ratio) for member in self.members]
        return np.sum([share * values(ratio) for share, ratio in shares if share], axis=0)


def average_of(
    candidates: list[Candidate],
    spaces: list[Space],
    bandwidth: float | None,
    numerics: Numerics,
    stacked: bool = False,
) -> Average:
    """Return the mean of the candidates that share the answer, each fitted to all rows of its space.

    If only some rows were used so far, more rows decide again among those candidates, and at last all rows: they may
    support more, and may have outliers that ruin a candidate. With `stacked`, averages use the stack too.
    """
    judged, ways = candidates, combine(candidates, numerics.seed, stacked)
    rounds = _rounds(spaces)
    for most in rounds:
        part = spaces if most is None else [space.thinned(numerics.seed, most) for space in spaces]
        least_of_guides = _LEAST_OF_STACK if len(rounds) > 1 else 0.0
        least_of_sums = _LEAST_OF_STACK if judged is not candidates else 0.0
        used = _worth_fitting(judged, ways, least_of_guides, least_of_sums)
        more = part[0].rows / judged[0].space.rows
        if more > 1 and bandwidth is None:
            used &= _promise(judged, more)
            used &= _best_sums(judged, used, judged_by_many=judged is not candidates)
            if judged is candidates:
                used |= _may_grow(judged)
                narrower = _to_try_again(judged, ways.average)
                judged, used = [*judged, *narrower], np.concatenate([used, np.ones(len(narrower), dtype=bool)])
        before = judged
        judged, ratios, order = _refit(before, np.flatnonzero(used), part, bandwidth, numerics)
        by_the_same_rows = all(c is before[i] for c, i in zip(judged, order, strict=True))
        ways = ways.taken(order) if by_the_same_rows else combine(judged, numerics.seed, stacked)
    members = [
        Member(c.space.coordinates, c.space.name, ratio, at_points, in_averages)
        for c, ratio, at_points, in_averages in zip(judged, ratios, ways.pointwise, ways.average, strict=True)
    ]
    average = Average(tuple(members), ways.mean)
    if ways.stack is not None:
        alternatives = ways.mean, ways.stack.mixed(ways.mean, trust(ways.stack, judged, ways.average))
        farther = max(alternatives, key=lambda way: replace(average, by_fold=way).separation())
        average = replace(average, by_fold=farther, alternatives=alternatives)
    return replace(average, further=_separated_further(candidates, average))


def _separated_further(candidates: list[Candidate], average: Average) -> float:
    """Return how much further apart the samples may be, by an unbiased guide with much noise that was not chosen.

    It counts if it separates them further than the answer does, hardly by chance, and without its noise has no larger
    loss, as far as that is known: a model that is wrong may separate them by anything.
    """
    noisy = [candidate.noise for candidate in candidates if candidate.noise is not None and candidate.noise.is_much]
    if not noisy:
        return 0.0
    own, loss = average.separation(), log_loss(average.at_samples(averages=True), average.main.ratio.samples)
    found = [0.0]
    for noise in noisy:
        further, error = noise.separation - own, noise.error_of_separation
        if further > _HARDLY_BY_CHANCE * error and noise.loss_without < loss + _ERROR_OF_LOSS * error:
            found.append(further + error)
    return max(found)


def _rounds(spaces: list[Space]) -> list[int | None]:
    """Return the numbers of rows by which candidates are judged again; the last is None, all rows."""
    rows = max(sample.total for space in spaces for sample in space.samples)
    return [_MANY_ROWS, None] if rows > 2 * _MANY_ROWS else [None]


def _refit(
    candidates: list[Candidate],
    used: NDArray[np.intp],
    spaces: list[Space],
    bandwidth: float | None,
    numerics: Numerics,
) -> tuple[list[Candidate], list[Ratio], list[int]]:
    """Return the candidates that are used, by all rows of the spaces, with their ratios and their old places."""
    order = [[int(i) for i in used if candidates[i].space.name == space.name] for space in spaces]
    chosen = [[candidates[i] for i in here] for here in order]
    here = list(zip(chosen, spaces, strict=True))

    def fit(each: tuple[list[Candidate], Space]) -> list[Ratio]:
        return on_all_rows(*each, bandwidth, numerics)

    fitted = parallel.concurrently(fit, here, spaces[0].rows_in_memory)
    judged = [
        judged_by_all_rows(c, space, ratio)
        for (own, space), ratios in zip(here, fitted, strict=True)
        for c, ratio in zip(own, ratios, strict=True)
    ]
    return judged, list(chain(*fitted)), list(chain(*order))


def _worth_fitting(
    candidates: list[Candidate], ways: Ways, least_of_guides: float, least_of_sums: float
) -> NDArray[np.bool_]:
    """Mark the candidates with a share, at single points or in averages, by all rows or by those outside a fold.

    A share in the stack counts if the mean coefficient exceeds a least one; that of a guide includes all bandwidths.
    Kernel sums gain so much from more rows that a few thousand do not decide about them.
    """
    in_stack = np.zeros(len(candidates), dtype=bool)
    if ways.stack:
        coefficients = ways.stack.shares.mean(axis=0)
        alone = np.array([c.bandwidth is None for c in candidates])
        of_guides = (coefficients > 0) & (_of_forms(candidates, coefficients) > least_of_guides)
        in_stack = np.where(alone, of_guides, coefficients > least_of_sums)
    knows_nothing = [c.bandwidth is None and c.form.guide.form is None for c in candidates]
    return np.asarray(np.any([ways.pointwise, ways.average, *ways.mean.shares, in_stack, knows_nothing], axis=0))


def _of_forms(candidates: list[Candidate], coefficients: Floats) -> Floats:
    """Return, for each candidate, the sum of the coefficients of its form in its space."""
    forms = [(c.space.name, c.form.key) for c in candidates]
    totals: dict[tuple[str, FormKey], float] = defaultdict(float)
    for form, coefficient in zip(forms, coefficients, strict=True):
        totals[form] += coefficient
    return np.array([totals[form] for form in forms])


def _best_sums(candidates: list[Candidate], used: NDArray[np.bool_], judged_by_many: bool) -> NDArray[np.bool_]:
    """Mark guides alone and, in each space, the kernel sums that are used around the guide where their loss is least.

    Sums around other guides cost as much again and hardly differ: what the kernel resolves, no guide need know. A
    bandwidth, or a space, that is not the best is needed as long as few rows have judged it.
    """
    best: dict[str, Candidate] = {}
    for c in compress(candidates, used):
        if c.bandwidth is not None and (c.space.name not in best or c.loss < best[c.space.name].loss):
            best[c.space.name] = c
    best_of_all = min(best.values(), key=lambda c: c.loss, default=None)

    def stays(c: Candidate) -> bool:
        if c.bandwidth is None or c is best_of_all:
            return True
        return not judged_by_many and c.form.key == best.get(c.space.name, c).form.key

    return np.array([stays(c) for c in candidates])


def _may_grow(candidates: list[Candidate]) -> NDArray[np.bool_]:
    """Mark the guides, alone, that may win with more rows, each in the space where it is best so far.

    In a space that more rows asked for, every guide may.
    """
    best: dict[str, Candidate] = {}
    for c in candidates:
        name = c.form.guide.name
        if c.bandwidth is None and c.form.guide.grows and (name not in best or c.loss < best[name].loss):
            best[name] = c
    grow = [c.space.grows and c.bandwidth is None for c in candidates]
    return np.array(grow) | [best.get(c.form.guide.name) is c for c in candidates]


def _to_try_again(candidates: list[Candidate], share: list[float]) -> list[Candidate]:
    """Return kernel sums around the best guide, which few rows may not have supported, in each space of few columns.

    Their log ratios are not known yet: those of the guide stand for them.
    """
    best: dict[str, tuple[float, Candidate]] = {}
    for c, loss in ((c, c.average_loss) for c, part in zip(candidates, share, strict=True) if part):
        if c.space.samples[0].points.shape[1] <= QUICK_COLUMNS and loss < best.get(c.space.name, (np.inf, c))[0]:
            best[c.space.name] = loss, c
    return [
        replace(c, bandwidth=c.space.scott * width, at_samples=c.form.guide.at_samples)
        for _, c in best.values()
        for width in _WIDTHS_AGAIN
    ]


def _promise(candidates: list[Candidate], more: float) -> NDArray[np.bool_]:
    """Mark guides alone, and kernel sums that may lower the loss of their guide if there are `more` times the rows.

    They should lower it so far that the fall would exceed one standard error with all those rows.
    """

    def may_pay(c: Candidate) -> bool:
        fall, error = fall_of_log_loss(c.form.guide.at_samples, c.at_samples, c.space.samples)
        return fall > error / np.sqrt(more)

    return np.array([c.bandwidth is None or may_pay(c) for c in candidates])
