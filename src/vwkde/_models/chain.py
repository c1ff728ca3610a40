"""A density of rows as a chain of columns, each of which may scatter otherwise where the columns before it differ.

A column is a linear function of those before it plus noise with Student's t distribution, whose log scale is linear in
features of those columns. Only features that clearly count enter the scale, so that many columns add little noise.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vwkde._data.sample import Sample
from vwkde._models.gaussian import pooled_covariance
from vwkde._models.student import student_log_density

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Samples = tuple[Sample, Sample]

_FREEDOMS = np.array([3.0, 5.0, 10.0, 30.0, 1e6])
"""Degrees of freedom of the noise that are tried."""
_CONSTANT_SCALE = np.zeros(1, dtype=np.intp), np.zeros(1), 30.0
"""The scale that the search begins with: the constant alone, and nearly normal noise."""
_FARTHEST = 3.0
"""Standard deviations beyond which the sign of a column says no more about the scale of others."""
_FREQUENCIES = 1.5, 3.0
"""Those of the waves along a column, per standard deviation, with which the scale of others may rise and fall."""
MOST_WITH_WAVES = 10
"""Columns up to which there are waves along each: of many, some would count by chance."""
_CLEARLY = 3.0
"""Standard errors by which a feature must count to enter the scale."""
_ROUNDS, _STEPS = 3, 4
"""Rounds in which features may enter, and Newton steps in each."""
_LARGEST_STEP = 1.0
_RIDGE = 1e-6


class Link(NamedTuple):
    """One column given those before it: its mean, its log variance by features, and its degrees of freedom."""

    line: Floats
    used: Ints
    log_variance: Floats
    freedom: float


@dataclass(frozen=True)
class Chain:
    """The density of rows as a chain of columns, in some order, each in units of its mean and deviation."""

    order: Ints
    centre: Floats
    unit: Floats
    links: tuple[Link, ...]

    def log_density(self, x: Floats) -> Floats:
        """Return log p, normalised."""
        z = (x[:, self.order] - self.centre) / self.unit
        logs = np.full(len(x), -np.log(self.unit).sum())
        for j, link in enumerate(self.links):
            before = z[:, :j]
            log_variance = scale_features(before)[:, link.used] @ link.log_variance
            residual = z[:, j] - with_constant(before) @ link.line
            logs += log_student(residual, log_variance, link.freedom)
        return logs


def fit_chains(samples: Samples, order: Ints, shared: bool) -> tuple[Chain, Chain]:
    """Fit each column of both samples given those before it."""
    centre = np.mean([sample.mean_and_covariance()[0] for sample in samples], axis=0)[order]
    unit = np.sqrt(np.maximum(np.diag(pooled_covariance(samples))[order], np.finfo(np.float64).tiny))
    z = [(sample.points[:, order] - centre) / unit for sample in samples]
    weights = [sample.weight * sample.effective_rows / sample.weight.sum() for sample in samples]

    def links(j: int) -> list[Link]:
        columns = [Column.of(each[:, :j], each[:, j], weight) for each, weight in zip(z, weights, strict=True)]
        return fit_links(columns) if shared else [fit_links([column])[0] for column in columns]

    p, q = zip(*map(links, range(len(order))), strict=True)
    return Chain(order, centre, unit, p), Chain(order, centre, unit, q)


class Column(NamedTuple):
    """A column of a sample, what its mean and its scale may depend on, and the weights of the rows."""

    y: Floats
    x: Floats
    features: Floats
    weight: Floats

    @classmethod
    def of(cls, before: Floats, y: Floats, weight: Floats) -> "Column":
        return cls(y, with_constant(before), scale_features(before), weight)


def fit_links(columns: list[Column]) -> list[Link]:
    """Fit a column of one or more samples, by turns the mean that they share and the scale of each."""
    links = [Link(np.zeros(column.x.shape[1]), *_CONSTANT_SCALE) for column in columns]
    for last in (*[False] * _ROUNDS, True):
        line = _line(columns, links)
        links = [
            _with_scale(column, link._replace(line=line), last) for column, link in zip(columns, links, strict=True)
        ]
    return links


def _line(columns: list[Column], links: list[Link]) -> Floats:
    """Return the most likely mean, linear in the columns before, if the scales are known."""
    size = columns[0].x.shape[1]
    products, sums = np.zeros((size, size)), np.zeros(size)
    for column, link in zip(columns, links, strict=True):
        variance = np.exp(column.features[:, link.used] @ link.log_variance)
        squares = (column.y - column.x @ link.line) ** 2
        weighted = (column.x * (column.weight * (link.freedom + 1) / (link.freedom * variance + squares))[:, None]).T
        products += weighted @ column.x
        sums += weighted @ column.y
    products.flat[:: size + 1] += _RIDGE * np.trace(products)
    return np.asarray(np.linalg.solve(products, sums))


def _with_scale(column: Column, link: Link, last: bool) -> Link:
    """Return a link with its scale fitted; unless it is the last time, features on which it depends enter."""
    features, weight = column.features, column.weight
    squares = (column.y - column.x @ link.line) ** 2
    log_variance = _climb(features[:, link.used], squares, weight, link.log_variance, link.freedom)
    fitted = features[:, link.used] @ log_variance
    freedom = _best_freedom(squares, fitted, weight)
    if last:
        return link._replace(log_variance=log_variance, freedom=freedom)
    credit = _credit(squares, fitted, freedom)
    entering = np.setdiff1d(_counting(features, features[:, link.used], credit, weight), link.used)
    used = np.append(link.used, entering)
    return Link(link.line, used, np.append(log_variance, np.zeros(len(entering))), freedom)


def with_constant(x: Floats) -> Floats:
    return np.column_stack([np.ones(len(x)), x])


def scale_features(before: Floats) -> Floats:
    """Return what the log variance of a column may depend on.

    These are a constant, the columns before it, their sizes and, if they are few, waves along them.
    """
    near = np.clip(before, -_FARTHEST, _FARTHEST)
    wavy = waves(near) if before.shape[1] <= MOST_WITH_WAVES else []
    return np.column_stack([np.ones(len(near)), near, np.log1p(before**2), *wavy])


def waves(x: Floats) -> list[Floats]:
    """Return sines and cosines along all columns, which are in units of their standard deviations."""
    return [wave(frequency * x) for frequency in _FREQUENCIES for wave in (np.sin, np.cos)]


def _credit(squares: Floats, log_variance: Floats, freedom: float) -> Floats:
    """Return twice the slope of the log likelihood with the log variance, at each row."""
    return (freedom + 1) * squares / (freedom * np.exp(log_variance) + squares) - 1


def _climb(features: Floats, squares: Floats, weight: Floats, start: Floats, freedom: float) -> Floats:
    """Return the coefficients of the log variance after some Newton steps (Fisher's scoring)."""
    products = (features * weight[:, None]).T @ features * freedom / (2 * (freedom + 3))
    products.flat[:: len(products) + 1] += _RIDGE * np.trace(products)
    coefficients = start
    for _ in range(_STEPS):
        slope = 0.5 * features.T @ (weight * _credit(squares, features @ coefficients, freedom))
        step = np.linalg.solve(products, slope)
        coefficients = coefficients + step * min(1.0, _LARGEST_STEP / np.abs(step).max(initial=1e-12))
    return coefficients


def _best_freedom(squares: Floats, log_variance: Floats, weight: Floats) -> float:
    roots = np.sqrt(squares)
    return float(max(_FREEDOMS, key=lambda freedom: weight @ log_student(roots, log_variance, freedom)))


def _counting(features: Floats, used: Floats, credit: Floats, weight: Floats) -> Ints:
    """Return the features on which the scale clearly depends beyond those that are used."""
    weighted = used.T * weight
    left = features - used @ np.linalg.lstsq(weighted @ used, weighted @ features)[0]
    slope = left.T @ (weight * credit)
    error = np.sqrt((left**2).T @ (weight * credit**2)) + np.finfo(np.float64).tiny
    return np.flatnonzero(np.abs(slope) > _CLEARLY * error)


def log_student(residual: Floats, log_variance: Floats, freedom: float) -> Floats:
    """Return the log density of Student's t with a scale whose square is exp(log_variance)."""
    return student_log_density(residual**2 * np.exp(-log_variance), 1, freedom) - 0.5 * log_variance
