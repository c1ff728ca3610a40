"""How candidates share the answer: by their losses, at single points and in averages, and by the stack.

Candidates with similar losses share the answer: their log ratios are averaged with weights that decrease exponentially
with the loss. At single points only the best bandwidth of each form takes part. In averages all bandwidths do, since
their losses hardly differ although their bias does. Averages have a second way to combine the candidates, the stack
(see `stacking`).

The best of many candidates owes part of its small loss to the rows that it was judged by. So where averages use the log
ratio at a row, shares and coefficients come from the other rows: those outside the fold that the row belongs to. They
do not show whether the model that is used at the row failed, as a mixture can that loses a component without some rows.
So a candidate that fails in one fold is left out of all.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vwkde._compute import parallel
from vwkde._data.sample import Sample
from vwkde._fit.candidates import Candidate, FormKey
from vwkde._fit.stacking import fit_stack
from vwkde._models.folds import known_folds
from vwkde._models.guides.cross_fit import FOLDS
from vwkde._models.log_loss import log_loss, mean_loss

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Mask = NDArray[np.bool_]
Folds = tuple[Ints, Ints]
"""The fold of each row of the numerator, and of each row of the denominator."""

_TEMPERATURE = 0.5
"""Share of the log likelihood that enters the shares of candidates: their losses are noisy and similar."""
_SMALLEST_SHARE = 0.01
_IGNORANCE = np.log(2) + 1e-12
"""The loss of a ratio that is one everywhere: a candidate with a larger loss is worse than no estimate."""
_FAILED, _FAILED_IN_ALL, _CLEARLY = 0.1, 200.0, 3.0
"""By how much the loss in one fold exceeds that of no estimate if the fold's model failed: nats at a row or, if that is
less, so many for all rows together, which no overfitting costs; and standard errors."""
_MOST_STACKED = 8
"""Candidates in the stack: the best ones, each with its best bandwidth."""
_MOST_ROWS_STACKED = 10_000
"""Rows of each sample that the coefficients of the stack come from at most."""


@dataclass(frozen=True)
class FoldShares:
    """How averages combine the members at the rows of each fold.

    `shares`, of shape (folds, members), multiply the members' log ratios, `levels` are added, and `folds` are the folds
    of the rows of both samples.
    """

    shares: Floats
    levels: Floats
    folds: Folds

    def mean(self, values: Callable[[int], Floats], side: int) -> Floats:
        """Return the sum of the members' values at the rows of a sample, times their shares; `values` takes a number.

        Those of a member without a share are not asked for.
        """
        used = [k for k, share in enumerate(self.shares.T) if share.any()]

        def total(fold: Ints, *parts: Floats) -> Floats:
            return np.sum([self.shares[fold, k] * part for k, part in zip(used, parts, strict=True)], axis=0)

        return parallel.elementwise(total, self.folds[side], *map(values, used))

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


def combine(candidates: list[Candidate], seed: int, stacked: bool) -> Ways:
    """Return how candidates combine; with `stacked`, by the stack too."""
    folds, samples = _deal(candidates, seed), candidates[0].space.samples

    def summed(candidate: Candidate) -> tuple[_FoldSums, _FoldSums]:
        p, q = (_fold_sums(*of_side) for of_side in zip(candidate.average_terms, samples, folds, strict=True))
        return p, q

    sums = parallel.run_if_many(summed, candidates, len(samples[0]))
    weights = [
        _FoldWeights(_by_fold(sample.weight, fold), _by_fold(sample.weight**2, fold))
        for sample, fold in zip(samples, folds, strict=True)
    ]
    failed = np.array([_failed(of_candidate, weights, sum(map(len, samples))) for of_candidate in sums])
    sound = failed if failed.all() else ~failed  # all of them, if every one failed
    return Ways(
        shares(candidates, False, sound),
        shares(candidates, True, sound),
        FoldShares(_mean_by_fold(candidates, sums, weights, sound), np.zeros(FOLDS), folds),
        _stack_by_fold(candidates, sound, seed) if stacked else None,
    )


def trust(stack: FoldShares, candidates: list[Candidate], average: list[float]) -> float:
    """Return how far the stack counts: less if its loss exceeds that of the mean without the noise of guides.

    The stack prefers shrunken models to unbiased ones with noise, although the noise averages out.
    """
    samples = candidates[0].space.samples

    def stacked(side: int) -> Floats:
        return stack.mean(lambda k: candidates[k].at_samples[side], side) + stack.level_at(side)

    excess = log_loss((stacked(0), stacked(1)), samples) - np.dot(average, [c.average_loss for c in candidates])
    return float(np.exp(-_TEMPERATURE * _rows(samples) * max(0.0, excess)))


def shares(candidates: list[Candidate], averages: bool, sound: Mask | None = None) -> list[float]:
    """Return the share of each candidate in the answer, for averages or for single points; of all, or of sound ones."""
    samples = candidates[0].space.samples

    def loss(candidate: Candidate) -> float:
        return candidate.average_loss if averages else candidate.loss

    losses = np.array(parallel.run_if_many(loss, candidates, len(samples[0])))
    losses = losses if sound is None else np.where(sound, losses, np.inf)
    return list(_shares(candidates, averages, losses, _rows(samples)))


class _FoldWeights(NamedTuple):
    """The sums of the weights in each fold, and of their squares."""

    weight: Floats
    squares: Floats


class _FoldSums(NamedTuple):
    """Sums over the rows of each fold: w·e, w²·e and w²·e², where w are weights and e are loss terms."""

    terms: Floats
    by_weight: Floats
    squares: Floats


def _fold_sums(terms: Floats, sample: Sample, fold: Ints) -> _FoldSums:
    weighted = sample.weight * terms
    return _FoldSums(_by_fold(weighted, fold), _by_fold(sample.weight * weighted, fold), _by_fold(weighted**2, fold))


def _failed(sums: tuple[_FoldSums, _FoldSums], weights: list[_FoldWeights], rows: int) -> bool:
    """Return whether loss terms at so many rows, by their sums, clearly exceed those of no estimate in some fold."""
    excess, variance = np.full(FOLDS, -_IGNORANCE), np.zeros(FOLDS)
    for (terms, by_weight, squares), own in zip(sums, weights, strict=True):
        weight = np.where(own.weight > 0, own.weight, 1.0)  # a fold of very few rows may be empty
        mean = terms / weight
        excess += 0.5 * mean
        variance += 0.25 * (squares - 2 * mean * by_weight + mean**2 * own.squares) / weight**2
    least = min(_FAILED, _FAILED_IN_ALL / rows)
    return bool((excess > np.maximum(least, _CLEARLY * np.sqrt(np.maximum(variance, 0.0)))).any())


def _shares(candidates: list[Candidate], averages: bool, losses: Floats, rows: float) -> Floats:
    """Return the shares of candidates that have these losses, means over so many rows."""
    allowed = losses <= max(_IGNORANCE, losses.min())
    if not averages:
        allowed &= _best_bandwidths(candidates, losses)
    share = np.where(allowed, np.exp(-_TEMPERATURE * rows * (losses - losses[allowed].min())), 0.0)
    share[share < _SMALLEST_SHARE * share.max()] = 0.0
    return np.asarray(share / share.sum())


def _rows(samples: tuple[Sample, Sample], parts: tuple[float, float] = (1.0, 1.0)) -> float:
    """Return the number of rows that losses are the mean of, if both samples have equal weight and these parts count.

    A part is a share of the sample's weight.
    """
    return float(4 / sum(1 / (part * sample.effective_rows) for sample, part in zip(samples, parts, strict=True)))


def _deal(candidates: list[Candidate], seed: int) -> Folds:
    p, q = (known_folds(sample, FOLDS, seed) for sample in candidates[0].space.samples)
    return p, q


def _mean_by_fold(
    candidates: list[Candidate], sums: list[tuple[_FoldSums, _FoldSums]], weights: list[_FoldWeights], sound: Mask
) -> Floats:
    """Return the shares of the best sound candidates by the rows outside each fold, (folds, candidates)."""
    samples = candidates[0].space.samples
    losses, parts = np.zeros((FOLDS, len(candidates))), []
    for of_side, (weight, _) in zip(zip(*sums, strict=True), weights, strict=True):
        terms, outside = np.column_stack([each.terms for each in of_side]), weight.sum() - weight
        losses += 0.5 * (terms.sum(axis=0) - terms) / outside[:, None]
        parts.append(outside / weight.sum())
    rows = [_rows(samples, (p, q)) for p, q in zip(*parts, strict=True)]
    losses[:, ~sound] = np.inf
    return np.array([_shares(candidates, True, *each) for each in zip(losses, rows, strict=True)])


def _by_fold(values: Floats, fold: Ints) -> Floats:
    """Return the sum of the values in each fold."""
    return np.asarray(np.bincount(fold, weights=values, minlength=FOLDS), dtype=np.float64)


def _stack_by_fold(candidates: list[Candidate], sound: Mask, seed: int) -> FoldShares:
    """Return the stack of the best sound candidates by the rows outside each fold."""
    p, q = _deal(candidates, seed)
    by_fold, levels = np.zeros((FOLDS, len(candidates))), np.zeros(FOLDS)
    for fold in range(FOLDS):
        counted = _at_most(p != fold, _MOST_ROWS_STACKED), _at_most(q != fold, _MOST_ROWS_STACKED)
        samples = [sample.subset(rows) for sample, rows in zip(candidates[0].space.samples, counted, strict=True)]
        both = samples[0], samples[1]
        losses = np.array([mean_loss((c.terms[0][counted[0]], c.terms[1][counted[1]]), both) for c in candidates])
        losses[~sound] = np.inf
        start = _shares(candidates, False, losses, _rows(both))
        chosen = _to_stack(candidates, losses)
        at_rows = [(c.at_samples[0][counted[0]], c.at_samples[1][counted[1]]) for c in (candidates[i] for i in chosen)]
        by_fold[fold, chosen], levels[fold] = fit_stack(at_rows, start[chosen], both)
    return FoldShares(by_fold, levels, (p, q))


def _at_most(counted: NDArray[np.bool_], rows: int) -> Ints:
    """Return the numbers of at most so many of the rows that count, evenly spread."""
    at = np.flatnonzero(counted)
    return at[np.linspace(0, len(at) - 1, min(rows, len(at))).astype(np.intp)]


def _to_stack(candidates: list[Candidate], losses: Floats) -> Ints:
    """Return the best candidates by these losses, each with its best bandwidth."""
    best = np.flatnonzero(_best_bandwidths(candidates, losses, alone_too=True))
    best = best[np.isfinite(losses[best])]
    return best[np.argsort(losses[best], kind="stable")[:_MOST_STACKED]]


def _best_bandwidths(candidates: list[Candidate], losses: Floats, alone_too: bool = False) -> NDArray[np.bool_]:
    """Mark, for each form in each space, the bandwidth with the smallest loss; `alone_too` the guide alone as well."""
    best: dict[tuple[str, FormKey, bool], int] = {}
    for i, c in enumerate(candidates):
        key = c.space.name, c.form.key, alone_too and c.bandwidth is None
        if key not in best or losses[i] < losses[best[key]]:
            best[key] = i
    return np.isin(np.arange(len(candidates)), list(best.values()))
