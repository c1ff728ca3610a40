"""A page in one file that loads nothing from other places; a content security policy enforces this."""

import base64
from hashlib import sha256
from importlib import resources
from pathlib import Path

from vwkde._display.markup import Markup, element
from vwkde._runtime.files import write_text
from vwkde.inspection.runs.output import REPORT, writing


def write_page(folder: Path, title: str, sections: list[Markup | None]) -> None:
    """Write a page of these sections as `report.html`."""
    path = folder / REPORT
    with writing(path):
        write_text(path, f"<!doctype html>\n{_page(title, sections)}\n")


def _page(title: str, sections: list[Markup | None]) -> Markup:
    style, script = (_resource(name) for name in ("style.css", "script.js"))
    digest = base64.b64encode(sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", title),
        element("style", style),
    )
    return element("html", head, element("body", element("main", *sections), element("script", script)), lang="en")


def _resource(name: str) -> Markup:
    return Markup((resources.files(__package__) / name).read_text(encoding="utf-8"))
