"""What a report is made of, and words that its parts share."""

from collections.abc import Mapping
from dataclasses import dataclass

from vwkde._display.markup import Markup, element
from vwkde.inspection.model.inspector import SurfaceInspector
from vwkde.inspection.model.map_colours import WARM
from vwkde.inspection.runs.evaluation import Evaluation
from vwkde.inspection.runs.gallery import Pair
from vwkde.inspection.runs.records import RunRecord


@dataclass(frozen=True)
class Report:
    """The record of a run, the model, and pictures by image."""

    record: RunRecord
    inspector: SurfaceInspector
    pictures: Mapping[str, Pair]

    @property
    def evaluation(self) -> Evaluation | None:
        """What labels say of the run, if there are any."""
        return self.record.evaluation


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
