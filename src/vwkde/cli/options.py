"""Options that several commands share, and the exit statuses of all commands."""

from typing import Annotated

import typer

from vwkde.catalogue import methods

FINDING, ERROR, INTERRUPTED, BROKEN_PIPE = 1, 2, 130, 141
"""Exit status if an image is rejected, after an error, after Ctrl-C, and if the reader of the output is gone."""

_DEFAULT = "Methods (by default, the best estimator, chosen from the data):"
METHODS = "\n\n".join([_DEFAULT, *(f"{name}: {words}" for name, words in methods().items())])
"""What each method is, below the help of the commands that have `--method`."""

Seed = Annotated[int, typer.Option(help="Seeds every random choice.")]
Json = Annotated[bool, typer.Option("--json", help="Print the results as JSON.")]


def names_in(texts: list[str] | None) -> list[str] | None:
    """Return the names in lists such as a,b,c, one list for each time the option was given; None if all are empty."""
    names = [name.strip() for text in texts or () if text for name in text.split(",")]
    return list(dict.fromkeys(names)) or None
