"""The fitted ratio as a combination of log ratios: of one member, or of several candidates.

Single points and averages get different answers. A ratio at a point suffers from noise as much as from bias. An average
of log ratios does not: noise that differs from point to point averages out. So for averages the loss that an unbiased
guide's own noise causes is subtracted. In high dimension the choice for single points is a shrunken model, the choice
for averages is not.

Candidates with similar losses share the answer: their log ratios are averaged with weights that decrease exponentially
with the loss. At single points only the best bandwidth of each form takes part. In averages all bandwidths do, since
their losses hardly differ although their bias does.

Averages have a second way to combine the candidates, the stack (see `stacking`). Where both agree, nothing changes.
Where they differ, something is missed by most models, and what is missed makes the samples look more alike: averages
use the one in which they are farther apart. How far the two differ also tells how much may be missed altogether; see
`_answers/uncertainty.py`.

The best of many candidates owes part of its small loss to the rows that it was judged by. So where averages use the log
ratio at a row, shares and coefficients come from the other rows: those outside the fold that the row belongs to.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vwkde._data.sample import Sample
from vwkde._data.validation import Array
from vwkde._fit.candidates import Candidate, Coordinates, FormKey, Space, judged_by_all_rows, on_all_rows
from vwkde._fit.few_centres import QUICK_COLUMNS
from vwkde._fit.guided_ratio import Ratio
from vwkde._fit.kernel_estimate import Numerics
from vwkde._fit.stacking import fit_stack
from vwkde._models.folds import deal_folds
from vwkde._models.guides.cross_fit import FOLDS
from vwkde._models.log_loss import AtBoth, fall_of_log_loss, log_loss

Floats = NDArray[np.float64]
Masks = tuple[NDArray[np.bool_], NDArray[np.bool_]]
"""Which rows of the numerator count, and which of the denominator."""

_FARTHEST = 1e9
"""Points farther out than this many standard deviations are moved to this distance, so that nothing overflows."""
_TEMPERATURE = 0.5
"""Share of the log likelihood that enters the shares of candidates: their losses are noisy and similar."""
_SMALLEST_SHARE = 0.01
_IGNORANCE = np.log(2) + 1e-12
"""The loss of a ratio that is one everywhere: a candidate with a larger loss is worse than no estimate."""
_MOST_STACKED = 8
"""Candidates in the stack: the best ones, each with its best bandwidth."""
_MOST_ROWS_STACKED = 10_000
"""Rows of each sample that the coefficients of the stack come from at most."""
_MANY_ROWS = 12_000
"""Rows of each sample that decide, if there are many more, which candidates are fitted to all of them."""
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


Folds = tuple[NDArray[np.intp], NDArray[np.intp]]


@dataclass(frozen=True)
class FoldShares:
    """How averages combine the members at the rows of each fold.

    `shares`, of shape (folds, members), multiply the members' log ratios, `levels` are added, and `folds` are the folds
    of the rows of both samples.
    """

    shares: Floats
    levels: Floats
    folds: Folds

    def at(self, side: int) -> Floats:
        """Return the shares at the rows of a sample, (members, rows)."""
        return self.shares[self.folds[side]].T

    def level_at(self, side: int) -> Floats:
        """Return what is added at the rows of a sample."""
        return self.levels[self.folds[side]]

    def taken(self, order: list[int]) -> "FoldShares":
        """Return the shares of some of the members."""
        return replace(self, shares=self.shares[:, order])

    def mixed(self, other: "FoldShares", part: float) -> "FoldShares":
        """Return a part of these shares and the rest of others."""
        return FoldShares(
            part * self.shares + (1 - part) * other.shares, part * self.levels + (1 - part) * other.levels, self.folds
        )


@dataclass(frozen=True)
class Average:
    """The members that share the answer.

    `by_fold` has the shares in averages for each fold; without it, all rows use the members' own shares. `alternatives`
    are the ways to combine the members that it was chosen from.
    """

    members: tuple[Member, ...]
    by_fold: FoldShares | None = None
    alternatives: tuple[FoldShares, ...] = ()

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
        at_p, at_q = self._mean(lambda ratio: ratio.at_samples, averages)
        if averages and self.by_fold is not None:
            return at_p + self.by_fold.level_at(0), at_q + self.by_fold.level_at(1)
        return at_p, at_q

    def separation(self) -> float:
        """Return how far apart the samples are: the difference of the mean log ratios over both, in averages."""
        samples = self.main.ratio.samples
        p, q = (np.average(u, weights=s.weight) for u, s in zip(self.at_samples(averages=True), samples, strict=True))
        return float(p - q)

    def noise(self) -> AtBoth:
        """Return the variance, at both samples, that the guides' fits add to the log ratios used in averages."""
        spread = self._mean(lambda ratio: (np.sqrt(ratio.noise[0]), np.sqrt(ratio.noise[1])), averages=True)
        return spread[0] ** 2, spread[1] ** 2

    def _mean(self, values: Callable[[Ratio], AtBoth], averages: bool) -> AtBoth:
        means = []
        for side in (0, 1):
            shares = self._shares(side, averages)
            parts = [
                share * values(m.ratio)[side] for m, share in zip(self.members, shares, strict=True) if share.any()
            ]
            means.append(np.sum(parts, axis=0))
        return means[0], means[1]

    def _shares(self, side: int, averages: bool) -> Floats:
        """Return the shares at the rows of a sample, (members, rows), or (members, 1) where all rows have the same."""
        if averages and self.by_fold is not None:
            return self.by_fold.at(side)
        return np.array([[member.average if averages else member.pointwise] for member in self.members])


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
    judged, ways = candidates, _combine(candidates, numerics.seed, stacked)
    for most in _rounds(spaces):
        part = spaces if most is None else [space.thinned(numerics.seed, most) for space in spaces]
        used = _worth_fitting(judged, ways)
        more = part[0].rows / judged[0].space.rows
        if more > 1 and bandwidth is None:
            used &= _promise(judged, more)
            if judged is candidates:
                used |= _may_grow(judged)
                narrower = _to_try_again(judged, ways.average)
                judged, used = [*judged, *narrower], np.concatenate([used, np.ones(len(narrower), dtype=bool)])
        before = judged
        judged, ratios, order = _refit(before, np.flatnonzero(used), part, bandwidth, numerics)
        by_the_same_rows = all(c is before[i] for c, i in zip(judged, order, strict=True))
        ways = ways.taken(order) if by_the_same_rows else _combine(judged, numerics.seed, stacked)
    members = [
        Member(c.space.coordinates, c.space.name, ratio, at_points, in_averages)
        for c, ratio, at_points, in_averages in zip(judged, ratios, ways.pointwise, ways.average, strict=True)
    ]
    if ways.stack is None:
        return Average(tuple(members), ways.mean)
    alternatives = ways.mean, ways.stack.mixed(ways.mean, _trust(ways.stack, judged, ways.average))
    farther = max(alternatives, key=lambda way: Average(tuple(members), way).separation())
    return Average(tuple(members), farther, alternatives)


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
    judged, ratios, order = [], [], []
    for space in spaces:
        here = [int(i) for i in used if candidates[i].space.name == space.name]
        chosen = [candidates[i] for i in here]
        fitted = on_all_rows(chosen, space, bandwidth, numerics)
        judged += [judged_by_all_rows(c, space, ratio) for c, ratio in zip(chosen, fitted, strict=True)]
        ratios += fitted
        order += here
    return judged, ratios, order


class Ways(NamedTuple):
    """How candidates combine: their shares at single points and in averages by all rows, and the two ways by fold."""

    pointwise: list[float]
    average: list[float]
    mean: FoldShares
    stack: FoldShares | None

    def taken(self, order: list[int]) -> "Ways":
        """Return the ways for some of the candidates; the others should have no share."""
        return Ways(
            [self.pointwise[i] for i in order],
            [self.average[i] for i in order],
            self.mean.taken(order),
            self.stack and self.stack.taken(order),
        )


def _combine(candidates: list[Candidate], seed: int, stacked: bool) -> Ways:
    return Ways(
        shares(candidates, averages=False),
        shares(candidates, averages=True),
        _mean_by_fold(candidates, seed),
        _stack_by_fold(candidates, seed) if stacked else None,
    )


def _trust(stack: FoldShares, candidates: list[Candidate], average: list[float]) -> float:
    """Return how far the stack counts: less if its loss exceeds that of the mean without the noise of guides.

    The stack prefers shrunken models to unbiased ones with noise, although the noise averages out.
    """
    samples = candidates[0].space.samples
    at_p, at_q = (
        np.sum([stack.at(side)[k] * c.at_samples[side] for k, c in enumerate(candidates)], axis=0)
        + stack.level_at(side)
        for side in (0, 1)
    )
    excess = log_loss((at_p, at_q), samples) - np.dot(average, [c.average_loss for c in candidates])
    return float(np.exp(-_TEMPERATURE * _rows(samples) * max(0.0, excess)))


def _worth_fitting(candidates: list[Candidate], ways: Ways) -> NDArray[np.bool_]:
    """Mark the candidates with a share, at single points or in averages, by all rows or by those outside a fold."""
    by_fold = [*ways.mean.shares, *(ways.stack.shares if ways.stack else ())]
    knows_nothing = [c.bandwidth is None and c.form.guide.form is None for c in candidates]
    return np.asarray(np.any([ways.pointwise, ways.average, *by_fold, knows_nothing], axis=0))


def _may_grow(candidates: list[Candidate]) -> NDArray[np.bool_]:
    """Mark the guides, alone, that become more flexible with more rows."""
    return np.array([c.bandwidth is None and c.form.guide.grows for c in candidates])


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


def shares(candidates: list[Candidate], averages: bool, counted: Masks | None = None) -> list[float]:
    """Return the share of each candidate in the answer, for averages or for single points.

    `counted` are the rows by whose losses candidates are compared: by default, all.
    """
    samples = candidates[0].space.samples
    losses = _losses([c.average_terms if averages else c.terms for c in candidates], samples, counted)
    if counted is not None:
        samples = samples[0].subset(counted[0]), samples[1].subset(counted[1])
    allowed = losses <= max(_IGNORANCE, losses.min())
    if not averages:
        allowed &= _best_bandwidths(candidates, losses)
    share = np.where(allowed, np.exp(-_TEMPERATURE * _rows(samples) * (losses - losses[allowed].min())), 0.0)
    share[share < _SMALLEST_SHARE * share.max()] = 0.0
    return list(share / share.sum())


def _rows(samples: tuple[Sample, Sample]) -> float:
    """Return the number of rows that losses are the mean of, if both samples have equal weight."""
    return float(4 / sum(1 / sample.effective_rows for sample in samples))


def _deal(candidates: list[Candidate], seed: int) -> Folds:
    p, q = (deal_folds(sample, FOLDS, np.random.default_rng(seed)) for sample in candidates[0].space.samples)
    return p, q


def _mean_by_fold(candidates: list[Candidate], seed: int) -> FoldShares:
    """Return the mean of the best candidates by the rows outside each fold."""
    p, q = _deal(candidates, seed)
    by_fold = np.array([shares(candidates, True, (p != fold, q != fold)) for fold in range(FOLDS)])
    return FoldShares(by_fold, np.zeros(FOLDS), (p, q))


def _stack_by_fold(candidates: list[Candidate], seed: int) -> FoldShares:
    """Return the stack of the best candidates by the rows outside each fold."""
    p, q = _deal(candidates, seed)
    by_fold, levels = np.zeros((FOLDS, len(candidates))), np.zeros(FOLDS)
    for fold in range(FOLDS):
        counted = _at_most(p != fold, _MOST_ROWS_STACKED), _at_most(q != fold, _MOST_ROWS_STACKED)
        start = np.array(shares(candidates, False, counted))
        chosen = _to_stack(candidates, counted)
        at_rows = [(c.at_samples[0][counted[0]], c.at_samples[1][counted[1]]) for c in (candidates[i] for i in chosen)]
        samples = [sample.subset(mask) for sample, mask in zip(candidates[0].space.samples, counted, strict=True)]
        by_fold[fold, chosen], levels[fold] = fit_stack(at_rows, start[chosen], (samples[0], samples[1]))
    return FoldShares(by_fold, levels, (p, q))


def _at_most(counted: NDArray[np.bool_], rows: int) -> NDArray[np.bool_]:
    """Return a mask of at most so many of the rows that count, evenly spread."""
    at = np.flatnonzero(counted)
    mask = np.zeros_like(counted)
    mask[at[np.linspace(0, len(at) - 1, min(rows, len(at))).astype(int)]] = True
    return mask


def _to_stack(candidates: list[Candidate], counted: Masks) -> NDArray[np.intp]:
    """Return the best candidates by some rows, each with its best bandwidth."""
    losses = _losses([c.terms for c in candidates], candidates[0].space.samples, counted)
    best = np.flatnonzero(_best_bandwidths(candidates, losses, alone_too=True))
    return best[np.argsort(losses[best], kind="stable")[:_MOST_STACKED]]


def _losses(terms: list[AtBoth], samples: tuple[Sample, Sample], counted: Masks | None) -> Floats:
    """Return the mean loss of each candidate by the rows that count, with equal weight for both classes."""
    total = np.zeros(len(terms))
    for side, sample in enumerate(samples):
        weight = sample.weight if counted is None else sample.weight * counted[side]
        total += np.stack([each[side] for each in terms]) @ (weight / weight.sum())
    return total / 2


def _best_bandwidths(candidates: list[Candidate], losses: Floats, alone_too: bool = False) -> NDArray[np.bool_]:
    """Mark, for each form in each space, the bandwidth with the smallest loss; `alone_too` the guide alone as well."""
    best: dict[tuple[str, FormKey, bool], int] = {}
    for i, c in enumerate(candidates):
        key = c.space.name, c.form.key, alone_too and c.bandwidth is None
        if key not in best or losses[i] < losses[best[key]]:
            best[key] = i
    return np.isin(np.arange(len(candidates)), list(best.values()))
