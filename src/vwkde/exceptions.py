"""Warnings and errors of this package. Each has its own class, so it can be caught or silenced separately."""

__all__ = [
    "BiasWarning",
    "DegenerateDataWarning",
    "DisjointSupportError",
    "FewImagesWarning",
    "OverlapWarning",
    "RepeatedImagesWarning",
    "UnlikeImagesWarning",
]


class DegenerateDataWarning(UserWarning):
    """Columns or directions do not vary or label rows, or rows are copies or outliers. The message says what was done.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> import vwkde
    >>> P, Q = np.random.default_rng(0).normal(size=(2, 50, 2))
    >>> P[:, 1] = Q[:, 1] = 1.0
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     estimate = vwkde.kl_divergence(P, Q, method="kde")
    >>> print(caught[0].message)
    Columns [1] are constant in both samples and were left out.
    """


class BiasWarning(UserWarning):
    """An estimate has visible bias: a divergence is clearly negative."""


class OverlapWarning(UserWarning):
    """The samples overlap too little to estimate the ratio where it matters."""


class DisjointSupportError(ValueError):
    """The supports are disjoint, so the true ratio is infinite or zero everywhere and cannot be estimated.

    Examples
    --------
    >>> import numpy as np
    >>> import vwkde
    >>> P, Q = np.random.default_rng(0).normal(size=(2, 50))
    >>> try:
    ...     vwkde.kl_divergence(P, Q + 1e9)
    ... except vwkde.DisjointSupportError:
    ...     print("different units?")
    different units?
    """


class FewImagesWarning(UserWarning):
    """There are too few good images for the requested false-reject rate."""


class RepeatedImagesWarning(UserWarning):
    """Some good images have the pixels of others, and were left out."""


class UnlikeImagesWarning(UserWarning):
    """The threshold rests on good images that are unlike the others, so that defects may pass."""
