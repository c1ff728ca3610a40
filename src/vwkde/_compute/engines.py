"""Which engine computes, and on which device: the rules in one place.

| engine      | what it is                                    | where it runs                         |
|-------------|-----------------------------------------------|---------------------------------------|
| "numba"     | compiled tiles on all cores                   | the CPU                               |
| "torch"     | plain torch in blocks                         | a device of torch that knows float64  |
| "triton"    | fused kernels                                 | a CUDA GPU                            |
| "dask"      | compiled tiles, dealt out by Dask             | the workers of the client in use      |
| "reference" | plain NumPy, slow: what the others must equal | the CPU                               |

"auto" takes "triton" on a CUDA GPU, or "torch" where Triton is not installed; else "dask" for Dask's own arrays, whose
rows are always dealt out by Dask, and "numba" for all others. The device is the one that was named, else that of the
tensors that came in, else the CPU; "triton" alone looks for a GPU.
"""

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vwkde._compute.cluster import require_dask
from vwkde._runtime.extras import require

if TYPE_CHECKING:
    from torch import Tensor

ENGINES = ("auto", "numba", "torch", "triton", "dask", "reference")
ON_DEVICE = ("torch", "triton")
"""Engines that compute where the device is; the others leave it to networks."""
_USE_CPU = "Take device='cpu'."
_NO_GPU = (
    "The engine 'triton' needs a CUDA GPU: take engine='auto', or where there is a GPU, a torch that knows it, "
    "installed with: pip install 'vwkde[torch]'"
)


def choose_engine(engine: str, device: str | None, *inputs: Any) -> tuple[str, str]:
    """Return the engine and the device to use for these inputs, or raise with what is missing."""
    place = device or home(*inputs) or ("cuda" if engine == "triton" else "cpu")
    on_gpu = place.split(":")[0] == "cuda"
    hint = _NO_GPU if engine == "triton" else _USE_CPU
    if engine == "auto" and on_gpu:
        engine = "triton" if find_spec("triton") else "torch"
    elif engine == "auto":
        engine = "dask" if any(hasattr(data, "__dask_graph__") for data in inputs) else "numba"
    if engine in ON_DEVICE or device not in (None, "cpu"):
        who = f"The engine {engine!r}" if engine in ON_DEVICE else f"The device {place!r}"
        require_torch(place, f"{who} needs", hint)
    if engine == "dask":
        require_dask()
    if engine == "triton":
        _require_triton(place, on_gpu)
    return engine, place


def engines_here() -> dict[str, str]:
    """Return the engines that could be taken on this machine alone, each with the device that it would use."""
    found = {"numba": "cpu"}
    if find_spec("torch"):
        import torch

        on_gpu = torch.cuda.is_available()
        found["torch"] = "cuda" if on_gpu else "cpu"
        if on_gpu and find_spec("triton"):
            found["triton"] = "cuda"
    return found


def require_torch(device: str, who: str = "Networks need", hint: str = _USE_CPU) -> None:
    """Raise with what to do about it, unless torch and the device are there."""
    torch = require("torch", f"{who} torch", "torch")
    try:
        torch.zeros(1, device=device)
    except (AssertionError, RuntimeError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise ValueError(f"The device {device!r} cannot be used: {reason}. {hint}") from None


def _require_triton(device: str, on_gpu: bool) -> None:
    if not on_gpu:
        raise ValueError(
            f"The engine 'triton' needs a CUDA GPU. Got device={device!r} instead; take device='cuda', or "
            f"engine='torch', which runs there too."
        )
    if find_spec("triton") is None:
        raise ImportError(
            "The engine 'triton' needs Triton; install it with: pip install triton. Without it, engine='torch' runs on "
            "the same GPU."
        )


def send(array: NDArray[np.floating], device: str) -> "Tensor":
    """Return an array as a tensor on a device; one that must not be written is copied, lest torch warn of it."""
    import torch

    return torch.as_tensor(array if array.flags.writeable else array.copy(), device=device)


def home(*inputs: Any) -> str | None:
    """Return where the tensors among the inputs live, if that is elsewhere than on the CPU."""
    homes = [str(data.device) for data in inputs if hasattr(data, "detach")]
    return next((place for place in homes if place != "cpu"), None)
