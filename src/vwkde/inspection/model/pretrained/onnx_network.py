"""A network in an ONNX file, run by ONNX Runtime on the CPU.

If outputs of the network are maps, (images, channels, rows, columns), they are its layers. A classifier has none; then
its last inner values at an eighth and at a sixteenth of the size of an image are used.
"""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from vwkde._runtime.extras import require
from vwkde.inspection.model.pretrained.files import NetworkError, Shape, Singles, coloured, file_digest
from vwkde.inspection.model.pretrained.onnx_parts import inner_values, with_outputs

_TRIED = (256, 256)
"""Shape of the empty image with which inner values are looked for."""
_REDUCED = (8, 16)
"""How many times smaller than the image the layers of a classifier are."""


@dataclass(frozen=True)
class OnnxNetwork:
    """A network in an ONNX file."""

    path: Path

    @property
    def digest(self) -> str:
        """The SHA-256 of its file."""
        require_onnx()
        return file_digest(self.path)

    @property
    def input_shape(self) -> Shape | None:
        """The only shape of images that it takes; None for any."""
        return _loaded(self.path, self.digest).input_shape

    def layers(self, image: Singles) -> list[Singles]:
        """Return its layers for a gray image, the finest first."""
        return _loaded(self.path, self.digest)(image)


def require_onnx() -> Any:
    """Return ONNX Runtime."""
    return require("onnxruntime", "Features of an ONNX file need ONNX Runtime", "onnx")


class _Loaded:
    """A network that ONNX Runtime has loaded."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._session = self._opened(str(path))
        inputs = self._session.get_inputs()
        shape = list(inputs[0].shape) if inputs else []
        if len(inputs) != 1 or len(shape) != 4 or shape[1] not in (1, 3):
            raise NetworkError(
                f"{path}: the network must have one input of shape (images, 1 or 3 channels, height, width). "
                f"Got {[each.shape for each in inputs]} instead; export it so."
            )
        self._input, self._channels = inputs[0].name, int(shape[1])
        fixed = [side for side in shape[2:] if isinstance(side, int) and side > 0]
        self.input_shape: Shape | None = (fixed[0], fixed[1]) if len(fixed) == 2 else None
        self._wanted = self._maps() or self._inner_maps()

    def __call__(self, image: Singles) -> list[Singles]:
        """Return the layers for an image, the finest first."""
        found = [each[0].astype(np.float32) for each in self._run(image, self._wanted)]
        return sorted(found, key=lambda layer: -layer.shape[1] * layer.shape[2])

    def _maps(self) -> list[str]:
        """Return the names of the outputs that are maps."""
        names = [each.name for each in self._session.get_outputs()]
        values = self._run(self._nothing, names)
        return [name for name, value in zip(names, values, strict=True) if _is_map(value)]

    def _inner_maps(self) -> list[str]:
        """Make the last inner maps of each size outputs of the network, and return their names."""
        file = self._path.read_bytes()
        try:
            names = inner_values(file)
        except ValueError as error:
            raise NetworkError(f"{self._path}: the network cannot be read: {error}.") from None
        self._session = self._opened(with_outputs(file, names))
        values = dict(zip(names, self._run(self._nothing, names), strict=True))
        found = [self._last(values, times) for times in _REDUCED]
        wanted = [name for name in found if name is not None]
        if not wanted:
            raise NetworkError(
                f"{self._path}: no value of the network is a map of an eighth or a sixteenth of the size of an image. "
                "Export it with the layers to use as outputs."
            )
        self._session = self._opened(with_outputs(file, wanted))
        return wanted

    def _last(self, values: dict[str, Any], times: int) -> str | None:
        """Return the name of the last map that is this many times smaller than the image."""
        shape = tuple(-(-side // times) for side in self._nothing.shape)
        names = [name for name, value in values.items() if _is_map(value) and value.shape[2:] == shape]
        return names[-1] if names else None

    @property
    def _nothing(self) -> Singles:
        return np.zeros(self.input_shape or _TRIED, dtype=np.float32)

    def _run(self, image: Singles, names: list[str]) -> list[Any]:
        try:
            return self._session.run(names, {self._input: coloured(image, self._channels)})
        except Exception as error:  # the runtime's own errors have no common class
            raise NetworkError(f"{self._path}: the network fails: {_first_line(error)}") from None

    def _opened(self, network: str | bytes) -> Any:
        runtime = require_onnx()
        options = runtime.SessionOptions()
        options.log_severity_level = 3  # errors only
        try:
            return runtime.InferenceSession(network, options, providers=["CPUExecutionProvider"])
        except Exception as error:
            raise NetworkError(f"{self._path}: ONNX Runtime cannot load the network: {_first_line(error)}") from None


@lru_cache(maxsize=2)
def _loaded(path: Path, digest: str) -> _Loaded:
    del digest  # a changed file is loaded again
    return _Loaded(path)


def _is_map(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.ndim == 4 and value.dtype.kind == "f" and min(value.shape[2:]) > 1


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0]
