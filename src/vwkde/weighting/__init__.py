"""Weights for another population: in one call, with signed weights, and around an estimator of scikit-learn."""

from vwkde.weighting._estimator import ReweightedEstimator
from vwkde.weighting._function import importance_weights
from vwkde.weighting._scorer import weighted_scorer

__all__ = ["ReweightedEstimator", "importance_weights", "weighted_scorer"]
