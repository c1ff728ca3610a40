"""Coarse log ratios that enter the weights.

A guide u₀ is a quick estimate of log p₁/p₂ by a model or a classifier. The two samples get the weights exp(∓u₀/2),
and u₀ is added back to the log ratio of the kernel sums. If the guide is right, both sums estimate the same function,
and their bias cancels to all orders in the bandwidth. If it is only close, the bias is of first order in its error.

`GUIDES` is the registry: a new named guide is a module here and one entry.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from vwkde._data.sample import Sample
from vwkde._models.guides.additive import additive_forms
from vwkde._models.guides.bends import bend_forms, have_bends
from vwkde._models.guides.boosting import boosting_forms
from vwkde._models.guides.boxes import boxes_forms, have_few_columns
from vwkde._models.guides.curves import curve_forms, have_rows_for_curves
from vwkde._models.guides.densities import (
    fit_gaussians,
    fit_shared_gaussians,
    fit_shrunk_gaussians,
    fit_students,
    have_heavy_tails,
    mixture_forms,
)
from vwkde._models.guides.dependence import dependence_forms, show_dependence
from vwkde._models.guides.independent import have_independent_columns, independent_forms
from vwkde._models.guides.kind import Fit, GuideKind, Refinement
from vwkde._models.guides.line import fit_unbiased_line, have_rows_for_a_line
from vwkde._models.guides.logistic import INVERSE_RIDGES, fit_logistic
from vwkde._models.guides.lump import fit_lumps, have_lumps, tilted
from vwkde._models.guides.network import have_several_columns, network_forms
from vwkde._models.guides.paired_mixtures import grown_pair, paired_mixture_forms
from vwkde._models.guides.radial import fit_radial, have_shells
from vwkde._models.guides.scatter import have_scatter, scatter_forms
from vwkde._models.guides.shared_mixture import have_clusters, shared_mixture_forms
from vwkde._models.guides.tree import tree_forms
from vwkde._models.guides.waves import have_waves, wave_forms
from vwkde._models.guides.windows import have_windows, windows_forms


def _always(*forms: Fit) -> Callable[[Sample, Sample], tuple[Fit, ...]]:
    """Return forms that do not depend on the samples."""
    return lambda _numerator, _denominator: forms


_MANY_ROWS = 3_001
"""Rows of the smaller sample with which models are worth their time that find little in fewer rows."""

GUIDES: dict[str, GuideKind] = {
    "shared-gaussian": GuideKind(
        _always(fit_shared_gaussians), fewest_rows=8, affine=True, by_moments=True, unbiased=True
    ),
    "gaussian": GuideKind(_always(fit_gaussians), fewest_rows=20, affine=True, by_moments=True, unbiased=True),
    "shrunk-gaussian": GuideKind(_always(fit_shrunk_gaussians), fewest_rows=20, affine=True, by_moments=True),
    # In normal scores no tail is heavy.
    "student": GuideKind(
        _always(fit_students),
        fewest_rows=50,
        affine=True,
        unbiased=True,
        normal_scores_up_to=0,
        most_rows=50_000,
        suits=have_heavy_tails,
    ),
    "independent": GuideKind(
        independent_forms,
        fewest_rows=100,
        affine=True,
        normal_scores_up_to=0,
        most_rows=5_000,
        grows_from=8,  # of fewer columns 2,000 rows show the axes
        suits=have_independent_columns,
    ),
    "logistic": GuideKind(
        _always(*(partial(fit_logistic, inverse) for inverse in INVERSE_RIDGES)),
        fewest_rows=20,
        affine=True,
        most_rows=50_000,
    ),
    "line": GuideKind(
        _always(fit_unbiased_line),
        fewest_rows=50,
        affine=True,
        unbiased=True,
        most_rows=50_000,
        suits=have_rows_for_a_line,
    ),
    "waves": GuideKind(
        wave_forms,
        fewest_rows=100,
        affine=True,
        normal_scores_up_to=10,
        most_rows=50_000,
        threads_from=6_000,
        suits=have_waves,
    ),
    "radial": GuideKind(_always(fit_radial), fewest_rows=200, affine=True, most_rows=50_000, suits=have_shells),
    # With many columns few rows hardly ever show modes in the normal scores, and the search is expensive.
    "mixture": GuideKind(
        mixture_forms, fewest_rows=100, affine=True, normal_scores_up_to=10, most_rows=20_000, fewer_than=_MANY_ROWS
    ),
    "paired-mixture": GuideKind(
        paired_mixture_forms,
        fewest_rows=_MANY_ROWS,
        affine=True,
        normal_scores_up_to=20,
        most_rows=200_000,
        grows_from=1,
        grown=grown_pair,
        threads_from=50_000,
    ),
    "lump": GuideKind(
        _always(fit_lumps, Refinement(fit_lumps, tilted)),
        fewest_rows=100,
        affine=True,
        normal_scores_up_to=0,
        most_rows=20_000,
        suits=have_lumps,
    ),
    # An increasing map of each column hardly changes the next guides, which see the columns as given.
    "additive": GuideKind(
        additive_forms,
        fewest_rows=100,
        affine=False,
        normal_scores_up_to=0,
        most_rows=20_000,
        grows_from=1,
    ),
    "curves": GuideKind(
        curve_forms,
        fewest_rows=50,
        affine=False,
        unbiased=True,
        normal_scores_up_to=0,
        most_rows=20_000,
        suits=have_rows_for_curves,
    ),
    "boosting": GuideKind(
        boosting_forms,
        fewest_rows=100,
        affine=False,
        normal_scores_up_to=0,
        most_rows=100_000,
        grows_from=1,
        threads_from=10_000,
    ),
    "tree": GuideKind(
        tree_forms,
        fewest_rows=1_000,
        affine=False,
        normal_scores_up_to=0,
        most_rows=100_000,
        grows_from=1,
    ),
    "boxes": GuideKind(
        boxes_forms,
        fewest_rows=2_000,
        affine=False,
        normal_scores_up_to=0,
        most_rows=100_000,
        grows_from=1,
        suits=have_few_columns,
    ),
    "network": GuideKind(
        network_forms,
        fewest_rows=2_000,
        affine=False,
        normal_scores_up_to=0,
        most_rows=100_000,
        grows_from=1,
        threads_from=0,
        suits=have_several_columns,
    ),
    "dependence": GuideKind(
        dependence_forms,
        fewest_rows=100,
        affine=False,
        unbiased=True,
        normal_scores_up_to=0,
        most_rows=100_000,
        grows_from=2,
        shows=show_dependence,
    ),
    "scatter": GuideKind(
        scatter_forms,
        fewest_rows=50,
        affine=False,
        normal_scores_up_to=0,
        most_rows=20_000,
        suits=have_scatter,
    ),
    "bends": GuideKind(
        bend_forms,
        fewest_rows=50,
        affine=False,
        normal_scores_up_to=0,
        own_units=True,
        most_rows=20_000,
        suits=have_bends,
    ),
    "windows": GuideKind(
        windows_forms,
        fewest_rows=30,
        affine=False,
        normal_scores_up_to=0,
        own_units=True,
        most_rows=20_000,
        suits=have_windows,
    ),
    "shared-mixture": GuideKind(
        shared_mixture_forms,
        fewest_rows=50,
        affine=False,
        normal_scores_up_to=0,
        most_rows=20_000,
        suits=have_clusters,
    ),
}
"""Guides by name, in the order in which they are tried."""

FEWEST_ROWS = min(kind.fewest_rows for kind in GUIDES.values())
"""Rows of the smaller sample below which no guide is fitted."""


def worth_trying(guides: Sequence[Any] | None, rows: float) -> tuple[Any, ...]:
    """Return the named guides that this many rows of the smaller sample can support, or all those that were given."""
    if guides is not None:
        return tuple(guides) if rows >= FEWEST_ROWS else ()
    return tuple(name for name, kind in GUIDES.items() if kind.fewest_rows <= rows < kind.fewer_than)


def needs_no_density(guide: Any) -> bool:
    """Return whether a guide only tells rows apart: a sample may then lie on a line, or lack a level of a category."""
    return not isinstance(guide, str) or guide in ("logistic", "additive", "boosting", "tree", "boxes", "network")
