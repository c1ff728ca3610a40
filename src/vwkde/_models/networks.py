"""Small networks in torch: two hidden layers whose derivatives are written out, and their training.

With f(x) = W₃ φ(W₂ φ(W₁x + b₁) + b₂) and the slopes d₁, d₂ of φ at the two layers, elementwise,

    ∂f · v = W₃ (d₂ ∘ W₂ (d₁ ∘ W₁v)),        trace ∂f = d₂ᵀ (W₂ ∘ (W₁W₃)ᵀ) d₁.

Either costs as much as f itself. No Jacobian is formed, and none is estimated by random projections.
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
"""Networks whose mean is the answer, each stopped by a fold of its own."""
_FOLDS = 5
_RATE = 3e-3
_DECAY = 1e-2
_STEPS = 600
_PATIENCE = 60
"""Steps without progress on rows held out after which training stops."""
_CHECK = 5
_BATCH = 2_048
"""Rows of one step; smaller samples go whole."""
_MOST_HELD_OUT = 5_000


@dataclass
class Network:
    """The parameters of f; a network that has learnt nothing is zero."""

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
        """Return the network as it is now, in double precision."""
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
    """Return a network to be trained: random within, zero as a function."""
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
    """What a network is trained for: the weighted mean over rows of the terms of its loss."""

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
    """A network, and the terms of its loss at the rows held out: before it learnt anything, and now."""

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
) -> tuple[Network, ...]:
    """Return trained networks, in double precision, or none where rows held out do not clearly gain by them.

    The terms of the loss, one per row, are computed of a network, of rows of x, and of the same rows of the others.
    """
    require_torch(device)
    import torch

    folds = folds_of_distinct_rows(x, weight, _FOLDS, np.random.default_rng(seed))[:_MEMBERS]
    points, *tensors, counts = (torch.as_tensor(a, dtype=torch.float32, device=device) for a in (x, *others, weight))
    objective = Objective(points, tuple(tensors), counts, terms, noise)

    def work(member: int) -> Trained:
        with threads_of_torch(1):
            generator = torch.Generator().manual_seed(seed + member)
            network = make_network(x.shape[1], outputs, generator, device)
            steps = track(range(1, _STEPS + 1), f"{stage} {member + 1}", _STEPS)
            return _train(network, objective, folds[member], weight, generator, steps)

    members = parallel.run(work, range(len(folds)))
    if not members or not is_gain(*(np.concatenate(part) for part in zip(*map(_evidence, members), strict=True))):
        return ()
    return tuple(member.network for member in members)


def _evidence(trained: Trained) -> tuple[Floats, Floats, Floats]:
    return trained.before, trained.after, trained.weight


def _train(
    network: Network,
    objective: Objective,
    fold: NDArray[np.bool_],
    weight: Floats,
    generator: Any,
    steps: Iterable[int],
) -> Trained:
    """Descend until the fold, which is held out, sees no progress; the network that served it best is kept."""
    import torch

    device = network.first.device
    held_out = np.flatnonzero(fold & (weight > 0))
    held_out = held_out[:: 1 + len(held_out) // _MOST_HELD_OUT]
    rows, judges = (torch.as_tensor(part, device=device) for part in (np.flatnonzero(~fold & (weight > 0)), held_out))
    counts = weight[held_out]
    optimiser = torch.optim.AdamW(network.parameters(), lr=_RATE, weight_decay=_DECAY)
    before = after = objective.judge(network, judges)
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
        now = objective.judge(network, judges)
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
    """Return the means over the networks of what is computed of each at the arrays' rows."""
    import torch

    device = networks[0].first.device
    found = []
    with torch.no_grad(), threads_of_torch(1):
        for block in parallel.split(len(arrays[0]), _BATCH):
            tensors = [torch.as_tensor(array[block], dtype=torch.float64, device=device) for array in arrays]
            parts = zip(*(compute(network, *tensors) for network in networks), strict=True)
            found.append([torch.stack(part).mean(dim=0).cpu().numpy() for part in parts])
    return tuple(np.concatenate(part) for part in zip(*found, strict=True))
