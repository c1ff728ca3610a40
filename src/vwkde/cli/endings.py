"""How a command ends: done, with a finding, with files that could not be used, or stopped early."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

import typer

from vwkde.cli.console import complain
from vwkde.cli.options import ERROR, FINDING, INTERRUPTED

if TYPE_CHECKING:
    from vwkde.inspection.data.pictures import Failure, Pictures


@contextmanager
def interruptible(words: str) -> Iterator[None]:
    """On Ctrl-C, say in one line what was left, and end."""
    try:
        yield
    except KeyboardInterrupt:
        stop(words)


def stop(words: str) -> NoReturn:
    """End as after Ctrl-C, and say in one line what was left."""
    complain(f"stopped: {words}", "yellow")
    raise typer.Exit(INTERRUPTED)


@contextmanager
def reported_failures(pictures: "Pictures") -> Iterator[None]:
    """Report at the end, even after an error, which images could not be used."""
    try:
        yield
    finally:
        for failure in pictures.failures:
            complain(f"error: {failure.reason}", "red")


def end(failures: "Sequence[Failure]", finding: bool = False) -> None:
    """End with the exit status for failures or findings, if there are any."""
    if failures:
        raise typer.Exit(ERROR)
    if finding:
        raise typer.Exit(FINDING)
