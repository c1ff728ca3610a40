"""The guided form: kernel sums around a named guide, or around the best of many, chosen from the data."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from vwkde._data.sample import Sample
from vwkde._fit.averaging import Average, Member, average_of
from vwkde._fit.bandwidth import pair_bandwidth
from vwkde._fit.candidates import Candidate, Space, WeightTrial, find_candidates, on_all_rows
from vwkde._fit.derived import missed_columns
from vwkde._fit.few_centres import level_by_all_rows, with_few_centres
from vwkde._fit.fitted import Fitted, Problem
from vwkde._fit.guided_ratio import GuidedRatio, Ratio, tilted_derivatives
from vwkde._fit.kernel_estimate import Numerics
from vwkde._fit.kernel_pair import make_pair
from vwkde._fit.products import missed_products, most_columns_compared
from vwkde._fit.residuals import Residuals
from vwkde._fit.spaces import (
    as_given,
    few_columns,
    few_components,
    normal_scores,
    of_derived,
    of_products,
    of_subgroups,
    on_circles,
    own_units,
    rows_as_given,
    whitened,
)
from vwkde._fit.subgroups import missed_subgroups
from vwkde._fit.subspace import find_subspace, project
from vwkde._fit.weighting import fit_models, fit_weight
from vwkde._models.derivatives import NO_LOSSES, Losses, Models, fit_derivatives, fit_gaussians
from vwkde._models.gaussian import GaussianModel
from vwkde._models.guides import FEWEST_ROWS, needs_no_density, worth_trying
from vwkde._models.guides.cross_fit import is_affine
from vwkde._models.log_loss import fall_of_log_loss
from vwkde._models.weights.problem import WeightSettings
from vwkde._runtime.warn import warn, without
from vwkde.exceptions import DegenerateDataWarning

_FEW_BASIS = 500
"""Basis points of a weight that is one candidate among many."""
_FEW_ROWS = 200
"""Rows of each sample by which the derivatives of such a weight are chosen."""
_SIMPLE = (None, "shared-gaussian", "gaussian", "shrunk-gaussian", "student", "logistic", "line", "additive", "curves")
"""Guides that know means, covariances and single columns."""
_MANY_ROWS, _ROWS_AGAIN = 20_000, 10_000
"""Rows of a sample above which so many show what the best candidate misses; it is fitted to them again."""
_CLEARLY = 2.0
"""Standard errors by which a weight must lower the log loss to be kept in addition to a guide."""


def fit_auto(
    problem: Problem,
    settings: WeightSettings,
    bandwidth: float | str,
    subspace: bool,
    guides: Sequence[Any] | None = None,
) -> Fitted:
    """Choose guide, bandwidth, weight and coordinates from the data; `guides` are those to choose among, if given.

    If there are too few rows for any guide, only plain kernel estimates are candidates. If a sample has no density, as
    where it lacks a level of a category, those guides are left that need none.
    """
    names = worth_trying(guides, problem.rows)
    names = tuple(name for name in names if needs_no_density(name)) if problem.degenerate else names
    tried = (None, *names)
    weighted = bool(names) and not problem.degenerate
    models, losses = _trial_derivatives(problem, settings) if weighted else (problem.gaussians, NO_LOSSES)
    spaces = [whitened(problem, tuple(filter(is_affine, tried)))]
    if weighted:
        few = replace(settings, max_basis=min(settings.max_basis, _FEW_BASIS))
        spaces[0] = replace(spaces[0], weight=WeightTrial(few, models))
    given = as_given(problem, tried) if names else None
    if given:
        spaces += [normal_scores(problem, given, tried), given]
        if problem.split is None:
            spaces += few_columns(given, tried, problem.numerics.seed) + few_components(given, tried)
            spaces += on_circles(problem, given, tried)
        spaces += own_units(problem, tried)
    # rows of X and Y and pairs of them may be so far apart that a logistic regression between them tells nothing
    apart = None if problem.split is not None else given
    average = _choose(spaces, _given(problem, bandwidth), subspace and bool(names), problem, apart)
    samples = average.main.ratio.samples
    if samples[0] is not problem.samples[0]:
        with without(DegenerateDataWarning):  # columns as given may be constant, or copies of each other
            models, losses = fit_gaussians(samples), NO_LOSSES
    return Fitted(
        problem.samples,
        average,
        models,
        problem.numerics,
        losses,
        may_miss=problem.split is None,
        columns_together=most_columns_compared(apart.samples) if apart and bandwidth == "auto" else 0,
        degenerate=problem.degenerate,
    )


def fit_named(guide: Any, problem: Problem, settings: WeightSettings, bandwidth: float | str, subspace: bool) -> Fitted:
    """Fit kernel sums around a guide, given by its name or as a classifier, with a weight that reduces their bias.

    The weight is kept only if it clearly lowers the log loss: it cancels the leading term of the bias, which with a
    wide kernel may be far from the whole bias.
    """
    if problem.rows < FEWEST_ROWS and not problem.degenerate:  # degenerate samples have raised a warning
        warn(
            f"There are too few rows for a guide, which needs {FEWEST_ROWS} of each sample. The ratio is estimated "
            f"without one. Give more rows, or guide=None.",
            DegenerateDataWarning,
        )
    guide = None if problem.degenerate or problem.rows < FEWEST_ROWS else guide
    spaces = own_units(problem, (guide,)) or [whitened(problem, (guide,))]
    average = _choose(spaces, _given(problem, bandwidth), subspace and guide is not None, problem)
    if problem.degenerate:
        return Fitted(problem.samples, average, problem.gaussians, problem.numerics, degenerate=True)
    main = average.main
    ratio, models, losses = _with_weight(main.ratio, settings, problem.numerics)
    if ratio is not main.ratio:
        average = Average((Member(main.coordinates, main.space, ratio),))
    return Fitted(problem.samples, average, models, problem.numerics, losses)


def _given(problem: Problem, bandwidth: float | str) -> float | None:
    """Return the bandwidth that was asked for, or None where it is chosen with the guide."""
    return None if bandwidth == "auto" else pair_bandwidth(problem.samples, bandwidth, problem.numerics)


def _choose(
    spaces: list[Space], bandwidth: float | None, project_too: bool, problem: Problem, given: Space | None = None
) -> Average:
    """Return the combination of the best candidates in some spaces.

    With `project_too` the first space may give way to a few of its directions, if a guide does not depend on the axes.
    If the columns as `given` are there, they may be joined by others that are derived from them, then by columns that
    count in parts of the rows and by products, and averages use the stack.
    """
    numerics = problem.numerics
    thinned = [space.thinned(numerics.seed) for space in spaces]
    candidates = [c for space in thinned for c in find_candidates(space, bandwidth, numerics)]
    if project_too and any(map(is_affine, spaces[0].guides)):
        subspace = find_subspace(thinned[0], candidates, bandwidth, numerics)
        if subspace is not None:
            spaces = [*spaces, project(spaces[0], subspace.directions)]
            in_subspace = subspace.candidates(thinned[0], bandwidth, numerics)
            candidates = [c for c in candidates if c.axes_matter] + in_subspace
    if given and bandwidth is None:
        guides = *spaces[0].guides, *given.guides
        for finders in ((_with_missed_columns,), (_with_missed_subgroups, _with_missed_products)):
            more = [space for find in finders for space in find(problem, spaces, given, guides, candidates)]
            candidates += [c for space in more for c in find_candidates(space.thinned(numerics.seed), None, numerics)]
            spaces = [*spaces, *more]
    return average_of(candidates, spaces, bandwidth, numerics, stacked=given is not None)


def _with_missed_columns(
    problem: Problem, spaces: list[Space], given: Space, guides: tuple[Any, ...], candidates: list[Candidate]
) -> list[Space]:
    """Return spaces of derived columns that the best candidate misses; of many rows more show what is missed."""
    numerics, best = problem.numerics, min(candidates, key=lambda c: c.loss)
    many = max(map(len, given.samples)) > _MANY_ROWS
    most = _ROWS_AGAIN if many else None
    at_samples = best.at_samples
    if many:
        whole = next(space for space in spaces if space.name == best.space.name)
        (ratio,) = on_all_rows([best], whole.thinned(numerics.seed, most), None, numerics)
        at_samples = ratio.at_samples
    residuals = Residuals.of(at_samples, given.thinned(numerics.seed, most).samples)
    derived = missed_columns(*rows_as_given(problem, numerics.seed, most), residuals)
    return [replace(space, grows=many) for space in of_derived(problem, given, derived, guides)]


def _with_missed_subgroups(
    problem: Problem, _: list[Space], given: Space, guides: tuple[Any, ...], candidates: list[Candidate]
) -> list[Space]:
    """Return spaces of columns inside parts of the rows that the best candidates miss."""
    samples = given.thinned(problem.numerics.seed).samples
    return of_subgroups(given, missed_subgroups(samples, *_of_simple_and_best(candidates, samples)), guides)


def _with_missed_products(
    problem: Problem, _: list[Space], given: Space, guides: tuple[Any, ...], candidates: list[Candidate]
) -> list[Space]:
    """Return spaces of products of columns that the best simple candidate misses, if the best of all misses some."""
    samples = given.thinned(problem.numerics.seed).samples
    return of_products(given, missed_products(samples, *_of_simple_and_best(candidates, samples)), guides)


def _of_simple_and_best(candidates: list[Candidate], samples: tuple[Sample, Sample]) -> tuple[Residuals, Residuals]:
    """Return the residuals of the best candidate with a simple guide alone, and of the best one of all."""
    simple = [c for c in candidates if c.bandwidth is None and c.form.guide.form in _SIMPLE]
    one, best = (min(some, key=lambda c: c.loss).at_samples for some in (simple, candidates))
    return Residuals.of(one, samples), Residuals.of(best, samples)


def _trial_derivatives(problem: Problem, settings: WeightSettings) -> tuple[Models, Losses]:
    """Choose the derivatives on some rows of each sample; a Gaussian is then fitted to all rows."""
    numerics = problem.numerics
    random = np.random.default_rng(numerics.seed)
    p, q = (sample.thinned(_FEW_ROWS, random) for sample in problem.samples)
    models, losses = fit_derivatives(settings.derivatives, (p, q), numerics.seed, numerics.resources.device, quiet=True)
    one, other = (
        gaussian if isinstance(model, GaussianModel) else model
        for model, gaussian in zip(models, problem.gaussians, strict=True)
    )
    return (one, other), losses


def _with_weight(ratio: Ratio, settings: WeightSettings, numerics: Numerics) -> tuple[Ratio, Models, Losses]:
    """Return the ratio with a weight fitted to the bias that its guide leaves, or without one if that gains nothing."""
    if not isinstance(ratio, GuidedRatio) or settings.kind == "uniform":
        return ratio, fit_gaussians(ratio.samples), NO_LOSSES
    models, losses = fit_models(ratio.samples, settings, numerics)
    tilted = tilted_derivatives(models, ratio.guide)
    weight = fit_weight(ratio.samples, ratio.bandwidth, models, tilted, settings, numerics)
    pair = make_pair(ratio.samples, weight, ratio.bandwidth, numerics, ratio.guide)
    pair = with_few_centres(pair, numerics.seed)
    weighted = level_by_all_rows(GuidedRatio(ratio.guide, pair, ratio.most))
    # what was taken off the log ratios at the rows, such as the optimism of directions, is taken off here too
    sides = zip(weighted.at_samples, ratio.at_samples, replace(ratio, known=None).at_samples, strict=True)
    at_p, at_q = (with_weight + corrected - plain for with_weight, corrected, plain in sides)
    weighted = replace(weighted, known=(at_p, at_q))
    fall, error = fall_of_log_loss(ratio.at_samples, weighted.at_samples, ratio.samples)
    return (weighted if fall > _CLEARLY * error else ratio), models, losses
