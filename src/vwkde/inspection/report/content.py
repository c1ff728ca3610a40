"""The contents of a report, and elements that its parts share."""

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
    """The record of a run, the model, and pictures by image name."""

    record: RunRecord
    inspector: SurfaceInspector
    pictures: Mapping[str, Pair]

    @property
    def evaluation(self) -> Evaluation | None:
        """The comparison with labels, if there are any."""
        return self.record.evaluation


def colour_scale() -> Markup:
    """Return the colour scale of maps, from the threshold up."""
    colours = ", ".join("rgb({:.0f} {:.0f} {:.0f})".format(*colour) for colour in WARM)
    return element("span", class_="scale", style=f"background: linear-gradient(to right, {colours})")


def table(heads: tuple[str, ...], rows: list[Markup]) -> Markup:
    """Return a table with these column heads."""
    head = element("thead", element("tr", [element("th", each, scope="col") for each in heads]))
    return element("div", element("table", head, element("tbody", rows)), class_="scroll")


def counted(count: int, noun: str = "image") -> str:
    """Return a number with its noun, in the plural if needed."""
    return f"{count:,} {noun}{'s' * (count != 1)}"


def percent(share: float) -> str:
    """Return a share in percent."""
    return f"{100 * share:.3g} %"
