"""A page in one file that loads nothing from other places; a content security policy enforces this."""

import base64
import html
import re
from hashlib import sha256

from vwkde._display.markup import Markup, element

BEGINNING = 4096
"""Bytes of a page within which its title ends."""
_DOCTYPE = "<!doctype html>"


def title_of(page: bytes) -> str | None:
    """Return the title in the beginning of a page that `whole_page` made; None if it made none such."""
    text = page.decode(errors="replace")
    found = re.match(rf"{_DOCTYPE}\n.*?<title>(.*?)</title>", text, re.DOTALL)
    return html.unescape(found[1]) if found else None


def whole_page(title: str, sections: list[Markup | None], style: str, script: str = "") -> str:
    """Return a page of these sections; style and script are trusted text."""
    digest = base64.b64encode(sha256(script.encode()).digest()).decode()
    scripts = f"script-src 'sha256-{digest}'" if script else "script-src 'none'"
    policy = f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; {scripts}"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", title),
        element("style", Markup(style)),
    )
    body = element("body", element("main", *sections), element("script", Markup(script)) if script else None)
    return f"{_DOCTYPE}\n{element('html', head, body, lang='en')}\n"
