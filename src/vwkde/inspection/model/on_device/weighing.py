"""How strongly the marks around a place say that it is part of a defect, on a torch device."""

from typing import TYPE_CHECKING

from vwkde._compute.devices import send
from vwkde.inspection.model.marks.weighing import DIRECTED, SINGLE, Weighing, all_parents

if TYPE_CHECKING:
    from torch import Tensor


class WeighingOnDevice:
    """The networks that weigh marks, on a torch device."""

    def __init__(self, weighing: Weighing, image_shape: tuple[int, ...], device: str) -> None:
        self._lowest, self._highest = send(weighing.lowest, device), send(weighing.highest, device)
        self._weights = [send(weights, device) for weights in weighing.weights]
        self._biases = [send(biases, device) for biases in weighing.biases]
        self._parents = send(all_parents(image_shape), device)

    def __call__(self, standardised: "Tensor") -> "Tensor":
        """Return the evidence at the cells of the largest copy, (images, cells), as `Weighing` does for each image."""
        import torch

        responses = _pooled(standardised.float()).transpose(1, 2)
        return torch.stack([self._log_odds(image) for image in responses])

    def _log_odds(self, responses: "Tensor") -> "Tensor":
        """Return the mean log odds of the networks at the cells of the largest copy of an image."""
        places = responses[self._parents].transpose(0, 1).flatten(start_dim=1)
        values = places.maximum(self._lowest).minimum(self._highest)[None]
        for layer, (weights, biases) in enumerate(zip(self._weights, self._biases, strict=True)):
            values = values @ weights + biases[:, None]
            values = values * values.sigmoid() if layer + 1 < len(self._weights) else values
        return values[..., 0].mean(dim=0)


def _pooled(standardised: "Tensor") -> "Tensor":
    """Return the responses that are weighed, (images, responses, cells), as `weighing.pooled` does."""
    import torch

    marks = standardised.asinh()
    groups = [marks[:, group] for group in DIRECTED]
    over_directions = [part for group in groups for part in (group.amax(dim=1), group.mean(dim=1))]
    return torch.cat([torch.stack(over_directions, dim=1), marks[:, SINGLE]], dim=1)
