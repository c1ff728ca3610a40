"""A progress bar for calls that take longer than two seconds, in terminals and notebooks.

It is drawn on the error stream, by a thread of its own, and removed at the end. There is none in pipes, in continuous
integration (the variable `CI` is set), in worker threads and processes, or with `VWKDE_PROGRESS=0`. A command listens
to the progress itself, so that calls inside it draw nothing.
"""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from importlib import import_module
from multiprocessing import current_process
from threading import Event, Thread, current_thread, main_thread
from time import monotonic
from typing import Any, ParamSpec, Protocol, TypeVar

from vwkde._runtime.progress import is_heard, listening

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

PATIENCE = 2.0
"""Seconds of work before a progress bar appears."""
_EVERY = 0.2
"""Seconds between two drawings."""


class Drawing(Protocol):
    """Where the bar is drawn."""

    def draw(self, words: str, share: float | None) -> None:
        """Draw what is being done, and which share of it is done, if that is known."""

    def clear(self) -> None:
        """Remove the drawing."""


def shown_while_waiting(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Draw a progress bar while a function runs, if it takes long and someone watches."""

    @wraps(function)
    def shown(*arguments: Arguments.args, **named: Arguments.kwargs) -> Result:
        if is_heard() or (drawing := _find_drawing()) is None:
            return function(*arguments, **named)
        with bar(_name(function, *arguments), drawing):
            return function(*arguments, **named)

    return shown


def _name(function: Callable[..., Any], *arguments: Any) -> str:
    """Return the name by which a function was called; a method may come from a base class with a name of its own."""
    is_method = "." in function.__qualname__.rpartition("<locals>.")[2]
    return f"{type(arguments[0]).__name__}.{function.__name__}" if is_method else function.__name__


@contextmanager
def bar(name: str, drawing: Drawing) -> Iterator[None]:
    """Draw the progress of the work inside the `with` statement, once it has taken long."""
    state: dict[str, Any] = {"words": name, "share": None}
    done = Event()

    def listen(stage: str, finished: int, total: int) -> None:
        state.update(words=f"{name}: {stage}", share=finished / total if finished < total else None)

    thread = Thread(target=_keep_drawing, args=(state, drawing, done), daemon=True)
    thread.start()
    try:
        with listening(listen):
            yield
    finally:
        done.set()
        thread.join()


def _keep_drawing(state: dict[str, Any], drawing: Drawing, done: Event) -> None:
    start = monotonic()
    if done.wait(PATIENCE):
        return None
    while True:
        drawing.draw(f"{state['words']}, {monotonic() - start:.0f} s", state["share"])
        if done.wait(_EVERY):
            return drawing.clear()


def _find_drawing() -> Drawing | None:
    """Return where to draw: in a notebook, on a terminal, or nowhere."""
    if os.environ.get("VWKDE_PROGRESS") == "0" or os.environ.get("CI") or not _is_main():
        return None
    if _in_notebook():
        return InNotebook()
    is_terminal = sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
    return OnTerminal() if is_terminal else None


def _is_main() -> bool:
    """Return whether this is the main thread of a program, not one of several workers that would all draw."""
    return current_thread() is main_thread() and current_process().name == "MainProcess"


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return type(shell).__name__ == "ZMQInteractiveShell"


class OnTerminal:
    """A line at the bottom of the terminal; warnings go above it."""

    def __init__(self) -> None:
        self._progress: Any = None

    def draw(self, words: str, share: float | None) -> None:
        """Draw the bar and the words; without a share, the bar moves all the time."""
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        if self._progress is None:
            columns = BarColumn(), TextColumn("{task.description}", markup=False)
            console = Console(stderr=True)
            self._progress = Progress(*columns, console=console, transient=True, redirect_stdout=False)
            self._task = self._progress.add_task(words, total=None)
            self._progress.start()
        self._progress.tasks[0].total = None if share is None else 1.0
        self._progress.update(self._task, description=words, completed=share or 0.0)

    def clear(self) -> None:
        """Remove the line."""
        self._progress.stop()


class InNotebook:
    """An output of the cell that is updated."""

    def __init__(self) -> None:
        self._handle: Any = None

    def draw(self, words: str, share: float | None) -> None:
        """Draw the bar and the words in place of the last ones."""
        self._show(f"<progress {'' if share is None else f'value={share:.3f}'} max=1></progress> {words}")

    def clear(self) -> None:
        """Leave an empty output."""
        self._show("")

    def _show(self, text: str) -> None:
        ipython = import_module("IPython.display")
        if self._handle is None:
            self._handle = ipython.display(ipython.HTML(text), display_id=True)
        else:
            self._handle.update(ipython.HTML(text))
