"""Pictures of the columns that matter: reference against current, of one column or of two. SVG without scripts.

Text and axes use the text colour of the page, so that they are visible on light and dark backgrounds.
"""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from vwkde._display.markup import Markup, element, joined
from vwkde._display.style import central_range, number
from vwkde._display.text import visible
from vwkde.monitoring._columns import Column

Floats = NDArray[np.float64]

REFERENCE, CURRENT = "#3f8fb5", "#e0783c"
"""Blue and orange, which colour-blind readers tell apart, on white and on black."""
_WIDTH, _HEIGHT, _MARGIN = 420, 110, 12
_BINS = 30
_BAR, _NAMES = 11, 110
"""Height of a bar, and width of the names of categories."""
_MOST_BARS = 8
_PANEL, _SIDE = 178, 46
"""Width and height of one cloud of points, and the space beside it for labels."""
_MOST_POINTS = 400
_SPREAD = 0.35
"""How far points of a category are spread around its place, so that they do not hide each other."""


class Picture(Protocol):
    """Something that can be drawn."""

    @property
    def title(self) -> str:
        """The column or columns."""

    def drawn(self) -> Markup:
        """Return the picture."""


@dataclass(frozen=True)
class Histogram:
    """The shares of bins of one column of numbers; the last share is that of missing values."""

    title: str
    edges: Floats
    shares: tuple[Floats, Floats]

    def drawn(self) -> Markup:
        """Return both histograms, one over the other."""
        highest = max(float(share[:-1].max()) for share in self.shares) or 1.0
        ground = _HEIGHT + 8
        gaps = max(float(share[-1]) for share in self.shares)
        right = _WIDTH - _MARGIN - (70 if gaps else 0)
        across = np.interp(self.edges, [self.edges[0], self.edges[-1]], [_MARGIN, right])
        areas = [
            _area(share[:-1] / highest, across, ground, colour)
            for share, colour in zip(self.shares, (REFERENCE, CURRENT), strict=True)
        ]
        ticks = [self.edges[0], (self.edges[0] + self.edges[-1]) / 2, self.edges[-1]]
        places = [_MARGIN, (_MARGIN + right) / 2, right]
        anchors = ["start", "middle", "end"]
        marks = [_text(x, ground + 15, number(t), a) for x, t, a in zip(places, ticks, anchors, strict=True)]
        missing = _missing_bars([float(share[-1]) for share in self.shares], ground) if gaps else None
        return _svg(
            _WIDTH, ground + 22, f"Histograms of {self.title}", areas, _line(_MARGIN, right, ground), marks, missing
        )


@dataclass(frozen=True)
class Bars:
    """The shares of the categories of one column."""

    title: str
    names: tuple[str, ...]
    shares: tuple[Floats, Floats]

    def drawn(self) -> Markup:
        """Return two bars for each category."""
        highest = max(float(share.max()) for share in self.shares) or 1.0
        step = 2 * _BAR + 7
        shapes: list[Markup] = []
        for row, name in enumerate(self.names):
            top = 4 + row * step
            shapes.append(_text(_NAMES - 8, top + _BAR + 4, _short(name, 16), "end"))
            for side, colour in enumerate((REFERENCE, CURRENT)):
                share = float(self.shares[side][row])
                width = (_WIDTH - _NAMES - 50) * share / highest
                level = top + side * _BAR
                style = f"fill:{colour};fill-opacity:.75"
                shapes.append(element("rect", x=_NAMES, y=level, width=f"{width:.1f}", height=_BAR - 1, style=style))
                shapes.append(_text(_NAMES + width + 5, level + _BAR - 2, f"{100 * share:.0f} %", "start", 9.5))
        return _svg(_WIDTH, 4 + step * len(self.names), f"Shares of {self.title}", shapes)


@dataclass(frozen=True)
class Clouds:
    """Some rows of both tables in two columns; categories have whole numbers and names."""

    title: str
    axes: tuple[str, str]
    names: tuple[tuple[str, ...], tuple[str, ...]]
    points: tuple[Floats, Floats]

    def drawn(self) -> Markup:
        """Return the rows of the reference and, beside them, those of the current table."""
        ranges = [self._range(axis) for axis in (0, 1)]
        panels = [
            self._panel(points, _SIDE + side * (_PANEL + 24), ranges, colour, words)
            for side, (points, colour, words) in enumerate(
                zip(self.points, (REFERENCE, CURRENT), ("reference", "current"), strict=True)
            )
        ]
        height = 20 + _PANEL + 34
        across = _text(_SIDE + _PANEL + 12, height - 4, _short(self.axes[0], 50), "middle", 12)
        middle = 20 + _PANEL / 2
        up = element(
            "text",
            _short(self.axes[1], 28),
            transform=f"translate(12 {middle:.0f}) rotate(-90)",
            text_anchor="middle",
            fill="currentColor",
            font_size=12,
        )
        return _svg(_SIDE + 2 * _PANEL + 36, height, f"Rows by {self.title}", panels, across, up)

    def _range(self, axis: int) -> tuple[float, float]:
        if self.names[axis]:
            return -0.5, len(self.names[axis]) - 0.5
        low, high = central_range(*(points[:, axis] for points in self.points))
        edge = 0.04 * (high - low)
        return low - edge, high + edge

    def _panel(self, points: Floats, left: float, ranges: list[tuple[float, float]], colour: str, words: str) -> Markup:
        (x_low, x_high), (y_low, y_high) = ranges
        top = 20.0
        x = left + _PANEL * (points[:, 0] - x_low) / (x_high - x_low)
        y = top + _PANEL * (1 - (points[:, 1] - y_low) / (y_high - y_low))
        inside = (x >= left) & (x <= left + _PANEL) & (y >= top) & (y <= top + _PANEL)
        dots = "".join(f"M{a:.1f},{b:.1f}h0" for a, b in zip(x[inside], y[inside], strict=True))
        style = f"fill:none;stroke:{colour};stroke-width:4;stroke-linecap:round;stroke-opacity:.75"
        frame = "fill:none;stroke:currentColor;stroke-opacity:.3"
        ends = _ends(ranges[0], self.names[0])
        sides = _ends(ranges[1], self.names[1])
        return joined(
            element("rect", x=left, y=top, width=_PANEL, height=_PANEL, style=frame),
            element("path", d=dots, style=style),
            _text(left + _PANEL / 2, 13, words, "middle", 12),
            [_text(left + _PANEL * place, top + _PANEL + 14, name, anchor, 10) for place, name, anchor in ends],
            [_text(left - 4, top + _PANEL * (1 - place) + 4, name, "end", 10) for place, name, _ in sides]
            if left == _SIDE
            else None,
        )


def picture_of(column: Column) -> Histogram | Bars:
    """Return the picture of one column."""
    sides = (column.reference, column.current)
    if column.is_category or len(np.unique(column.pooled[~np.isnan(column.pooled)])) <= 2:
        return _bars(column)
    low, high = central_range(*(side[~np.isnan(side)] for side in sides if not np.isnan(side).all()))
    edges = np.linspace(low, high, _BINS + 1)
    one, other = (_binned(side, edges) for side in sides)
    return Histogram(column.name, edges, (one, other))


def clouds_of(one: Column, other: Column, random: np.random.Generator) -> Clouds:
    """Return the picture of two columns, with some rows of each table."""
    sides = []
    for which in ("reference", "current"):
        points = np.stack([getattr(column, which) for column in (one, other)], axis=1)
        points = points[~np.isnan(points).any(axis=1)]
        points = points[random.permutation(len(points))[:_MOST_POINTS]]
        jitter = random.uniform(-_SPREAD, _SPREAD, points.shape)
        sides.append(points + jitter * [one.is_category, other.is_category])
    title = f"{one.name} and {other.name}"
    return Clouds(title, (one.name, other.name), (one.levels, other.levels), (sides[0], sides[1]))


def legend() -> Markup:
    """Return what the two colours mean."""
    names = (("reference", REFERENCE), ("current", CURRENT))
    return element(
        "p", [(element("span", "■ ", style=f"color:{c}"), f"{name}\u2003") for name, c in names], class_="key"
    )


def _binned(values: Floats, edges: Floats) -> Floats:
    """Return the share of each bin and, last, of missing values; outliers count in the outermost bins."""
    present = values[~np.isnan(values)]
    counts = np.histogram(np.clip(present, edges[0], edges[-1]), edges)[0]
    return np.append(counts, len(values) - len(present)) / len(values)


def _bars(column: Column) -> Bars:
    sides = (column.reference, column.current)
    values = np.unique(column.pooled[~np.isnan(column.pooled)])
    shares = [np.array([np.mean(side == value) for value in values] + [np.isnan(side).mean()]) for side in sides]
    names = [column.levels[int(value)] if column.is_category else number(value) for value in values] + ["(missing)"]
    most = [k for k in np.argsort(-np.maximum(*shares), kind="stable") if max(s[k] for s in shares) > 0][:_MOST_BARS]
    return Bars(column.name, tuple(names[k] for k in most), (shares[0][most], shares[1][most]))


def _ends(span: tuple[float, float], names: tuple[str, ...]) -> list[tuple[float, str, str]]:
    """Return labels of an axis: their places from 0 to 1, and how each is aligned."""
    if not names:
        return [(0.0, number(span[0]), "start"), (1.0, number(span[1]), "end")]
    most = names if len(names) <= 5 else ()
    return [((place + 0.5) / len(names), _short(name, 8), "middle") for place, name in enumerate(most)]


def _area(heights: Floats, across: Floats, ground: float, colour: str) -> Markup:
    steps = "".join(f"V{ground - _HEIGHT * h:.1f}H{x:.1f}" for h, x in zip(heights, across[1:], strict=True))
    path = f"M{across[0]:.1f},{ground}{steps}V{ground}Z"
    return element("path", d=path, style=f"fill:{colour};fill-opacity:.28;stroke:{colour};stroke-width:1.6")


def _missing_bars(shares: list[float], ground: float) -> list[Markup]:
    """Return a bar for the missing values of each table, as high as the picture if all are missing."""
    bars: list[Markup] = []
    for side, (share, colour) in enumerate(zip(shares, (REFERENCE, CURRENT), strict=True)):
        left, height = _WIDTH - 58 + 28 * side, _HEIGHT * share
        style = f"fill:{colour};fill-opacity:.75"
        bars.append(element("rect", x=left, y=f"{ground - height:.1f}", width=22, height=f"{height:.1f}", style=style))
        bars.append(_text(left + 11, max(ground - height - 4, 9), f"{100 * share:.0f} %", size=9.5))
    return [*bars, _text(_WIDTH - 33, ground + 15, "missing")]


def _line(left: float, right: float, level: float) -> Markup:
    ends = {"x1": left, "x2": right, "y1": level, "y2": level}
    return element("line", **ends, stroke="currentColor", stroke_opacity=0.4)


def _text(across: float, level: float, text: str, anchor: str = "middle", size: float = 11) -> Markup:
    return element(
        "text", text, x=f"{across:.1f}", y=f"{level:.1f}", text_anchor=anchor, fill="currentColor", font_size=size
    )


def _short(text: str, most: int) -> str:
    text = visible(text)
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _svg(width: float, height: float, words: str, *inside: Any) -> Markup:
    size = {"width": width, "height": height, "viewBox": f"0 0 {width} {height}"}
    return element(
        "svg", *inside, **size, role="img", aria_label=words, style="max-width:100%;height:auto;display:block"
    )
