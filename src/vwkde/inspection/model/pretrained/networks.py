"""Pretrained networks whose middle layers describe the patches of an image.

Nothing is ever downloaded: weights come inside an installed package, or in a file that the user brings. A digest of the
weights goes into the model file, since other weights would make its numbers meaningless.
"""

from pathlib import Path
from typing import Protocol

from vwkde.inspection.model.pretrained.files import Shape, Singles
from vwkde.inspection.model.pretrained.onnx_network import OnnxNetwork
from vwkde.inspection.model.pretrained.packaged import PackagedNetwork

BACKBONE = "backbone"
"""The name of the features of the network that comes in a package."""
ONNX = "onnx:"
"""How the name of features from a network in a file begins; the path follows."""


class Network(Protocol):
    """A network, known by the digest of its weights."""

    @property
    def digest(self) -> str:
        """The SHA-256 of its weights."""

    @property
    def input_shape(self) -> Shape | None:
        """The only shape of images that it takes; None for any."""

    def layers(self, image: Singles) -> list[Singles]:
        """Return its middle layers for a gray image, each (channels, rows, columns), the finest first."""


def network_of(name: str) -> Network | None:
    """Return the network of features with this name; None if they need none. Missing packages or files are errors."""
    network: Network | None = None
    if name == BACKBONE:
        network = PackagedNetwork()
    elif name.startswith(ONNX):
        network = OnnxNetwork(_path(name))
    if network is not None:
        _ = network.digest
    return network


def stored_name(name: str) -> str:
    """Return the name of features as in a model file: the path of a network is complete."""
    return f"{ONNX}{_path(name)}" if name.startswith(ONNX) else name


def shown_name(name: str) -> str:
    """Return the name of features as in reports: without the folder of a network."""
    return f"{ONNX}{_path(name).name}" if name.startswith(ONNX) else name


def located_name(name: str, folder: Path) -> str:
    """Return the name of features with the file of a network: where it was or, failing that, in this folder."""
    if not name.startswith(ONNX):
        return name
    beside = folder / _path(name).name
    return f"{ONNX}{beside}" if not _path(name).exists() and beside.exists() else name


def _path(name: str) -> Path:
    return Path(name.removeprefix(ONNX)).absolute()
