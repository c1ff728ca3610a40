"""Options that several commands share, and the exit statuses of all commands."""

from typing import Annotated

import typer

FINDING, ERROR, INTERRUPTED, BROKEN_PIPE = 1, 2, 130, 141
"""Exit status if an image is rejected, after an error, after Ctrl-C, and if the reader of the output is gone."""

Seed = Annotated[int, typer.Option(help="Seeds every random choice.")]
Json = Annotated[bool, typer.Option("--json", help="Print the results as JSON.")]


def names_in(text: str | None) -> list[str] | None:
    """Return the names in a list such as a,b,c; None if the list is empty."""
    return [name.strip() for name in text.split(",")] if text else None
