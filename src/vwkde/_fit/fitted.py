"""What both ways to fit share: the samples they start from, and the fitted ratio they end with."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vwkde._coordinates.whitening import Whitening, whiten
from vwkde._data.in_memory import Held
from vwkde._data.sample import Sample, make_sample
from vwkde._fit.averaging import Average
from vwkde._fit.guided_ratio import GuidedRatio, tilted_derivatives
from vwkde._fit.kernel_estimate import Numerics
from vwkde._models.derivatives import NO_LOSSES, Losses, Models, fit_gaussians
from vwkde._models.gaussian import GaussianModel
from vwkde._models.weights.residual import bias_terms, residual_bias

Floats = NDArray[np.float64]
Folds = tuple[NDArray[np.intp] | None, NDArray[np.intp] | None]


@dataclass(frozen=True)
class Problem:
    """Two samples in whitened coordinates, and how to compute with them."""

    held: Held
    samples: tuple[Sample, Sample]
    whitening: Whitening
    gaussians: tuple[GaussianModel, GaussianModel]
    numerics: Numerics

    @property
    def degenerate(self) -> bool:
        """Whether a sample has no density: only plain kernel estimates make sense then."""
        return any(model.degenerate for model in self.gaussians)

    @property
    def rows(self) -> float:
        """The independent rows of the smaller sample."""
        return min(sample.effective_rows for sample in self.samples)


def make_problem(
    held: Held, numerics: Numerics, copies: tuple[int, int] = (1, 1), folds: Folds = (None, None)
) -> Problem:
    """Whiten two samples, some of whose rows may have been made of others; see `Sample`."""
    whitening = whiten(held.clouds, held.names)
    parts = zip(held.data, held.weights, copies, folds, held.rests(whitening), strict=True)
    p, q = (make_sample(whitening(x), weight, count, fold, rest) for x, weight, count, fold, rest in parts)
    return Problem(held, (p, q), whitening, fit_gaussians((p, q)), numerics)


@dataclass(frozen=True)
class Fitted:
    """A fitted ratio with the samples whose rows divergences average over, and the models of their derivatives.

    `losses` are those by which the models were chosen, where they were.
    """

    samples: tuple[Sample, Sample]
    average: Average
    derivatives: Models
    numerics: Numerics
    losses: Losses = NO_LOSSES

    @property
    def has_rest(self) -> bool:
        """Whether some rows are not in memory."""
        return any(sample.rest is not None for sample in self.samples)

    def residual_bias(self, x: Floats) -> Floats:
        """Return B at points in the main member's coordinates, after guide and weight."""
        ratio = self.average.main.ratio
        terms = bias_terms(*tilted_derivatives(self.derivatives, ratio.guide), x)
        return residual_bias(ratio.weight, terms, x)


@dataclass(frozen=True)
class PaperFit(Fitted):
    """The paper's form: one weighted pair of kernel estimates and no guide."""

    @property
    def ratio(self) -> GuidedRatio:
        """The only member, which has no guide."""
        ratio = self.average.main.ratio
        if not isinstance(ratio, GuidedRatio):
            raise TypeError("The paper's form has kernel estimates.")
        return ratio


@dataclass(frozen=True)
class GuidedFit(Fitted):
    """Guided ratios, one or the mean of several."""
