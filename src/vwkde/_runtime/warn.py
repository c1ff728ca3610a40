"""Warnings that point at the line that called this package."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType

_PACKAGE = __name__.partition(".")[0]
_WRAPPERS = ("sklearn", "joblib")
"""Packages that stand between the caller and this one: their decorators and loops call its methods."""

_held_back: ContextVar[tuple[type[Warning], ...]] = ContextVar("vwkde_held_back", default=())


@contextmanager
def without(category: type[Warning]) -> Iterator[None]:
    """Hold back warnings of this kind that `warn` is called with, here and in blocks of work that start here.

    A filter would hold them back in all threads.
    """
    token = _held_back.set((*_held_back.get(), category))
    try:
        yield
    finally:
        _held_back.reset(token)


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the caller's line, however deep in this package the reason shows.

    In threads that this package starts there is no caller; the warning then points at the thread's own code.
    """
    if issubclass(category, _held_back.get()):
        return
    frame = _caller()
    names = frame.f_globals
    registry = names.setdefault("__warningregistry__", {})
    warnings.warn_explicit(message, category, frame.f_code.co_filename, frame.f_lineno, names.get("__name__"), registry)


def _caller() -> FrameType:
    """Return the frame that called the outermost function of this package.

    The nearest frame outside of it will not do: other packages call back, as decorators and optimisers do.
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
