"""The form of a mutual information: a table, the classes of a discrete side, or the ratio of two densities."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import entr

from vwkde._data.pairs import Ints
from vwkde._runtime.random_states import random_state_of
from vwkde._runtime.warn import warn, without
from vwkde.exceptions import DegenerateDataWarning
from vwkde.information._class_neighbours import by_class_neighbours
from vwkde.information._classes import by_classes, merge_rare
from vwkde.information._exact import is_exact
from vwkde.information._opinions import Opinion, combined
from vwkde.information._pairing import Paired
from vwkde.information._tables import by_table, codes_of, fits_in_a_table
from vwkde.ratio._plain import PlainRatio, make_plain_ratio
from vwkde.results import Estimate

_ONLY_COMPUTING = {"n_threads", "engine", "device", "memory_budget"}
"""Parameters that do not say what to fit."""


@dataclass(frozen=True)
class Asked:
    """What was asked for: by which function, the parameters of `DensityRatio`, and the seed."""

    owner: Callable[..., Any]
    method: str | None
    random_state: Any
    parameters: dict[str, Any]

    def ratio(self) -> PlainRatio:
        """Return the ratio, not yet fitted."""
        return make_plain_ratio(self.method, self.parameters | {"random_state": self.random_state}, self.owner)

    @property
    def by_default(self) -> bool:
        """Whether the form is to be chosen from the data."""
        return self.method is None and not set(self.parameters) - _ONLY_COMPUTING

    @property
    def seed(self) -> int:
        """The seed of choices that no ratio makes."""
        return int(random_state_of(self.random_state).randint(2**31))


def information(paired: Paired, asked: Asked, may_be_discrete: bool = True) -> Opinion:
    """Return the mutual information in the form that suits the data."""
    if not (np.ptp(paired.x, axis=0).any() and np.ptp(paired.y, axis=0).any()):
        warn("X or Y has equal rows only, and a constant says nothing: the information is zero.", DegenerateDataWarning)
        least = 1 / (2 * paired.rows**2)
        return Opinion(Estimate(0.0, np.sqrt(least), "mutual-information"), np.zeros(len(paired.x)), least)
    found = _by_values(paired, asked) if may_be_discrete and asked.by_default else None
    return _by_densities(paired, asked) if found is None else found


def _by_values(paired: Paired, asked: Asked) -> Opinion | None:
    """Return the information if X or Y is discrete and the rows are enough, else None."""
    x, y = codes_of(paired.x), codes_of(paired.y)
    if x is not None and y is not None:
        return by_table(x, y, paired) if fits_in_a_table(x, y) else None
    codes, values = (x, paired.y) if x is not None else (y, paired.x)
    merged = None if codes is None else merge_rare(codes)
    if codes is None or merged is None:
        return None
    opinion = by_classes(merged, values, paired, asked.ratio, _entropy(codes) - _entropy(merged))
    neighbours = by_class_neighbours(merged, values) if paired.group is None else None
    if neighbours is None:
        return opinion
    moved = opinion.moved(neighbours, float(neighbours.mean()), 0.0, paired)
    error = float(np.sqrt(paired.variance_of_mean(moved.log_ratio) + moved.least))
    diagnostics = {**moved.estimate.diagnostics, "by_neighbours": float(neighbours.mean())}
    return replace(moved, estimate=replace(moved.estimate, standard_error=error, diagnostics=diagnostics))


def _entropy(codes: Ints) -> float:
    return float(entr(np.bincount(codes) / len(codes)).sum())


def _by_densities(paired: Paired, asked: Asked) -> Opinion:
    """Return the information as the divergence of the joint density from the product of the marginals."""
    exact, ratio = is_exact(paired), asked.ratio()
    with without(DegenerateDataWarning) if exact else nullcontext():
        ratio._fit(
            paired.joint,
            paired.product,
            groups=None if paired.group is None else (paired.group, None),
            copies=(1, max(1, len(paired.first) // len(paired.x))),
            folds=(paired.fold, paired.fold[paired.first]),
            pairs=paired.pairs,
        )
        fitted = replace(ratio.divergence("kl"), kind="mutual-information", open_above=exact)
    log_ratios = ratio.numerator_log_ratio_, ratio.denominator_log_ratio_
    return combined(fitted, log_ratios, paired, asked.seed, asked.by_default)
