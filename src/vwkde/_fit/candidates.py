"""The candidates of the default: every guide, bandwidth and weight in one coordinate system, and their losses.

A candidate's loss is the log loss of the classifier that its log ratio induces, leave-one-out and cross-fitted, with
equal weight for both classes. All bandwidths and guides of one coordinate system share one pass over the distances.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vwkde._compute import parallel
from vwkde._data.sample import Sample
from vwkde._data.validation import Array
from vwkde._fit.few_centres import level_by_all_rows, most_centres, with_few_centres
from vwkde._fit.guide_noise import GuideNoise
from vwkde._fit.guided_ratio import GuideAlone, GuidedRatio, Ratio
from vwkde._fit.kernel_estimate import KernelEstimate, Numerics, PointWeight
from vwkde._fit.kernel_pair import make_pair, pair_of
from vwkde._fit.overshoot import without_overshoot
from vwkde._fit.weighting import fit_weight
from vwkde._models.derivatives import Models
from vwkde._models.guides.cross_fit import CrossFitted, cross_fit, no_guide, suits
from vwkde._models.guides.kind import Fit
from vwkde._models.log_loss import AtBoth, loss_terms, mean_loss
from vwkde._models.weights.problem import WeightSettings
from vwkde._models.weights.protocol import Weight
from vwkde._models.weights.uniform import UniformWeight
from vwkde._runtime.lazy import lazy

Floats = NDArray[np.float64]
Coordinates = Callable[[Array], Floats]

MOST_ROWS = 3_000
"""Rows of each sample up to which all candidates are compared by all rows."""
_FEW_ROWS = 2_000
"""If there are more, so many decide first which candidates are worth fitting to more rows."""
_FEWEST_PAIRS = 30
_THIN = 1e-6
_STEPS = np.arange(-3, 9) / 2
"""Bandwidths are Scott's times two to these powers; in addition each guide is tried alone."""
_ENOUGH_ROWS = 10_000
"""Rows of each sample from which more do not change how a guide is fitted, only how well."""

FormKey = tuple[str, int, bool]


class Form(NamedTuple):
    """What the kernel sums contain: a guide, and a weight that both samples share."""

    guide: CrossFitted
    weight: Weight

    @property
    def key(self) -> FormKey:
        """Identifies the form among those of its space; two guides may be classifiers of the same name."""
        return self.guide.name, id(self.guide.form), isinstance(self.weight, UniformWeight)


@dataclass(frozen=True)
class WeightTrial:
    """The paper's weight as one candidate among many: its settings, and the derivatives it is fitted with."""

    settings: WeightSettings
    models: Models

    def fit(self, samples: tuple[Sample, Sample], numerics: Numerics) -> Weight:
        """Fit the weight, without a guide."""
        return fit_weight(samples, 1.0, self.models, self.models, self.settings, numerics)


@dataclass(frozen=True)
class Space:
    """The two samples in one coordinate system, and what to try there: guides, and optionally the paper's weight."""

    name: str
    coordinates: Coordinates
    samples: tuple[Sample, Sample]
    guides: tuple[Any, ...]
    axes_matter: bool = False
    weight: WeightTrial | None = None
    grows: bool = False
    """Whether more rows than the first ones showed that it is needed, so that its guides may win with more."""

    def thinned(self, seed: int, most: int | None = None) -> "Space":
        """Return the space with at most `most` rows of each sample; by default, those by which all are compared."""
        random = np.random.default_rng(seed)
        p, q = (sample.thinned(most or first_rows(len(sample)), random) for sample in self.samples)
        return replace(self, samples=(p, q))

    @property
    def rows(self) -> int:
        """The rows of both samples, in memory or not."""
        return sum(sample.total for sample in self.samples)

    @property
    def scott(self) -> float:
        """The unit of the bandwidths: n^(−1/(d+4)), where n are the centres of the smaller sample."""
        centres = most_centres(self.samples)
        rows = min(sample.effective_rows * min(1, centres / len(sample)) for sample in self.samples)
        return float(rows ** (-1 / (self.samples[0].points.shape[1] + 4)))

    @lazy
    def is_thin(self) -> bool:
        """Whether a sample varies so little in some direction that no kernel resolves it."""
        covariances = [sample.mean_and_covariance()[1] for sample in self.samples]
        return any(np.linalg.eigvalsh(covariance)[0] < _THIN for covariance in covariances)

    @property
    def rows_in_memory(self) -> int:
        """The rows of the smaller sample; none if some are not in memory, of which one pass at a time is enough."""
        return 0 if any(sample.rest for sample in self.samples) else min(map(len, self.samples))

    @property
    def most_correction(self) -> float:
        """The largest change of a guide that kernel sums may make."""
        return float(np.log(min(sample.total for sample in self.samples)))


@dataclass(frozen=True)
class Candidate:
    """One form and bandwidth in one space, or a guide alone: its log ratios at the samples, and its losses."""

    space: Space
    form: Form
    bandwidth: float | None
    at_samples: AtBoth

    @property
    def axes_matter(self) -> bool:
        """Whether a rotation of the data would change the candidate."""
        return self.space.axes_matter or not self.form.guide.affine

    @property
    def loss(self) -> float:
        """The log loss of the log ratio at single points."""
        return mean_loss(self.terms, self.space.samples)

    @property
    def average_loss(self) -> float:
        """The loss by which candidates for averages are compared."""
        return mean_loss(self.average_terms, self.space.samples)

    @lazy
    def terms(self) -> AtBoth:
        """The log loss at every point of both samples."""
        return loss_terms(self.at_samples)

    @lazy
    def average_terms(self) -> AtBoth:
        """The same; for an unbiased guide alone, minus the part that its noise causes."""
        return self.terms if self.noise is None else self.noise.average_terms

    @lazy
    def noise(self) -> GuideNoise | None:
        """The noise of an unbiased guide alone."""
        guide = self.form.guide
        if self.bandwidth is not None or not guide.unbiased:
            return None
        return GuideNoise(self.at_samples, guide.sure_noise, guide.noise_by_theory, self.space.samples)


def first_rows(rows: int) -> int:
    """Return how many of a sample's rows decide first."""
    return rows if rows <= MOST_ROWS else _FEW_ROWS


def find_candidates(space: Space, bandwidth: float | None, numerics: Numerics) -> list[Candidate]:
    """Return the candidates of a space: all guides, and the weight without a guide, with all bandwidths.

    If a bandwidth is given, it is the only one, and no guide is a candidate alone.
    """
    tried = [guide for guide in space.guides if len(space.guides) == 1 or suits(guide, space.samples)]
    guides = [_cross_fitted(guide, space, numerics.seed) for guide in tried]
    smoothed = guides if bandwidth is not None else [guide for guide in guides if _takes_kernel_sums(guide, space)]
    forms = [Form(guide, UniformWeight()) for guide in smoothed]
    if space.weight is not None:
        forms.append(Form(no_guide(space.samples), space.weight.fit(space.samples, numerics)))
    widths = space.scott * 2.0**_STEPS if bandwidth is None else np.array([bandwidth])
    at_p, at_q = _log_ratios(space, forms, widths, replace(numerics, dtype=np.dtype(np.float64)))
    candidates = [
        Candidate(space, form, float(h), (at_p[i, :, k], at_q[i, :, k]))
        for k, form in enumerate(forms)
        for i, h in enumerate(widths)
    ]
    if bandwidth is None:
        candidates += [Candidate(space, Form(guide, UniformWeight()), None, guide.at_samples) for guide in guides]
    return candidates


def _cross_fitted(guide: Any, space: Space, seed: int, fit: Fit | None = None) -> CrossFitted:
    """Return a guide fitted to the samples of a space; among others, one that overshoots is reduced."""
    fitted = cross_fit(guide, space.samples, seed, fit)
    return fitted if len(space.guides) == 1 else without_overshoot(fitted, space.samples)


def _takes_kernel_sums(guide: CrossFitted, space: Space) -> bool:
    """Return whether kernel sums around a guide are worth trying: not where hardly any row of the denominator is close.

    Pairs of X and Y can miss a strong dependence, and rows a thin sample. The few rows that are closest would then
    decide everything, and no loss shows it, since hardly any row is in doubt.
    """
    fewest = _FEWEST_PAIRS if space.samples[1].pairs else int(space.is_thin)
    at_p, at_q = guide.at_samples
    return int(np.count_nonzero(at_q >= np.quantile(at_p, 0.05))) >= fewest


def on_all_rows(chosen: list[Candidate], space: Space, bandwidth: float | None, numerics: Numerics) -> list[Ratio]:
    """Return the ratios of the candidates chosen in a space, fitted to all its rows.

    They all come from one thinned copy of the space. If that has fewer rows, guides and weights are fitted again, and
    the bandwidth is reduced by Scott's rate for the number of centres, unless it was given.
    """
    if not chosen:
        return []
    thinned = chosen[0].space
    if thinned.rows == space.rows:
        return [_ratio(c.form, c.bandwidth, space, c.at_samples, numerics) for c in chosen]
    settled = min(len(sample) for sample in thinned.samples) >= _ENOUGH_ROWS
    forms = {c.form.key: c.form for c in chosen}
    forms = _all_refitted(forms, space, settled, numerics)
    narrowing = space.scott / thinned.scott if bandwidth is None else 1.0
    wanted = [(c.form.key, c.bandwidth and c.bandwidth * narrowing) for c in chosen]
    known = _known_log_ratios(space, forms, wanted, numerics)
    return [_ratio(forms[key], h, space, known.get((key, h)), numerics) for key, h in wanted]


def judged_by_all_rows(candidate: Candidate, space: Space, ratio: Ratio) -> Candidate:
    """Return a candidate with the log ratios of its fit to all rows of its space."""
    if candidate.space.rows == space.rows:
        return candidate
    bandwidth = None if candidate.bandwidth is None else ratio.bandwidth
    return replace(
        candidate, space=space, form=Form(ratio.guide, ratio.weight), bandwidth=bandwidth, at_samples=ratio.at_samples
    )


def _ratio(form: Form, bandwidth: float | None, space: Space, known: AtBoth | None, numerics: Numerics) -> Ratio:
    if bandwidth is None:
        return GuideAlone(form.guide, space.samples, known)
    pair = with_few_centres(make_pair(space.samples, form.weight, bandwidth, numerics, form.guide), numerics.seed)
    return level_by_all_rows(GuidedRatio(form.guide, pair, space.most_correction, known))


def _all_refitted(forms: dict[FormKey, Form], space: Space, settled: bool, numerics: Numerics) -> dict[FormKey, Form]:
    """Return forms fitted to the rows of a space, side by side; those that share moments one after the other."""
    by_moments = [key for key, form in forms.items() if form.guide.by_moments]
    alone = [[key] for key in forms if key not in by_moments]

    def refit(keys: list[FormKey]) -> list[tuple[FormKey, Form]]:
        return [(key, _refitted(forms[key], space, settled, numerics)) for key in keys]

    fitted = dict(chain(*parallel.concurrently(refit, [by_moments, *alone], space.rows_in_memory)))
    return {key: fitted[key] for key in forms}


def _refitted(form: Form, space: Space, settled: bool, numerics: Numerics) -> Form:
    """Return a form fitted to the rows of a space; if how a guide is fitted is `settled`, it is not chosen again."""
    guide = _cross_fitted(form.guide.form, space, numerics.seed, form.guide.fit if settled else None)
    if isinstance(form.weight, UniformWeight) or space.weight is None:
        return Form(guide, form.weight)
    return Form(guide, space.weight.fit(space.samples, numerics))


def _known_log_ratios(
    space: Space, forms: dict[FormKey, Form], wanted: list[tuple[FormKey, float | None]], numerics: Numerics
) -> dict[tuple[FormKey, float | None], AtBoth]:
    """Return the log ratios at the samples by form and bandwidth; one pass serves all of them."""
    widths = np.unique([h for _, h in wanted if h is not None])
    keys = [key for key in forms if any(wanted_key == key and h is not None for wanted_key, h in wanted)]
    if not keys:
        return {}
    at_p, at_q = _log_ratios(space, [forms[key] for key in keys], widths, numerics)
    return {(key, float(h)): (at_p[i, :, k], at_q[i, :, k]) for k, key in enumerate(keys) for i, h in enumerate(widths)}


def _log_ratios(space: Space, forms: list[Form], bandwidths: Floats, numerics: Numerics) -> AtBoth:
    """Return the log ratios at both samples, leave-one-out, for bandwidths × points × forms."""
    p, q = (
        KernelEstimate(
            sample,
            tuple(PointWeight(form.weight, form.guide, side) for form in forms),
            bandwidths,
            numerics.dtype,
            numerics.resources,
        )
        for side, sample in enumerate(space.samples)
    )
    most = space.most_correction
    if not forms:
        return np.empty((len(bandwidths), len(p.sample), 0)), np.empty((len(bandwidths), len(q.sample), 0))
    u_p, u_q = (np.stack([form.guide.at_samples[side] for form in forms], axis=1) for side in (0, 1))
    at_p, at_q = with_few_centres(pair_of(p, q), numerics.seed).log_ratios
    return u_p + np.clip(at_p, -most, most), u_q + np.clip(at_q, -most, most)
