"""A Dask cluster: the client in use, or one at an address, and how work behaves on its workers."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from vwkde._compute import parallel
from vwkde._runtime.extras import require

R = TypeVar("R")

_PATIENCE = 10.0
"""Seconds in which a scheduler must answer."""


def require_dask() -> Any:
    """Return Dask, or say how to install it."""
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
    """Return the Dask client in use, or say how to get one."""
    require_dask()
    from distributed import get_client

    try:
        return get_client()
    except ValueError:
        raise ValueError(
            "engine='dask' needs a client here: from distributed import Client; client = Client(), or Client(address)."
        ) from None


def as_block(work: Callable[..., R], *arguments: Any) -> R:
    """Call a function that stays on its thread, since others of its kind run beside it."""
    with parallel.as_block():
        return work(*arguments)
