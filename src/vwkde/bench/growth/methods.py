"""The estimators whose growth is measured: vwkde's own, simple peers, and every method by name."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vwkde._answers.functionals import KINDS, AtSample
from vwkde.catalogue import methods
from vwkde.divergences import kl_divergence
from vwkde.results import Estimate

Floats = NDArray[np.float64]
Estimator = Callable[[Floats, Floats, int], Estimate]
"""Takes the rows of P, those of Q and a seed."""

OWN = ("default", "vwkde-mb")
"""What this project recommends, and the paper's estimator: drawn thicker than the others."""


def names() -> tuple[str, ...]:
    """Return the names of all estimators that can be measured."""
    return tuple(dict.fromkeys([*MEASURED, *methods()]))


def estimator(name: str) -> Estimator:
    """Return the estimator of this name."""
    return MEASURED[name] if name in MEASURED else partial(_by_name, name)


def _by_name(method: str | None, p: Floats, q: Floats, seed: int, **settings: Any) -> Estimate:
    return kl_divergence(p, q, method=method, random_state=seed, **settings)


def _quadratic_odds(p: Floats, q: Floats, seed: int) -> Estimate:
    """Return KL by a logistic regression on squares and products of the columns."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import PolynomialFeatures, StandardScaler

    steps = StandardScaler(), PolynomialFeatures(2, include_bias=False), StandardScaler()
    model = make_pipeline(*steps, LogisticRegression(max_iter=500))
    return _by_name("classifier", p, q, seed, model=model)


def _gaussian_plug_in(p: Floats, q: Floats, seed: int) -> Estimate:
    """Return KL of two Gaussians with the moments of the samples, and its error by influence functions."""
    from scipy.stats import multivariate_normal

    del seed  # nothing here is random
    sides = [multivariate_normal(x.mean(axis=0), np.cov(x, rowvar=False), allow_singular=True) for x in (p, q)]
    at_p, at_q = (AtSample(sides[0].logpdf(x) - sides[1].logpdf(x), np.ones(len(x))) for x in (p, q))
    return Estimate(at_p.mean(at_p.log_ratio), KINDS["kl"](at_p, at_q)[1], "kl")


MEASURED: dict[str, Estimator] = {
    "default": partial(_by_name, None),
    "vwkde-mb": partial(_by_name, "vwkde-mb"),
    "boosted-odds": partial(_by_name, "classifier"),
    "quadratic-odds": _quadratic_odds,
    "neighbours-5": partial(_by_name, "nn", k=5),
    "kde": partial(_by_name, "kde"),
    "gaussian-plug-in": _gaussian_plug_in,
}
"""The estimators that are measured by default."""
