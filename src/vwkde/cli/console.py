"""Terminal output of the commands, and their progress bars."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from vwkde._runtime.progress import listening

screen = Console()
errors = Console(stderr=True)

_PATIENCE = 1.0
"""Seconds of work before a progress bar appears."""


@contextmanager
def bars() -> Iterator[None]:
    """Show a progress bar for each long stage of work."""
    start = monotonic()
    tasks: dict[str, TaskID] = {}
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal) as progress:

        def listen(stage: str, done: int, total: int) -> None:
            if monotonic() - start < _PATIENCE:
                return
            if stage not in tasks:
                tasks[stage] = progress.add_task(stage, total=total)
            progress.update(tasks[stage], completed=done, total=total)

        with listening(listen):
            yield
