"""Small SVG pictures for notebooks: an interval, values on a line, histograms. They do not need Matplotlib.

Text and axes use the text colour of the page, so that they are visible on light and dark backgrounds.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vwkde._display.markup import Markup, element, joined
from vwkde._display.style import RED, TEAL, central_range, number

Floats = NDArray[np.float64]
Place = Callable[[float], float]

_WIDTH, _MARGIN = 420, 36
"""Width of a picture and of its margins, in pixels."""
_LINE = 22
"""Pixels from the top of a picture to a line, with space for labels above it."""
_BARS = 64
"""Height of a histogram."""
_BINS = 40
_ROW, _NAMES = 20, 96
"""Height of a row of dots, and width of the names."""
_CLOSE = 48
"""Distance between two marks, in pixels, below which their labels would touch."""


class Mark(NamedTuple):
    """A value, its label and its colour."""

    value: float
    label: str
    colour: str = "currentColor"


def interval(value: float, low: float, high: float) -> Markup | None:
    """Return an estimate on a line with zero, and its interval as a bar, which ends in an arrow if it is open above.

    None if another number is not finite.
    """
    if not np.isfinite([value, low]).all() or np.isnan(high):
        return None
    is_open = np.isinf(high)
    place = _places(min(low, 0.0), max(value + 2 * (value - low) if is_open else high, 0.0))
    end = _WIDTH - _MARGIN if is_open else place(high)
    bar = _stroke(place(low), end, _LINE, TEAL, width=6, opacity=0.45)
    arrow = element("path", d=f"M{end:.1f},{_LINE - 7}l12,7l-12,7Z", fill=TEAL) if is_open else ()
    words = f"{number(value)}, interval {number(low)} to {'infinity' if is_open else number(high)}"
    marks = _marks([Mark(0.0, "0"), Mark(value, number(value), TEAL)], place)
    return _svg(_LINE + 22, words, _axis(_LINE), bar, arrow, marks)


def on_a_line(marks: Sequence[Mark]) -> Markup | None:
    """Return values on a line with zero; non-finite values are left out."""
    finite = [mark for mark in marks if np.isfinite(mark.value)]
    if not finite:
        return None
    values = [0.0, *(mark.value for mark in finite)]
    words = ", ".join(mark.label for mark in finite)
    return _svg(_LINE + 22, words, _axis(_LINE), _marks(finite, _places(min(values), max(values))))


def histograms(layers: Mapping[str, Floats], marks: Sequence[Mark] = ()) -> Markup:
    """Return overlaid histograms of one or two groups; outliers count in the outermost bins."""
    marks = [mark for mark in marks if np.isfinite(mark.value)]
    low, high = central_range(*layers.values(), *(np.array([mark.value]) for mark in marks))
    edges = np.linspace(low, high, _BINS + 1)
    shares = [np.histogram(np.clip(values, low, high), edges)[0] / len(values) for values in layers.values()]
    highest = max(float(share.max()) for share in shares)
    place, ground = _places(low, high), _LINE + _BARS
    colours = (TEAL, RED)[: len(layers)]
    areas = [_area(share / highest, edges, place, c) for share, c in zip(shares, colours, strict=True)]
    ends = [_text(place(end), ground + 16, number(end)) for end in (low, high)]
    lines = [_upright(place(mark.value), mark, ground) for mark in marks]
    picture = _svg(ground + 22, "Histograms: " + ", ".join(layers), areas, _axis(ground), lines, ends)
    return joined(_legend(layers, colours), picture)


def dots(values: Mapping[str, float], least: float, marked: Mark) -> Markup:
    """Return one row for each value, on a logarithmic axis from `least` to one, with a line through all rows."""
    place = _places(float(np.log(least)), 0.0, left=_NAMES)
    bottom = _LINE + _ROW * len(values)
    rows = []
    for row, (name, value) in enumerate(values.items()):
        level = _LINE + _ROW * (row + 0.5)
        rows.append(_stroke(place(float(np.log(least))), place(0.0), level, "currentColor", opacity=0.15))
        rows.append(element("circle", cx=f"{place(np.log(value)):.1f}", cy=level, r=4, fill=TEAL))
        rows.append(_text(_NAMES - 12, level + 4, name, "end"))
    across = place(float(np.log(marked.value)))
    words = ", ".join(f"{name} {value:.3g}" for name, value in values.items())
    ends = [_text(place(float(np.log(end))), bottom + 16, f"{end:.2g}") for end in (least, 1.0)]
    return _svg(bottom + 22, words, _upright(across, marked, bottom), rows, ends)


def _places(low: float, high: float, left: float = _MARGIN) -> Place:
    """Return the function that maps a value between two ends to its horizontal position."""
    span = high - low or 1.0
    return lambda value: left + (_WIDTH - _MARGIN - left) * (value - low) / span


def _marks(marks: Sequence[Mark], place: Place) -> list[Markup]:
    """Return dots on the line; the label of a dot close to the previous one goes below."""
    shapes, before = [], -np.inf
    for each in sorted(marks, key=lambda mark: mark.value):
        across = place(each.value)
        level = _LINE - 9 if across - before > _CLOSE else _LINE + 18
        before = across
        shapes.append(element("circle", cx=f"{across:.1f}", cy=_LINE, r=4, fill=each.colour))
        shapes.append(_text(across, level, each.label))
    return shapes


def _area(heights: Floats, edges: Floats, place: Place, colour: str) -> Markup:
    steps = "".join(
        f"V{_LINE + _BARS * (1 - height):.1f}H{place(edge):.1f}"
        for height, edge in zip(heights, edges[1:], strict=True)
    )
    path = f"M{place(edges[0]):.1f},{_LINE + _BARS}{steps}V{_LINE + _BARS}Z"
    return element("path", d=path, fill=colour, fill_opacity=0.3, stroke=colour)


def _legend(names: Mapping[str, Any], colours: Sequence[str]) -> Markup:
    squares = [element("span", "■ ", style=f"color:{colour}") for colour in colours]
    return element("div", [(square, f"{name}\u2003") for square, name in zip(squares, names, strict=True)])


def _axis(level: float) -> Markup:
    return _stroke(_MARGIN, _WIDTH - _MARGIN, level, "currentColor", opacity=0.35)


def _stroke(left: float, right: float, level: float, colour: str, width: float = 1, opacity: float = 1) -> Markup:
    ends = {"x1": f"{left:.1f}", "x2": f"{right:.1f}", "y1": level, "y2": level}
    return element("line", **ends, stroke=colour, stroke_width=width, stroke_opacity=opacity)


def _upright(across: float, mark: Mark, bottom: float) -> Markup:
    """Return a dashed line from top to bottom, with its label above."""
    ends = {"x1": f"{across:.1f}", "x2": f"{across:.1f}", "y1": _LINE - 4, "y2": bottom}
    return joined(element("line", **ends, stroke=mark.colour, stroke_dasharray="4 3"), _text(across, 13, mark.label))


def _text(across: float, level: float, text: str, anchor: str = "middle") -> Markup:
    return element("text", text, x=f"{across:.1f}", y=level, text_anchor=anchor, fill="currentColor", font_size=11)


def _svg(height: float, words: str, *inside: Any) -> Markup:
    size = {"width": _WIDTH, "height": height, "viewBox": f"0 0 {_WIDTH} {height}"}
    return element("svg", *inside, **size, role="img", aria_label=words, style="max-width:100%;display:block")
