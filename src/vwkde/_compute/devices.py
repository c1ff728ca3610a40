"""Torch devices: whether one can be used, which one holds the input tensors, where models compute, sending arrays."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from vwkde._runtime.extras import require

if TYPE_CHECKING:
    from torch import Tensor

_USE_CPU = "Use device='cpu'."
_of_models: ContextVar[str] = ContextVar("vwkde_device_of_models", default="cpu")


@contextmanager
def models_on(device: str) -> Iterator[None]:
    """Let models that are fitted inside the `with` statement, on any thread, compute on a device where it pays."""
    token = _of_models.set(device)
    try:
        yield
    finally:
        _of_models.reset(token)


def device_of_models() -> str:
    """Return the device on which models may compute here."""
    return _of_models.get()


def require_torch(device: str, who: str = "Networks need", hint: str = _USE_CPU) -> None:
    """Raise, with how to fix it, if torch or the device is missing."""
    torch = require("torch", f"{who} torch", "torch")
    try:
        torch.zeros(1, device=device)
    except (AssertionError, RuntimeError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise ValueError(f"The device {device!r} cannot be used: {reason}. {hint}") from None


def require_device(device: str) -> None:
    """Raise, with how to fix it, if a device other than the CPU is missing."""
    if device != "cpu":
        require_torch(device, f"The device {device!r} needs")


def is_cuda(device: str) -> bool:
    """Return whether a device name is that of a CUDA GPU."""
    return device.split(":")[0] == "cuda"


def home(*inputs: Any) -> str | None:
    """Return the device of the first input tensor that is not on the CPU, or None."""
    # look at the type, because a Dask `Delayed` claims to have any attribute
    homes = [str(data.device) for data in inputs if hasattr(type(data), "detach")]
    return next((place for place in homes if place != "cpu"), None)


def send(array: NDArray[Any], device: str) -> "Tensor":
    """Return an array as a tensor on a device; a read-only array is copied, because torch would warn about it."""
    import torch

    return torch.as_tensor(array if array.flags.writeable else array.copy(), device=device)
