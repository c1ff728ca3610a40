"""Rows of files that belong together, by a column that says so and is no measurement."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from vwkde._data.frames import Frame

Groups = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Column that says which rows belong together, such as those of a patient."),
]


def read_rows(path: Path, columns: list[str] | None, header: bool | None, groups: str | None) -> "Frame":
    """Return the columns of a file, without the one that has the groups unless it was chosen."""
    from vwkde._data.frames import Frame
    from vwkde._data.tables import read_table

    frame = read_table(path, columns, header)
    if columns or not groups or not frame.columns or groups not in frame.columns:
        return frame
    kept = tuple(name for name in frame.columns if name != groups)
    return Frame(frame.table.select(list(kept)), kept)


def read_labels(path: Path, column: str, header: bool | None) -> list[Any]:
    """Return the label of each row of a file: the group that it belongs to."""
    from vwkde._data.tables import read_table

    return list(read_table(path, [column], header).table.column(0).to_pylist())
