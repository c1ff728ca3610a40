"""The weight functions α that both kernel estimates may share.

`WEIGHTS` is the registry: a new named weight is a module here and one entry.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import numpy as np

from vwkde._data.sample import Sample
from vwkde._models.derivatives.protocol import DensityModel
from vwkde._models.distances import median_distance
from vwkde._models.weights.closed_form import GeometricMeanWeight
from vwkde._models.weights.expansion import fit_expansion
from vwkde._models.weights.network import fit_weight_network
from vwkde._models.weights.problem import Floats, WeightProblem
from vwkde._models.weights.protocol import Weight
from vwkde._models.weights.residual import bias_terms
from vwkde._models.weights.streamed import fit_expansion_to_all
from vwkde._models.weights.uniform import UniformWeight

_MEDIAN_ROWS = 1_000
"""Points of each sample whose pairwise distances give the length scale: the median is accurate to a percent."""


@dataclass(frozen=True)
class WeightKind:
    """A named weight.

    `minimises_bias`: it is fitted to the bias, so that the target matters. `passes_over_rows`: rows that are not in
    memory can take part in the fit.
    """

    fit: Callable[[WeightProblem], Weight]
    minimises_bias: bool
    passes_over_rows: bool = False


def _closed_form(problem: WeightProblem) -> Weight:
    if not all(hasattr(model, "log_density") for model in problem.models):
        raise ValueError(
            "The 'derivatives' parameter of DensityRatio must have a log density with weighting='closed-form': "
            "'gaussian', 'mixture', 'kernel', or an object whose models have the method log_density. Got models "
            "without one instead; choose one of these, or weighting='variational'."
        )
    return GeometricMeanWeight(*cast("tuple[DensityModel, DensityModel]", problem.models))


def _variational(problem: WeightProblem) -> Weight:
    random = np.random.default_rng(problem.seed)
    length_scale = _length_scale(problem, random)
    basis = _draw_basis(problem.samples, problem.settings.max_basis, random)
    ridge, resources = problem.settings.ridge, problem.resources
    if problem.streamed:
        return fit_expansion_to_all(problem.streamed, problem.tilted, basis, length_scale, ridge, resources)
    terms = bias_terms(*problem.tilted, problem.points)
    return fit_expansion(problem.points, terms, problem.importance, basis, length_scale, ridge, resources)


def _network(problem: WeightProblem) -> Weight:
    terms = bias_terms(*problem.tilted, problem.points)
    return fit_weight_network(problem.points, terms, problem.importance, problem.seed, problem.resources.device)


WEIGHTS: dict[str, WeightKind] = {
    "uniform": WeightKind(lambda _: UniformWeight(), minimises_bias=False),
    "closed-form": WeightKind(_closed_form, minimises_bias=False),
    "variational": WeightKind(_variational, minimises_bias=True, passes_over_rows=True),
    "network": WeightKind(_network, minimises_bias=True),
}
"""Weights by name."""


def _length_scale(problem: WeightProblem, random: np.random.Generator) -> float:
    if not isinstance(problem.settings.length_scale, str):
        return float(problem.settings.length_scale)
    return median_distance(*(sample.thinned(_MEDIAN_ROWS, random).points for sample in problem.samples))


def _draw_basis(samples: tuple[Sample, Sample], most: int, random: np.random.Generator) -> Floats:
    """Return at most `most` points of both samples, drawn at random."""
    p, q = samples
    rows = len(p) + len(q)
    chosen = np.sort(random.choice(rows, min(rows, most), replace=False))
    of_p, of_q = np.split(chosen, [np.searchsorted(chosen, len(p))])
    return np.concatenate([p.points[of_p], q.points[of_q - len(p)]])
