"""The tables of a run: seconds, memory and error of every method by rows, one table per kind of data."""

from collections.abc import Callable, Iterator

from rich.table import Table

from vwkde.bench.growth.kinds import KINDS, truth_of
from vwkde.bench.growth.summary import Cell

_NONE = "–"

Show = Callable[[Cell], str]


def tables(cells: list[Cell]) -> Iterator[Table]:
    """Yield a table per kind, and one of the intervals over all kinds."""
    for kind in dict.fromkeys(cell.kind for cell in cells):
        yield _of_kind(kind, [cell for cell in cells if cell.kind == kind])
    yield _of_intervals(cells)


def _of_kind(kind: str, cells: list[Cell]) -> Table:
    table = _table(f"{KINDS[kind]().title}: KL {truth_of(kind).kl:.3f}", cells)
    measures: dict[str, Show] = {
        "seconds": lambda cell: _number(cell.seconds),
        "MiB": lambda cell: _memory(cell.memory),
        "error / floor": lambda cell: _number(cell.error),
    }
    for name, show in measures.items():
        table.add_row(f"[bold]{name}[/bold]")
        _add_rows(table, cells, show)
        table.add_section()
    problems = dict.fromkeys(f"{cell.method}, {cell.rows:,} rows: {each}" for cell in cells for each in cell.problems)
    table.caption = "\n".join(problems) or None
    table.caption_justify = "left"
    return table


def _of_intervals(cells: list[Cell]) -> Table:
    """Return how many of the 95 % intervals contain the truth, over all kinds."""
    table = _table("95 % intervals with the truth, all kinds", cells)
    pooled: dict[tuple[str, int], list[int]] = {}
    for cell in cells:
        counts = pooled.setdefault((cell.method, cell.rows), [0, 0])
        counts[0] += cell.covered
        counts[1] += cell.answered

    def show(cell: Cell) -> str:
        covered, answered = pooled[cell.method, cell.rows]
        return f"{covered} of {answered}" if answered else _NONE

    _add_rows(table, cells, show)
    return table


def _table(title: str, cells: list[Cell]) -> Table:
    table = Table(title=title)
    table.add_column("rows per sample", justify="left")
    for rows in _sizes(cells):
        table.add_column(f"{rows:,}", justify="right", no_wrap=True)
    return table


def _add_rows(table: Table, cells: list[Cell], show: Show) -> None:
    for method in dict.fromkeys(cell.method for cell in cells):
        own = {cell.rows: cell for cell in cells if cell.method == method}
        table.add_row(method, *(show(own[rows]) if rows in own else _NONE for rows in _sizes(cells)))


def _sizes(cells: list[Cell]) -> list[int]:
    return sorted({cell.rows for cell in cells})


def _memory(value: float | None) -> str:
    """Return MiB; parts of one are what the allocator happens to ask for."""
    return "< 1" if value is not None and value < 1 else _number(value)


def _number(value: float | None) -> str:
    """Return two digits, and all of those before the point."""
    if value is None:
        return _NONE
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"
