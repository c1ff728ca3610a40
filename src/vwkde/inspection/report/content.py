"""What a report is made of, and words that its parts share."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vwkde._display.markup import Markup, element
from vwkde.inspection.model.inspector import SurfaceInspector
from vwkde.inspection.model.map_colours import WARM
from vwkde.inspection.report.gallery import Pair
from vwkde.inspection.runs.evaluation import Evaluation
from vwkde.inspection.runs.folder import Row


@dataclass(frozen=True)
class Report:
    """What `results.json` holds, the model, pictures by image, and what labels say, if any."""

    record: Mapping[str, Any]
    inspector: SurfaceInspector
    pictures: Mapping[str, Pair]
    evaluation: Evaluation | None = None

    @property
    def judged(self) -> list[Row]:
        """The images that could be used, worst first."""
        return [row for row in self.record["images"] if row["verdict"] != "ERROR"]

    @property
    def errors(self) -> list[Row]:
        """The files that could not be used."""
        return [row for row in self.record["images"] if row["verdict"] == "ERROR"]


def colour_scale() -> Markup:
    """Return the colours of maps, from the threshold up."""
    colours = ", ".join("rgb({:.0f} {:.0f} {:.0f})".format(*colour) for colour in WARM)
    return element("span", class_="scale", style=f"background: linear-gradient(to right, {colours})")


def table(heads: tuple[str, ...], rows: list[Markup]) -> Markup:
    """Return a table with these heads above its columns."""
    head = element("thead", element("tr", [element("th", each, scope="col") for each in heads]))
    return element("div", element("table", head, element("tbody", rows)), class_="scroll")


def counted(count: int, noun: str = "image") -> str:
    """Return so many of something in words."""
    return f"{count:,} {noun}{'s' * (count != 1)}"


def percent(share: float) -> str:
    """Return a share in words."""
    return f"{100 * share:.3g} %"
