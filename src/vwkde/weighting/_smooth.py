"""A smooth log ratio of many rows: logistic regression on functions of single columns and of pairs of columns.

The ridge grows with the fourth power of the order of a function, as for one whose second derivatives are bounded.
Newton's method starts with some of the rows. The step that is left is then made with all of them.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from vwkde._data.sample import Sample
from vwkde.weighting._basis import Basis, Singles, make_basis

Floats = NDArray[np.float64]
Samples = tuple[Sample, Sample]

_RIDGE = 10.0
"""Precision of the coefficients of order one, as if that many rows had shown them to be zero."""
_FIRST_ROWS, _MOST_ROWS = 10_000, 50_000
"""Rows of each sample that the first steps use, and that are used at most."""
_MOST_WORK = 1e10
"""Products of two terms of a row, over all rows of a sample, that a step computes at most."""
_STEPS, _HALVINGS = 8, 5
_SMALL_GAIN = 1e-4
"""Gain of a step in the log likelihood of a row below which no more steps are made with some of the rows."""


@dataclass(frozen=True)
class SmoothLogRatio:
    """A guide that is linear in the terms."""

    basis: Basis
    coefficients: Floats

    def __call__(self, x: Floats) -> Floats:
        """Return the log odds."""
        blocks = np.array_split(x, max(1, len(x) // _FIRST_ROWS))
        single = self.coefficients.astype(np.float32)
        return np.concatenate([single @ self.basis(block) for block in blocks]).astype(np.float64)


def fit_smooth(numerator: Sample, denominator: Sample) -> SmoothLogRatio:
    """Return the log ratio of two samples, both with equal weight."""
    random = np.random.default_rng(0)
    start = fit_start((numerator, denominator), random)
    most = most_rows(start.basis)
    samples = numerator.thinned(most, random), denominator.thinned(most, random)
    if max(map(len, samples)) <= _FIRST_ROWS:
        return start
    return SmoothLogRatio(start.basis, make_problem(start.basis, samples).step(start.coefficients)[0])


def fit_start(samples: Samples, random: np.random.Generator) -> SmoothLogRatio:
    """Return the log ratio by some of the rows."""
    few = samples[0].thinned(_FIRST_ROWS, random), samples[1].thinned(_FIRST_ROWS, random)
    basis = make_basis(np.concatenate([sample.points for sample in few]))
    problem = make_problem(basis, few)
    coefficients, loss = np.zeros(1 + len(basis.terms)), np.inf
    for _ in range(_STEPS):
        before = loss
        coefficients, loss = problem.step(coefficients)
        if before - loss < _SMALL_GAIN:
            break
    return SmoothLogRatio(basis, coefficients)


def most_rows(basis: Basis) -> int:
    """Return how many rows of each sample the last step uses at most."""
    return int(np.clip(_MOST_WORK / (1 + len(basis.terms)) ** 2, _FIRST_ROWS, _MOST_ROWS))


class Slopes(NamedTuple):
    """Gradient and curvature of the log likelihood of some rows, the sum of their weights, and their number."""

    gradient: Floats
    curvature: Floats
    weight: float
    rows: int


def slopes_at(terms: Singles, label: Singles, weight: Singles, log_odds: Singles) -> Slopes:
    """Return the slopes of the log likelihood of rows with these log odds."""
    probability = expit(log_odds)
    gradient = (terms @ (weight * (label - probability))).astype(np.float64)
    scaled = terms * np.sqrt(weight * probability * (1 - probability))
    return Slopes(gradient, (scaled @ scaled.T).astype(np.float64), float(weight.sum()), len(label))


@dataclass(frozen=True)
class Problem:
    """The terms at the rows, which rows are the numerator's, the rows' weights, and the ridge of the coefficients."""

    terms: Singles
    label: Singles
    weight: Singles
    ridge: Floats

    def loss(self, log_odds: Singles, coefficients: Floats) -> float:
        """Return the mean loss of a row, with the ridge."""
        losses = np.logaddexp(0, np.where(self.label > 0, -log_odds, log_odds))
        return float((self.weight @ losses + 0.5 * self.ridge @ coefficients**2) / len(losses))

    def step(self, coefficients: Floats) -> tuple[Floats, float]:
        """Return the coefficients after a step of Newton's method, and their loss."""
        slopes = slopes_at(self.terms, self.label, self.weight, coefficients.astype(np.float32) @ self.terms)
        gradient = slopes.gradient - self.ridge * coefficients
        step = np.linalg.solve(slopes.curvature + np.diag(self.ridge), gradient)
        return self.moved(coefficients, np.asarray(step, dtype=np.float64))

    def moved(self, coefficients: Floats, step: Floats) -> tuple[Floats, float]:
        """Return the coefficients after a step, halved until it is a gain, and their loss."""
        log_odds, along = (each.astype(np.float32) @ self.terms for each in (coefficients, step))
        before = self.loss(log_odds, coefficients)
        for size in 0.5 ** np.arange(_HALVINGS):
            loss = self.loss(log_odds + np.float32(size) * along, coefficients + size * step)
            if loss <= before:
                return coefficients + size * step, loss
        return coefficients, before


def make_problem(basis: Basis, samples: Samples) -> Problem:
    """Return the problem of some rows, in which both samples count the same."""
    rows = sum(map(len, samples))
    terms = basis(np.concatenate([sample.points for sample in samples]))
    label = np.repeat(np.array([1, 0], dtype=np.float32), [len(sample) for sample in samples])
    weight = np.concatenate([sample.weight * rows / (2 * sample.weight.sum()) for sample in samples])
    return Problem(terms, label, weight.astype(np.float32), ridge_of(len(terms), rows))


def ridge_of(terms: int, rows: int) -> Floats:
    """Return the ridge of the coefficients of terms, the first of which is the level and free."""
    ridge = np.full(terms, _RIDGE)
    ridge[0] = np.finfo(np.float32).eps * rows
    return ridge
