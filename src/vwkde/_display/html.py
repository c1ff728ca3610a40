"""What notebooks show for a result: a card with its numbers, a small picture and, collapsed, all details.

Styles are inline, because notebooks may remove style sheets. Text uses the colour of the page.
"""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Any

from vwkde._display.markup import Markup, element
from vwkde._display.style import RED

_CARD = (
    "border:1px solid rgba(128,128,128,.4);border-radius:6px;padding:.5em .9em;margin:.3em 0;display:inline-block;"
    "font-family:system-ui,sans-serif;font-size:13px;line-height:1.45;text-align:left;max-width:46em"
)
_CELL = "padding:.1em .9em .1em 0;vertical-align:top;text-align:left;border:0;background:none;color:inherit"
_TABLE = "border:0;border-collapse:collapse;font-size:inherit;margin:0"
_TEAL = "0,121,140"
"""The teal of the palette, in the form that rgba() needs."""


class ShownWhenFitted:
    """Adds a card to scikit-learn's diagram of an estimator; `_card` returns it, or "" before the fit."""

    def _card(self) -> str:
        raise NotImplementedError

    def _repr_html_inner(self) -> str:
        """Return what the `_repr_html_` of scikit-learn's estimators returns."""
        from sklearn.utils import estimator_html_repr

        return str(estimator_html_repr(self)) + self._card()

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """Return text and, if scikit-learn is set to show diagrams, HTML."""
        html = {"text/html": self._repr_html_inner()} if hasattr(self, "_repr_html_") else {}
        return {"text/plain": repr(self)} | html


def card(title: str, *parts: Any, details: Mapping[str, str] | None = None) -> str:
    """Return a card: a heading, texts and pictures below each other, and a table that can be expanded.

    Parts that are None are left out.
    """
    heading = element("div", title, style="font-weight:600")
    rows = [element("div", part) for part in parts if part is not None]
    summary = element("summary", "details", style="cursor:pointer")
    folded = element("details", summary, _table(details)) if details else None
    return str(element("div", heading, rows, folded, style=_CARD))


def note(text: str) -> Markup:
    """Return a highlighted sentence."""
    return element("span", text, style=f"border-left:3px solid {RED};padding-left:.5em;display:inline-block")


def picture(png: bytes, words: str) -> Markup:
    """Return a PNG image embedded in the page, with a description."""
    data = f"data:image/png;base64,{b64encode(png).decode()}"
    style = "max-width:100%;border:1px solid rgba(128,128,128,.4);display:block;margin:0"
    return element("img", src=data, alt=words, style=style)


def matrix(
    names: Sequence[str], values: Mapping[tuple[int, int], str], shades: Mapping[tuple[int, int], float]
) -> Markup:
    """Return a square table with cells shaded from 0 (clear) to 1."""
    head = element("tr", element("th"), [element("th", name, style=_CELL) for name in names])
    rows = [head]
    for i, name in enumerate(names):
        cells = [
            element("td", values.get((i, j), ""), style=_shaded(shades.get((i, j), 0.0))) for j in range(len(names))
        ]
        rows.append(element("tr", element("th", name, style=_CELL), cells))
    return element("table", rows, style=_TABLE)


def _shaded(shade: float) -> str:
    return f"padding:.2em .7em;text-align:right;border:0;color:inherit;background:rgba({_TEAL},{0.55 * shade:.2f})"


def _table(rows: Mapping[str, str]) -> Markup:
    pairs = [(name.replace("_", " "), text) for name, text in rows.items()]
    lines = [element("tr", [element("td", each, style=_CELL) for each in pair]) for pair in pairs]
    return element("table", lines, style=_TABLE)
