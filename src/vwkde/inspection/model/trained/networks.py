"""Networks that say how likely a defect is at every second pixel of an image, and the layers that they consist of.

A network sees an image as single marks do: of at most 2¹⁶ pixels, without slow changes of brightness. It has the shape
of a U: from half the size of the image down to a sixteenth, and up again to half, where each way up sees the way down
at the same size as well. Its output has a value for each cell of the largest copy of marks.

Trained networks are arrays alone, so that a model file can hold them without any code.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from vwkde._compute.devices import send
from vwkde._compute.torch_state import threads_of_torch
from vwkde.inspection.model.marks.strengths import evened

if TYPE_CHECKING:
    from torch import Tensor

Singles = NDArray[np.float32]

_WIDTHS = 12, 24, 32, 48
"""Channels at a half, a quarter, an eighth and a sixteenth of the size of the image."""
_ENTRY = 5
"""Side of the first filters, which see every second pixel."""


@dataclass(frozen=True)
class Layer:
    """A layer of filters: how many channels it sees and returns, and the side of a filter in pixels.

    A bent one returns no negative values, and is normalised while it is trained.
    """

    inputs: int
    outputs: int
    side: int = 3
    bent: bool = True


def layers() -> dict[str, Layer]:
    """Return the layers of a network by their names."""
    finest = _WIDTHS[0]
    plan = {"entry": Layer(1, finest, _ENTRY), "finest": Layer(finest, finest)}
    for level, (fine, coarse) in enumerate(pairwise(_WIDTHS)):
        plan |= {
            f"down_{level}": Layer(fine, coarse),
            f"deep_{level}": Layer(coarse, coarse),
            f"side_{level}": Layer(coarse, fine, 1, bent=False),
            f"up_{level}": Layer(fine, fine),
        }
    return plan | {"odds": Layer(finest, 1, 1, bent=False)}


def log_odds(images: "Tensor", apply: Callable[[str, "Tensor"], "Tensor"]) -> "Tensor":
    """Return the log odds of a defect, (images, rows, columns), of evened images; `apply` applies a layer."""
    from torch.nn.functional import interpolate, max_pool2d

    values = apply("finest", apply("entry", images[:, None]))
    finer = []
    for level in range(len(_WIDTHS) - 1):
        finer.append(values)
        values = apply(f"deep_{level}", apply(f"down_{level}", max_pool2d(values, 2, ceil_mode=True)))
    for level, fine in reversed(list(enumerate(finer))):
        coarse = interpolate(apply(f"side_{level}", values), size=fine.shape[-2:])
        values = apply(f"up_{level}", fine + coarse)
    return apply("odds", values)[:, 0]


def filtered(name: str, values: "Tensor", weight: "Tensor", bias: "Tensor | None") -> "Tensor":
    """Return what the filters of a layer make of values, before they are bent."""
    from torch.nn.functional import conv2d

    return conv2d(values, weight, bias, stride=2 if name == "entry" else 1, padding=weight.shape[-1] // 2)


@dataclass(frozen=True, eq=False)
class Networks:
    """Trained networks, by layer: weights, (networks, outputs, inputs, side, side), and biases, (networks, outputs)."""

    weights: Mapping[str, Singles]
    biases: Mapping[str, Singles]

    def __len__(self) -> int:
        """Return the number of networks."""
        return len(self.biases["odds"])

    def one(self, number: int) -> "Networks":
        """Return one of the networks alone."""
        parts = self.weights, self.biases
        return Networks(*({name: part[number : number + 1] for name, part in each.items()} for each in parts))

    def __call__(self, small: Singles) -> Singles:
        """Return the log odds of a defect in the cells of an image of the size of the largest copy of marks."""
        import torch

        with torch.no_grad(), threads_of_torch(1):
            return np.asarray(self.mean_odds(torch.from_numpy(evened(small))[None])[0].numpy().ravel())

    def mean_odds(self, images: "Tensor") -> "Tensor":
        """Return the mean log odds of all networks, (images, rows, columns), of evened images on any torch device."""
        import torch

        return torch.stack([log_odds(images, self._applied(number, images)) for number in range(len(self))]).mean(dim=0)

    def _applied(self, number: int, images: "Tensor") -> Callable[[str, "Tensor"], "Tensor"]:
        """Return how the layers of a network are applied, where these images are."""
        plan, device = layers(), str(images.device)

        def apply(name: str, values: "Tensor") -> "Tensor":
            parts = (send(part[name][number], device).to(values.dtype) for part in (self.weights, self.biases))
            found = filtered(name, values, *parts)
            return found.relu() if plan[name].bent else found

        return apply
