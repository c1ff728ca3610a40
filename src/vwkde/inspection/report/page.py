"""The page of a report, with its style and its script."""

from importlib import resources
from pathlib import Path

from vwkde._display.markup import Markup
from vwkde._display.page import whole_page
from vwkde._runtime.files import write_text
from vwkde.inspection.runs.output import REPORT, writing


def write_page(folder: Path, title: str, sections: list[Markup | None]) -> None:
    """Write a page of these sections as `report.html`."""
    path = folder / REPORT
    with writing(path):
        write_text(path, whole_page(title, sections, _resource("style.css"), _resource("script.js")))


def _resource(name: str) -> str:
    return (resources.files(__package__) / name).read_text(encoding="utf-8")
