"""Work on a Dask cluster: the client in use, or one at an address, and many small pieces of work on its workers."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from vwkde._compute import parallel
from vwkde._runtime.extras import require

S = TypeVar("S")
T = TypeVar("T")
R = TypeVar("R")

_AHEAD = 2
"""Pieces of work that wait at each thread of the cluster, so that none is idle."""

_PATIENCE = 10.0
"""Seconds in which a scheduler must answer."""


def require_dask() -> Any:
    """Return Dask, or tell how to install it."""
    need = "Work on a cluster needs Dask"
    require("distributed", need, "dask")
    return require("dask", need, "dask")


@contextmanager
def connected(address: str | None) -> Iterator[Any]:
    """Use the cluster whose scheduler has that address; without one, leave things as they are."""
    if address is None:
        yield None
        return
    require_dask()
    from distributed import Client

    try:
        client = Client(address, timeout=_PATIENCE)
    except (OSError, ValueError) as error:
        raise ValueError(
            f"No Dask scheduler answers at {address!r} ({error}). Start one with: dask scheduler"
        ) from None
    with client:
        yield client


def client_in_use() -> Any:
    """Return the Dask client in use, or tell how to get one."""
    require_dask()
    from distributed import get_client

    try:
        return get_client()
    except ValueError:
        raise ValueError(
            "engine='dask' needs a client here: from distributed import Client; client = Client(), or Client(address)."
        ) from None


def spread(work: Callable[[S, T], R], shared: S, items: Iterable[T]) -> Iterator[R]:
    """Yield work(shared, item) for every item, in order, from the workers of the client in use.

    What is shared is sent to every worker once. Items are taken as workers get free.
    """
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


def as_block(work: Callable[..., R], *arguments: Any) -> R:
    """Call a function that stays on its thread, since others of its kind run beside it."""
    with parallel.as_block():
        return work(*arguments)
