"""Options that several commands share, and the exit statuses of all commands."""

import re
from typing import Annotated

import typer

from vwkde.catalogue import methods

FINDING, ERROR, INTERRUPTED, BROKEN_PIPE, TERMINATED = 1, 2, 130, 141, 143
"""Exit status if an image is rejected, after an error, after Ctrl-C, if the reader is gone, and after SIGTERM."""

_DEFAULT = "Methods (by default, the best estimator, chosen from the data):"
METHODS = "\n\n".join([_DEFAULT, *(f"{name}: {words}" for name, words in methods().items())])
"""What each method is, below the help of the commands that have `--method`."""

Seed = Annotated[int, typer.Option(help="Seeds every random choice.")]
Json = Annotated[bool, typer.Option("--json", help="Print the results as JSON.")]

Missing = Annotated[
    str, typer.Option(help="Missing values: refuse, or indicator, which uses them as information in a 0/1 column.")
]
Dates = Annotated[str, typer.Option(help="Columns of dates or times: refuse, number (seconds since 1970), or drop.")]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first line of CSV files has the names of the columns. Default: found out.",
        show_default=False,
    ),
]


_SAME_NAMES = ("bandwidth", "blocks", "dates", "device", "estimator", "features", "groups", "kind", "lag", "level")
_OTHER_NAMES = {"random_state": "seed", "false_reject_rate": "rate", "n_permutations": "permutations"}
_OPTIONS = {name: name for name in (*_SAME_NAMES, "method", "missing", "order", "unit")} | _OTHER_NAMES
"""The options that set parameters of Python, by the names of these."""
_IN_PYTHON = {
    r"an int in the range \[(\d+), (\d+)\], an instance of '[\w.]+' or None": r"a whole number from \1 to \2",
    r"\bgive (?=(?:missing|dates)=)": "add ",
    r"\bGive (?=(?:missing|dates)=)": "Add ",
    r"\b(missing|dates)='(\w+)'": r"`--\1 \2`",
    r"\b(kind|unit|method)='([\w-]+)'": r"--\1 \2",
    r"\border=(?=[\d.])": "--order ",
    r"\bomit the parameter": "leave the option out",
    r"\bomit (method|groups)=": r"leave out --\1",
}


def in_options(words: str) -> str:
    """Return a message with the options of the command line instead of Python's parameters."""
    for python, here in _IN_PYTHON.items():
        words = re.sub(python, here, words)
    return re.sub(r"The '(\w+)' parameter( of \w+)?", _as_option, words)


def _as_option(parameter: re.Match[str]) -> str:
    name = parameter[1]
    return f"The --{_OPTIONS[name]} option" if name in _OPTIONS else parameter[0]


def names_in(texts: list[str] | None) -> list[str] | None:
    """Return the names in lists such as a,b,c, one list for each time the option was given; None if it was not."""
    if not texts:
        return None
    if not all(text.strip() for text in texts):
        raise ValueError("A list of columns is empty. Name columns, such as a,b,c, or leave the option out.")
    return list(dict.fromkeys(name.strip() for text in texts for name in text.split(",")))
