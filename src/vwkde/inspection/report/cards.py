"""The part of a report that shows the images, the worst first, each beside its map and its closest good image."""

from collections.abc import Mapping
from urllib.parse import quote

from vwkde._display.markup import Markup, element, joined
from vwkde._display.style import number
from vwkde.inspection.report.content import Report, colour_scale, counted, table
from vwkde.inspection.report.gallery import MOST_MISSED, MOST_PASSED, MOST_REJECTED, data_address
from vwkde.inspection.runs.evaluation import DEFECTIVE, GOOD
from vwkde.inspection.runs.folder import Row, plain


def pictured_section(report: Report) -> Markup | None:
    """Return the images that have pictures, one below the other."""
    shown = [row for row in report.judged if row["image"] in report.pictures]
    if not shown:
        return None
    names = {plain(name): name for name in report.inspector.names_}
    cards = [_card(report, row, names) for row in shown]
    words = element("h2", "Images, worst first")
    legend = element("p", "Colours: ", colour_scale(), " from the limit of good images to twice that and more.")
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
    rest = [row for row in report.judged if row["image"] not in report.pictures]
    if not rest:
        return None
    labelled = report.evaluation is not None
    rows = [
        element(
            "tr",
            element("td", element("span", row["verdict"], class_=f"badge {row['verdict'].lower()}")),
            element("td", element("a", row["image"], href=quote(row["overlay"]))),
            element("td", number(row["score"]), class_="figure"),
            element("td", f"{row['p_value']:.2g}", class_="figure"),
            element("td", row["nearest_good"]),
            element("td", row["label"]) if labelled else None,
        )
        for row in rest
    ]
    words = f"Pictures are shown of up to {MOST_REJECTED} rejected images and {MOST_PASSED} that pass, worst first"
    words += f", and of up to {MOST_MISSED} missed defects." if labelled else "."
    words += " The names lead to the full maps."
    heads = ("Verdict", "Image", "Score", "p", "Closest good image", *(["Label"] if labelled else []))
    title = element("h2", f"The other {counted(len(rest))}")
    return element("section", title, element("p", words), table(heads, rows))


def _choices(report: Report) -> Markup:
    choices = {"": "all", "NG": "rejected", "OK": "passed"}
    if report.evaluation is not None:
        choices["wrong"] = "wrongly judged"
    return element("select", [element("option", words, value=value) for value, words in choices.items()], name="kind")


def _card(report: Report, row: Row, names: Mapping[str, str]) -> Markup:
    pair = report.pictures[row["image"]]
    nearest = names.get(row["nearest_good"])
    closest = data_address(report.inspector.thumbnail(nearest)) if nearest is not None else None
    verdict = element("span", row["verdict"], class_=f"badge {row['verdict'].lower()}")
    figures = [
        _figure(pair.image, row["image"], "image"),
        _figure(pair.overlay, f"map of {row['image']}", "where it differs", quote(row["overlay"])),
        _figure(closest, row["nearest_good"], f"closest good image: {row['nearest_good']}") if closest else None,
    ]
    return element(
        "article",
        element("div", element("h3", verdict, " ", _breakable(row["image"])), _card_facts(row), class_="about"),
        figures,
        data_kind=row["verdict"],
        data_wrong=_is_wrong(row),
        data_name=row["image"].lower(),
    )


def _card_facts(row: Row) -> Markup:
    facts = [("Score", f"{number(row['score'])} nats"), ("p", f"{row['p_value']:.2g}")]
    if row["boxes"]:
        facts.append(("Regions", f"{len(row['boxes']):,}"))
    if "label" in row:
        facts.append(("Label", row["label"]))
    pairs = [joined(element("dt", name), element("dd", value)) for name, value in facts]
    wrong = {"good": "good, but rejected", "defective": "defect missed"}.get(row.get("label", ""))
    note = element("p", wrong, class_="wrong") if wrong and _is_wrong(row) else None
    return joined(element("dl", pairs), note)


def _figure(source: str, words: str, caption: str, link: str | None = None) -> Markup:
    picture = element("img", src=source, alt=words, loading="lazy")
    inside = element("a", picture, href=link, title="the full map") if link else picture
    return element("figure", inside, element("figcaption", caption))


def _breakable(name: str) -> list[Markup]:
    """Return a name that can go on in a new line after a slash."""
    parts = name.split("/")
    return [*(joined(part, "/", element("wbr")) for part in parts[:-1]), joined(parts[-1])]


def _is_wrong(row: Row) -> bool:
    return row.get("label") == (GOOD if row["verdict"] == "NG" else DEFECTIVE)
