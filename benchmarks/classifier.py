"""Class posteriors: error against a known posterior, and cross-validated log loss and calibration error on real data.

Run with `python benchmarks/classifier.py [--repetitions 10]`.
"""

import argparse
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.special import expit
from sklearn import datasets
from sklearn.calibration import CalibratedClassifierCV
from sklearn.decomposition import PCA
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from vwkde import DensityRatio, RatioClassifier
from vwkde.datasets import isotropic

CLASSIFIERS: dict[str, Callable[[], Any]] = {
    "ratio": RatioClassifier,
    "kde": lambda: RatioClassifier(ratio=DensityRatio(guide=None, weighting="uniform", bandwidth="likelihood")),
    "SVM, Platt": lambda: CalibratedClassifierCV(SVC(), method="sigmoid", ensemble=False),
    "network, 2 × 100": lambda: MLPClassifier((100, 100), max_iter=500, early_stopping=True, random_state=0),
}


def known_posterior(repetitions: int) -> list[list[str]]:
    """Return the mean squared error against the true posterior of the paper's 20-D Gaussians of equal covariance."""
    pair = isotropic(20)
    errors: dict[str, list[float]] = {name: [] for name in CLASSIFIERS}
    for seed in range(repetitions):
        x, y = np.concatenate(pair.sample(1_000, random_state=seed)), np.repeat([1, 0], 1_000)
        z = np.concatenate(pair.sample(1_000, random_state=1_000 + seed))
        for name, make in CLASSIFIERS.items():
            posterior = make().fit(x, y).predict_proba(z)[:, 1]
            errors[name].append(float(np.mean((posterior - expit(pair.log_ratio(z))) ** 2)))
    return [["Iso 20-D, squared error", *(f"{np.mean(errors[name]):.4f}" for name in CLASSIFIERS)]]


def real_data() -> list[list[str]]:
    """Return log loss and calibration error by five-fold cross-validation."""
    rows = []
    for name, load, components in (
        ("iris", datasets.load_iris, None),
        ("wine", datasets.load_wine, None),
        ("breast cancer", datasets.load_breast_cancer, 10),
        ("digits", datasets.load_digits, 10),
    ):
        x, y = load(return_X_y=True)
        losses, errors = [], []
        for make in CLASSIFIERS.values():
            steps = [StandardScaler(), *([PCA(components)] if components else []), make()]
            folds = StratifiedKFold(5, shuffle=True, random_state=0)
            probability = cross_val_predict(make_pipeline(*steps), x, y, cv=folds, method="predict_proba")
            losses.append(f"{log_loss(y, probability):.3f}")
            errors.append(f"{calibration_error(y, probability):.3f}")
        rows += [[f"{name}, log loss", *losses], [f"{name}, calibration error", *errors]]
    return rows


def calibration_error(y: np.ndarray, probability: np.ndarray, bins: int = 10) -> float:
    """Return the mean difference between confidence and accuracy over bins of equal counts."""
    confidence, right = probability.max(axis=1), probability.argmax(axis=1) == y
    parts = np.array_split(np.argsort(confidence), bins)
    return float(np.mean([abs(confidence[part].mean() - right[part].mean()) for part in parts]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=10)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    table = Table(title="Class probabilities")
    for column in ("data", *CLASSIFIERS):
        table.add_column(column, justify="left" if column == "data" else "right")
    for row in known_posterior(options.repetitions) + real_data():
        table.add_row(*row)
    Console().print(table)


if __name__ == "__main__":
    main()
