"""The part of a report that shows how well defects were found, if labels are known."""

import os
from collections.abc import Mapping
from urllib.parse import quote

from vwkde._display.markup import Markup, element
from vwkde.inspection.data.names import plain
from vwkde.inspection.metrics.detections import OVERLAP
from vwkde.inspection.metrics.pixels import PRO_LIMIT
from vwkde.inspection.report.charts import curve
from vwkde.inspection.report.content import counted, percent, table
from vwkde.inspection.runs.evaluation import LEVEL, Evaluation, Share
from vwkde.inspection.runs.output import REPORT

_MEANINGS = {
    "image_auroc": "The probability that a defective image scores higher than a good one: 1 is perfect, 0.5 a guess.",
    "image_average_precision": "With images sorted by score, highest first: the share of truly defective images "
    "down to each defective one, averaged over the defective images.",
    "pixel_auroc": "The probability that the map is higher on a defective pixel than on a good one.",
    "aupro": f"The share of a defective region that the map covers, averaged up to {percent(PRO_LIMIT)} of good pixels "
    "covered by mistake. Small regions count as much as large ones.",
    "voc_average_precision": "Average precision, as in the PASCAL VOC challenge, of the outlines around what differs. "
    f"An outline is right if its overlap with the defect (intersection over union) is above {percent(OVERLAP)}.",
}
"""The meaning of each measure."""
_INTERVAL = f"{percent(LEVEL)} interval"


def measures_section(evaluation: Evaluation | None) -> Markup | None:
    """Return the measures, curves and verdicts; None if there were no labels."""
    if evaluation is None:
        return None
    rows = [
        element(
            "tr",
            element("th", each.title, scope="row"),
            element("td", f"{each.value:.3f}", class_="figure"),
            element("td", f"{each.low:.3f} – {each.high:.3f}", class_="figure"),
            element("td", _MEANINGS[each.name], class_="words"),
        )
        for each in evaluation.measures
    ]
    heads = ("Measure", "Value", _INTERVAL, "What it means")
    notes = [element("p", note) for note in _measure_notes(evaluation)]
    return element(
        "section",
        element("h2", "How well defects were found"),
        table(heads, rows) if rows else None,
        notes,
        element(
            "div", element("div", _confusion(evaluation), _by_kind(evaluation)), _curves(evaluation), class_="beside"
        ),
    )


def overview_section(data_sets: Mapping[str, Evaluation]) -> Markup:
    """Return the measures of several data sets; each has a report in a folder named like the data set."""
    titles = {each.name: each.title for evaluation in data_sets.values() for each in evaluation.measures}
    rows = []
    for name, evaluation in data_sets.items():
        values = {each.name: each for each in evaluation.measures}
        cells = [
            element(
                "td",
                f"{values[key].value:.3f}" if key in values else "–",
                title=f"{values[key].low:.3f} – {values[key].high:.3f}" if key in values else None,
                class_="figure",
            )
            for key in titles
        ]
        shares = (evaluation.found, evaluation.false_rejects)
        cells += [element("td", share or "–", class_="figure") for share in shares]
        link = element("a", plain(name), href=quote(os.fsencode(f"{name}/{REPORT}")))
        rows.append(element("tr", element("th", link, scope="row"), *cells))
    words = "Each name links to the report of the data set, which gives the intervals of these figures."
    heads = ("Data set", *titles.values(), "Defects found", "Good rejected")
    return element("section", element("h1", "Inspection of several data sets"), element("p", words), table(heads, rows))


def _measure_notes(evaluation: Evaluation) -> list[str]:
    notes = []
    if evaluation.measures:
        notes.append("Intervals: bootstrap with 1,000 resamplings of the images.")
    if evaluation.roc is None:
        notes.append("Curves and areas need both good and defective test images.")
    if evaluation.without_mask:
        notes.append(
            f"{counted(evaluation.without_mask, 'defective image')} without a mask: left out of the measures of pixels "
            "and regions."
        )
    if evaluation.false_rejects:
        notes.append(_rate_in_words(evaluation.false_rejects, evaluation.stated_rate))
    return notes


def _rate_in_words(seen: Share, stated: float) -> str:
    low, high = seen.interval
    words = (
        f"False rejects: {seen} good images, {percent(seen.rate)} "
        f"({_INTERVAL} {percent(low)} to {percent(high)}). The stated rate is {percent(stated)}. "
    )
    if low <= stated <= high:
        return words + "The two agree."
    if stated < low:
        return words + "It is higher than stated: the good test images differ from those of the model. Add some."
    return words + "It is lower than stated, which does no harm to good images but may hide small defects."


def _confusion(evaluation: Evaluation) -> Markup:
    counts = evaluation.confusion
    rows = [
        element(
            "tr",
            element("th", title, scope="row"),
            [
                element("td", f"{count:,}", class_=f"figure {colour}" if count else "figure")
                for count, colour in zip((counts[f"{kind}_rejected"], counts[f"{kind}_passed"]), colours, strict=True)
            ],
        )
        for kind, title, colours in (
            ("defective", "Defective", ("right", "wrong")),
            ("good", "Good", ("wrong", "right")),
        )
    ]
    caption = element("figcaption", "Verdicts at the threshold")
    return element("figure", caption, table(("Truth", "Rejected", "Passed"), rows))


def _by_kind(evaluation: Evaluation) -> Markup | None:
    if len(evaluation.by_kind) < 2:
        return None
    rows = [
        element(
            "tr",
            element("th", plain(kind), scope="row"),
            element("td", share, class_="figure"),
            element("td", " – ".join(map(percent, share.interval)), class_="figure"),
        )
        for kind, share in evaluation.by_kind.items()
    ]
    caption = element("figcaption", "Found, by kind of defect")
    return element("figure", caption, table(("Kind", "Found", _INTERVAL), rows))


def _curves(evaluation: Evaluation) -> list[Markup]:
    if evaluation.roc is None or evaluation.precision_recall is None:
        return []
    counts = evaluation.confusion
    false_rate = evaluation.false_rejects.rate if evaluation.false_rejects else 0.0
    found_rate = evaluation.found.rate if evaluation.found else 0.0
    rejected = counts["defective_rejected"] + counts["good_rejected"]
    precision = counts["defective_rejected"] / rejected if rejected else None
    roc, recalls = evaluation.roc, evaluation.precision_recall
    drawn = {
        "ROC curve": curve(
            roc.false_positive_rate,
            roc.true_positive_rate,
            ("good images rejected", "defective images found"),
            "ROC curve",
            (false_rate, found_rate),
        ),
        "Precision and recall": curve(
            recalls.recall,
            recalls.precision,
            ("defective images found (recall)", "truly defective (precision)"),
            "Precision–recall curve",
            None if precision is None else (found_rate, precision),
        ),
    }
    return [
        element("figure", element("figcaption", f"{title}; the dot is the threshold"), chart)
        for title, chart in drawn.items()
    ]
