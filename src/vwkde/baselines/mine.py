"""MINE: a network that maximises the Donsker–Varadhan bound on the KL divergence.

For every function T,

    KL(p‖q) ≥ mean of T over p − log mean of e^T over q,

with equality where T is log p/q plus a constant. Belghazi, Baratin, Rajeswar, Ozair, Bengio, Courville and Hjelm
(Mutual Information Neural Estimation, ICML 2018) use a network for T and maximise the bound with batches of rows. The
gradient of the logarithm, (mean of e^T ∇T) / (mean of e^T), is biased if both means are of one small batch; for the
denominator they use a moving average over all batches so far.

The publication reports the bound at the rows that the network was trained on, and so does this baseline. There it is
no longer a bound: the network memorises the rows, and the value grows with the steps, slowly in two columns and fast
in twenty. On held-out rows it is a bound again, as in Lin, Sur, Nastase, Divakaran, Hasson and Amer (Data-Efficient
Mutual Information Neural Estimator, 2019).
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from vwkde._compute.devices import require_torch
from vwkde._compute.torch_state import threads_of_torch
from vwkde.baselines.answer import Answer
from vwkde.baselines.dense import dense_network, draw_batch, prepare, to_tensor, train, values
from vwkde.baselines.settings import check_count

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Module

Floats = NDArray[np.float64]

_RATE = 1e-4
_BATCH = 256
"""Rows of each sample in one step; smaller samples are used whole."""
_MEMORY = 0.99
"""Share of the moving average that each step keeps."""


def mine(
    p: Floats,
    q: Floats,
    seed: int,
    *,
    steps: int = 1_000,
    width: int = 100,
    held_out: float = 0.0,
    device: str = "cpu",
) -> Answer:
    """Return the divergence by a network of two hidden layers.

    The log ratio is T − log mean e^T over the same rows of the denominator as the value. At the samples' rows it is
    that of a network that has seen most of them. Constant columns have no effect.

    Parameters
    ----------
    p, q
        The numerator's and the denominator's rows. Repeated rows count with their multiplicity.
    seed
        Seed of the network, the batches and the held-out rows.
    steps
        The number of training steps, or the largest number with rows held out.
    width
        The number of units in each hidden layer.
    held_out
        The share of rows held out. With 0 the value is the bound at all rows after the last step, as published.
        Otherwise training stops when the held-out rows show no progress, the network that is best for them is kept,
        and the value is the bound at these rows alone.
    device
        The torch device.

    Returns
    -------
    Answer
        The divergence, its log ratio, and the number of steps.
    """
    _check(steps, width, held_out)
    require_torch(device)
    import torch

    scale, (p_known, p_judge), (q_known, q_judge) = prepare(p, q, held_out, seed)
    with threads_of_torch(1):
        generator = torch.Generator().manual_seed(seed)
        network = dense_network((p.shape[1], width, width, 1), generator, device)
        loss = _CorrectedBound(network, to_tensor(p_known, device), to_tensor(q_known, device), generator)
        judge = None if not held_out else lambda: -_bound(values(network, p_judge), values(network, q_judge))
        taken = train(network, loss, steps, _RATE, judge)
        at_p, at_q = values(network, p_judge), values(network, q_judge)
    offset = _log_mean_exp(at_q)

    def log_ratio(x: Floats) -> Floats:
        with threads_of_torch(1):
            return values(network, scale(x)) - offset

    return Answer(_bound(at_p, at_q), log_ratio(p), log_ratio(q), log_ratio, {"steps": taken})


class _CorrectedBound:
    """A function of the network whose gradient is that of the bound, corrected by the moving average of mean e^T."""

    def __init__(self, network: "Module", p: "Tensor", q: "Tensor", generator: Any) -> None:
        self._network, self._p, self._q, self._generator = network, p, q, generator
        self._log_average: Tensor | None = None

    def __call__(self) -> "Tensor":
        import torch

        p, q = (draw_batch(x, _BATCH, self._generator) for x in (self._p, self._q))
        at_p, at_q = self._network(torch.cat([p, q]))[:, 0].split([len(p), len(q)])
        now = torch.logsumexp(at_q.detach(), dim=0) - np.log(len(at_q))
        before = now if self._log_average is None else self._log_average
        self._log_average = torch.logaddexp(before + np.log(_MEMORY), now + np.log1p(-_MEMORY))
        return (at_q - self._log_average).exp().mean() - at_p.mean()


def _bound(at_p: Floats, at_q: Floats) -> float:
    return float(at_p.mean() - _log_mean_exp(at_q))


def _log_mean_exp(x: Floats) -> float:
    return float(logsumexp(x) - np.log(len(x)))


def _check(steps: int, width: int, held_out: float) -> None:
    check_count("steps", steps, 1)
    check_count("width", width, 1)
    if not 0 <= held_out < 1:
        raise ValueError(f"The 'held_out' parameter must be at least 0 and less than 1. Got {held_out!r} instead.")
