"""What a computation may use: which engine and device, how much memory, how many threads."""

from dataclasses import dataclass

from vwkde._compute.parallel import DEFAULT_MEMORY_BUDGET


@dataclass(frozen=True)
class Resources:
    """How to compute, which changes no result beyond rounding.

    `engine` names the one that forms kernel sums; `memory_budget` is in bytes, for temporary blocks, all threads
    together; without `n_threads` it is as many as the machine and its environment allow; `device` is where the engines
    compute that can do so elsewhere than on the CPU, and where networks are trained.
    """

    engine: str = "numba"
    memory_budget: int = DEFAULT_MEMORY_BUDGET
    n_threads: int | None = None
    device: str = "cpu"


DEFAULT_RESOURCES = Resources()
ONE_THREAD = Resources(n_threads=1)
