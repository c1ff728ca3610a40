"""Where blocks of work run: in this process, where the work itself uses threads, or on Dask workers."""

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
"""Items queued for each thread of the cluster, so that none is idle."""
_PARTS = 64
"""Number of parts that work is divided into for Dask workers."""
_BRANCHES = 8
"""Number of results that one task of the reduction tree combines."""
_without_graph_warnings = ignoring(message="Sending large graph")
"""Suppress Dask's warning about a large graph: it is sent once, and outlives workers."""


class Fold(Protocol[T]):
    """Work over many rows, in parts: each part yields results piece by piece, and results combine two by two."""

    def results(self, part: Any, values: Any) -> Iterator[T]:
        """Yield the result of each piece of a part; `values` are the rows of the part, if they are sent with it."""

    def combine(self, one: T, other: T, /) -> T:
        """Return the combination of two results; the first is from earlier rows."""


class Executor(Protocol):
    """A place where work runs."""

    @property
    def name(self) -> str:
        """The name of the executor."""

    @property
    def spreads(self) -> bool:
        """Whether work leaves this process."""

    def require(self) -> None:
        """Raise with what to install if something is missing."""

    def deal(self, count: int) -> list[range]:
        """Return range(count) divided into as many parts as workers can share."""

    def spread(self, work: Callable[[S, T], R], shared: S, items: Iterable[T]) -> Iterator[R]:
        """Yield work(shared, item) for every item, in order."""

    def fold(self, job: Fold[R], parts: Iterable[tuple[Any, Any]], stage: str, pieces: int) -> R:
        """Return the combined results of a fold over parts and their values; `pieces` is the total, for progress."""


@dataclass(frozen=True)
class Threads:
    """This process: items run one after another, each with all threads."""

    name: ClassVar[str] = "threads"
    spreads: ClassVar[bool] = False

    def require(self) -> None:
        """Nothing is missing."""

    def deal(self, count: int) -> list[range]:
        """Return the whole range as one part."""
        return [range(count)]

    def spread(self, work: Callable[[S, T], R], shared: S, items: Iterable[T]) -> Iterator[R]:
        """Yield the results one after another."""
        return (work(shared, item) for item in items)

    def fold(self, job: Fold[R], parts: Iterable[tuple[Any, Any]], stage: str, pieces: int) -> R:
        """Return the combined results, piece by piece."""
        results = (result for part in parts for result in job.results(*part))
        return reduce(job.combine, track(results, stage, pieces))


@dataclass(frozen=True)
class Dask:
    """The workers of the current Dask client. Folds need no client: without one, Dask runs them on threads."""

    name: ClassVar[str] = "dask"
    spreads: ClassVar[bool] = True

    def require(self) -> None:
        """Raise with what to install if Dask is missing."""
        require_dask()

    def deal(self, count: int) -> list[range]:
        """Return the range dealt in turn, so that every part has early and late indices."""
        parts = min(count, _PARTS)
        return [range(part, count, parts) for part in range(parts)]

    def spread(self, work: Callable[[S, T], R], shared: S, items: Iterable[T]) -> Iterator[R]:
        """Yield the results; `shared` is sent to every worker once, and items are submitted as workers become free."""
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
        """Return the combined results of Dask tasks: one for each part, then a reduction tree.

        A task that is lost with its worker is run again by another.
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
