"""The charts of a report, as SVG. The page sets the colours, for light and dark screens and for paper."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vwkde._display.markup import Markup, element, joined
from vwkde._display.style import number

Floats = NDArray[np.float64]

_WIDTH, _LEFT, _RIGHT = 760, 40, 16
_ROW, _BARS = 92, 62
"""Height of a row of a histogram, and of the bars in it."""
_TOP, _BOTTOM = 20, 34
_BINS = 40
_BEYOND = 46
"""Width of the place at the right for scores beyond the axis."""
_SIDE, _MARGIN = 250, 38
"""Side of a curve's square, and the margin for the labels."""


@dataclass(frozen=True)
class Group:
    """Scores that share a row of the histogram."""

    title: str
    scores: Floats


def histogram(groups: Sequence[Group], threshold: float) -> Markup:
    """Return histograms one below the other on a common axis, with the threshold across all of them.

    The axis ends at three times the distance from the lowest score to the threshold. Scores beyond it share one bar, so
    that one extreme image does not squeeze the others.
    """
    axis = _axis(groups, threshold)
    height = _TOP + _ROW * len(groups) + _BOTTOM
    rows = [_row(group, axis, threshold, _TOP + place * _ROW) for place, group in enumerate(groups)]
    bottom = _TOP + _ROW * len(groups)
    inside = [_threshold_line(axis, threshold, bottom), *rows, _ticks(axis, bottom)]
    words = "; ".join(f"{group.title}: {len(group.scores)}" for group in groups)
    return _svg(_WIDTH, height, f"Histograms of scores. {words}", *inside)


def curve(x: Floats, y: Floats, names: tuple[str, str], title: str, marked: tuple[float, float] | None) -> Markup:
    """Return a curve of two shares in a square, with the threshold marked on it."""
    full = _SIDE + 2 * _MARGIN

    def place(across: float, up: float) -> tuple[float, float]:
        return _MARGIN + _SIDE * across, _MARGIN / 2 + _SIDE * (1 - up)

    grid = []
    for share in (0, 0.25, 0.5, 0.75, 1):
        (left, level), (right, _), (at, top) = place(0, share), place(1, share), place(share, 1)
        grid.append(_line(left, level, right, level, "grid"))
        grid.append(_line(at, top, at, top + _SIDE, "grid"))
        if share in (0, 0.5, 1):
            grid.append(_text(left - 6, level + 4, f"{share:g}", "end"))
            grid.append(_text(at, top + _SIDE + 15, f"{share:g}", "middle"))
    path = "M" + " L".join("{:.1f},{:.1f}".format(*place(*point)) for point in zip(x, y, strict=True))
    inside = [*grid, element("path", d=path, class_="curve")]
    if marked is not None:
        across, up = place(*marked)
        inside.append(element("circle", element("title", "at the threshold"), cx=across, cy=up, r=5, class_="mark"))
    middle = _MARGIN / 2 + _SIDE / 2
    inside.append(_text(_MARGIN + _SIDE / 2, full - 22, names[0], "middle"))
    turned = f"rotate(-90 10 {middle:g})"
    inside.append(element("text", names[1], x=10, y=middle, transform=turned, text_anchor="middle"))
    return _svg(full, full - 14, title, *inside)


@dataclass(frozen=True)
class _Axis:
    """Edges of bins, and whether there are scores beyond the last."""

    edges: Floats
    beyond: bool

    def at(self, score: float) -> float:
        """Return the horizontal position of a score."""
        first, last = self.edges[0], self.edges[-1]
        room = _WIDTH - _LEFT - _RIGHT - (_BEYOND if self.beyond else 0)
        return float(_LEFT + room * (score - first) / (last - first))


def _axis(groups: Sequence[Group], threshold: float) -> _Axis:
    """Return the axis; a finite threshold is an edge, so that no bar is on both sides of it."""
    scores = np.concatenate([group.scores for group in groups])
    low, high = float(scores.min()), float(scores.max())
    if not np.isfinite(threshold):
        high = high if high > low else low + 1
        return _Axis(np.linspace(low, high, _BINS + 1), False)
    lowest = min(low, threshold)
    reach = max(threshold - lowest, 1e-9 * max(abs(threshold), 1))
    last = min(max(high, threshold + 0.2 * reach), threshold + 2 * reach)
    step = (last - lowest) / _BINS
    below, above = int(np.ceil((threshold - lowest) / step)), int(np.ceil((last - threshold) / step))
    edges = threshold + step * np.arange(-below, above + 1, dtype=np.float64)
    return _Axis(edges, high > edges[-1])


def _row(group: Group, axis: _Axis, threshold: float, top: float) -> Markup:
    edges = axis.edges
    inside = group.scores[group.scores <= edges[-1]]
    # Bins hold their upper edge, since a score at the threshold passes.
    places = np.clip(np.searchsorted(edges, inside, side="left") - 1, 0, len(edges) - 2)
    counts = np.bincount(places, minlength=len(edges) - 1)
    beyond = len(group.scores) - len(inside)
    scale = _BARS / max(int(counts.max(initial=0)), beyond, 1)
    base = top + _ROW - 8
    bars = []
    for count, left, right in zip(counts, edges[:-1], edges[1:], strict=True):
        if count:
            kind = "fail" if (left + right) / 2 > threshold else "pass"
            words = f"{count} from {number(left)} to {number(right)}"
            width = axis.at(right) - axis.at(left) - 1
            bars.append(_bar(axis.at(left), base, max(width, 1), count * scale, kind, words))
    if beyond:
        left = axis.at(edges[-1]) + 10
        bars.append(_bar(left, base, _BEYOND - 14, beyond * scale, "fail", f"{beyond} above {number(edges[-1])}"))
        bars.append(_text(left + (_BEYOND - 14) / 2, base - beyond * scale - 4, str(beyond), "middle"))
    most = int(counts.max(initial=0))
    return joined(
        element("text", f"{group.title} ({len(group.scores):,})", x=_LEFT, y=top + 14, class_="title"),
        _line(_LEFT, base, _WIDTH - _RIGHT, base, "axis"),
        [_text(_LEFT - 6, base - most * scale + 4, str(most), "end")] if most else None,
        bars,
    )


def _bar(left: float, base: float, width: float, height: float, kind: str, words: str) -> Markup:
    place = {"x": f"{left:.1f}", "y": f"{base - height:.1f}", "width": f"{width:.1f}", "height": f"{height:.1f}"}
    return element("rect", element("title", words), class_=f"bar {kind}", **place)


def _ticks(axis: _Axis, bottom: float) -> Markup:
    first, last = float(axis.edges[0]), float(axis.edges[-1])
    step = _round_step((last - first) / 7)
    ticks = np.arange(np.ceil(first / step), np.floor(last / step) + 1) * step
    drawn = [
        joined(
            _line(axis.at(tick), bottom - 8, axis.at(tick), bottom - 3, "axis"),
            _text(axis.at(tick), bottom + 10, f"{round(tick, 12) + 0.0:g}".replace("-", "−"), "middle"),
        )
        for tick in ticks
    ]
    if axis.beyond:
        drawn.append(_text(axis.at(last) + 10 + (_BEYOND - 14) / 2, bottom + 10, "above", "middle"))
    return joined(drawn, _text(_WIDTH / 2, bottom + 28, "score in nats", "middle"))


def _round_step(least: float) -> float:
    """Return the next larger of … 0.1, 0.2, 0.5, 1, 2, 5 …"""
    power = 10.0 ** np.floor(np.log10(least))
    return float(next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least * (1 - 1e-9)))


def _threshold_line(axis: _Axis, threshold: float, bottom: float) -> Markup | None:
    if not np.isfinite(threshold):
        return None
    at = axis.at(threshold)
    words = f"threshold {number(threshold)}"
    return joined(_line(at, 14, at, bottom - 8, "threshold"), _text(at + 5, 12, words, "start"))


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> Markup:
    ends = {name: f"{value:.1f}" for name, value in (("x1", x1), ("y1", y1), ("x2", x2), ("y2", y2))}
    return element("line", class_=kind, **ends)


def _text(x: float, y: float, words: str, anchor: str) -> Markup:
    return element("text", words, x=f"{x:.1f}", y=f"{y:.1f}", text_anchor=anchor)


def _svg(width: float, height: float, title: str, *inside: Markup | None) -> Markup:
    return element(
        "svg",
        *inside,
        viewBox=f"0 0 {width:g} {height:g}",
        width=f"{width:g}",
        height=f"{height:g}",
        role="img",
        aria_label=title,
    )
