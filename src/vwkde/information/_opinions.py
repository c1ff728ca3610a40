"""Three opinions on one mutual information: the fitted ratio, elliptical copulas, and nearest neighbours.

- The fitted ratio and the copula are averaged, with shares that decrease exponentially with their log loss at rows and
  pairs that they have not seen. Their disagreement counts as systematic error.
- The normal copula of the ranks and the nearest neighbours rather see too little than too much: with given
  correlations, X normal and Y whatever it is, the information is smallest if they are jointly normal; and whatever is
  finer than the neighbours' distances is missed. So if one of them is clearly larger than the average, the value moves
  towards it, and half of the difference counts as systematic error.
- In two or three columns the neighbours are hardly wrong, and a fit without a model has more noise than they have: they
  take its place, whether they see more or less.
- Two columns that scatter around a curve, more closely than rows are apart, are judged by the neighbours of what the
  curve leaves; see `_relations`.
- If the neighbours see more and more in ever smaller boxes, as fast as if Y were a function of X, nothing limits the
  information from above.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, psi

from vwkde._coordinates.normal_scores import fit_scores_in_blocks
from vwkde._coordinates.whitening import whiten_blocks
from vwkde._data.sample import Sample, make_unordered_sample
from vwkde._data.validation import Array
from vwkde._fit.candidates import MOST_ROWS
from vwkde._models.elliptical import ByCopula, Rows, by_copula, uniform_ranks
from vwkde._models.log_loss import AtBoth, loss_terms
from vwkde._models.neighbours import COUNTS, MOST_COLUMNS, ByNeighbours, by_neighbours
from vwkde._runtime.warn import without
from vwkde.exceptions import DegenerateDataWarning
from vwkde.information._pairing import Paired
from vwkde.information._relations import find_relation, information_in_widths
from vwkde.results import Estimate

Floats = NDArray[np.float64]

_BY_CHANCE = 2.5
"""Standard errors by which an opinion may exceed another by chance, and by how many more it replaces it."""
_TEMPERATURE = 0.25
"""Share of the log likelihood that enters the shares, as among fitted candidates."""
_FEW_COLUMNS = 3
"""Columns of X and Y together up to which nearest neighbours are better than a fit without a model."""
_CLOSE = 1.5
"""Nats from which two columns may scatter so closely around a curve that neighbours see it better around the curve."""
_LITTLE = 0.5
"""Nats that a curve may leave between a column and what it leaves of the other: unequal scatter, not another curve."""
_UNRESOLVED = 0.5
"""Part of the rise from larger to smaller boxes in an exact relation from which a relation is not resolved."""


@dataclass(frozen=True)
class Opinion:
    """An estimate with the log ratios at the rows that it averages; `least` is its variance without dependence."""

    estimate: Estimate
    log_ratio: Floats
    least: float

    @property
    def by_model(self) -> float:
        """The share of models of the whole dependence, copula or normal fit, which miss nothing if they are right."""
        share = float(self.estimate.diagnostics.get("copula_share", 0.0))
        return share + (1 - share) * self.is_normal_fit

    @property
    def is_normal_fit(self) -> bool:
        """Whether the fit is a normal distribution of X and Y, which resolves any linear relation."""
        found = self.estimate.diagnostics
        named = str(found.get("guide", "")).endswith("gaussian")
        return named and found["coordinates"] == "whitened" and found["bandwidth"] is None

    def moved(
        self,
        other: Floats,
        value: float,
        variance: float,
        paired: Paired,
        least: float = 0.0,
        spread: float | None = None,
    ) -> "Opinion":
        """Return the opinion moved towards one that is rather too small, if that is clearly larger.

        `other` are its log ratios, `value` is their mean without bias, and `variance` what that adds to its error. A
        fit without a model misses something almost always, so that less evidence is needed against it. The other one
        has at least the share `least`, larger or smaller. If its own systematic error is known, the `spread`, this is
        in doubt as far as it is followed, and not the difference.
        """
        gap = value - self.estimate.value
        error = np.sqrt(paired.variance_of_mean(other - self.log_ratio) + variance)
        clear = gap / max(error, np.finfo(np.float64).tiny)
        by_chance = self.by_model * _BY_CHANCE + (1 - self.by_model)
        share = max(least, float(np.clip((clear - by_chance) / _BY_CHANCE, 0, 1)))
        in_doubt = gap / 2 * float(np.clip((abs(clear) if least else clear) - self.by_model, 0, 1))
        log_ratio = (1 - share) * self.log_ratio + share * other
        systematic = float(np.hypot(self.estimate.systematic_error, in_doubt))
        if spread is not None:
            systematic = (1 - share) * systematic + share * spread
        estimate = replace(self.estimate, value=self.estimate.value + share * gap, systematic_error=systematic)
        return Opinion(estimate, log_ratio, max(self.least, share * variance))


def combined(estimate: Estimate, log_ratios: AtBoth, paired: Paired, seed: int, by_default: bool) -> Opinion:
    """Return the estimate of a fit, with its log ratios at rows and pairs, combined with the other opinions.

    Neighbours replace no fit that was asked for.
    """
    columns = paired.x.shape[1] * paired.y.shape[1]
    opinion = Opinion(estimate, log_ratios[0], columns / (2 * paired.rows**2))
    ranked, neighbours = _ranked(paired), _neighbours(paired) if paired.group is None else None
    around_curve = None if neighbours is None else _around_curve(neighbours, paired)
    if not ranked.resolved and estimate.diagnostics["coordinates"] == "normal scores":
        is_resolved = around_curve is not None and not _is_unresolved(around_curve, paired)
        opinion = as_ranks_show(opinion, ranked.finest, open_above=not is_resolved)
    copula = by_copula(ranked, np.random.default_rng(seed))
    if copula is not None:
        opinion = with_copula(opinion, log_ratios, copula, paired)
    if neighbours is not None:
        opinion = with_neighbours(opinion, around_curve or neighbours, paired, may_replace=by_default)
    error = float(np.sqrt(paired.variance_of_mean(opinion.log_ratio) + opinion.least))
    return replace(opinion, estimate=replace(opinion.estimate, standard_error=error))


def as_ranks_show(opinion: Opinion, finest: float, open_above: bool = True) -> Opinion:
    """Return the opinion limited to what ranks can show of a relation that is thinner than they are apart.

    It is open above unless something else shows the relation.
    """
    log_ratio = np.minimum(opinion.log_ratio, finest)
    value = min(opinion.estimate.value, float(log_ratio.mean()))
    open_above = open_above or opinion.estimate.open_above
    return replace(opinion, estimate=replace(opinion.estimate, value=value, open_above=open_above), log_ratio=log_ratio)


def with_copula(opinion: Opinion, log_ratios: AtBoth, copula: ByCopula, paired: Paired) -> Opinion:
    """Return the opinion averaged with that of the copula, and moved towards it if it is the normal one."""
    fitted, other = (_mean_loss(each) for each in (log_ratios, copula.log_ratios))
    share = float(expit(_TEMPERATURE * 2 * paired.rows * (fitted - other)))
    gap = copula.value - opinion.estimate.value
    systematic = (1 - share) * opinion.estimate.systematic_error**2 + share * copula.spread**2
    estimate = replace(
        opinion.estimate,
        value=opinion.estimate.value + share * gap,
        systematic_error=float(np.sqrt(systematic + share * (1 - share) * gap**2)),
        diagnostics={**opinion.estimate.diagnostics, "by_copula": copula.value, "copula_share": share},
    )
    log_ratio = (1 - share) * opinion.log_ratio + share * copula.log_ratios[0]
    averaged = Opinion(estimate, log_ratio, (1 - share) * opinion.least + share * copula.variance)
    if np.isfinite(copula.freedom) or not (is_continuous(paired.x) or is_continuous(paired.y)):
        return averaged
    return averaged.moved(copula.log_ratios[0], copula.value, copula.variance, paired)


def with_neighbours(opinion: Opinion, neighbours: ByNeighbours, paired: Paired, may_replace: bool = False) -> Opinion:
    """Return the opinion moved towards nearest neighbours, with an error for what still finer distances may show.

    In few columns they may replace a fit without a model.
    If smaller boxes see clearly more, half as much again is added to what the smallest ones see, unless a model fits,
    and all that they may still miss counts as error. Against a model, what different boxes disagree about counts as
    their error.
    """
    rise, clear = _in_errors(neighbours.rise, paired)
    more = (1 - opinion.by_model) / 2 * float(np.clip(clear - 2, 0, 1))
    log_ratio = neighbours.log_ratio + more * neighbours.rise
    value = float(log_ratio.mean())
    replaces = may_replace and paired.joint.shape[1] <= _FEW_COLUMNS
    least = max(0.0, 1 - 2 * opinion.by_model) if replaces else 0.0
    unresolved = _is_unresolved(neighbours, paired)
    spread = neighbours.spread if neighbours.around_curve and not unresolved else None
    moved = opinion.moved(log_ratio, value, (opinion.by_model * neighbours.spread) ** 2, paired, least, spread)
    below = np.sqrt(paired.variance_of_mean(log_ratio - opinion.log_ratio))
    seen_otherwise = value < opinion.estimate.value - _BY_CHANCE * below
    linear = seen_otherwise and opinion.is_normal_fit and opinion.estimate.diagnostics.get("copula_share", 0.0) < 0.5
    missed = opinion.by_model + (1 - opinion.by_model) * _still_missed(paired.joint.shape[1])
    in_doubt = 0.0 if seen_otherwise else missed * rise * float(np.clip(clear - opinion.by_model, 0, 1))
    estimate = replace(
        moved.estimate,
        systematic_error=float(np.hypot(moved.estimate.systematic_error, in_doubt)),
        open_above=opinion.estimate.open_above or (unresolved and not linear),
        diagnostics={**moved.estimate.diagnostics, "by_neighbours": value},
    )
    return replace(moved, estimate=estimate)


def _is_unresolved(neighbours: ByNeighbours, paired: Paired) -> bool:
    """Return whether smaller boxes see as much more as if the relation were exact, or nearly."""
    rise, clear = _in_errors(neighbours.rise, paired)
    exact = (psi(COUNTS[1]) - psi(COUNTS[0])) / max(paired.x.shape[1], paired.y.shape[1])
    return bool(clear > _BY_CHANCE and rise > _UNRESOLVED * exact)


def _around_curve(neighbours: ByNeighbours, paired: Paired) -> ByNeighbours | None:
    """Return what neighbours say about two columns that scatter closely around a curve, by what the curve leaves.

    There is no such curve if it leaves more than a little to know, or shows less than there was without it.
    """
    if paired.joint.shape[1] > 2 or not neighbours.log_ratio.mean() > _CLOSE:
        return None
    x, y = np.asarray(paired.joint, dtype=np.float64).T
    relation = find_relation(x, y, paired.fold)
    left = relation and _neighbours(replace(paired, x=relation.known[:, None], y=relation.left[:, None]))
    if not (relation and left) or left.log_ratio.mean() > _LITTLE:
        return None
    (smaller, _), (larger, in_doubt) = (information_in_widths(relation, k) for k in COUNTS[:2])
    rise = left.rise + smaller - larger
    spread = float(np.linalg.norm([left.spread, rise.mean(), in_doubt]))
    found = ByNeighbours(left.log_ratio + larger, rise, spread, around_curve=True)
    return found if found.log_ratio.mean() > neighbours.log_ratio.mean() else None


def _still_missed(columns: int) -> float:
    """Return what the smallest boxes miss, over what they see more than boxes with twice as many rows.

    What is missed grows like the square of the width of a box, whose volume is proportional to its number of rows.
    """
    return float(1 / (2 ** (2 / columns) - 1))


def _mean_loss(log_ratios: AtBoth) -> float:
    return float(sum(terms.mean() for terms in loss_terms(log_ratios)) / 2)


def _in_errors(terms: Floats, paired: Paired) -> tuple[float, float]:
    """Return the mean of some terms, and its size in standard errors."""
    mean, error = float(terms.mean()), np.sqrt(paired.variance_of_mean(terms))
    return mean, mean / max(float(error), np.finfo(np.float64).tiny)


def is_continuous(values: Array) -> bool:
    """Return whether most rows are distinct in every column, as normal scores must be to be normal."""
    return all(len(np.unique(column)) > 0.5 * len(values) for column in values.T)


def _ranked(paired: Paired) -> Rows:
    """Return the ranks of the columns, for the copulas."""
    x, y = uniform_ranks(paired.x), uniform_ranks(paired.y)
    return Rows(np.concatenate([x, y], axis=1), x.shape[1], paired.fold, (paired.first, paired.second), paired.worth)


def _neighbours(paired: Paired) -> ByNeighbours | None:
    """Return what nearest neighbours say, if there are few columns, in normal scores and in the units of the data.

    Edges of a density are sharp in the units of the data only, and heavy tails have neighbours only in the scores.
    """
    joint, split, ones = paired.joint, paired.x.shape[1], np.ones(len(paired.x))
    if joint.shape[1] > MOST_COLUMNS:
        return None
    with without(DegenerateDataWarning):  # it is raised by the fit
        spaces = fit_scores_in_blocks(joint, ones, split), whiten_blocks(joint, ones, split, None)
    return by_neighbours([_in_coordinates(paired, *space) for space in spaces])


def _in_coordinates(paired: Paired, coordinates: Callable[[Array], Floats], split: int) -> tuple[Sample, Sample]:
    p, q = (
        replace(make_unordered_sample(coordinates(values)), pairs=replace(each, split=split))
        for values, each in zip((paired.joint, paired.product), paired.pairs, strict=True)
    )
    return p, q.thinned(MOST_ROWS, np.random.default_rng(0))
