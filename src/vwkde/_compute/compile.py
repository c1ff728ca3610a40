"""Compilation of inner loops, cached on disk if possible."""

from collections.abc import Callable
from typing import Any

from numba import njit

Function = Callable[..., Any]


def compiled(*fastmath: str) -> Callable[[Function], Function]:
    """Compile a function that releases the interpreter's lock, with these fast-math flags.

    Compilation takes seconds, so it is cached; if no folder is writable, every process compiles again.
    """

    def decorate(function: Function) -> Function:
        options: dict[str, Any] = {"nogil": True, "fastmath": set(fastmath)}
        try:
            return njit(cache=True, **options)(function)
        except RuntimeError:
            return njit(**options)(function)

    return decorate
