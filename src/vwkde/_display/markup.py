"""HTML and SVG by elements: whatever is not an element is text, and is written so that no browser takes it for code."""

from html import escape
from typing import Any

_EMPTY = ("img", "meta", "input", "br", "wbr")
"""Elements that hold nothing, and have no end."""


class Markup(str):
    """A text that is HTML already."""

    __slots__ = ()


def element(tag: str, *inside: Any, **attributes: Any) -> Markup:
    """Return an element with what is inside it.

    Strings and numbers become text; elements, and lists of them, stay as they are; None is left out. An underscore at
    the end of an attribute's name is dropped, others become hyphens. An attribute that is None or false is left out.
    """
    given = "".join(_attribute(name, value) for name, value in attributes.items())
    if tag in _EMPTY:
        return Markup(f"<{tag}{given}>")
    return Markup(f"<{tag}{given}>{joined(*inside)}</{tag}>")


def joined(*inside: Any) -> Markup:
    """Return elements and texts one after the other."""
    return Markup("".join(_written(each) for each in inside if each is not None))


def _written(inside: Any) -> str:
    if isinstance(inside, Markup):
        return inside
    if isinstance(inside, list | tuple):
        return joined(*inside)
    return escape(str(inside), quote=False)


def _attribute(name: str, value: Any) -> str:
    if value is None or value is False:
        return ""
    name = name.removesuffix("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{escape(str(value))}"'
