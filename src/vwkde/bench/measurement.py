"""How a speed is taken: the best of several runs, after one to warm up."""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from math import log2
from time import perf_counter
from typing import Any

ENOUGH = 1.0
"""Seconds of runs from which the best is taken, at most."""
PATIENCE = 10.0
"""Seconds that a run may be expected to take; a contender who would need more is not tried on so many rows."""


@dataclass(frozen=True)
class Measurement:
    """One contender's time for one size of a task, and how much of the task's work that is."""

    task: str
    contender: str
    rows: int
    setting: str
    seconds: float
    work: float
    limit: float | None = None
    """The most work in a second that this machine could do, where that is known."""

    @property
    def rate(self) -> float:
        """Work done in a second."""
        return self.work / self.seconds

    @property
    def share_of_limit(self) -> float | None:
        """The rate over the limit."""
        return None if self.limit is None else self.rate / self.limit

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON holds it."""
        return {**asdict(self), "rate": self.rate, "share_of_limit": self.share_of_limit}


def best_time(work: Callable[[], Any]) -> float:
    """Return the shortest time of a run."""
    first = _timed(work)  # it may compile
    times = [_timed(work)]
    while sum(times) + first < ENOUGH:
        times.append(_timed(work))
    return min(times)


def growing(sizes: list[int], growth: float, run: Callable[[int], float]) -> Iterator[tuple[int, float]]:
    """Yield the sizes and their times, in rising order, up to where the next one would try one's patience.

    A task `growth` times as long for twice the size is the guess for the next.
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
