"""Terminal output of the commands, and their progress bars."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from vwkde._runtime.progress import listening
from vwkde.inspection.data.names import plain

screen = Console()
errors = Console(stderr=True)

_PATIENCE = 1.0
"""Seconds of work before a progress bar appears."""


def say(text: str, err: bool = False) -> None:
    """Print a text; file names in it can contain any characters, and a terminal would obey some of them."""
    typer.echo("\n".join(map(plain, text.split("\n"))), err=err)


def complain(text: str, style: str) -> None:
    """Print an error or a warning in one line."""
    errors.print(plain(" ".join(text.split())), style=style, markup=False, highlight=False, soft_wrap=True)


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
