"""Small networks in torch: two hidden layers with explicit derivatives, and their training.

With f(x) = W₃ φ(W₂ φ(W₁x + b₁) + b₂) and the slopes d₁, d₂ of φ at the two layers, elementwise,

    ∂f · v = W₃ (d₂ ∘ W₂ (d₁ ∘ W₁v)),        trace ∂f = d₂ᵀ (W₂ ∘ (W₁W₃)ᵀ) d₁.

Each costs as much as f itself. No Jacobian is formed or estimated by random projections.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vwkde._compute import parallel
from vwkde._compute.devices import require_torch
from vwkde._compute.torch_state import threads_of_torch
from vwkde._models.folds import folds_of_distinct_rows, is_gain
from vwkde._runtime.progress import track

if TYPE_CHECKING:
    from torch import Tensor

Floats = NDArray[np.float64]

_WIDTH = 64
_MEMBERS = 2
"""Networks that are averaged; each has its own held-out fold, which stops its training."""
_FOLDS = 5
_RATE = 3e-3
_DECAY = 1e-2
_STEPS = 600
_PATIENCE = 60
"""Steps without progress on held-out rows after which training stops."""
_CHECK = 5
_BATCH = 2_048
"""Rows of one step; smaller samples are used whole."""
_MOST_HELD_OUT = 5_000


@dataclass
class Network:
    """The parameters of f; before training f is zero."""

    first: "Tensor"
    first_bias: "Tensor"
    second: "Tensor"
    second_bias: "Tensor"
    last: "Tensor"

    def values(self, x: "Tensor") -> "Tensor":
        """Return f, of shape (n, outputs)."""
        return self._layers(x)[2] @ self.last.T

    def values_and_slopes(self, x: "Tensor", direction: "Tensor") -> tuple["Tensor", "Tensor"]:
        """Return f and ∂f · direction, row by row, each of shape (n, outputs)."""
        first_slope, second_slope, hidden = self._layers(x)
        inner = (direction @ self.first.T * first_slope) @ self.second.T
        return hidden @ self.last.T, (inner * second_slope) @ self.last.T

    def values_and_traces(self, x: "Tensor") -> tuple["Tensor", "Tensor"]:
        """Return f, of shape (n, d), and the trace of its Jacobian, of shape (n,)."""
        first_slope, second_slope, hidden = self._layers(x)
        loops = self.second * (self.first @ self.last).T
        return hidden @ self.last.T, (first_slope @ loops.T * second_slope).sum(dim=1)

    def parameters(self) -> list["Tensor"]:
        """Return the tensors that are learnt."""
        return [getattr(self, field.name) for field in fields(self)]

    def double(self) -> "Network":
        """Return a copy in double precision."""
        return Network(*(part.detach().clone().double() for part in self.parameters()))

    def _layers(self, x: "Tensor") -> tuple["Tensor", "Tensor", "Tensor"]:
        first, first_slope = _silu(x @ self.first.T + self.first_bias)
        second, second_slope = _silu(first @ self.second.T + self.second_bias)
        return first_slope, second_slope, second


def _silu(z: "Tensor") -> tuple["Tensor", "Tensor"]:
    """Return φ(z) = z · sigmoid(z) and its slope."""
    gate = z.sigmoid()
    return z * gate, gate * (1 + z * (1 - gate))


def make_network(inputs: int, outputs: int, generator: Any, device: str) -> Network:
    """Return an untrained network: its hidden layers are random, its last layer is zero."""
    import torch

    def weights(rows: int, columns: int) -> "Tensor":
        return torch.randn(rows, columns, generator=generator) / columns**0.5

    parts = (
        weights(_WIDTH, inputs),
        0.5 * torch.randn(_WIDTH, generator=generator),
        weights(_WIDTH, _WIDTH),
        torch.zeros(_WIDTH),
        torch.zeros(outputs, _WIDTH),
    )
    return Network(*(part.to(device).requires_grad_() for part in parts))


@dataclass(frozen=True)
class Objective:
    """The objective of the training: the weighted mean over rows of the terms of a loss."""

    points: "Tensor"
    others: tuple["Tensor", ...]
    weight: "Tensor"
    terms: Callable[..., "Tensor"]
    noise: float

    def loss(self, network: Network, rows: "Tensor", generator: Any) -> "Tensor":
        """Return the loss on these rows, each moved a little at random."""
        weight = self.weight[rows]
        return (weight * self._at(network, rows, generator)).sum() / weight.sum()

    def judge(self, network: Network, rows: "Tensor") -> Floats:
        """Return the terms at these rows."""
        import torch

        with torch.no_grad():
            return self._at(network, rows).cpu().numpy().astype(np.float64)

    def _at(self, network: Network, rows: "Tensor", generator: Any = None) -> "Tensor":
        import torch

        points = self.points[rows]
        if self.noise and generator is not None:
            points = points + self.noise * torch.randn(points.shape, generator=generator).to(points.device)
        return self.terms(network, points, *(other[rows] for other in self.others))


@dataclass(frozen=True)
class Trained:
    """A network, and the terms of its loss at the held-out rows: before training, and after it."""

    network: Network
    before: Floats
    after: Floats
    weight: Floats


def fit_networks(
    x: Floats,
    weight: Floats,
    others: tuple[Floats, ...],
    outputs: int,
    terms: Callable[..., "Tensor"],
    seed: int,
    device: str,
    stage: str,
    noise: float = 0.0,
    group: NDArray[np.intp] | None = None,
) -> tuple[Network, ...]:
    """Return trained networks, in double precision, or none if held-out rows do not clearly gain.

    `terms` takes a network, rows of x and the same rows of the others, and returns the loss of each row.
    """
    require_torch(device)
    import torch

    folds = folds_of_distinct_rows(x, weight, _FOLDS, np.random.default_rng(seed), group)[:_MEMBERS]
    points, *tensors, counts = (torch.as_tensor(a, dtype=torch.float32, device=device) for a in (x, *others, weight))
    objective = Objective(points, tuple(tensors), counts, terms, noise)

    def work(member: int) -> Trained:
        with threads_of_torch(1):
            generator = torch.Generator().manual_seed(seed + member)
            network = make_network(x.shape[1], outputs, generator, device)
            steps = track(range(1, _STEPS + 1), f"{stage} {member + 1}", _STEPS)
            return _train(network, objective, folds[member], weight, generator, steps)

    members = parallel.run(work, range(len(folds)))
    return tuple(member.network for member in members) if members and _gain_together(members) else ()


def _gain_together(members: list[Trained]) -> bool:
    before, after, weight = (
        np.concatenate(part) for part in zip(*((each.before, each.after, each.weight) for each in members), strict=True)
    )
    return is_gain(before, after, weight)


def _train(
    network: Network,
    objective: Objective,
    fold: NDArray[np.bool_],
    weight: Floats,
    generator: Any,
    steps: Iterable[int],
) -> Trained:
    """Train until the held-out fold shows no progress; the network with the lowest loss on it is kept."""
    import torch

    device = network.first.device
    judging = np.flatnonzero(fold & (weight > 0))
    judging = judging[:: 1 + len(judging) // _MOST_HELD_OUT]
    counts = weight[judging]
    learning = np.flatnonzero(~fold & (weight > 0))
    rows, held_out = (torch.as_tensor(part, device=device) for part in (learning, judging))
    optimiser = torch.optim.AdamW(network.parameters(), lr=_RATE, weight_decay=_DECAY)
    before = after = objective.judge(network, held_out)
    kept, since = network.double(), 0
    for step in steps:
        batch = rows
        if len(rows) > _BATCH:
            batch = rows[torch.randint(len(rows), (_BATCH,), generator=generator).to(device)]
        optimiser.zero_grad()
        objective.loss(network, batch, generator).backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        if step % _CHECK:
            continue
        now = objective.judge(network, held_out)
        if counts @ now < counts @ after:
            after, kept, since = now, network.double(), 0
        else:
            since += _CHECK
        if since >= _PATIENCE:
            break
    return Trained(kept, before, after, counts)


def mean_of(
    networks: tuple[Network, ...], arrays: tuple[Floats, ...], compute: Callable[..., tuple["Tensor", ...]]
) -> tuple[Floats, ...]:
    """Return the means over the networks of what `compute` returns for each at the arrays' rows."""
    import torch

    device = networks[0].first.device
    blocks = []
    with torch.no_grad(), threads_of_torch(1):
        for block in parallel.split(len(arrays[0]), _BATCH):
            tensors = [torch.as_tensor(array[block], dtype=torch.float64, device=device) for array in arrays]
            parts = zip(*(compute(network, *tensors) for network in networks), strict=True)
            blocks.append([torch.stack(part).mean(dim=0).cpu().numpy() for part in parts])
    return tuple(np.concatenate(part) for part in zip(*blocks, strict=True))
