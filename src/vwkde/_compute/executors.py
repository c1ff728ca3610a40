"""Where blocks of work run: in this process, whose threads the work itself uses, or on the workers of Dask."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any, ClassVar, Protocol, TypeVar

from vwkde._compute import parallel
from vwkde._compute.cluster import as_block, client_in_use, require_dask
from vwkde._runtime.filters import ignoring
from vwkde._runtime.progress import track

S = TypeVar("S")
T = TypeVar("T")
R = TypeVar("R")

_AHEAD = 2
"""Items that wait at each thread of the cluster, so that none is idle."""
_PARTS = 64
"""Parts that work is dealt into, where workers share it."""
_BRANCHES = 8
"""Results that one task of the tree combines."""
_without_graph_warnings = ignoring(message="Sending large graph")
"""Hold back Dask's warning of a large graph: it is sent once, and survives any worker."""


class Fold(Protocol[T]):
    """Work over many rows, in parts: each part gives results piece by piece, which combine two by two."""

    def results(self, part: Any, values: Any) -> Iterator[T]:
        """Yield what each piece of a part gives; `values` are the part's rows, if they travel with it."""

    def combine(self, one: T, other: T, /) -> T:
        """Return two results together, the one of earlier rows first."""


class Executor(Protocol):
    """A place where work is done."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def spreads(self) -> bool:
        """Whether work leaves this process."""

    def require(self) -> None:
        """Raise with what to install if something is missing."""

    def deal(self, count: int) -> list[range]:
        """Return the numbers below `count`, dealt in turn to as many parts as there are to share."""

    def spread(self, work: Callable[[S, T], R], shared: S, items: Iterable[T]) -> Iterator[R]:
        """Yield work(shared, item) for every item, in order."""

    def fold(self, job: Fold[R], parts: Iterable[tuple[Any, Any]], stage: str, pieces: int) -> R:
        """Return the combined results of a fold over its parts and their values, which have so many pieces."""


@dataclass(frozen=True)
class Threads:
    """This process: items are done in turn, each by all threads."""

    name: ClassVar[str] = "threads"
    spreads: ClassVar[bool] = False

    def require(self) -> None:
        """Nothing is missing."""

    def deal(self, count: int) -> list[range]:
        """Return all numbers as one part."""
        return [range(count)]

    def spread(self, work: Callable[[S, T], R], shared: S, items: Iterable[T]) -> Iterator[R]:
        """Yield the results one after the other."""
        return (work(shared, item) for item in items)

    def fold(self, job: Fold[R], parts: Iterable[tuple[Any, Any]], stage: str, pieces: int) -> R:
        """Return the combined results, piece after piece."""
        results = (result for part in parts for result in job.results(*part))
        return reduce(job.combine, track(results, stage, pieces))


@dataclass(frozen=True)
class Dask:
    """The workers of the Dask client in use. Folds need no client: without one, Dask runs them on threads."""

    name: ClassVar[str] = "dask"
    spreads: ClassVar[bool] = True

    def require(self) -> None:
        """Raise with what to install if Dask is missing."""
        require_dask()

    def deal(self, count: int) -> list[range]:
        """Return the numbers dealt in turn, so that every part has early ones and late ones."""
        parts = min(count, _PARTS)
        return [range(part, count, parts) for part in range(parts)]

    def spread(self, work: Callable[[S, T], R], shared: S, items: Iterable[T]) -> Iterator[R]:
        """Yield the results; what is shared is sent to every worker once, and items are taken as workers get free."""
        client = client_in_use()
        everywhere = client.scatter(shared, broadcast=True, hash=False)
        ahead = _AHEAD * max(1, sum(client.nthreads().values()))
        waiting: deque[Any] = deque()
        for item in items:
            waiting.append(client.submit(as_block, work, everywhere, item, pure=False))
            if len(waiting) > ahead:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()

    def fold(self, job: Fold[R], parts: Iterable[tuple[Any, Any]], stage: str, pieces: int) -> R:  # noqa: ARG002
        """Return the combined results of tasks: one for each part, then a tree.

        A task that is lost with its worker is done again by another.
        """
        dask = require_dask()
        shared = dask.delayed(job, pure=False, traverse=False)
        on_part, together = dask.delayed(_on_part, pure=False), dask.delayed(_together, pure=False)
        results = [on_part(shared, *part) for part in parts]
        while len(results) > 1:
            results = [together(shared, results[group]) for group in parallel.split(len(results), _BRANCHES)]
        with _without_graph_warnings():
            (result,) = dask.compute(results[0])
        return result


def _on_part(job: Fold[R], part: Any, values: Any) -> R:
    with parallel.as_block():
        return reduce(job.combine, job.results(part, values))


def _together(job: Fold[R], results: list[R]) -> R:
    return reduce(job.combine, results)


THREADS, DASK = Threads(), Dask()
