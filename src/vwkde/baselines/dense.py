"""Fully connected networks in torch, and how the baselines train them."""

from collections.abc import Callable
from copy import deepcopy
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vwkde._compute import parallel

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Module

Floats = NDArray[np.float64]

_CHECK = 10
_PATIENCE = 300
"""Steps without progress on held-out rows after which training stops."""
_LARGEST_BLOCK = 10_000
"""Rows that a network evaluates at once outside training."""


class Prepared(NamedTuple):
    """Both samples standardised: the map, and for each sample the rows for training and those for validation."""

    scale: Callable[[Floats], Floats]
    numerator: tuple[Floats, Floats]
    denominator: tuple[Floats, Floats]


def prepare(p: Floats, q: Floats, held_out: float, seed: int) -> Prepared:
    """Return the samples with the pooled columns scaled to mean zero and standard deviation one.

    The share `held_out` of the rows, drawn at random, is for validation; if it is zero, all rows are used for both.
    """
    rows = np.concatenate([p, q])
    mean, deviation = rows.mean(axis=0), rows.std(axis=0)
    deviation[deviation == 0] = 1

    def scale(x: Floats) -> Floats:
        return (x - mean) / deviation

    random = np.random.default_rng(seed)
    return Prepared(scale, _split_rows(scale(p), held_out, random), _split_rows(scale(q), held_out, random))


def _split_rows(x: Floats, held_out: float, random: np.random.Generator) -> tuple[Floats, Floats]:
    if not held_out:
        return x, x
    out = min(max(1, round(held_out * len(x))), len(x) - 1)
    order = random.permutation(len(x))
    return x[order[out:]], x[order[:out]]


def dense_network(sizes: tuple[int, ...], generator: Any, device: str) -> "Module":
    """Return a fully connected network with layers of these sizes and random weights from the generator."""
    import torch

    layers: list[Module] = []
    for inputs, outputs in pairwise(sizes):
        layer = torch.nn.Linear(inputs, outputs, device="meta").to_empty(device="cpu")
        for part in (layer.weight, layer.bias):
            torch.nn.init.uniform_(part, -(inputs**-0.5), inputs**-0.5, generator=generator)
        layers += [layer, torch.nn.ELU()]
    return torch.nn.Sequential(*layers[:-1]).to(device)


def draw_batch(points: "Tensor", size: int, generator: Any) -> "Tensor":
    """Return `size` rows drawn at random, or all rows if there are no more."""
    import torch

    if len(points) <= size:
        return points
    return points[torch.randint(len(points), (size,), generator=generator).to(points.device)]


def train(
    network: "Module",
    loss: Callable[[], "Tensor"],
    steps: int,
    rate: float,
    judge: Callable[[], float] | None = None,
) -> int:
    """Train with Adam and return the number of steps of the final network.

    With `judge`, train until its value shows no progress, and restore the network with the lowest value.
    """
    import torch

    optimiser = torch.optim.Adam(network.parameters(), lr=rate)
    lowest, best, kept = np.inf, 0, network.state_dict()
    for step in range(1, steps + 1):
        optimiser.zero_grad()
        loss().backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        if judge is None or (step % _CHECK and step < steps):
            continue
        now = judge()
        if now < lowest:
            lowest, best, kept = now, step, deepcopy(network.state_dict())
        elif step - best >= _PATIENCE:
            break
    if judge is None:
        return steps
    network.load_state_dict(kept)
    return best


def to_tensor(x: Floats, device: str) -> "Tensor":
    """Return the rows in single precision, on the device."""
    import torch

    return torch.as_tensor(x, dtype=torch.float32, device=device)


def values(network: "Module", x: Floats) -> Floats:
    """Return the single output of the network at the rows."""
    import torch

    device = str(next(network.parameters()).device)
    with torch.no_grad():
        parts = [network(to_tensor(x[block], device))[:, 0] for block in parallel.split(len(x), _LARGEST_BLOCK)]
    return np.concatenate([np.zeros(0), *(part.cpu().numpy().astype(np.float64) for part in parts)])
