"""Results that can be handed on: as a dictionary for JSON, as a DataFrame, and as a table for LaTeX.

A result names its answers, its details and, if they differ from the answers, the lines of its table.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from vwkde._runtime.extras import require

Line = Mapping[str, Any]

_ESCAPED = str.maketrans(
    {each: f"\\{each}" for each in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\n": " "}
)


class Tabular:
    """Adds `to_dict`, `to_frame` and `to_latex` to a result."""

    def _answers(self) -> dict[str, Any]:
        """Return what was asked for, the most important first."""
        raise NotImplementedError

    def _details(self) -> dict[str, Any]:
        """Return how it was found."""
        return {}

    def _lines(self) -> Sequence[Line]:
        """Return the lines of the table; by default one, with the answers that are single values."""
        return [{name: value for name, value in self._answers().items() if not isinstance(value, dict | list | tuple)}]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers, strings and lists, ready for JSON.

        Returns
        -------
        dict
            The answers by name, the most important first. How they were found is under "details". JSON has no infinity
            and no missing numbers: both are None.
        """
        return as_plain({**self._answers(), "details": self._details()})

    def to_frame(self) -> Any:
        """Return the answers as a table of pandas.

        Returns
        -------
        pandas.DataFrame
            One line for each answer. Tables of several results go together with `pandas.concat`.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        pandas = require("pandas", "to_frame needs pandas", "pandas")
        return pandas.DataFrame([dict(line) for line in self._lines()])

    def to_latex(self, caption: str | None = None, label: str | None = None) -> str:
        """Return the answers as a LaTeX table, with four significant digits.

        Parameters
        ----------
        caption : str, optional
            The caption, as LaTeX text. With a caption or a label, the table floats (`table`); otherwise it is a
            `tabular` alone.
        label : str, optional
            The label to refer to it, for example "tab:kl".

        Returns
        -------
        str
            The lines of the table. The preamble of the document needs the package booktabs.
        """
        return latex_table(self._lines(), caption, label)


def as_plain(value: Any) -> Any:
    """Return a value made of numbers, strings, lists and dictionaries alone; what is not finite is None."""
    if isinstance(value, Mapping):
        return {str(name): as_plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple | set | frozenset | np.ndarray):
        return [as_plain(part) for part in value]
    if isinstance(value, np.generic):
        return as_plain(value.item())
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def latex_table(lines: Sequence[Line], caption: str | None = None, label: str | None = None) -> str:
    """Return a table whose columns are the names in the lines; those with numbers alone are aligned right."""
    names = list(dict.fromkeys(name for line in lines for name in line))
    columns = [[line.get(name) for line in lines] for name in names]
    places = "".join("r" if all(_is_number(cell) for cell in column) else "l" for column in columns)
    head = _row([name.replace("_", " ").translate(_ESCAPED) for name in names])
    body = [_row([_in_latex(cell) for cell in cells]) for cells in zip(*columns, strict=True)]
    table = [f"\\begin{{tabular}}{{{places}}}", r"\toprule", head, r"\midrule", *body, r"\bottomrule", r"\end{tabular}"]
    if caption is None and label is None:
        return "\n".join(table)
    named = [f"\\caption{{{caption}}}"] * (caption is not None) + [f"\\label{{{label}}}"] * (label is not None)
    return "\n".join([r"\begin{table}", r"\centering", *named, *table, r"\end{table}"])


def _row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def _is_number(cell: Any) -> bool:
    return cell is None or (isinstance(cell, int | float | np.number) and not isinstance(cell, bool))


def _in_latex(cell: Any) -> str:
    if cell is None or (isinstance(cell, float) and np.isnan(cell)):
        return "--"
    if isinstance(cell, bool | np.bool_):
        return "yes" if cell else "no"
    if isinstance(cell, float | np.floating):
        return _number(float(cell))
    return str(cell).translate(_ESCAPED)


def _number(value: float) -> str:
    if np.isinf(value):
        return r"$\infty$" if value > 0 else r"$-\infty$"
    digits, _, power = f"{value:.4g}".partition("e")
    if power:
        return f"${digits} \\times 10^{{{int(power)}}}$"
    return f"${digits}$" if value < 0 else digits
