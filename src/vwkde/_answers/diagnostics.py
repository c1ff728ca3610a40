"""Diagnostics of a fitted ratio: what was chosen and why, the remaining bias, how well the samples overlap."""

from collections.abc import Callable
from typing import Any

import numpy as np

from vwkde._answers.overlap import describe_overlap
from vwkde._answers.support import outside_fractions
from vwkde._compute import parallel
from vwkde._data.validation import Array
from vwkde._fit.bandwidth import pair_bandwidth
from vwkde._fit.candidates import MOST_ROWS
from vwkde._fit.few_centres import FewCentres
from vwkde._fit.fitted import Fitted, PaperFit
from vwkde._fit.guided_ratio import GuideAlone, GuidedRatio, Ratio
from vwkde._fit.kernel_pair import SOME_ROWS, KernelPair, make_pair
from vwkde._fit.weighting import rows_that_tell
from vwkde._models.guides.cross_fit import FOLDS
from vwkde._models.weights.expansion import KernelExpansion
from vwkde._models.weights.residual import bias_terms
from vwkde._models.weights.uniform import UniformWeight

_BIAS_ROWS = 500
"""Points of each sample at which the squared bias is averaged."""


def describe_fit(fitted: Fitted, weighting: str, data: tuple[Array, Array]) -> dict[str, Any]:
    """Return the diagnostics by name, as plain values; pairs of numbers are for numerator and denominator.

    `weighting` is the one that was requested. With a guide it is tried, and kept if held-out rows favour it. `data` are
    the rows in memory, as they were given.
    """
    main, (p, q) = fitted.average.main, fitted.samples
    alone = isinstance(main.ratio, GuideAlone)
    before, after = _squared_bias(fitted)
    parts: list[Callable[[], dict[str, Any]]] = [
        lambda: describe_overlap(_support(fitted), (p.total, q.total)),
        lambda: {"outside_fraction": outside_fractions(data, fitted.samples, fitted.numerics.seed)},
    ]
    overlap, outside = parallel.concurrently(lambda describe: describe(), parts, min(len(p), len(q)))
    return {
        "guide": main.ratio.guide.name,
        "coordinates": main.space,
        "weighting": "uniform" if isinstance(main.ratio.weight, UniformWeight) else weighting,
        **({} if isinstance(fitted, PaperFit) else {"weighting_tried": weighting}),
        "derivatives": _name_derivatives(fitted),
        # the reason for the choice: the held-out score-matching loss of each model, by sample
        **({"score_matching_losses": list(fitted.losses)} if any(fitted.losses) else {}),
        "bandwidth": None if alone else main.ratio.bandwidth,
        "squared_bias_before": before,
        "squared_bias_after": after,
        **({"columns_together": fitted.columns_together} if fitted.columns_together else {}),
        **overlap,
        **outside,
        "rows": [p.total, q.total],
        **({"rows_held": [len(p), len(q)]} if fitted.has_rest else {}),
        **_parts_used(main.ratio),
        **_rows_for_errors(fitted),
        "columns": data[0].shape[1],
        "engine": fitted.numerics.resources.name,
        "device": fitted.numerics.resources.device,
    }


def _parts_used(ratio: Ratio) -> dict[str, list[int]]:
    """Return how many rows the fit learnt from and how many are centres of kernel sums, if not all were needed."""
    used: dict[str, list[int]] = {}
    rows, most = [len(sample) for sample in ratio.samples], ratio.guide.most_rows
    if ratio.guide.form is not None:
        rows = [count * (FOLDS - 1) // FOLDS for count in rows]
    elif isinstance(ratio.weight, KernelExpansion) and not any(sample.rest for sample in ratio.samples):
        most = rows_that_tell(len(ratio.weight.basis))
    if max(rows) > most:
        used["rows_learnt"] = [min(int(most), count) for count in rows]
    if isinstance(ratio, GuidedRatio) and isinstance(ratio.pair, FewCentres):
        used["centres"] = [len(chosen) for chosen in ratio.pair.chosen]
    return used


def _rows_for_errors(fitted: Fitted) -> dict[str, list[int]]:
    """Return how many rows of a sample tell the errors of an average over the other one, if not all are needed."""
    if not isinstance(fitted, PaperFit) or not fitted.ratio.pair.some_suffice:
        return {}
    return {"rows_for_errors": [min(SOME_ROWS, len(sample)) for sample in fitted.samples]}


def _name_derivatives(fitted: Fitted) -> str:
    kinds = [getattr(model, "kind", type(model).__name__) for model in fitted.derivatives]
    return kinds[0] if kinds[0] == kinds[1] else " / ".join(kinds)


def _squared_bias(fitted: Fitted) -> tuple[float, float]:
    """Return the mean of B², with equal weight for both samples, without guide and weight and with them.

    A guide alone smooths nothing, and has no such bias.
    """
    random = np.random.default_rng(fitted.numerics.seed)
    few = [sample.thinned(_BIAS_ROWS, random) for sample in fitted.average.main.ratio.samples]
    balanced = np.concatenate([sample.weight / len(sample) for sample in few])
    x = np.concatenate([sample.points for sample in few])
    before = np.average(bias_terms(*fitted.derivatives, x).unweighted ** 2, weights=balanced)
    if isinstance(fitted.average.main.ratio, GuideAlone):
        return float(before), 0.0
    return float(before), float(np.average(fitted.residual_bias(x) ** 2, weights=balanced))


def _support(fitted: Fitted) -> KernelPair:
    """Return the kernel estimates by which overlap is judged: the paper's own, or plain ones for a guided fit."""
    if isinstance(fitted, PaperFit):
        return fitted.ratio.pair
    random = np.random.default_rng(fitted.numerics.seed)
    p, q = (sample.thinned(MOST_ROWS, random) for sample in fitted.samples)
    bandwidth = pair_bandwidth((p, q), "auto", fitted.numerics)
    return make_pair((p, q), UniformWeight(), bandwidth, fitted.numerics)
