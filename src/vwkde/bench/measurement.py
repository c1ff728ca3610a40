"""How speed is measured: the best of several runs, after one warm-up run."""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from math import log2
from time import perf_counter
from typing import Any

ENOUGH = 1.0
"""Runs are repeated for this many seconds in total; the best of them counts."""
PATIENCE = 10.0
"""Longest expected run in seconds; a contender that would need longer is not run at that size."""


@dataclass(frozen=True)
class Measurement:
    """One contender's time for one size of a task, and the amount of work done."""

    task: str
    contender: str
    rows: int
    setting: str
    seconds: float
    work: float
    limit: float | None = None
    """The most work per second that this machine can do, where known."""

    @property
    def rate(self) -> float:
        """Work per second."""
        return self.work / self.seconds

    @property
    def share_of_limit(self) -> float | None:
        """The rate divided by the limit."""
        return None if self.limit is None else self.rate / self.limit

    def to_dict(self) -> dict[str, Any]:
        """Return the fields, the rate and the share of the limit, ready for JSON."""
        return {**asdict(self), "rate": self.rate, "share_of_limit": self.share_of_limit}


def best_time(work: Callable[[], Any]) -> float:
    """Return the shortest time of a run."""
    first = _timed(work)  # this run may compile
    times = [_timed(work)]
    while sum(times) + first < ENOUGH:
        times.append(_timed(work))
    return min(times)


def growing(sizes: list[int], growth: float, run: Callable[[int], float]) -> Iterator[tuple[int, float]]:
    """Yield sizes and their times in rising order, until the next size would take too long.

    A run is expected to take `growth` times as long for twice the size.
    """
    last: tuple[int, float] | None = None
    for size in sorted(sizes):
        if last is not None and last[1] * growth ** log2(size / last[0]) > PATIENCE:
            return
        last = size, run(size)
        yield last


def _timed(work: Callable[[], Any]) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start
