"""Compilation of inner loops, cached on disk if possible."""

import os
from collections.abc import Callable
from typing import Any

from numba import njit
from numba.core.compiler_lock import global_compiler_lock

Function = Callable[..., Any]

if hasattr(os, "register_at_fork"):  # else a process forked while another thread compiles would wait for that thread
    os.register_at_fork(
        before=global_compiler_lock.acquire,
        after_in_parent=global_compiler_lock.release,
        after_in_child=global_compiler_lock.release,
    )


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
