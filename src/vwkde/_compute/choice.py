"""Which engine computes, where, and on which device: the rules in one place.

| `engine=`   | what it is                                    | where it runs                         |
|-------------|-----------------------------------------------|---------------------------------------|
| "numba"     | compiled tiles on all cores                   | the CPU                               |
| "torch"     | plain torch in blocks                         | a device of torch that knows float64  |
| "triton"    | fused kernels                                 | a CUDA GPU                            |
| "reference" | plain NumPy, slow: what the others must equal | the CPU                               |
| "dask"      | compiled tiles, spread by Dask                | the workers of the client in use      |

"auto" takes "triton" on a CUDA GPU, or "torch" where Triton is not installed; else "dask" for Dask's own arrays, whose
rows are always spread by Dask, and "numba" for all others. The device is the one that was named, else that of the
tensors that came in, else the CPU; "triton" alone looks for a GPU.
"""

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

from vwkde._compute.devices import home, is_cuda, require_device
from vwkde._compute.engines import ENGINES, NUMBA, Engine, torch_engine, triton_engine
from vwkde._compute.executors import DASK, THREADS, Executor
from vwkde._compute.parallel import DEFAULT_MEMORY_BUDGET
from vwkde._compute.resources import Resources

_AUTO = "auto"
_CHOICES: dict[str, tuple[Engine, Executor]] = {
    **{name: (engine, THREADS) for name, engine in ENGINES.items()},
    DASK.name: (NUMBA, DASK),  # what spreads is passes over rows; the sums of one piece are those of a CPU
}
ENGINE_NAMES = (_AUTO, *_CHOICES)
"""What the public parameter `engine` may be."""


def choose_resources(
    engine: str,
    device: str | None,
    inputs: Sequence[Any] = (),
    memory_budget: int = DEFAULT_MEMORY_BUDGET,
) -> Resources:
    """Return what to compute with for these inputs, or raise with what is missing."""
    usual = "cpu" if engine == _AUTO else _CHOICES[engine][0].usual_device
    place = device or home(*inputs) or usual
    chosen, executor = _automatic(place, inputs) if engine == _AUTO else _CHOICES[engine]
    chosen.require(place)
    executor.require()
    return Resources(chosen, executor, memory_budget, place)


def _automatic(device: str, inputs: Sequence[Any]) -> tuple[Engine, Executor]:
    require_device(device)
    if is_cuda(device):
        return (triton_engine.ENGINE if find_spec("triton") else torch_engine.ENGINE), THREADS
    return NUMBA, DASK if any(hasattr(data, "__dask_graph__") for data in inputs) else THREADS
