"""The paper's 1-D and 20-D examples, on synthetic data with known divergences."""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vwkde.datasets import GaussianPair, heteroscedastic, isotropic, one_dimensional
from vwkde.divergences import make_ratio
from vwkde.exceptions import BiasWarning
from vwkde.ratio import DensityRatio

Floats = NDArray[np.float64]

ROWS = 1_000
"""Rows of each sample, as in the paper."""


@dataclass(frozen=True)
class Comparison:
    """One pair of samples: the truth, and plain KDE, the paper's estimator and the default one, all fitted."""

    name: str
    pair: GaussianPair
    kde: DensityRatio
    vwkde: DensityRatio
    default: DensityRatio
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """Return a row of the table; the bias of plain KDE is expected here, so it raises no warning."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BiasWarning)
            kde = self.kde.divergence("kl").value
        return {
            "example": self.name,
            "truth": self.pair.kl,
            "kde": kde,
            "vwkde": self.vwkde.divergence("kl").value,
            "default": self.default.divergence("kl").value,
            "bandwidth": self.vwkde.bandwidth_,
            "seconds": self.seconds,
        }


def run(random_state: int = 0) -> Iterator[Comparison]:
    """Yield the examples one by one."""
    line = one_dimensional()
    make_ratio(None, {}).fit(*line.sample(150)).divergence("kl")  # compile before anything is timed
    for bandwidth in (0.4, 0.7, 1.0):
        yield _compare(f"1-D, h = {bandwidth}", line, random_state, bandwidth=bandwidth)
    yield _compare("Iso 20-D", isotropic(20), random_state)
    yield _compare("NH 20-D", heteroscedastic(20), random_state)


def _compare(name: str, pair: GaussianPair, random_state: int, **parameters: Any) -> Comparison:
    numerator, denominator = pair.sample(ROWS, random_state=random_state)
    start = perf_counter()
    methods = ("kde", "vwkde-mb", None)
    kde, vwkde, default = (make_ratio(method, parameters).fit(numerator, denominator) for method in methods)
    return Comparison(name, pair, kde, vwkde, default, perf_counter() - start)
