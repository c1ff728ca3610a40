"""Options that several commands share, and the exit statuses of all commands."""

from typing import Annotated

import typer

FINDING, ERROR, INTERRUPTED, BROKEN_PIPE, TERMINATED = 1, 2, 130, 141, 143
"""Exit status if an image is rejected, after an error, after Ctrl-C, if the reader is gone, and after SIGTERM."""

Seed = Annotated[int, typer.Option(help="Seeds every random choice.")]
Json = Annotated[bool, typer.Option("--json", help="Print the results as JSON.")]


def names_in(texts: list[str] | None) -> list[str] | None:
    """Return the names in lists such as a,b,c, one list for each time the option was given; None if all are empty."""
    names = [name.strip() for text in texts or () if text for name in text.split(",")]
    return list(dict.fromkeys(names)) or None
