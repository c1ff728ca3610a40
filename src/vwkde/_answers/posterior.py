"""Class posteriors from log ratios."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit


def posterior(log_ratio: NDArray[np.float64], prior: float) -> NDArray[np.float64]:
    """Return the probability of the numerator's class, whose prior probability is `prior`."""
    if not 0 < prior < 1:
        raise ValueError(f"The 'prior' parameter of posterior must lie between 0 and 1. Got {prior!r} instead.")
    return expit(log_ratio + np.log(prior) - np.log1p(-prior))
