"""The part of a report that shows the images, worst first, each next to its map and its closest good image."""

import base64
from collections.abc import Mapping
from urllib.parse import quote

from vwkde._display.markup import Markup, element, joined
from vwkde._display.style import number
from vwkde.inspection.data.names import plain
from vwkde.inspection.report.content import Report, colour_scale, counted, table
from vwkde.inspection.runs.gallery import MOST_MISSED, MOST_PASSED, MOST_REJECTED, small_picture
from vwkde.inspection.runs.records import ImageRecord


def pictured_section(report: Report) -> Markup | None:
    """Return the images that have pictures, one below the other."""
    shown = [image for image in report.record.images if image.image in report.pictures]
    if not shown:
        return None
    names = {plain(name): name for name in report.inspector.names_}
    cards = [_card(report, image, names) for image in shown]
    words = element("h2", "Images, worst first")
    legend = element("p", "Colours: ", colour_scale(), " from the limit of good images to twice this limit and more.")
    tools = element(
        "form",
        element("label", "Show ", _choices(report)),
        element("label", "Name ", element("input", type="search", name="text")),
        element("output"),
        class_="tools",
        hidden=True,
    )
    return element("section", words, legend, tools, cards, class_="cards")


def table_section(report: Report) -> Markup | None:
    """Return the images that have no picture, in a table."""
    rest = [image for image in report.record.images if image.image not in report.pictures]
    if not rest:
        return None
    labelled = report.evaluation is not None
    rows = [
        element(
            "tr",
            element("td", element("span", image.verdict, class_=f"badge {image.verdict.lower()}")),
            element("td", element("a", image.image, href=quote(image.overlay))),
            element("td", number(image.score), class_="figure"),
            element("td", f"{image.p_value:.2g}", class_="figure"),
            element("td", image.nearest_good),
            element("td", image.label) if labelled else None,
        )
        for image in rest
    ]
    words = f"The pictures show up to {MOST_REJECTED} rejected images and {MOST_PASSED} that pass, worst first"
    words += f", and up to {MOST_MISSED} missed defects." if labelled else "."
    words += " Each name links to the full map."
    heads = ("Verdict", "Image", "Score", "p", "Closest good image", *(["Label"] if labelled else []))
    title = element("h2", f"The other {counted(len(rest))}")
    return element("section", title, element("p", words), table(heads, rows))


def _choices(report: Report) -> Markup:
    choices = {"": "all", "NG": "rejected", "OK": "passed"}
    if report.evaluation is not None:
        choices["wrong"] = "wrongly judged"
    return element("select", [element("option", words, value=value) for value, words in choices.items()], name="kind")


def _card(report: Report, image: ImageRecord, names: Mapping[str, str]) -> Markup:
    pair = report.pictures[image.image]
    nearest = names.get(image.nearest_good)
    closest = small_picture(report.inspector.thumbnail(nearest)) if nearest is not None else None
    verdict = element("span", image.verdict, class_=f"badge {image.verdict.lower()}")
    figures = [
        _figure(pair.image, image.image, "image"),
        _figure(pair.overlay, f"map of {image.image}", "where it differs", quote(image.overlay)),
        _figure(closest, image.nearest_good, f"closest good image: {image.nearest_good}") if closest else None,
    ]
    return element(
        "article",
        element("div", element("h3", verdict, " ", _breakable(image.image)), _card_facts(image), class_="about"),
        figures,
        data_kind=image.verdict,
        data_wrong=image.is_missed or image.is_false_reject,
        data_name=image.image.lower(),
    )


def _card_facts(image: ImageRecord) -> Markup:
    facts = [("Score", f"{number(image.score)} nats"), ("p", f"{image.p_value:.2g}")]
    if image.boxes:
        facts.append(("Regions", f"{len(image.boxes):,}"))
    if image.label is not None:
        facts.append(("Label", image.label))
    pairs = [joined(element("dt", name), element("dd", value)) for name, value in facts]
    wrong = "good, but rejected" if image.is_false_reject else "defect missed" if image.is_missed else None
    note = element("p", wrong, class_="wrong") if wrong else None
    return joined(element("dl", pairs), note)


def _figure(jpeg: bytes, words: str, caption: str, link: str | None = None) -> Markup:
    source = "data:image/jpeg;base64," + base64.b64encode(jpeg).decode()
    picture = element("img", src=source, alt=words, loading="lazy")
    inside = element("a", picture, href=link, title="the full map") if link else picture
    return element("figure", inside, element("figcaption", caption))


def _breakable(name: str) -> list[Markup]:
    """Return a name that can break to a new line after a slash."""
    parts = name.split("/")
    return [*(joined(part, "/", element("wbr")) for part in parts[:-1]), joined(parts[-1])]
