"""The inspected part of images on a torch device, and what is measured of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from vwkde._compute.devices import send
from vwkde.inspection.model.features.combined import Combined, working
from vwkde.inspection.model.features.registry import FeatureSet
from vwkde.inspection.model.features.texture import Texture
from vwkde.inspection.model.inspected_part import FeaturesOfPart, InspectedPart
from vwkde.inspection.model.on_device.filters import made_smaller
from vwkde.inspection.model.on_device.marks import marks_of
from vwkde.inspection.model.on_device.patches import patches_of
from vwkde.inspection.model.on_device.texture import texture_of

if TYPE_CHECKING:
    from torch import Tensor

Singles = NDArray[np.float32]
Halves = NDArray[np.float16]

_PIXELS = 2**22
"""Pixels of a batch, for example 16 images of 512 × 512."""


@dataclass(frozen=True)
class OnDevice:
    """Images on a torch device, and the features that are measured there; `part` is what is inspected, None for all."""

    device: str
    features: Combined | Texture
    part: InspectedPart | None = None

    def measure(self, images: Sequence[Singles]) -> tuple[list[Singles], list[Halves]]:
        """Return the features of the patches of each image, and its marks."""
        import torch

        if not images:
            return [], []
        size = batch_size(images[0].shape)
        features: list[Singles] = []
        marks: list[Halves] = []
        with torch.no_grad():
            for start in range(0, len(images), size):
                batch = self.sent(images[start : start + size])
                features += list(self.patches(batch).cpu().numpy())
                if isinstance(self.features, Combined):
                    marks += list(marks_of(batch).half().cpu().numpy())
        return features, marks

    def patches(self, batch: "Tensor") -> "Tensor":
        """Return the features of every patch of images that were sent, (images, patches, features)."""
        return patches_of(batch) if isinstance(self.features, Combined) else texture_of(batch, self.features.grid)

    def sent(self, images: Sequence[Singles]) -> "Tensor":
        """Return the inspected part of images on the device, at the size at which they are measured."""
        parts = images if self.part is None else [self.part.filled(image) for image in images]
        batch = send(np.stack(parts).astype(np.float32, copy=False), self.device)
        return made_smaller(batch, working(parts[0].shape)) if isinstance(self.features, Combined) else batch


def batch_size(shape: tuple[int, ...]) -> int:
    """Return the number of images of this shape to send at a time."""
    return max(1, _PIXELS // (shape[0] * shape[1]))


def on_device(features: FeatureSet, device: str | None) -> OnDevice | None:
    """Return how a device other than the CPU measures these features; None if it does not."""
    part = features.part if isinstance(features, FeaturesOfPart) else None
    whole = features.features if isinstance(features, FeaturesOfPart) else features
    if device is None or device == "cpu" or not isinstance(whole, Combined | Texture):
        return None
    return OnDevice(device, whole, part)
