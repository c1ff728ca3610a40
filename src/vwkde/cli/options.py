"""Options that several commands share, and the exit statuses of all."""

from typing import Annotated

import typer

FINDING, ERROR, INTERRUPTED, BROKEN_PIPE = 1, 2, 130, 141
"""Exit status when an image fails, when something went wrong, after Ctrl-C, and when nobody reads what is printed."""

Seed = Annotated[int, typer.Option(help="Seeds every random choice.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def names_in(text: str | None) -> list[str] | None:
    """Return the names in a list such as a,b,c; None if there is none."""
    return [name.strip() for name in text.split(",")] if text else None
