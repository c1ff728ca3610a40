"""The paper's form: derivatives of both densities, the weight fitted with them, and one pair of kernel estimates."""

from vwkde._fit.averaging import Average, Member
from vwkde._fit.bandwidth import pair_bandwidth
from vwkde._fit.candidates import Space, find_candidates
from vwkde._fit.fitted import PaperFit, Problem
from vwkde._fit.guided_ratio import GuidedRatio
from vwkde._fit.kernel_pair import make_pair
from vwkde._fit.subspace import find_subspace, project
from vwkde._fit.weighting import fit_models, fit_weight
from vwkde._models.derivatives import NO_LOSSES, Losses, Models
from vwkde._models.guides.cross_fit import no_guide
from vwkde._models.weights.problem import WeightSettings
from vwkde._models.weights.protocol import Weight
from vwkde._models.weights.uniform import UniformWeight

_WITHOUT_SEARCH = (None, "gaussian", "shrunk-gaussian")
"""Guides whose ratio in all directions a subspace must beat: they stay reliable in many columns."""


def fit_paper(problem: Problem, settings: WeightSettings, bandwidth: float | str, subspace: bool) -> PaperFit:
    """Fit the paper's form; degenerate samples get a uniform weight.

    With `subspace`, directions that do not affect the ratio are left out first, if held-out rows confirm the gain.
    """
    numerics = problem.numerics
    space = Space("whitened", problem.whitening, problem.samples, _WITHOUT_SEARCH)
    if subspace and not problem.degenerate:
        space = _reduced(space, problem)
    width = pair_bandwidth(space.samples, bandwidth, numerics)
    models: Models = problem.gaussians
    losses: Losses = NO_LOSSES
    weight: Weight = UniformWeight()
    if not problem.degenerate:
        models, losses = fit_models(space.samples, settings, numerics)
        weight = fit_weight(space.samples, width, models, models, settings, numerics)
    ratio = GuidedRatio(no_guide(space.samples), make_pair(space.samples, weight, width, numerics))
    average = Average((Member(space.coordinates, space.name, ratio),))
    return PaperFit(space.samples, average, models, numerics, losses, degenerate=problem.degenerate, ratio=ratio)


def _reduced(space: Space, problem: Problem) -> Space:
    """Return the projections onto the directions that affect the ratio, or the space itself."""
    thinned = space.thinned(problem.numerics.seed)
    candidates = find_candidates(thinned, None, problem.numerics)
    subspace = find_subspace(thinned, candidates, None, problem.numerics)
    return space if subspace is None else project(space, subspace.directions)
