"""What a computation may use: which engine, where its blocks run, how much memory, which device."""

from dataclasses import dataclass

from vwkde._compute.engines import NUMBA, Engine
from vwkde._compute.executors import THREADS, Executor
from vwkde._compute.parallel import DEFAULT_MEMORY_BUDGET


@dataclass(frozen=True)
class Resources:
    """How to compute, which changes no result beyond rounding.

    `engine` forms kernel sums, `executor` is where passes over many rows run; `memory_budget` is in bytes, for
    temporary blocks, all threads together; `device` is where engines compute that can do so elsewhere than on the CPU,
    and where networks are trained. The number of threads is no resource: see `parallel.at_most`.
    """

    engine: Engine = NUMBA
    executor: Executor = THREADS
    memory_budget: int = DEFAULT_MEMORY_BUDGET
    device: str = "cpu"

    @property
    def name(self) -> str:
        """What the `engine` parameter of the public functions calls this choice."""
        return self.executor.name if self.executor.spreads else self.engine.name


DEFAULT_RESOURCES = Resources()
