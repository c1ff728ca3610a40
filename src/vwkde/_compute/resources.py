"""What a computation may use: the engine, where blocks run, how much memory, which device."""

from dataclasses import dataclass

from vwkde._compute.engines import NUMBA, Engine
from vwkde._compute.executors import THREADS, Executor
from vwkde._compute.parallel import DEFAULT_MEMORY_BUDGET


@dataclass(frozen=True)
class Resources:
    """How to compute. This changes no result beyond rounding.

    `engine` computes kernel sums; `executor` runs passes over many rows; `memory_budget` is in bytes, for the temporary
    blocks of all threads together; `device` is used by engines that can compute outside the CPU and for training
    networks. The number of threads is set elsewhere: see `parallel.at_most`.
    """

    engine: Engine = NUMBA
    executor: Executor = THREADS
    memory_budget: int = DEFAULT_MEMORY_BUDGET
    device: str = "cpu"

    @property
    def name(self) -> str:
        """The name of this choice in the `engine` parameter of the public functions."""
        return self.executor.name if self.executor.spreads else self.engine.name


DEFAULT_RESOURCES = Resources()
