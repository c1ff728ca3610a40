"""How much two sets of columns tell about each other."""

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from vwkde._validation import Array, check_sample
from vwkde.divergences import make_ratio
from vwkde.results import Estimate

_COPIES = 3
"""Rows of the product of the marginals for each row of the joint sample."""
_MOST_ROWS = 30_000
"""Rows of the product sample beyond which more copies gain nothing."""


def mutual_information(
    X: Any, Y: Any, *, method: str | None = None, random_state: Any = 0, **parameters: Any
) -> Estimate:
    """Estimate the mutual information of X and Y, in nats: KL(joint ‖ product of the marginals).

    The product is sampled by pairing the rows of X with rows of Y other than their own.

    Parameters
    ----------
    X, Y
        Arrays (n, d) and (n, e), or (n,), DataFrames, CPU tensors: row i of X belongs to row i of Y.
    method, **parameters
        As in `kl_divergence`.
    random_state
        Seeds the pairing and everything else.

    Examples
    --------
    >>> import numpy as np, vwkde
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=500)
    >>> float(vwkde.mutual_information(x, x + rng.normal(size=500))) > 0.2
    True
    """
    x, y = check_sample(X, "X")[0], check_sample(Y, "Y")[0]
    if len(x) != len(y):
        raise ValueError(f"X and Y must have as many rows. Got {len(x)} and {len(y)} instead; drop unpaired rows.")
    if len(x) < 4:
        raise ValueError(f"X and Y have {len(x)} rows; at least 4 are needed to tell dependence. Give more rows.")
    joint = np.concatenate([x, y], axis=1)
    ratio = make_ratio(method, parameters | {"random_state": random_state}).fit(joint, _product(x, y, random_state))
    estimate = ratio.divergence("kl")
    error = float(np.std(ratio.numerator_log_ratio_) / np.sqrt(len(x)))
    return replace(estimate, kind="mutual-information", standard_error=error)


def _product(x: Array, y: Array, random_state: Any) -> Array:
    """Return rows of the product of the marginals: along a random circle, each x meets the y of its next neighbours."""
    circle = check_random_state(random_state).permutation(len(x))
    copies = max(1, min(_COPIES, len(x) - 1, _MOST_ROWS // len(x)))
    return np.concatenate(
        [np.concatenate([x[circle], y[np.roll(circle, shift)]], axis=1) for shift in range(1, copies + 1)]
    )
