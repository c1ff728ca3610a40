"""Which guide, which bandwidth, which coordinates: chosen from the data.

Every candidate is judged by the log loss of the classifier that its log ratio induces, leave-one-out and cross-fitted,
both classes counting alike. All bandwidths and guides of one coordinate system share one pass over the distances.

Two questions get two answers. A ratio at a point suffers from noise as much as from bias. An average of log ratios does
not: noise that differs from point to point averages out. So where averages are wanted an unbiased guide is judged less
the loss that its own noise causes. In high dimension the first answer is a shrunken model, the second is not.

Close candidates share: their log ratios are averaged with weights that fall off exponentially with the loss. At single
points that is the best bandwidth of each form; in averages it is all of them, since the loss hardly tells them apart
although their bias differs. Those that depend on the choice of axes must show clearly that they are better; otherwise
any affine copy of the data gives the same answer.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from vwkde._answers.functionals import fall_of_log_loss, log_loss
from vwkde._compute.resources import Resources
from vwkde._compute.sums import log_kernel_sums
from vwkde._data.sample import Sample
from vwkde._data.validation import Array
from vwkde._fit.averaging import Member, Pool
from vwkde._fit.guided_ratio import GuidedRatio
from vwkde._fit.kernel_estimate import EstimatePair, RestSums, Weighing
from vwkde._fit.subspace import Projection, as_it_is, find_subspace, project_samples
from vwkde._models.guides import AFFINE, CrossFitted, cross_fit, no_guide
from vwkde._models.weights import Weight
from vwkde._models.weights.uniform import UniformWeight

Floats = NDArray[np.float64]
Coordinates = Callable[[Array], Floats]
Form = tuple[CrossFitted, Weight]
"""What the kernel sums are of: a guide, and a weight that both samples share."""

_DOUBLE = np.dtype(np.float64)
MOST_ROWS = 3_000
"""Rows of each sample that the choice is made on: more would make it dearer, hardly better."""
_STEPS = np.arange(-3, 9) / 2
"""Bandwidths are Scott's times two to these powers, and infinity."""
_UNBIASED = "gaussian"
_CLEARLY = 2.0
"""Standard errors by which a candidate that depends on the axes must be better."""
_TEMPERATURE = 0.25
"""Share of the log likelihood that counts when candidates share: their losses are noisy and alike."""
_SMALLEST_SHARE = 0.01
_IGNORANCE = np.log(2) + 1e-12
"""The loss of a ratio that is one everywhere: what loses more is worse than knowing nothing."""
_IN_SUBSPACE = (None, "mixture")
"""Guides by which a subspace is judged."""
_WITHOUT_SEARCH = (None, "gaussian", "shrunk-gaussian")
"""Guides that no number of columns leads astray."""


@dataclass(frozen=True)
class Space:
    """The two samples in one system of coordinates, and what to try there: guides, and perhaps the paper's weight."""

    name: str
    numerator: Sample
    denominator: Sample
    guides: tuple[Any, ...]
    axes_matter: bool
    weigh: Callable[[Sample, Sample], Weight] | None = None

    def at_most(self, rows: int, random: np.random.Generator) -> "Space":
        """Return the space with larger samples thinned to so many rows."""
        return replace(
            self, numerator=self.numerator.thinned(rows, random), denominator=self.denominator.thinned(rows, random)
        )


@dataclass(frozen=True)
class Candidate:
    """One guide, weight and bandwidth in one space: the log ratios at the samples, and what they lose."""

    space: Space
    guide: CrossFitted
    weight: Weight
    bandwidth: float
    at_numerator: Floats
    at_denominator: Floats
    loss: float
    noise_loss: float

    @property
    def axes_matter(self) -> bool:
        """Whether a rotation of the data would change the candidate."""
        return self.space.axes_matter or self.guide.name not in AFFINE

    @property
    def form_key(self) -> tuple[str, bool]:
        """What tells the candidate's guide and weight from the others of its space."""
        return self.guide.name, isinstance(self.weight, UniformWeight)

    @property
    def average_loss(self) -> float:
        """The loss less what only noise causes, where the guide is unbiased and speaks alone."""
        alone = self.guide.name == _UNBIASED and np.isinf(self.bandwidth)
        return self.loss - self.noise_loss if alone else self.loss


def scott_units(space: Space) -> float:
    """Return the unit of the bandwidths: n^(−1/(d+4)) of the smaller sample."""
    rows = min(space.numerator.effective_rows, space.denominator.effective_rows)
    return float(rows ** (-1 / (space.numerator.points.shape[1] + 4)))


def candidates(space: Space, bandwidths: Floats | None, seed: int, resources: Resources) -> list[Candidate]:
    """Return the candidates of a space: all guides, and the weight without a guide, with all bandwidths."""
    p, q = space.numerator, space.denominator
    guides = [no_guide(p, q) if g is None else cross_fit(g, p, q, seed) for g in space.guides]
    forms: list[Form] = [(guide, UniformWeight()) for guide in guides]
    if space.weigh is not None:
        forms.append((no_guide(p, q), space.weigh(p, q)))
    finite = scott_units(space) * 2.0**_STEPS if bandwidths is None else bandwidths
    at_p, at_q = _log_ratios(space, forms, finite, resources)
    found = [
        _candidate(space, form, h, at_p[i, :, k], at_q[i, :, k])
        for k, form in enumerate(forms)
        for i, h in enumerate(finite)
    ]
    if bandwidths is None:
        found += [
            _candidate(space, (guide, UniformWeight()), np.inf, guide.at_numerator, guide.at_denominator)
            for guide in guides
        ]
    return found


def most_correction(space: Space) -> float:
    """Return the most that kernel sums may change a guide by."""
    return float(np.log(min(space.numerator.total, space.denominator.total)))


def _log_ratios(
    space: Space, forms: list[Form], bandwidths: Floats, resources: Resources, dtype: np.dtype[Any] = _DOUBLE
) -> tuple[Floats, Floats]:
    """Return the log ratios at both samples, leave-one-out, for bandwidths × points × forms.

    `dtype` is that of sums over rows that are not held, which may be very many.
    """
    p, q = space.numerator, space.denominator
    u_p = np.stack([guide.at_numerator for guide, _ in forms], axis=1)
    u_q = np.stack([guide.at_denominator for guide, _ in forms], axis=1)
    alpha_p, alpha_q = (np.stack([weight.log_weight(each.points) for _, weight in forms], axis=1) for each in (p, q))
    p_weight = p.log_weight[:, None] + alpha_p - 0.5 * u_p
    q_weight = q.log_weight[:, None] + alpha_q + 0.5 * u_q

    beyond = _rest_sums(p, q, forms, bandwidths, resources, dtype)

    def log_density(other: Sample, sample: Sample, log_weight: Floats) -> Floats:
        own = other is sample
        sums = log_kernel_sums(
            other.points, sample.points, bandwidths, log_weight=log_weight, leave_one_out=own, resources=resources
        )
        if sample.rest is not None:
            place = slice(0, len(p)) if other is p else slice(len(p), None)
            sums = np.logaddexp(sums, beyond[sample is q][:, place])
        return sums - np.log(sample.total_weight - (sample.weight if own else np.zeros(len(other))))[:, None]

    most = most_correction(space)
    at_p = log_density(p, p, p_weight) - log_density(p, q, q_weight)
    at_q = log_density(q, p, p_weight) - log_density(q, q, q_weight)
    return u_p + np.clip(at_p, -most, most), u_q + np.clip(at_q, -most, most)


def _rest_sums(
    p: Sample, q: Sample, forms: list[Form], bandwidths: Floats, resources: Resources, dtype: np.dtype[Any]
) -> list[Floats]:
    """Return the log sums over what each sample does not hold, at the points of both: one pass over each."""
    x = np.concatenate([p.points, q.points])
    found = []
    for sample, share in ((p, -0.5), (q, 0.5)):
        weighings = tuple(Weighing(weight, guide, share) for guide, weight in forms)
        work = RestSums(x, bandwidths, weighings, dtype, resources)
        found.append(work.over(sample.rest) if sample.rest else np.empty(0))
    return found


def _candidate(space: Space, form: Form, bandwidth: float, at_p: Floats, at_q: Floats) -> Candidate:
    p, q = space.numerator, space.denominator
    guide, weight = form
    loss = log_loss(at_p, at_q, p.weight, q.weight)
    noise = [
        np.average(expit(u) * expit(-u) * noise, weights=sample.weight)
        for u, noise, sample in zip((at_p, at_q), guide.noise, (p, q), strict=True)
    ]
    return Candidate(space, guide, weight, float(bandwidth), at_p, at_q, loss, float(0.25 * sum(noise)))


def shares(found: list[Candidate], averages: bool) -> list[float]:
    """Return the share of each candidate in the answer, for averages or for single points."""
    losses = np.array([c.average_loss if averages else c.loss for c in found])
    allowed = _allowed_axes(found, losses)
    allowed &= losses <= max(_IGNORANCE, losses[allowed].min())
    if not averages:
        allowed &= _best_bandwidths(found, losses)
    rows = 4 / sum(1 / sample.effective_rows for sample in (found[0].space.numerator, found[0].space.denominator))
    share = np.where(allowed, np.exp(-_TEMPERATURE * rows * (losses - losses[allowed].min())), 0.0)
    share[share < _SMALLEST_SHARE * share.max()] = 0.0
    return list(share / share.sum())


def _best_bandwidths(found: list[Candidate], losses: Floats) -> NDArray[np.bool_]:
    """Mark, for each form in each space, the bandwidth with the smallest loss."""
    best: dict[tuple[str, tuple[str, bool]], int] = {}
    for i, c in enumerate(found):
        key = c.space.name, c.form_key
        if key not in best or losses[i] < losses[best[key]]:
            best[key] = i
    return np.isin(np.arange(len(found)), list(best.values()))


def _allowed_axes(found: list[Candidate], losses: Floats) -> NDArray[np.bool_]:
    """Mark the candidates that do not depend on the axes, or those that do where they are clearly better."""
    axes_matter = np.array([c.axes_matter for c in found])
    if axes_matter.all() or not axes_matter.any():
        return np.ones(len(found), dtype=bool)
    free, bound = (np.flatnonzero(mask)[np.argmin(losses[mask])] for mask in (~axes_matter, axes_matter))
    better = losses[free] - losses[bound] > _CLEARLY * _error_of_fall(found[free], found[bound])
    return axes_matter if better else ~axes_matter


def _error_of_fall(before: Candidate, after: Candidate) -> float:
    """Return the standard error of the difference of two losses."""
    then, now = ((c.at_numerator, c.at_denominator) for c in (before, after))
    return fall_of_log_loss(then, now, (before.space.numerator, before.space.denominator))[1]


def choose(
    spaces: list[tuple[Space, Coordinates]],
    bandwidth: float | None,
    seed: int,
    make_pair: Callable[[Sample, Sample, float], EstimatePair],
    resources: Resources,
    project: bool = False,
) -> Pool:
    """Return the pool of guided ratios that the data ask for; a bandwidth given is kept.

    With `project`, the first space may give way to a few of its directions, where a guide does not depend on the axes.
    """
    bandwidths = None if bandwidth is None else np.array([bandwidth])
    project = project and any(guide is None or guide in AFFINE for guide in spaces[0][0].guides)
    thinned = [_thinned(space, seed) for space, _ in spaces]
    found = [c for space in thinned for c in candidates(space, bandwidths, seed, resources)]
    directions = _directions(thinned[0], found, bandwidth, seed, make_pair, resources) if project else None
    if directions is not None:
        projected = _project(spaces[0], directions)
        spaces = [*spaces, projected]
        within = candidates(_thinned(projected[0], seed), bandwidths, seed, resources)
        found = [c for c in found if c.axes_matter] + within
    rated = list(zip(found, shares(found, False), shares(found, True), strict=True))
    members = []
    for space, coordinates in spaces:
        chosen = [(c, one, mean) for c, one, mean in rated if c.space.name == space.name and (one or mean)]
        ratios = _on_all_rows([c for c, _, _ in chosen], space, bandwidth, seed, make_pair, resources)
        parts = zip(ratios, chosen, strict=True)
        members += [Member(coordinates, space.name, ratio, one, mean) for ratio, (_, one, mean) in parts]
    return Pool(tuple(members))


def _thinned(space: Space, seed: int) -> Space:
    return space.at_most(MOST_ROWS, np.random.default_rng(seed))


def _project(space: tuple[Space, Coordinates], directions: Floats) -> tuple[Space, Coordinates]:
    """Return the projections on some directions, whose choice within the subspace must not matter."""
    whole, coordinates = space
    samples = project_samples((whole.numerator, whole.denominator), directions)
    free = tuple(guide for guide in whole.guides if guide is None or guide in AFFINE)
    return Space("subspace", *samples, free, False), Projection(coordinates, directions)


def choose_directions(
    numerator: Sample,
    denominator: Sample,
    seed: int,
    make_pair: Callable[[Sample, Sample, float], EstimatePair],
    resources: Resources,
) -> Floats | None:
    """Return directions that serve the ratio better than a Gaussian guide and the kernel do in all of them, or None."""
    space = _thinned(Space("whitened", numerator, denominator, _WITHOUT_SEARCH, False), seed)
    return _directions(space, candidates(space, None, seed, resources), None, seed, make_pair, resources)


def _directions(
    space: Space,
    found: list[Candidate],
    bandwidth: float | None,
    seed: int,
    make_pair: Callable[[Sample, Sample, float], EstimatePair],
    resources: Resources,
) -> Floats | None:
    """Return directions in which the ratio is clearly better than by the best candidate free of axes, or None."""

    def fit(p: Sample, q: Sample) -> Callable[[Floats], Floats]:
        space = Space("subspace", p, q, _IN_SUBSPACE, False)
        return choose([(space, as_it_is)], bandwidth, seed, make_pair, resources).log_ratio

    best = min((c for c in found if not c.axes_matter), key=lambda c: c.loss)
    log_ratios = best.at_numerator, best.at_denominator
    return find_subspace((space.numerator, space.denominator), log_ratios, fit, seed)


def _on_all_rows(
    chosen: list[Candidate],
    space: Space,
    bandwidth: float | None,
    seed: int,
    make_pair: Callable[[Sample, Sample, float], EstimatePair],
    resources: Resources,
) -> list[GuidedRatio]:
    """Return the candidates' ratios with every row in them; more rows allow a narrower kernel."""
    p, q = space.numerator, space.denominator
    thinned = any(c.space.numerator.total < p.total or c.space.denominator.total < q.total for c in chosen)
    forms: dict[tuple[str, bool], Form] = {}
    for c in chosen:
        if c.form_key not in forms:
            forms[c.form_key] = _refitted(c, space, seed) if thinned else (c.guide, c.weight)
    kept = bandwidth is not None or not thinned
    widths = [c.bandwidth if kept else c.bandwidth * scott_units(space) / scott_units(c.space) for c in chosen]
    ratios = []
    for c, h in zip(chosen, widths, strict=True):
        guide, weight = forms[c.form_key]
        pair = replace(make_pair(p, q, h), weight=weight, guide=guide)
        ratios.append(GuidedRatio(pair, guide, most_correction(space)))
    _give_log_ratios(ratios, chosen, space, forms if thinned else None, resources)
    return ratios


def _refitted(c: Candidate, space: Space, seed: int) -> Form:
    p, q = space.numerator, space.denominator
    guide = no_guide(p, q) if c.guide.form is None else cross_fit(c.guide.form, p, q, seed)
    if isinstance(c.weight, UniformWeight) or space.weigh is None:
        return guide, c.weight
    return guide, space.weigh(p, q)


def _give_log_ratios(
    ratios: list[GuidedRatio],
    chosen: list[Candidate],
    space: Space,
    forms: dict[tuple[str, bool], Form] | None,
    resources: Resources,
) -> None:
    """Hand the ratios what they need not compute one by one: their values at the samples.

    The choice was made by them; where the forms were fitted anew, to all rows, one pass serves all bandwidths.
    """
    if forms is None:
        for ratio, c in zip(ratios, chosen, strict=True):
            ratio.__dict__.update(at_numerator=c.at_numerator, at_denominator=c.at_denominator)
        return
    widths = np.unique([ratio.pair.bandwidth for ratio in ratios if np.isfinite(ratio.pair.bandwidth)])
    if not len(widths):
        return
    at_p, at_q = _log_ratios(space, list(forms.values()), widths, resources, ratios[0].pair.dtype)
    for ratio, c in zip(ratios, chosen, strict=True):
        if np.isfinite(ratio.pair.bandwidth):
            place = np.searchsorted(widths, ratio.pair.bandwidth), slice(None), list(forms).index(c.form_key)
            ratio.__dict__.update(at_numerator=at_p[place], at_denominator=at_q[place])
