"""Whether a classifier can tell weighted rows from the target: the area under its ROC curve, on rows it has not seen.

It is trained on half of the rows and tested on the other half, both ways. A value of one half means that it finds no
difference. The weights must come from a fit that has seen none of these rows: otherwise they fit the noise of the rows,
and the value is below one half.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_FEW = 500
"""Rows of the smaller sample below which trees learn nothing, and regression on products of columns is used."""
_SPLITS = 10
"""Ways to split so few rows: the area depends on how they are split."""
_MOST_COLUMNS = 30
"""Columns up to which their products are used."""


class Curve(NamedTuple):
    """The area under a ROC curve, and its standard error."""

    area: float
    standard_error: float


def discriminate(target: Floats, target_weight: Floats, rows: Floats, weight: Floats, seed: int) -> Curve:
    """Return how well a new classifier tells the target from weighted rows."""
    random = np.random.default_rng(seed)
    sides = [(target, target_weight), (rows, weight)]
    curves = [_both_ways(sides, random, seed) for _ in range(_SPLITS if min(len(target), len(rows)) < _FEW else 1)]
    areas, errors = zip(*curves, strict=True)
    return Curve(float(np.mean(areas)), float(np.mean(errors)))  # the splits share their rows: no error is averaged out


def _both_ways(sides: list[tuple[Floats, Floats]], random: np.random.Generator, seed: int) -> Curve:
    """Return the mean of both ways to train on one half and to test on the other."""
    halves = [random.permutation(len(x)) % 2 for x, _ in sides]
    curves = [_one_way(sides, [half == tested for half in halves], seed) for tested in (0, 1)]
    areas, errors = zip(*curves, strict=True)
    return Curve(float(np.mean(areas)), float(np.linalg.norm(errors) / 2))


def _one_way(sides: list[tuple[Floats, Floats]], tested: list[NDArray[np.bool_]], seed: int) -> Curve:
    """Train on the rows that are not tested, and return the curve on the others."""
    from sklearn import config_context  # only now: no estimate of a divergence needs a classifier of these

    from vwkde._runtime.quiet import without_convergence_warnings

    (p, p_weight), (q, q_weight) = ((x[~mask], w[~mask]) for (x, w), mask in zip(sides, tested, strict=True))
    x, y = np.concatenate([p, q]), np.repeat([1, 0], [len(p), len(q)])
    weight = np.concatenate([p_weight / p_weight.sum(), q_weight / q_weight.sum()]) * len(x) / 2
    counted = weight > 0  # what a negative weight means to a classifier is not known
    model = _classifier(min(len(p), len(q)), x.shape[1], seed)
    step = model.steps[-1][0]
    with without_convergence_warnings(), config_context(enable_metadata_routing=False):
        model.fit(x[counted], y[counted], **{f"{step}__sample_weight": weight[counted]})
    scores = [model.decision_function(x[mask]) for (x, _), mask in zip(sides, tested, strict=True)]
    return _area(scores[0], sides[0][1][tested[0]], scores[1], sides[1][1][tested[1]])


def _classifier(rows: int, columns: int, seed: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import PolynomialFeatures, StandardScaler

    if rows >= _FEW:
        return make_pipeline(HistGradientBoostingClassifier(max_iter=100, early_stopping=False, random_state=seed))
    products = PolynomialFeatures(2 if columns <= _MOST_COLUMNS else 1, include_bias=False)
    return make_pipeline(StandardScaler(), products, StandardScaler(), LogisticRegression(C=0.1, max_iter=1_000))


def _area(p_score: Floats, p_weight: Floats, q_score: Floats, q_weight: Floats) -> Curve:
    """Return the weighted share of pairs that are in the right order, with the standard error of such a share."""
    below = _shares_below(p_score, q_score, q_weight)
    above = 1 - _shares_below(q_score, p_score, p_weight)
    area = float(np.average(below, weights=p_weight))
    errors = [w * (share - area) / w.sum() for share, w in ((below, p_weight), (above, q_weight))]
    return Curve(area, float(np.sqrt(sum((each**2).sum() for each in errors))))


def _shares_below(at: Floats, scores: Floats, weight: Floats) -> Floats:
    """Return the share of weighted scores below each point; equal ones count half."""
    order = np.argsort(scores)
    sums = np.concatenate([[0.0], np.cumsum(weight[order])]) / weight.sum()
    ends = [np.searchsorted(scores[order], at, side=side) for side in ("left", "right")]
    return np.asarray((sums[ends[0]] + sums[ends[1]]) / 2)
