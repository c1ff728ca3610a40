"""The coordinate systems in which the default looks for candidates.

- whitened: the guides that do not depend on the axes, and the paper's weight;
- normal scores: every column mapped to normal scores, then whitened, for skewed and heavy-tailed columns;
- as given: every column mapped to normal scores and left alone, for guides that split or bend single columns;
- own units: every column shifted and scaled, for curves of columns, which normal scores would bend;
- columns: the few of those columns that carry the ratio, if there are such, whitened;
- components: the first principal components of those columns, if the rows are too few for all columns together;
- products: those columns and products of them, for guides that bend, split or multiply columns, and the columns of the
  first product, whitened; only if other candidates miss the products;
- circles, and differences of angles: columns that look like angles, or their differences, become cosines and sines;
- derived, and derived alone: columns that are made of others, because other candidates miss what they tell, with the
  columns as given or without these.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vwkde._compute import parallel
from vwkde._coordinates.axes import principal_axes
from vwkde._coordinates.derived import Derived, OnCircles, WithDerived, period_of, values_of
from vwkde._coordinates.further import WithFurther, add_further
from vwkde._coordinates.normal_scores import WhitenedScores, fit_normal_scores, fit_scores_in_blocks
from vwkde._coordinates.products import Product
from vwkde._coordinates.projection import Projection, project_samples
from vwkde._coordinates.subgroups import Subgroup
from vwkde._coordinates.whitening import Whitening, fit_whitening
from vwkde._data.sample import Sample
from vwkde._data.validation import Array
from vwkde._fit.candidates import MOST_ROWS, Coordinates, Space
from vwkde._fit.columns import MOST_COLUMNS, informative_columns
from vwkde._fit.fitted import Problem
from vwkde._models.gaussian import pooled_covariance
from vwkde._models.guides import GUIDES
from vwkde._models.guides.cross_fit import has_own_units, is_affine, shows, suits
from vwkde._runtime.warn import without
from vwkde.exceptions import DegenerateDataWarning

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Guides = tuple[Any, ...]

_MOST_RANKED = 100_000
"""Rows of each sample whose ranks make the map to normal scores."""
_SOME_CORRELATIONS, _MANY_CORRELATIONS = 0.5, 2.0
"""Correlations for each row, about twice, from which components are tried too: clear ones, and all."""
_CLEAR = 0.4
"""Share of the variance that clear components have together."""
_MOST_COMPONENTS = 8
_COPY = 1e-9
"""Variance of a direction that other columns tell."""
_WITH_PRODUCTS = ("logistic", "additive", "boosting")
"""Guides that are tried on columns and products of them."""
_ON_CIRCLES = ("logistic", "line")
"""Guides that are tried where angles are places on circles: Gaussians without a bias elsewhere have one there."""
_MOST_ANGLES = 10
"""Angles up to which the differences of all pairs are tried."""
_WITH_DERIVED = ("logistic", "line", "additive", "curves", "boosting")
"""Guides that are tried on columns and others that are derived from them."""


def whitened(problem: Problem, guides: Guides) -> Space:
    """Return the samples in whitened coordinates."""
    return Space("whitened", problem.whitening, problem.samples, guides)


def normal_scores(problem: Problem, given: Space, guides: Guides) -> Space:
    """Return the samples with every column mapped to normal scores, as in `given`, then whitened."""
    if problem.split is None:
        p, q = given.samples
        with without(DegenerateDataWarning):  # it was raised for the same data in other coordinates
            whitening = fit_whitening(p.points, q.points, (p.weight, q.weight), None)
        coordinates = WhitenedScores(given.coordinates, whitening)
        samples = _mapped(p, whitening, coordinates), _mapped(q, whitening, coordinates)
    else:
        coordinates, split = fit_scores_in_blocks(problem.held.data[0], problem.held.weights[0], problem.split)
        samples = _placed(problem, coordinates, split)
    columns = coordinates.whitening.matrix.shape[1]
    tried = tuple(guide for guide in guides if is_affine(guide) and _suits_scores(guide, columns))
    return Space("normal scores", coordinates, samples, tried, axes_matter=True)


def _mapped(sample: Sample, whitening: Whitening, coordinates: Coordinates) -> Sample:
    rest = sample.rest and replace(sample.rest, coordinates=coordinates)
    return replace(sample, points=whitening(sample.points), rest=rest)


def as_given(problem: Problem, guides: Guides) -> Space:
    """Return the samples with every column mapped to normal scores, and the guides that depend on the axes."""
    (p, p_weight), (q, q_weight) = (_some_rows(problem, side) for side in (0, 1))
    coordinates = fit_normal_scores(p, q, (p_weight, q_weight))
    samples = _placed(problem, coordinates, problem.split)
    tried = (guide for guide in guides if not is_affine(guide) and not has_own_units(guide))
    shown = tuple(guide for guide in tried if shows(guide, samples))
    return Space("as given", coordinates, samples, shown, axes_matter=True)


def own_units(problem: Problem, guides: Guides) -> list[Space]:
    """Return the samples with every column shifted and scaled, and the guides that need it; no space if none does.

    A guide that is alone was asked for; of several those are tried that suit the samples.
    """
    matrix = problem.whitening.matrix
    if problem.split is not None or matrix.shape[0] != matrix.shape[1]:
        return []
    back = np.linalg.inv(matrix)
    directions = back / np.linalg.norm(back, axis=0)  # whitened columns have variance one
    random = np.random.default_rng(problem.numerics.seed)
    p, q = (sample.thinned(MOST_ROWS, random) for sample in problem.samples)
    few = project_samples((p, q), directions)
    tried = tuple(g for g in guides if has_own_units(g) and (len(guides) == 1 or suits(g, few)))
    if not tried:
        return []
    samples = project_samples(problem.samples, directions)
    return [Space("own units", Projection(problem.whitening, directions), samples, tried, axes_matter=True)]


def _some_rows(problem: Problem, side: int) -> tuple[Array, Floats]:
    """Return rows of a sample as they were given, and their weights; if they are many, some at all distances.

    Any increasing map leaves the ratio as it is, so that more rows would only make the columns a little more normal.
    """
    data, weight, order = problem.held.data[side], problem.held.weights[side], problem.samples[side].rows
    if len(data) <= _MOST_RANKED:
        return data, weight
    some = order[np.linspace(0, len(order) - 1, _MOST_RANKED).astype(np.intp)]
    return data[some], weight[some]


def few_columns(given: Space, guides: Guides, seed: int) -> list[Space]:
    """Return the samples in the few columns, as given, that carry the ratio; no space if there are none."""
    columns = informative_columns(given.samples, seed)
    return [] if len(columns) < 2 else [_of_columns("columns", given, columns, guides)]


def few_components(given: Space, guides: Guides) -> list[Space]:
    """Return the samples in the first principal components of the columns, as given; no space if they are not needed.

    A factor that many columns share is lost among all their correlations, of which few rows say nothing. Components
    count if they vary more than those of independent columns ever do (Marchenko and Pastur). No row is told from the
    other sample's by them, so that they do not look better at the rows than they are.
    """
    per_row = sum(1 / sample.effective_rows for sample in given.samples)
    if given.samples[0].points.shape[1] ** 2 * per_row < _SOME_CORRELATIONS:
        return []
    variances, axes = np.linalg.eigh(pooled_covariance(given.samples))
    columns = int(np.count_nonzero(variances > _COPY))
    edge = (1 + np.sqrt(columns / sum(sample.effective_rows for sample in given.samples))) ** 2
    count = min(int(np.count_nonzero(variances > edge)), _MOST_COMPONENTS)
    share = variances[-count:].sum() / variances.sum() if count else 0.0
    correlations = columns**2 * per_row
    if not count or correlations < (_SOME_CORRELATIONS if share > _CLEAR else _MANY_CORRELATIONS):
        return []
    return [_of_directions("components", given, axes[:, -count:], guides)]


def of_products(given: Space, products: tuple[Product, ...], guides: Guides) -> list[Space]:
    """Return the samples with products of columns, as given, in addition, and in the columns of the first product."""
    if not products:
        return []
    tried = tuple(guide for guide in guides if not isinstance(guide, str | None) or guide in _WITH_PRODUCTS)
    coordinates, samples = WithFurther(given.coordinates, products), add_further(given.samples, products)
    spaces = [Space("products", coordinates, samples, tried, axes_matter=True)] if tried else []
    columns = products[0].columns
    if len(columns) < min(given.samples[0].points.shape[1], MOST_COLUMNS + 1):
        spaces.append(_of_columns("columns of a product", given, np.array(columns), guides))
    return spaces


def of_subgroups(given: Space, subgroups: tuple[Subgroup, ...], guides: Guides) -> list[Space]:
    """Return the samples with columns that count inside subgroups, beside those as given, and alone."""
    tried = tuple(guide for guide in guides if not isinstance(guide, str | None) or guide in _WITH_DERIVED)
    if not subgroups or not tried:
        return []
    coordinates, samples = WithFurther(given.coordinates, subgroups), add_further(given.samples, subgroups)
    beside = Space("subgroups", coordinates, samples, tried, axes_matter=True)
    columns = given.samples[0].points.shape[1]
    directions = np.eye(samples[0].points.shape[1])[:, columns:]
    alone = Projection(coordinates, directions), project_samples(samples, directions)
    return [beside, Space("subgroups alone", *alone, tried, axes_matter=True)]


def on_circles(problem: Problem, given: Space, guides: Guides) -> list[Space]:
    """Return the samples with angles as places on circles, other columns as given; no space if there are no angles.

    A second space has the differences of all pairs of angles.
    """
    p, q = rows_as_given(problem, problem.numerics.seed)
    both = np.concatenate([p, q])
    periods = {k: period for k, column in enumerate(both.T) if (period := period_of(column)) is not None}
    tried = tuple(guide for guide in guides if guide in _ON_CIRCLES or not isinstance(guide, str | None))
    if not periods or not tried:
        return []
    several = 2 <= len(periods) <= _MOST_ANGLES
    names = {"circles": False, "differences of angles": True} if several else {"circles": False}
    return [
        _further(problem, given, name, OnCircles(given.coordinates, periods, differences), list(periods), tried)
        for name, differences in names.items()
    ]


def _further(
    problem: Problem, given: Space, name: str, coordinates: OnCircles | WithDerived, replaced: list[int], guides: Guides
) -> Space:
    """Return a space with further columns of the rows as they were given, beside columns as given without some."""

    def placed(sample: Sample, data: Array) -> Sample:
        further = parallel.take_rows(coordinates.further(data), sample.rows)
        points = np.column_stack([np.delete(sample.points, replaced, axis=1), further])
        return replace(sample, points=points, rest=sample.rest and replace(sample.rest, coordinates=coordinates))

    p, q = (placed(*each) for each in zip(given.samples, problem.held.data, strict=True))
    return Space(name, coordinates, (p, q), guides, axes_matter=True)


def of_derived(problem: Problem, given: Space, derived: tuple[Derived, ...], guides: Guides) -> list[Space]:
    """Return the samples with derived columns beside those as given."""
    tried = tuple(guide for guide in guides if guide in _WITH_DERIVED or not isinstance(guide, str | None))
    if not derived or not tried:
        return []
    (p, p_weight), (q, q_weight) = (_some_rows(problem, side) for side in (0, 1))
    scores = fit_normal_scores(values_of(derived, p), values_of(derived, q), (p_weight, q_weight))
    coordinates = WithDerived(given.coordinates, derived, scores)
    beside = _further(problem, given, "derived", coordinates, [], tried)
    columns = given.samples[0].points.shape[1]
    directions = np.eye(beside.samples[0].points.shape[1])[:, columns:]
    alone = Projection(coordinates, directions), project_samples(beside.samples, directions)
    return [beside, Space("derived alone", *alone, tried, axes_matter=True)]


def rows_as_given(problem: Problem, seed: int, most: int | None = None) -> tuple[Floats, Floats]:
    """Return at most `most` rows of each sample as they were given; by default, those that compare all candidates."""
    one, other = (replace(each, points=each.rows[:, None].astype(np.float64)) for each in problem.samples)
    numbered = Space("numbers", np.asarray, (one, other), ()).thinned(seed, most).samples
    p, q = (
        np.asarray(data[sample.points[:, 0].astype(np.intp)], dtype=np.float64)
        for data, sample in zip(problem.held.data, numbered, strict=True)
    )
    return p, q


def _of_columns(name: str, given: Space, columns: Ints, guides: Guides) -> Space:
    """Return the samples in some of the columns, whitened, and the guides that do not depend on the axes."""
    return _of_directions(name, given, np.eye(given.samples[0].points.shape[1])[:, columns], guides)


def _of_directions(name: str, given: Space, chosen: Floats, guides: Guides) -> Space:
    """Return the samples in some directions, whitened, and the guides that do not depend on the axes."""
    root = principal_axes(pooled_covariance(project_samples(given.samples, chosen)), np.finfo(np.float64).eps).root
    samples = project_samples(given.samples, chosen @ root)
    tried = tuple(guide for guide in guides if is_affine(guide) and _suits_scores(guide, chosen.shape[1]))
    return Space(name, Projection(given.coordinates, chosen @ root), samples, tried, axes_matter=True)


def _suits_scores(guide: Any, columns: int) -> bool:
    """Return whether a guide is worth trying on so many columns of normal scores."""
    return guide is None or columns <= GUIDES[guide].normal_scores_up_to


def _placed(problem: Problem, coordinates: Coordinates, split: int | None) -> tuple[Sample, Sample]:
    """Return the samples in other coordinates; rows keep their order."""

    def mapped(side: int) -> Sample:
        sample = problem.samples[side]
        rest = sample.rest and replace(sample.rest, coordinates=coordinates)
        pairs = None if split is None else replace(sample.made_of, split=split)
        points = parallel.take_rows(coordinates(problem.held.data[side]), sample.rows)
        return replace(sample, points=points, rest=rest, pairs=pairs)

    return mapped(0), mapped(1)
