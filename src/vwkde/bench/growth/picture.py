"""The picture of a run, as SVG: time, memory and error against the rows, a line per method, a row per kind of data.

It has a ground and colours of its own for light and dark screens, so that it is readable on any page.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vwkde._display.markup import Markup, element, joined
from vwkde._display.style import GOLD, RED, TEAL
from vwkde._runtime.files import write_text
from vwkde.bench.growth.kinds import KINDS
from vwkde.bench.growth.methods import OWN
from vwkde.bench.growth.scales import Scale, scale_of, short
from vwkde.bench.growth.summary import Cell

_LIGHT = (TEAL, RED, "#b07d12", "#4a6fa5", "#3f8f5f", "#8d6a9f", "#7a7a7a", "#a8562a")
_DARK = ("#3fb6c9", "#f07f8e", GOLD, "#8fb2e8", "#7cc79a", "#c3a2d6", "#b5b5b5", "#e39b6c")
"""Colours of the methods, in this order and again from the start, on a light and on a dark ground."""
_WIDTH, _HEIGHT, _GAP, _LEFT = 230, 118, 62, 56
"""Width and height of a panel, the distance to the next, and the space for the first one's labels, in pixels."""
_PITCH = _HEIGHT + 68
"""From the top of a row of panels to the next: there are the ticks of one and the title of the other."""
_LEGEND = 20
"""Height of a line of the legend."""
_PER_LINE = 4
_NOTES = (
    "Across: rows per sample. A line ends where the method gave no answer within the limits of time and memory.",
    "Dashed: the floor, attained by efficient estimates. Hollow: at least half of the 95 % intervals miss the truth.",
)
_TOTAL = _LEFT + 3 * _WIDTH + 2 * _GAP + 16


@dataclass(frozen=True)
class _Measure:
    """A panel's title, and what it shows: None where there is nothing to show."""

    title: str
    value: Callable[[Cell], float | None]


def _at_least_one(cell: Cell) -> float | None:
    """Return the memory, one MiB if it is less: a small estimate may do with what the process has left over."""
    return None if cell.memory is None else max(cell.memory, 1.0)


_MEASURES = (
    _Measure("seconds", lambda cell: cell.seconds),
    _Measure("memory of the estimate, MiB", _at_least_one),
    _Measure("error / floor", lambda cell: cell.error),
)


def save_growth(path: Path, cells: list[Cell]) -> None:
    """Draw the picture and write it."""
    write_text(path, f"{draw(cells)}\n")


def draw(cells: list[Cell]) -> Markup:
    """Return the picture."""
    methods = list(dict.fromkeys(cell.method for cell in cells))
    kinds = list(dict.fromkeys(cell.kind for cell in cells))
    top = 24 + _LEGEND * (_legend_lines(methods) + len(_NOTES))
    across = scale_of([cell.rows for cell in cells], _WIDTH)
    ups = [scale_of(_values(cells, measure), _HEIGHT) for measure in _MEASURES]
    rows = [
        _row([cell for cell in cells if cell.kind == kind], methods, across, ups, top + 36 + _PITCH * place)
        for place, kind in enumerate(kinds)
    ]
    height = top + _PITCH * len(kinds)
    words = f"Time, memory and error against the number of rows: {', '.join(methods)} on {', '.join(kinds)}"
    ground = element("rect", width=_TOTAL, height=height, class_="ground")
    size = {"width": _TOTAL, "height": height, "viewBox": f"0 0 {_TOTAL} {height}"}
    head = {"xmlns": "http://www.w3.org/2000/svg", "role": "img", "aria_label": words}
    return element(
        "svg", element("style", Markup(_style(len(methods)))), ground, _legend(methods), rows, **head, **size
    )


def _values(cells: list[Cell], measure: _Measure) -> list[float]:
    return [value for cell in cells if (value := measure.value(cell))]


def _row(cells: list[Cell], methods: list[str], across: Scale, ups: list[Scale], top: int) -> Markup:
    """Return the panels of one kind."""
    title = _text(_LEFT, top - 24, KINDS[cells[0].kind]().title, class_="title")
    panels = []
    for place, (measure, up) in enumerate(zip(_MEASURES, ups, strict=True)):
        frame = [_text(0, -8, measure.title), *_axes(across, up, [cell.rows for cell in cells])]
        if measure is _MEASURES[-1] and up.has(1.0):
            frame.append(_line(0, _WIDTH, up.from_top(1.0), up.from_top(1.0), "floor"))
        lines = [_series(cells, method, measure, across, up, methods.index(method)) for method in reversed(methods)]
        left = _LEFT + place * (_WIDTH + _GAP)
        panels.append(element("g", *frame, *lines, transform=f"translate({left} {top})"))
    return joined(title, panels)


def _axes(across: Scale, up: Scale, sizes: list[int]) -> list[Markup]:
    """Return the grid and its labels: every size, and the powers of ten."""
    grid = []
    for size in sorted(set(sizes)):
        x = across.place(size)
        grid += [_line(x, x, 0, _HEIGHT, "grid"), _text(x, _HEIGHT + 15, short(size), text_anchor="middle")]
    for tick in up.ticks():
        y = up.from_top(tick)
        grid += [_line(0, _WIDTH, y, y, "grid"), _text(-6, y + 4, short(tick), text_anchor="end")]
    return grid


def _series(cells: list[Cell], method: str, measure: _Measure, across: Scale, up: Scale, place: int) -> Markup:
    """Return the line of one method, with a dot per size; it is broken where there is no value."""
    own = sorted((cell for cell in cells if cell.method == method), key=lambda cell: cell.rows)
    path, dots, pen = "", [], "M"
    for cell in own:
        value = measure.value(cell)
        if not value:
            pen = "M"
            continue
        x, y = across.place(cell.rows), up.from_top(value)
        path, pen = f"{path}{pen}{x:.1f},{y:.1f}", "L"
        hollow = measure is _MEASURES[-1] and 2 * cell.covered <= cell.answered
        note = f"{method}, {cell.rows:,} rows: {measure.title} {value:.3g}"
        shape = {"cx": f"{x:.1f}", "cy": f"{y:.1f}", "r": 3.4 if hollow else 2.6}
        dots.append(element("circle", element("title", note), **shape, class_="hollow" if hollow else "dot"))
    thick = "own" if method in OWN else None
    line = element("path", d=path, class_=thick) if path else None
    return element("g", line, dots, class_=f"m{place % len(_LIGHT)}")


def _legend(methods: list[str]) -> Markup:
    """Return the names of the methods with their lines, and what else the signs mean."""
    entries = []
    for place, method in enumerate(methods):
        x, y = _LEFT + (place % _PER_LINE) * 200, 20 + _LEGEND * (place // _PER_LINE)
        line = element("path", d=f"M{x},{y}h24", class_="own" if method in OWN else None)
        entries.append(element("g", line, class_=f"m{place % len(_LIGHT)}"))
        entries.append(_text(x + 30, y + 4, method))
    below = 24 + _LEGEND * _legend_lines(methods)
    notes = [_text(_LEFT, below + 15 * place, words, class_="note") for place, words in enumerate(_NOTES)]
    return joined(entries, notes)


def _legend_lines(methods: list[str]) -> int:
    return -(-len(methods) // _PER_LINE)


def _line(x1: float, x2: float, y1: float, y2: float, name: str) -> Markup:
    ends = {"x1": x1, "x2": x2, "y1": y1, "y2": y2}
    return element("line", **{end: f"{place:.1f}" for end, place in ends.items()}, class_=name)


def _text(x: float, y: float, text: str, **attributes: Any) -> Markup:
    return element("text", text, x=f"{x:.1f}", y=f"{y:.1f}", **attributes)


def _style(methods: int) -> str:
    """Return the rules of both grounds."""
    shapes = (
        "text{font:11px system-ui,sans-serif}.title{font-size:13px;font-weight:600}.note{font-size:10.5px}"
        "path{fill:none;stroke-width:1.4}.own{stroke-width:3}.grid{stroke-width:.6}"
        ".floor{stroke-width:1.2;stroke-dasharray:4 3}.hollow{stroke-width:1.4}"
    )
    dark = _colours(_DARK[:methods], ground="#16191d", ink="#e3e6ea", grid="#3a4048")
    return f"{shapes}{_colours(_LIGHT[:methods], '#ffffff', '#22262b', '#d5d9de')}" + (
        f"@media (prefers-color-scheme:dark){{{dark}}}"
    )


def _colours(lines: tuple[str, ...], ground: str, ink: str, grid: str) -> str:
    rules = [f".ground{{fill:{ground}}}text{{fill:{ink}}}.grid{{stroke:{grid}}}.floor{{stroke:{ink}}}"]
    for place, colour in enumerate(lines):
        name = f".m{place}"
        rules.append(f"{name} path{{stroke:{colour}}}{name} .dot{{fill:{colour}}}")
        rules.append(f"{name} .hollow{{fill:{ground};stroke:{colour}}}")
    return "".join(rules)
