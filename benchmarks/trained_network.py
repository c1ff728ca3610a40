"""A small network trained on made-up defects, in the manner of DRÆM and CutPaste, to compare `combined` with.

It sees an image of at most 2¹⁶ pixels without slow changes of brightness, as single marks do, and says at every second
pixel how likely a defect is there. It is trained on seven tenths of the good images, on which `drawn_defects.py` draws;
the others set the threshold, since a network knows the images that it has seen. Training takes about five minutes of
one core, whatever the size of the images. The map is the network's log odds, the score the mean of the ten highest.
Needs `pip install ".[torch]"`.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from time import perf_counter
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from drawn_defects import Drawn, drawn
from plain_neighbours import Found
from vwkde.inspection.model.calibration import Calibration
from vwkde.inspection.model.interpolation import enlarged, shrunk
from vwkde.inspection.model.marks import MARKS, evened

if TYPE_CHECKING:
    from torch import Tensor

Singles = NDArray[np.float32]

_WIDTHS = 12, 24, 32, 48
"""Channels at a half, a quarter, an eighth and a sixteenth of the size of the image."""
_TRAINED = 0.7
"""Share of the good images that the network is trained on."""
_PIXELS = 3 * 10**8
"""Pixels of all images of the training together."""
_BATCH, _RATE, _DECAY, _WARM = 4, 5e-3, 1e-3, 20
"""Images of a step, greatest learning rate, weight decay, and number of steps until that rate is reached."""
_RARE = -3.0
"""Log odds of a defect before any training."""
_HIGHEST = 10
"""Number of places that make up a score."""


class TrainedNetwork:
    """Learns from good images with made-up defects by `fit`, and judges others by `check`."""

    def __init__(self, rate: float, pixels: int = _PIXELS, seed: int = 0) -> None:
        self._rate, self._pixels, self._seed = rate, pixels, seed

    def fit(self, images: Iterable[tuple[str, Singles]]) -> Self:
        """Train on most good images; the others set the threshold."""
        small = [_small(image) for _, image in images]
        order = np.random.default_rng(self._seed).permutation(len(small))
        count = int(_TRAINED * len(small))
        self._network = _trained([small[place] for place in order[:count]], self._pixels, self._seed)
        others = np.array([_score(self._odds(small[place])) for place in order[count:]])
        self._threshold = Calibration(others, self._rate).threshold
        return self

    def check(self, image: Singles, name: str) -> Found:
        """Return the network's map of an image, and whether the image is rejected."""
        del name
        start = perf_counter()
        odds = self._odds(_small(image))
        score, shown = _score(odds), enlarged(odds, image.shape).astype(np.float32)
        return Found(score, shown, 1000 * (perf_counter() - start), score > self._threshold)

    def _odds(self, small: Singles) -> Singles:
        import torch

        with torch.no_grad():
            return np.asarray(self._network(torch.from_numpy(evened(small))[None, None])[0].numpy())


def _small(image: Singles) -> Singles:
    return shrunk(image.astype(np.float32), MARKS.shapes(image.shape)[0])


def _score(odds: Singles) -> float:
    return float(np.sort(odds, axis=None)[-_HIGHEST:].mean())


def _trained(images: Sequence[Singles], pixels: int, seed: int) -> Any:
    """Return a network that tells made-up defects on these images from the rest."""
    import torch
    from torch.nn.functional import binary_cross_entropy_with_logits, max_pool2d

    torch.manual_seed(seed)
    network, random = _network(), np.random.default_rng(seed)
    optimizer = torch.optim.AdamW(network.parameters(), lr=_RATE, weight_decay=_DECAY)
    steps = max(1, pixels // (_BATCH * images[0].size))
    network.train()
    for step in range(steps):
        batch = [_one(images, random) for _ in range(_BATCH)]
        seen = torch.from_numpy(np.stack([evened(each.image) for each in batch]))[:, None]
        labels = torch.from_numpy(np.stack([[each.mask, each.mask * each.weight] for each in batch]).astype(np.float32))
        inside, weight = max_pool2d(labels, 2, ceil_mode=True).unbind(dim=1)
        for group in optimizer.param_groups:
            group["lr"] = _RATE * min(1, (step + 1) / _WARM) * (1 + np.cos(np.pi * step / steps)) / 2
        weight = torch.where(inside > 0, weight, 1.0)
        optimizer.zero_grad()
        binary_cross_entropy_with_logits(network(seen), inside, weight=weight).backward()
        optimizer.step()
    return network.eval()


def _one(images: Sequence[Singles], random: np.random.Generator) -> Drawn:
    """Return one of the images with made-up defects, turned over or not."""
    image = images[random.integers(len(images))]
    return drawn(image[:: random.choice([-1, 1]), :: random.choice([-1, 1])], random, images)


def _network() -> Any:
    """Return a U-shaped network: down to a sixteenth of the size of the image, and up to half of it again."""
    import torch
    from torch import nn
    from torch.nn.functional import interpolate, max_pool2d

    def layers(inputs: int, outputs: int) -> list[nn.Module]:
        return [nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True)]

    def block(inputs: int, outputs: int) -> nn.Sequential:
        return nn.Sequential(*layers(inputs, outputs), *layers(outputs, outputs))

    class Network(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            first, pairs = _WIDTHS[0], list(pairwise(_WIDTHS))
            entry = nn.Conv2d(1, first, 5, stride=2, padding=2, bias=False)
            self.entry = nn.Sequential(entry, nn.BatchNorm2d(first), nn.ReLU(inplace=True), block(first, first))
            self.down = nn.ModuleList(block(fine, coarse) for fine, coarse in pairs)
            self.up = nn.ModuleList(block(coarse + fine, fine) for fine, coarse in reversed(pairs))
            self.odds = nn.Conv2d(first, 1, 1)
            nn.init.constant_(self.odds.bias, _RARE)

        def forward(self, images: "Tensor") -> "Tensor":
            values = self.entry(images)
            finer = []
            for block in self.down:
                finer.append(values)
                values = block(max_pool2d(values, 2, ceil_mode=True))
            for block, fine in zip(self.up, reversed(finer), strict=True):
                values = block(torch.cat([interpolate(values, size=fine.shape[-2:]), fine], dim=1))
            return self.odds(values)[:, 0]

    return Network()
