"""A Dask cluster: the current client, or one at an address, and how work runs on its workers."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from vwkde._compute import parallel
from vwkde._runtime.extras import require

R = TypeVar("R")

_PATIENCE = 10.0
"""Seconds to wait for a scheduler to answer."""


def require_dask() -> Any:
    """Return Dask, or raise with how to install it."""
    need = "Work on a cluster needs Dask"
    require("distributed", need, "dask")
    return require("dask", need, "dask")


@contextmanager
def connected(address: str | None) -> Iterator[Any]:
    """Use the cluster whose scheduler has this address; None changes nothing."""
    if address is None:
        yield None
        return
    require_dask()
    from distributed import Client

    try:
        client = Client(address, timeout=_PATIENCE)
    except (OSError, ValueError) as error:
        raise ValueError(
            f"No Dask scheduler answers at {address!r} ({error}). Check the address, or start one with: dask scheduler"
        ) from None
    with client:
        yield client


def client_in_use() -> Any:
    """Return the current Dask client, or raise with how to create one."""
    require_dask()
    from distributed import get_client

    try:
        return get_client()
    except ValueError:
        raise ValueError(
            "The engine 'dask' needs a Dask client here. Create one: from distributed import Client; client = Client()."
        ) from None


def as_block(work: Callable[..., R], *arguments: Any) -> R:
    """Call a function that stays on its thread, because others like it run at the same time."""
    with parallel.as_block():
        return work(*arguments)
