"""The patches of good images on a torch device, and how those of another image compare with the worst of them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from vwkde._compute.devices import send
from vwkde.inspection.model.coordinates import APART, Coordinates
from vwkde.inspection.model.learnt.library import POOLED, Library

if TYPE_CHECKING:
    from torch import Tensor

_BLOCK = 2**25
"""Maximum number of exponents at a time: a quarter of a gigabyte in double precision."""


@dataclass(frozen=True, eq=False)
class Compared:
    """An image against good ones: its score, the nearest good images, and the log ratios of its patches."""

    score: "Tensor"
    neighbours: "Tensor"
    log_ratio: "Tensor"


class LibraryOnDevice:
    """The patches of good images on a torch device, in units in which a squared distance is minus the exponent."""

    def __init__(self, library: Library, worst: int, device: str) -> None:
        self._scale = float(1 / (np.sqrt(2) * library.bandwidth))
        self._good = self._scale * send(library.patches, device).double()
        self._every, self._candidates, self._worst = library.every, library.candidates, worst
        self._least = 0.0 if library.at_least_itself else -np.inf

    def compare(self, patches: "Tensor") -> Compared:
        """Return how the patches of an image, (patches, columns), compare with the library."""
        own = self._scale * patches.double()
        some = self._good[:, :: self._every]
        sums = _log_sums(own[:: self._every], some.reshape(-1, some.shape[2]), len(some)).mean(dim=0)
        nearest = sums.argsort(descending=True, stable=True)[: self._candidates]
        good = self._good[nearest].flatten(end_dim=1)
        good = good[:: -(-len(good) // POOLED)]
        others = _log_sums(own, good)[:, 0] - np.log(len(good))
        here = _log_sums(own, own, own=True)[:, 0].clamp(min=self._least)
        log_ratio = here - np.log(len(own) - 1) - others
        return Compared(log_ratio.topk(self._worst).values.mean(), nearest, log_ratio)


def _log_sums(x: "Tensor", y: "Tensor", groups: int = 1, own: bool = False) -> "Tensor":
    """Return the log sums of exp(−‖x − y‖²) over groups of equal size of y, (x, groups)."""
    import torch

    lengths, sums = y.square().sum(dim=1), []
    size = max(1, _BLOCK // len(y))
    for start in range(0, len(x), size):
        block = x[start : start + size]
        exponent = torch.addmm(-lengths, block, y.T, alpha=2).sub_(block.square().sum(dim=1, keepdim=True))
        exponent.clamp_(max=0)
        if own:
            exponent.diagonal(offset=start).fill_(-torch.inf)
        sums.append(exponent.reshape(len(block), groups, -1).logsumexp(dim=2))
    return torch.cat(sums)


@dataclass(frozen=True)
class CoordinatesOnDevice:
    """The coordinates in which patches are compared, on a torch device."""

    coordinates: Coordinates
    device: str

    def __call__(self, features: "Tensor") -> "Tensor":
        """Return features, (images, patches, features), in the new coordinates, as `Coordinates` does."""
        import torch

        maps = self.coordinates
        if not maps.scaled:
            return self._mapped(features, maps.mean, maps.matrix)
        copies = len(maps.mean) // (features.shape[-1] - 1)
        parts = []
        both = zip(np.split(maps.mean, copies), np.split(maps.matrix, copies), strict=True)
        for number, (mean, matrix) in enumerate(both):
            part = self._mapped(features[:, features[0, :, -1] == number, :-1], mean, matrix)
            part[..., -1] = APART * (number - (copies - 1) / 2)
            parts.append(part)
        return torch.cat(parts, dim=1)

    def _mapped(self, features: "Tensor", mean: NDArray[np.float64], matrix: NDArray[np.float64]) -> "Tensor":
        return ((features.double() - send(mean, self.device)) @ send(matrix, self.device)).float()
