"""Densities with exact derivatives to test the fitted ones against, and derivatives by finite differences."""

from dataclasses import dataclass

import numpy as np

from vwkde import datasets
from vwkde._models.derivatives.score_matching import score_matching_terms

THREE_MODES = datasets.three_modes().numerator
BANANA = datasets.Banana(0.6)


@dataclass(frozen=True)
class StudentT:
    """Student's t with five degrees of freedom, of unit variance."""

    columns: int = 3

    def sample(self, n, random):
        return random.normal(size=(n, self.columns)) * np.sqrt(3 / random.chisquare(5, size=(n, 1)))

    @property
    def derivatives(self):
        return self

    def score(self, x):
        return -(5 + self.columns) * x / (3 + (x**2).sum(axis=1, keepdims=True))


def score_error(model, density, seed=1_000):
    """Return the root mean square distance between the scores, over 2,000 new points."""
    x = density.sample(2_000, np.random.default_rng(seed))
    return np.sqrt(((model.score(x) - density.derivatives.score(x)) ** 2).sum(axis=1).mean())


def finite_differences(log_density, x, step=1e-3):
    """Return ∇log p and ∇²p/p = ∇²log p + ‖∇log p‖², by differences of fourth order."""
    shifts = step * np.eye(x.shape[1])
    values = np.array([[log_density(x + k * shift) for shift in shifts] for k in (-2, -1, 0, 1, 2)])
    score = np.tensordot([1, -8, 0, 8, -1], values, 1).T / (12 * step)
    curvature = np.tensordot([-1, 16, -30, 16, -1], values, 1).sum(axis=0) / (12 * step**2)
    return score, curvature + (score**2).sum(axis=1)


def relative_error(found, expected):
    return np.linalg.norm(found - expected) / np.linalg.norm(expected)


def score_matching_loss(model, x):
    """Return the terms of the score-matching loss of a model at rows."""
    return score_matching_terms(model.score(x), model.laplacian_over_density(x))
