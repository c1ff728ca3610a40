"""Networks are trained to tell made-up defects on good images from the rest, each on all folds of the images but one.

A network knows the images that it has seen. So each good image is judged by the network that has not seen it, as a new
image would be, and the limits that good images set hold for new ones. A new image is judged by all networks, by the
mean of their log odds.

The number of pixels that a network sees is fixed, so training takes as long for many images as for few, and for large
ones as for small ones. Every network has its own random numbers and one thread: neither the number of threads nor the
order in which they run changes anything.
"""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from vwkde._compute.devices import send
from vwkde._compute.parallel import run
from vwkde._compute.torch_state import threads_of_torch
from vwkde._runtime.progress import track
from vwkde.inspection.model.trained.examples import examples, piece_shape
from vwkde.inspection.model.trained.networks import Layer, Networks, filtered, layers, log_odds

if TYPE_CHECKING:
    from torch import Tensor

Singles = NDArray[np.float32]

_FOLDS = 2
"""Number of networks, and of folds of the good images."""
PIXELS = 3 * 10**8
"""Number of pixels that each network sees in its training."""
_BATCH = 8
"""Number of pieces of images in one step."""
_RATE, _WARM, _DECAY = 5e-3, 20, 1e-3
"""Greatest learning rate, number of steps until it is reached, and decay of the weights."""
_RARE = -3.0
"""Log odds of a defect before any training."""
_MOMENTUM, _LEAST = 0.1, 1e-5
"""How much a step counts in the means and variances of a layer, and what is added to variances."""


def train_networks(images: Sequence[Singles], seed: int, device: str) -> tuple[Networks, list[Singles]]:
    """Return trained networks, and the log odds of each image by the network that has not seen it.

    Images have the size of the largest copy of marks.
    """
    order = np.random.default_rng(seed).permutation(len(images))
    folds = [order[start::_FOLDS].tolist() for start in range(min(_FOLDS, len(images)))]
    trainings = [
        Training([image for place, image in enumerate(images) if place not in fold], [seed, number], device)
        for number, fold in enumerate(folds)
    ]
    steps = max(1, PIXELS // (_BATCH * int(np.prod(piece_shape(images[0].shape)))))
    for step in track(range(steps), "training networks", steps):
        run(partial(Training.step, rate=_rate(step, steps)), trainings)
    networks = _together([training.network() for training in trainings])
    odds = {place: networks.one(number)(images[place]) for number, fold in enumerate(folds) for place in fold}
    return networks, [odds[place] for place in range(len(images))]


def _rate(step: int, steps: int) -> float:
    """Return the learning rate of a step: it rises fast, then falls to zero."""
    return float(_RATE * min(1.0, (step + 1) / _WARM) * (1 + np.cos(np.pi * step / steps)) / 2)


def _together(networks: Sequence[Networks]) -> Networks:
    """Return several networks as one object."""
    return Networks(
        *(
            {name: np.concatenate([getattr(each, part)[name] for each in networks]) for name in layers()}
            for part in ("weights", "biases")
        )
    )


class Training:
    """A network that is being trained on some good images.

    Bent layers are normalised by the mean and the variance of each channel in the pieces of a step. The network that
    results has those that all steps had lately, as part of its weights and biases.
    """

    def __init__(self, images: Sequence[Singles], seed: Sequence[int], device: str) -> None:
        import torch

        self._images, self._device, self._plan = images, device, layers()
        self._random = np.random.default_rng(seed)
        self._weights = {name: self._parameter(_start(layer, self._random)) for name, layer in self._plan.items()}
        self._gains = {name: self._parameter(np.ones(layer.outputs)) for name, layer in self._plan.items()}
        self._biases = {name: self._parameter(np.zeros(layer.outputs)) for name, layer in self._plan.items()}
        self._means = {name: torch.zeros_like(bias, requires_grad=False) for name, bias in self._biases.items()}
        self._variances = {name: torch.ones_like(bias, requires_grad=False) for name, bias in self._biases.items()}
        with torch.no_grad():
            self._biases["odds"].fill_(_RARE)
        learnt = [*self._weights.values(), *self._biases.values()]
        bent = [self._gains[name] for name, layer in self._plan.items() if layer.bent]
        self._optimiser = torch.optim.AdamW([*learnt, *bent], lr=_RATE, weight_decay=_DECAY)

    def step(self, rate: float) -> None:
        """Learn from some pieces of images with made-up defects."""
        from torch.nn.functional import binary_cross_entropy_with_logits, max_pool2d

        with threads_of_torch(1):
            seen = examples(self._images, _BATCH, self._random)
            cells = np.stack([seen.defective, seen.defective * seen.weight], axis=1)
            defective, weight = max_pool2d(send(cells, self._device), 2, ceil_mode=True).unbind(dim=1)
            odds = log_odds(send(seen.images, self._device), self._apply)
            for group in self._optimiser.param_groups:
                group["lr"] = rate
            self._optimiser.zero_grad()
            weight = weight.where(defective > 0, weight.new_ones(()))
            binary_cross_entropy_with_logits(odds, defective, weight=weight).backward()  # type: ignore[no-untyped-call]
            self._optimiser.step()

    def network(self) -> Networks:
        """Return the network as it is now."""
        weights, biases = {}, {}
        for name, layer in self._plan.items():
            weight, bias = self._weights[name].detach(), self._biases[name].detach()
            if layer.bent:
                scale = self._gains[name].detach() / (self._variances[name] + _LEAST).sqrt()
                weight, bias = weight * scale[:, None, None, None], bias - self._means[name] * scale
            weights[name], biases[name] = (np.ascontiguousarray(part.cpu())[None] for part in (weight, bias))
        return Networks(weights, biases)

    def _apply(self, name: str, values: "Tensor") -> "Tensor":
        from torch.nn.functional import batch_norm

        weight, bias = self._weights[name], self._biases[name]
        if not self._plan[name].bent:
            return filtered(name, values, weight, bias)
        kept = self._means[name], self._variances[name]
        found = filtered(name, values, weight, None)
        return batch_norm(found, *kept, self._gains[name], bias, True, _MOMENTUM, _LEAST).relu()

    def _parameter(self, values: NDArray[np.floating]) -> "Tensor":
        """Return numbers to be learnt, on the device; filters in the order of memory that is fastest on the CPU."""
        import torch

        sent = send(values.astype(np.float32), self._device)
        order = torch.channels_last if sent.ndim == 4 else torch.contiguous_format
        return sent.contiguous(memory_format=order).requires_grad_()


def _start(layer: Layer, random: np.random.Generator) -> NDArray[np.float64]:
    """Return the random weights of a layer before training."""
    shape = layer.outputs, layer.inputs, layer.side, layer.side
    return random.standard_normal(shape) / np.sqrt(layer.inputs * layer.side**2)
