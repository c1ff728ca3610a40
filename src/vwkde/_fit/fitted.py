"""What both forms of the fit share: the samples that they start from, and the fitted ratio that they return."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from vwkde._coordinates.whitening import Whitening, whiten_blocks, whiten_with_moments
from vwkde._data.groups import number_groups
from vwkde._data.in_memory import Held, without_repeats
from vwkde._data.moments import Moments
from vwkde._data.outliers import warn_about_outliers
from vwkde._data.pairs import Pairs
from vwkde._data.sample import Rest, Sample, dealt_apart, make_sample
from vwkde._fit.averaging import Average
from vwkde._fit.flat_samples import warn_of_flat_samples
from vwkde._fit.guided_ratio import GuidedRatio, tilted_derivatives
from vwkde._fit.kernel_estimate import Numerics
from vwkde._fit.repeats import Placed, find_near_repeats, place
from vwkde._models.derivatives import NO_LOSSES, Losses, Models, fit_gaussians
from vwkde._models.gaussian import GaussianModel
from vwkde._models.weights.residual import bias_terms, residual_bias
from vwkde._runtime.warn import without
from vwkde.exceptions import DegenerateDataWarning

Floats = NDArray[np.float64]
Folds = tuple[NDArray[np.intp] | None, NDArray[np.intp] | None]

_MANY_ROWS = 50_000
"""Rows of the smaller sample from which it is not worth the time to compute moments from them once more."""


@dataclass(frozen=True)
class Problem:
    """Two samples in whitened coordinates, and how to compute with them.

    If they are rows of X and Y and pairs of such rows, `split` is the number of columns of X.
    """

    held: Held
    samples: tuple[Sample, Sample]
    whitening: Whitening
    gaussians: tuple[GaussianModel, GaussianModel]
    numerics: Numerics
    split: int | None = None

    @property
    def degenerate(self) -> bool:
        """Whether a sample has no density, so that only plain kernel estimates make sense."""
        return any(model.degenerate for model in self.gaussians)

    @property
    def rows(self) -> float:
        """The number of independent rows of the smaller sample."""
        return min(sample.effective_rows for sample in self.samples)


def make_problem(
    held: Held,
    numerics: Numerics,
    copies: tuple[int, int] = (1, 1),
    folds: Folds = (None, None),
    pairs: tuple[Pairs, Pairs] | None = None,
) -> Problem:
    """Whiten two samples. Rows may be derived from others: for `copies`, `folds` and `pairs` see `Sample`.

    If they are not, repeated rows are looked for, and become weights.
    """
    made_of: tuple[Pairs | None, Pairs | None] = (None, None)
    given, moments = held, None
    if pairs is None:
        whitening, held, placed, moments = _whiten(held)
    else:
        whitening, made_of = _whiten_pairs(held, pairs)
        placed = place(held, whitening)
    warn_about_outliers(given, whitening.reach, pairs is not None)
    parts = zip(placed, held.weights, copies, folds, held.rests(whitening), made_of, held.groups, strict=True)
    p, q = (_in_order(*part) for part in parts)
    p_group, q_group = number_groups(p.group, q.group)
    p, q = replace(p, group=p_group), replace(q, group=q_group)
    if moments and held.streams is None and min(len(p), len(q)) >= _MANY_ROWS:
        p, q = p.with_moments(moments[0]), q.with_moments(moments[1])
    samples = dealt_apart(p, q)
    with without(DegenerateDataWarning):  # what is flat is told in the columns as given
        gaussians = fit_gaussians(samples)
    warn_of_flat_samples(held, gaussians)
    return Problem(held, samples, whitening, gaussians, numerics, pairs and pairs[0].split)


def _in_order(
    placed: Placed,
    weight: Floats,
    copies: int,
    fold: NDArray[np.intp] | None,
    rest: Rest | None,
    pairs: Pairs | None,
    group: NDArray[np.intp] | None,
) -> Sample:
    return make_sample(placed.points, weight, copies, fold, rest, pairs, group, placed.order)


def _whiten_pairs(held: Held, pairs: tuple[Pairs, Pairs]) -> tuple[Whitening, tuple[Pairs, Pairs]]:
    """Return coordinates in which X and Y are white, each by itself, and the pairs there."""
    whitening, split = whiten_blocks(held.data[0], held.weights[0], pairs[0].split, held.names)
    return whitening, (replace(pairs[0], split=split), replace(pairs[1], split=split))


def _whiten(held: Held) -> tuple[Whitening, Held, tuple[Placed, Placed], tuple[Moments, Moments]]:
    """Return the coordinates in which the samples are white, the samples, and their rows and moments there.

    Repeated rows are turned into weights.
    """
    held = without_repeats(held)
    whitening, moments = whiten_with_moments(held.clouds, held.names)
    placed = place(held, whitening)
    mergings = find_near_repeats(held, placed)
    if not any(mergings):
        return whitening, held, placed, moments
    held = held.merged(mergings)
    with without(DegenerateDataWarning):  # it was raised for the same columns
        whitening, moments = whiten_with_moments(held.clouds, held.names)
    return whitening, held, place(held, whitening), moments


@dataclass(frozen=True)
class Fitted:
    """A fitted ratio, the samples over whose rows divergences average, and the models of their derivatives.

    `losses` are those by which the models were chosen; they are empty if nothing was chosen. `may_miss` says that the
    interval should count what no candidate sees. Products of up to `columns_together` columns were compared, to see
    what no column shows alone. `degenerate` says that a sample has no density where the other one has, so that neither
    KL divergence is finite.
    """

    samples: tuple[Sample, Sample]
    average: Average
    derivatives: Models
    numerics: Numerics
    losses: Losses = NO_LOSSES
    may_miss: bool = False
    columns_together: int = 0
    degenerate: bool = False

    @property
    def has_rest(self) -> bool:
        """Whether some rows are not in memory."""
        return any(sample.rest is not None for sample in self.samples)

    def residual_bias(self, x: Floats) -> Floats:
        """Return B, with guide and weight, at points in the main member's coordinates."""
        ratio = self.average.main.ratio
        terms = bias_terms(*tilted_derivatives(self.derivatives, ratio.guide), x)
        return residual_bias(ratio.weight, terms, x)


@dataclass(frozen=True, kw_only=True)
class PaperFit(Fitted):
    """The paper's form: the only member is `ratio`, one weighted pair of kernel estimates without a guide."""

    ratio: GuidedRatio
