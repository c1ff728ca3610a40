"""Compilation of inner loops, cached on disk if possible."""

import os
from collections.abc import Callable
from typing import Any

from numba import njit
from numba.core.compiler_lock import global_compiler_lock

Function = Callable[..., Any]

_WITHOUT_WRAPPERS: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}

if hasattr(os, "register_at_fork"):  # else a process forked while another thread compiles would wait for that thread
    os.register_at_fork(
        before=global_compiler_lock.acquire,
        after_in_parent=global_compiler_lock.release,
        after_in_child=global_compiler_lock.release,
    )


def compiled(*fastmath: str, inner: bool = False) -> Callable[[Function], Function]:
    """Compile a function that releases the interpreter's lock, with these fast-math flags.

    Compilation takes seconds, so it is cached; if no folder is writable, every process compiles again. An `inner`
    function is called by compiled functions only. They contain it, so it is not cached, and it has no entry for Python,
    which would take longer to compile than some of them.
    """

    def decorate(function: Function) -> Function:
        options: dict[str, Any] = {"nogil": True, "fastmath": set(fastmath)}
        if inner:
            return njit(**options, **_WITHOUT_WRAPPERS)(function)
        try:
            return njit(cache=True, **options)(function)
        except RuntimeError:
            return njit(**options)(function)

    return decorate
