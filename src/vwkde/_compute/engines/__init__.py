"""The engines by name: ways to compute kernel sums of arrays in memory.

A new engine is a module here that defines an `Engine`, plus its entry in `ENGINES`.
"""

from vwkde._compute.engines import numba_engine, reference, torch_engine, triton_engine, within
from vwkde._compute.engines.engine import Engine

__all__ = ["ENGINES", "NUMBA", "Engine", "engines_here"]

NUMBA = within.ENGINE
ENGINES = {
    engine.name: engine
    for engine in (NUMBA, numba_engine.ENGINE, torch_engine.ENGINE, triton_engine.ENGINE, reference.ENGINE)
}


def engines_here() -> dict[str, str]:
    """Return the engines that are worth timing on this machine, with the device each would use."""
    devices = {name: engine.device_here() for name, engine in ENGINES.items()}
    return {name: device for name, device in devices.items() if device is not None}
