"""What a fitted ratio tells about itself: what was chosen and why, what bias is left, how well the samples overlap."""

from typing import Any

import numpy as np

from vwkde._answers.overlap import describe_overlap
from vwkde._fit.candidates import MOST_ROWS
from vwkde._fit.fitting import Fitted, Fitting
from vwkde._fit.kernel_estimate import EstimatePair
from vwkde._models.weights.residual import bias_terms
from vwkde._models.weights.uniform import UniformWeight

_BIAS_ROWS = 500
"""Points of each sample at which the squared bias is averaged."""


def describe_fit(fitting: Fitting, fitted: Fitted) -> dict[str, Any]:
    """Return the diagnostics by name, of plain values; pairs of numbers are for numerator and denominator."""
    main, (p, q) = fitted.pool.main, fitted.samples
    pair = main.ratio.pair
    alone = np.isinf(pair.bandwidth)
    before, after = _squared_bias(fitting, fitted)
    return {
        "guide": main.ratio.guide.name,
        "coordinates": main.space,
        "weighting": "uniform" if isinstance(pair.weight, UniformWeight) else fitting.weighting,
        "derivatives": _name_derivatives(fitted),
        # why those: the held-out score-matching loss of each model, by sample
        **({"score_matching_losses": list(fitted.losses)} if any(fitted.losses) else {}),
        "bandwidth": None if alone else pair.bandwidth,
        "squared_bias_before": before,
        "squared_bias_after": 0.0 if alone else after,
        **describe_overlap(_support(fitting, fitted), (p.total, q.total)),
        "rows": [p.total, q.total],
        **({"rows_held": [len(p), len(q)]} if p.rest or q.rest else {}),
        "columns": fitted.data[0].shape[1],
        "engine": fitting.resources.name,
        "device": fitting.resources.device,
    }


def _name_derivatives(fitted: Fitted) -> str:
    kinds = [getattr(model, "kind", type(model).__name__) for model in fitted.derivatives]
    return kinds[0] if kinds[0] == kinds[1] else " / ".join(kinds)


def _squared_bias(fitting: Fitting, fitted: Fitted) -> tuple[float, float]:
    """Return the mean of B², both samples counting alike, without guide and weight and with them."""
    pair = fitted.pool.main.ratio.pair
    random = np.random.default_rng(fitting.seed)
    few = [s.thinned(_BIAS_ROWS, random) for s in (pair.numerator, pair.denominator)]
    balanced = np.concatenate([s.weight / len(s) for s in few])
    x = np.concatenate([s.points for s in few])
    bias = bias_terms(*fitted.derivatives, x).unweighted, fitted.residual_bias(x)
    before, after = (float(np.average(b**2, weights=balanced)) for b in bias)
    return before, after


def _support(fitting: Fitting, fitted: Fitted) -> EstimatePair:
    """Return the kernel estimates by which overlap is judged: those in use, or plain ones beside a guide."""
    if fitting.is_paper:
        return fitted.pool.main.ratio.pair
    random = np.random.default_rng(fitting.seed)
    p, q = (s.thinned(MOST_ROWS, random) for s in fitted.samples)
    return fitting.pair(p, q, fitting.rule_bandwidth((p, q), "likelihood", 0.25))
