"""The rules that choose the engine, the executor and the device.

| `engine=`     | what it is                                                   | where it runs                        |
|---------------|--------------------------------------------------------------|--------------------------------------|
| "numba"       | compiled loops on all cores; sums of many rows to one in 10⁶ | the CPU                              |
| "numba-exact" | the same with every sum exact                                | the CPU                              |
| "torch"       | plain torch in blocks                                        | a torch device that supports float64 |
| "triton"      | fused kernels                                                | a CUDA GPU                           |
| "reference"   | plain NumPy, slow: the oracle for the others                 | the CPU                              |
| "dask"        | what "numba" does, distributed by Dask                       | the workers of the current client    |

The tiles of "numba" and "dask" are compiled where that is worth its time; small problems are summed by NumPy.

"auto" uses "triton" on a CUDA GPU, or "torch" if Triton is not installed. On the CPU it uses "dask" for Dask arrays,
whose rows Dask always distributes, and "numba" for everything else. The device is the one in the `device` parameter,
else the device of the input tensors, else the CPU; only "triton" looks for a GPU by itself.
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
    DASK.name: (NUMBA, DASK),  # Dask distributes passes over rows; each worker sums its pieces on the CPU
}
ENGINE_NAMES = (_AUTO, *_CHOICES)
"""Valid values of the public parameter `engine`."""


def choose_resources(
    engine: str,
    device: str | None,
    inputs: Sequence[Any] = (),
    memory_budget: int = DEFAULT_MEMORY_BUDGET,
) -> Resources:
    """Return the resources for these inputs, or raise with what is missing."""
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
