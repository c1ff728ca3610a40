"""Devices of torch: whether one can be used, where tensors live, and arrays sent there."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vwkde._runtime.extras import require

if TYPE_CHECKING:
    from torch import Tensor

_USE_CPU = "Take device='cpu'."


def require_torch(device: str, who: str = "Networks need", hint: str = _USE_CPU) -> None:
    """Raise with what to do about it if torch or the device is missing."""
    torch = require("torch", f"{who} torch", "torch")
    try:
        torch.zeros(1, device=device)
    except (AssertionError, RuntimeError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise ValueError(f"The device {device!r} cannot be used: {reason}. {hint}") from None


def require_device(device: str) -> None:
    """Raise with what to do about it if a device other than the CPU is missing."""
    if device != "cpu":
        require_torch(device, f"The device {device!r} needs")


def is_cuda(device: str) -> bool:
    """Return whether a device is a CUDA GPU, by its name."""
    return device.split(":")[0] == "cuda"


def home(*inputs: Any) -> str | None:
    """Return where the tensors among the inputs live, if that is elsewhere than on the CPU."""
    # asked of the type, because a Dask `Delayed` claims to have any attribute
    homes = [str(data.device) for data in inputs if hasattr(type(data), "detach")]
    return next((place for place in homes if place != "cpu"), None)


def send(array: NDArray[np.floating], device: str) -> "Tensor":
    """Return an array as a tensor on a device; a read-only one is copied, because torch would warn of it."""
    import torch

    return torch.as_tensor(array if array.flags.writeable else array.copy(), device=device)
