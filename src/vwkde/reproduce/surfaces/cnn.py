"""The network of tables 1 and 2, which tells defective patches from good ones and learns from labels.

As in the paper's appendix: Conv(20) Conv(20) MaxPool Conv(20) Conv(20) MaxPool FC(20) DropOut FC(1) on patches of 32
pixels, 3 × 3 convolutions, binary cross entropy, ADAM. It learns from patches that are at least 75 % defective and from
four times as many patches without any defect; all others are left out. If no patch is 75 % defective, the most
defective ones are used. The paper states neither the number of steps nor the learning rate, nor how the border of a
patch is padded. Here training takes a fixed number of steps of 64 patches each, and convolutions are not padded. So
overlapping patches share their convolutions, which are computed once for a whole image.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vwkde._compute.devices import require_torch
from vwkde.inspection.model.features.patches import PatchGrid

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Mask = NDArray[np.bool_]

_CHANNELS = 20
_DEFECTIVE = 0.75
"""Share of a patch that must be defective for the patch to count as defective."""
_GOOD_PER_DEFECTIVE = 4
_BATCH = 64
_STEPS = 600
_LEARNING_RATE = 1e-3
_SHRUNK = 4
"""Factor by which two poolings shrink the maps; patches must start at multiples of it."""


@dataclass(frozen=True)
class PatchNetwork:
    """A trained network, with the mean and the deviation of its training pixels."""

    layers: Any
    grid: PatchGrid
    mean: float
    deviation: float

    def log_odds(self, image: Singles) -> Floats:
        """Return the log odds that each patch is defective, (down, across)."""
        import torch

        rows, columns = self.grid.shape(image.shape)
        pixels = torch.from_numpy(np.ascontiguousarray((image - self.mean) / self.deviation, dtype=np.float32))
        step = self.grid.step // _SHRUNK
        with torch.inference_mode():
            maps = self.layers[0](pixels[None, None])[0]
            windows = maps.unfold(1, _left(self.grid.size), step).unfold(2, _left(self.grid.size), step)
            log_odds = self.layers[1](windows[:, :rows, :columns].permute(1, 2, 0, 3, 4).flatten(0, 1))
        return np.asarray(log_odds.numpy(), dtype=np.float64).reshape(rows, columns)


def train(images: list[tuple[Singles, Mask]], grid: PatchGrid, seed: int, steps: int = _STEPS) -> PatchNetwork:
    """Return a network trained on images and their masks."""
    require_torch("cpu")
    import torch

    patches, defective = choose_patches(images, grid, seed)
    mean, deviation = float(patches.mean()), float(patches.std()) or 1.0
    x = torch.from_numpy((patches - mean) / deviation)[:, None]
    y = torch.from_numpy(defective.astype(np.float32))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        layers = _layers(grid.size)
        optimiser = torch.optim.Adam(layers.parameters(), lr=_LEARNING_RATE)
        loss = torch.nn.BCEWithLogitsLoss()
        for _ in range(steps):
            rows = torch.randint(len(x), (_BATCH,))
            optimiser.zero_grad()
            loss(layers(x[rows])[:, 0], y[rows]).backward()
            optimiser.step()
    return PatchNetwork(layers.eval(), grid, mean, deviation)


def choose_patches(images: list[tuple[Singles, Mask]], grid: PatchGrid, seed: int) -> tuple[Singles, Mask]:
    """Return training patches, and which of them are defective."""
    shares = np.concatenate([grid.sums(mask.astype(np.float64)).ravel() / grid.size**2 for _, mask in images])
    defective = np.flatnonzero(shares >= min(_DEFECTIVE, shares.max()))
    good = np.flatnonzero(shares == 0)
    if not len(good) or not shares.max():
        raise ValueError("The network needs patches with and without defects to learn from. Give more images.")
    random = np.random.default_rng(seed)
    good = random.permutation(good)[: _GOOD_PER_DEFECTIVE * len(defective)]
    chosen = np.sort(np.concatenate([defective, good]))
    return _take(images, grid, chosen), np.isin(chosen, defective)


def patches_of(image: Singles, grid: PatchGrid) -> Singles:
    """Return all patches of an image, (patches, side, side)."""
    windows = np.lib.stride_tricks.sliding_window_view(image, (grid.size, grid.size))
    tops, lefts = (grid.starts(side) for side in image.shape)
    return np.ascontiguousarray(windows[np.ix_(tops, lefts)].reshape(-1, grid.size, grid.size), dtype=np.float32)


def _take(images: list[tuple[Singles, Mask]], grid: PatchGrid, chosen: NDArray[np.intp]) -> Singles:
    """Return the patches with these indices, counted through all images."""
    taken, start = [], 0
    for image, _ in images:
        rows, columns = grid.shape(image.shape)
        here = chosen[(chosen >= start) & (chosen < start + rows * columns)] - start
        if len(here):
            taken.append(patches_of(image, grid)[here])
        start += rows * columns
    return np.concatenate(taken)


def _left(side: int) -> int:
    """Return the side of a patch after the convolutions and poolings."""
    return ((side - 4) // 2 - 4) // 2


def _layers(side: int) -> Any:
    """Return the network in two parts: one runs over a whole image, the other over a patch of its maps."""
    from torch import nn

    def convolution(channels: int) -> list[Any]:
        return [nn.Conv2d(channels, _CHANNELS, 3), nn.ReLU()]

    over_image = nn.Sequential(
        *convolution(1),
        *convolution(_CHANNELS),
        nn.MaxPool2d(2),
        *convolution(_CHANNELS),
        *convolution(_CHANNELS),
        nn.MaxPool2d(2),
    )
    over_patch = nn.Sequential(
        nn.Flatten(),
        nn.Linear(_CHANNELS * _left(side) ** 2, _CHANNELS),
        nn.ReLU(),
        nn.Dropout(0.5),
        nn.Linear(_CHANNELS, 1),
    )
    return nn.Sequential(over_image, over_patch)
