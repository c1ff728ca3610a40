"""How often equal rows occur: as often as in independent draws, or so that some of them must be copies.

In independent draws the multiplicity of a value is close to Poisson, with a mean that depends on the value. Over all
values it is a mixture of Poisson distributions, whatever the density is. Copies break this. If a share of the rows come
m at a time, the multiplicity is A + m·B, where A and B are Poisson: too many values occur twice for those that occur
once and three times. The mixtures with and without copies are fitted by maximum likelihood and compared.

No smoothness is assumed, so that heaps, zero inflation and categories are no copies. A bootstrap is not found among
ties: given the original rows, its multiplicities are Poisson, as in draws from a rougher density.
"""

from functools import cache, lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_LARGEST = 40
"""Multiplicities above this one say little about copies, and are left out."""
_MEANS = np.geomspace(0.02, 1.3 * _LARGEST, 45)
"""Means of the Poisson distributions that are mixed: dense enough for any mixture of them."""
_SHARES = np.linspace(0.1, 1.0, 10)
_TIMES = range(2, 7)
"""Shares of the rows that come several at a time, and how many at a time, that are tried."""
_STEPS = 300
"""Steps of expectation and maximisation, after which the likelihood changes by far less than is compared."""
_CLEARLY = 12.0
"""Twice the log likelihood ratio from which copies are no chance: its probability is below 0.001."""
_IMPOSSIBLE = 1e-100
"""Stands for a probability of zero, so that its logarithm is finite."""
_BALANCED = 3
"""If all values occur equally often, and more often than this, the design is balanced: nothing was copied."""
_LOST = 0.05
"""Share of the rows that a balanced design may lack, or have too many."""


class Copying(NamedTuple):
    """The share of the rows that come several at a time, and for each multiplicity the number of originals."""

    share: float
    times: int
    originals: Floats

    def originals_behind(self, counts: Ints) -> Ints:
        """Return how many of equal rows are originals, for each value by its multiplicity; right on average."""
        kept = np.empty(len(counts), dtype=np.intp)
        for count in np.unique(counts):
            of_this = np.flatnonzero(counts == count)
            each = self.originals[count] if count <= _LARGEST else count * self._left
            kept[of_this] = np.diff(np.round(each * np.arange(len(of_this) + 1)))
        return np.clip(kept, 1, counts)

    @property
    def _left(self) -> float:
        return 1 - self.share + self.share / self.times


def find_copying(counts: Ints) -> Copying | None:
    """Return how rows were copied, from the multiplicities of all values; None if independent draws explain these."""
    if are_balanced(counts) and counts.max() > _BALANCED:
        return None
    return _copying_behind(tuple(np.bincount(counts[counts <= _LARGEST], minlength=_LARGEST + 1)[1:].tolist()))


@lru_cache(maxsize=1_000)
def _copying_behind(frequencies: tuple[int, ...]) -> Copying | None:
    """Return how rows were copied, from how many values occur once, twice, …: few rows often agree in these."""
    frequency = np.array(frequencies, dtype=np.float64)
    seen = frequency > 0  # others have no part in the likelihood, and few are seen
    log_likelihood, mixing = _fit(frequency[seen], _kernels()[:, seen])
    best = int(np.argmax(log_likelihood))
    if 2 * (log_likelihood[best] - log_likelihood[0]) < _CLEARLY:
        return None
    share, times = _ways()[best]
    return Copying(share, times, _originals(share, times, mixing[best]))


def are_balanced(counts: Ints) -> bool:
    """Return whether all values occur equally often, except for one row or a few rows of many."""
    usual = np.bincount(counts).argmax()
    return bool(np.abs(counts - usual).sum() <= max(1.0, _LOST * counts.sum()))


def _fit(frequency: Floats, kernels: Floats) -> tuple[Floats, Floats]:
    """Return the largest log likelihood over all mixtures of each kernel's columns, and these mixtures."""
    mixing = np.full((len(kernels), kernels.shape[2], 1), 1 / kernels.shape[2])
    transposed = np.ascontiguousarray(kernels.transpose(0, 2, 1))
    for _ in range(_STEPS):
        expected = np.maximum(kernels @ mixing, _IMPOSSIBLE)
        mixing *= transposed @ (frequency[:, None] / expected) / max(frequency.sum(), 1.0)
    return np.log(np.maximum(kernels @ mixing, _IMPOSSIBLE))[:, :, 0] @ frequency, mixing[:, :, 0]


def _ways() -> list[tuple[float, int]]:
    """Return the shares and numbers of times that are compared; the first way copies nothing."""
    return [(0.0, 2), *product(_SHARES.tolist(), _TIMES)]


@cache
def _kernels() -> Floats:
    """Return the probabilities of multiplicities, as rows, for each mean, as columns, for each way of copying."""
    return np.stack([_scaled(_by_number_of_copied(*way).sum(axis=0)) for way in _ways()])


def _originals(share: float, times: int, mixing: Floats) -> Floats:
    """Return the expected number of originals for each multiplicity, from zero on."""
    joint = _by_number_of_copied(share, times)
    total = joint.sum(axis=0)[1:].sum(axis=0)
    probability = (joint / total) @ mixing
    copied = np.arange(len(joint)) @ probability / np.maximum(probability.sum(axis=0), _IMPOSSIBLE)
    return np.arange(_LARGEST + 1) - (times - 1) * copied


def _by_number_of_copied(share: float, times: int) -> Floats:
    """Return the probabilities by the number of rows that were copied, the multiplicity and the mean."""
    counts = np.arange(_LARGEST + 1)[:, None]
    single, copied = _poisson(counts, _MEANS * (1 - share)), _poisson(counts, _MEANS * share / times)
    joint = np.zeros((_LARGEST // times + 1, *single.shape))
    for number, of_this_number in enumerate(joint):
        of_this_number[number * times :] = copied[number] * single[: len(single) - number * times]
    return joint


def _poisson(counts: NDArray[np.intp], means: Floats) -> Floats:
    """Return the probabilities of counts that have a Poisson distribution with these means."""
    return np.asarray(np.exp(xlogy(counts, means) - gammaln(counts + 1) - means))


def _scaled(probability: Floats) -> Floats:
    """Return the probabilities given that a value occurs, and not more often than the largest multiplicity."""
    return np.asarray(probability[1:] / np.maximum(probability[1:].sum(axis=0), _IMPOSSIBLE))
