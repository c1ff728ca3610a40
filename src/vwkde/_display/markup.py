"""HTML and SVG elements: anything that is not already markup is text, and is escaped."""

from typing import Any

from markupsafe import Markup, escape

__all__ = ["Markup", "element", "joined"]

_EMPTY = ("img", "meta", "input", "br", "wbr")
"""Elements without content, which have no end tag."""


def element(tag: str, *content: Any, **attributes: Any) -> Markup:
    """Return an element with its content.

    Strings and numbers become text; markup, and lists of it, stay as they are; None is left out. In attribute names, a
    final underscore is dropped and others become hyphens. An attribute that is None or False is left out.
    """
    start = f"<{tag}{''.join(_attribute(name, value) for name, value in attributes.items())}>"
    return Markup(start if tag in _EMPTY else f"{start}{joined(*content)}</{tag}>")


def joined(*content: Any) -> Markup:
    """Return markup and texts joined together."""
    return Markup("").join(_as_markup(part) for part in content if part is not None)


def _as_markup(part: Any) -> Markup:
    return joined(*part) if isinstance(part, list | tuple) else escape(part)


def _attribute(name: str, value: Any) -> str:
    if value is None or value is False:
        return ""
    name = name.removesuffix("_").replace("_", "-")
    # Markup is not safe as an attribute value, because its quotes are not escaped; str() makes it plain text.
    return f" {name}" if value is True else f' {name}="{escape(str(value))}"'
