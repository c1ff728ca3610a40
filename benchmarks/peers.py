"""Simple estimators that the benchmarks compare with, written without the package that is measured.

Each fits two samples and returns a `Fitted`: log ratios at the rows of both, and at new points where it can.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_expit, logsumexp
from scipy.stats import multivariate_normal
from sklearn.base import ClassifierMixin
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import pairwise_distances_chunked
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Fitted:
    """The log ratio at the rows of P and of Q, none of which has seen itself, and at new points."""

    numerator: Floats
    denominator: Floats
    log_ratio: Callable[[Floats], Floats]

    def divergence(self, kind: str, order: float | None = None) -> float:
        """Return a divergence as a mean of log ratios."""
        del order  # of a kind that the peers do not answer
        if kind == "kl":
            return float(np.mean(self.numerator))
        if kind == "reverse-kl":
            return float(-np.mean(self.denominator))
        if kind == "jensen-shannon":
            return float(np.log(2) + 0.5 * (log_expit(self.numerator).mean() + log_expit(-self.denominator).mean()))
        raise NotImplementedError(f"The peers answer 'kl', 'reverse-kl' and 'jensen-shannon'. Got {kind!r} instead.")

    def importance_weights(self) -> Floats:
        """Return the ratio at the rows of Q."""
        return np.exp(self.denominator - logsumexp(self.denominator))


def log_odds(p: Floats, q: Floats, classifier: ClassifierMixin) -> Fitted:
    """Return the log odds of a classifier, cross-fitted in five folds."""
    x, y = np.concatenate([p, q]), np.repeat([1, 0], [len(p), len(q)])
    folds, prior = StratifiedKFold(5, shuffle=True, random_state=0), np.log(len(p) / len(q))
    odds = cross_val_predict(classifier, x, y, cv=folds, method="decision_function") - prior
    return Fitted(odds[: len(p)], odds[len(p) :], lambda z: classifier.fit(x, y).decision_function(z) - prior)


def boosted(p: Floats, q: Floats) -> Fitted:
    """Return the log odds of gradient boosting."""
    return log_odds(p, q, HistGradientBoostingClassifier(random_state=0))


def quadratic(p: Floats, q: Floats) -> Fitted:
    """Return the log odds of a logistic regression on squares and products of the columns."""
    steps = StandardScaler(), PolynomialFeatures(2, include_bias=False), StandardScaler()
    return log_odds(p, q, make_pipeline(*steps, LogisticRegression(max_iter=500)))


def gaussian(p: Floats, q: Floats) -> Fitted:
    """Return the log ratio of two Gaussians with the samples' moments, as text books do: with nothing left out."""
    densities = [
        multivariate_normal(x.mean(axis=0), np.atleast_2d(np.cov(x, rowvar=False)), allow_singular=True) for x in (p, q)
    ]

    def log_ratio(z: Floats) -> Floats:
        return np.atleast_1d(densities[0].logpdf(z) - densities[1].logpdf(z))

    return Fitted(log_ratio(p), log_ratio(q), log_ratio)


def plain_kde(p: Floats, q: Floats) -> Fitted:
    """Return the ratio of kernel estimates with Scott's bandwidth, each row left out of its own."""
    scale = np.concatenate([p, q]).std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)

    def log_density(at: Floats, x: Floats, own: bool = False) -> Floats:
        width = len(x) ** (-1 / (x.shape[1] + 4))

        def sums(squared: Floats, start: int) -> Floats:
            logs = -0.5 * squared / width**2
            if own:
                logs[np.arange(len(logs)), start + np.arange(len(logs))] = -np.inf
            return np.asarray(logsumexp(logs, axis=1))

        parts = pairwise_distances_chunked(at / scale, x / scale, reduce_func=sums, metric="sqeuclidean")
        return np.concatenate(list(parts)) - np.log(len(x) - own) - x.shape[1] * np.log(width)

    return Fitted(
        log_density(p, p, own=True) - log_density(p, q),
        log_density(q, p) - log_density(q, q, own=True),
        lambda z: log_density(z, p) - log_density(z, q),
    )


def nearest_neighbours(p: Floats, q: Floats, k: int) -> float:
    """Return KL from the distances to the k-th neighbours in either sample (Wang, Kulkarni and Verdú 2009)."""
    own = NearestNeighbors(n_neighbors=k + 1).fit(p).kneighbors(p)[0][:, k]
    other = NearestNeighbors(n_neighbors=k).fit(q).kneighbors(p)[0][:, k - 1]
    return float(p.shape[1] * np.mean(np.log(other / own)) + np.log(len(q) / (len(p) - 1)))
