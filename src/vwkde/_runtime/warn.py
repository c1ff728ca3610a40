"""Warnings that point at the line that called this package."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType

_PACKAGE = __name__.partition(".")[0]
_WRAPPERS = ("sklearn", "joblib")
"""Packages whose decorators and loops may call this package on behalf of the user."""

_suppressed: ContextVar[tuple[type[Warning], ...]] = ContextVar("vwkde_suppressed", default=())


@contextmanager
def without(category: type[Warning]) -> Iterator[None]:
    """Suppress warnings of this category that `warn` would raise, here and in the blocks of work started from here.

    A warning filter would suppress them in all threads.
    """
    token = _suppressed.set((*_suppressed.get(), category))
    try:
        yield
    finally:
        _suppressed.reset(token)


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the line that called this package, however deep inside the package the warning is raised.

    Threads that this package starts have no caller; the warning then points at the thread's own code.
    """
    if issubclass(category, _suppressed.get()):
        return
    frame = _caller()
    names = frame.f_globals
    registry = names.setdefault("__warningregistry__", {})
    module = names.get("__name__", "<string>")  # as `warnings.warn` does: without a module the warning is dropped
    warnings.warn_explicit(message, category, frame.f_code.co_filename, frame.f_lineno, module, registry)


def _caller() -> FrameType:
    """Return the frame that called the outermost function of this package.

    The nearest frame outside the package is not enough: decorators and optimisers call back into the package.
    """
    stack = list(_stack())
    outermost = max(depth for depth, frame in enumerate(stack) if _package(frame) == _PACKAGE)
    beyond = (frame for frame in stack[outermost + 1 :] if _package(frame) not in _WRAPPERS)
    return next(beyond, stack[-1])


def _stack() -> Iterator[FrameType]:
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        yield frame
        frame = frame.f_back


def _package(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]
