"""Compiling inner loops, with the result kept on disk where that is possible."""

from collections.abc import Callable
from typing import Any

from numba import njit

Function = Callable[..., Any]


def compiled(*fastmath: str) -> Callable[[Function], Function]:
    """Compile a function without the interpreter's lock, with these liberties in floating point.

    Compilation takes seconds, so it is cached; where no folder can be written, it happens in every process.
    """

    def decorate(function: Function) -> Function:
        options: dict[str, Any] = {"nogil": True, "fastmath": set(fastmath)}
        try:
            return njit(cache=True, **options)(function)
        except RuntimeError:
            return njit(**options)(function)

    return decorate
