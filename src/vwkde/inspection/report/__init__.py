"""The report of a run: one self-contained HTML file, for people who look at parts all day.

Pictures are inside the file, reduced to 224 pixels. `vwkde.inspection.runs.gallery` limits their number, so that the
report of a run of any length has at most some megabytes. Images without a picture are in a table, and the full map of
every image is in the folder next to the report.
"""

from collections.abc import Mapping
from pathlib import Path
from statistics import median

import numpy as np

from vwkde._display.markup import Markup, element, joined
from vwkde._display.style import number
from vwkde.inspection.model.features.registry import as_features
from vwkde.inspection.report.cards import pictured_section, table_section
from vwkde.inspection.report.charts import Group, histogram
from vwkde.inspection.report.content import Report, colour_scale, counted, percent, table
from vwkde.inspection.report.measures import measures_section, overview_section
from vwkde.inspection.report.page import write_page
from vwkde.inspection.runs.evaluation import Evaluation
from vwkde.inspection.runs.records import RunRecord


def write_report(folder: Path, report: Report) -> None:
    """Write the report into the folder of the run."""
    write_page(folder, f"Inspection report: {report.record.source}", _sections(report))


def write_overview(folder: Path, data_sets: Mapping[str, Evaluation]) -> None:
    """Write a page with links to the reports of several data sets, each in a folder named like the data set."""
    write_page(folder, "Inspection of several data sets", [overview_section(data_sets)])


def _sections(report: Report) -> list[Markup | None]:
    return [
        _banner(report),
        _facts(report),
        _scores(report),
        measures_section(report.evaluation),
        _errors(report),
        _reading(report),
        pictured_section(report),
        table_section(report),
    ]


def _banner(report: Report) -> Markup:
    """Return the verdict on the whole batch in one line, its source, and notes."""
    record = report.record
    words, kind = _verdict(report)
    when = (record.finished or "").replace("T", " ")[:16]
    title = element("p", f"Inspection report · {record.source} · {record.model.file} · {when}", class_="over")
    notes = [element("p", note) for note in _notes(record)]
    return element("header", title, element("h1", words), notes, class_=kind)


def _verdict(report: Report) -> tuple[str, str]:
    """Return the verdict on the whole batch, and its style."""
    counts = report.record.counts
    checked = counts.checked
    if not checked:
        return "No image could be checked", "warn"
    if report.evaluation is not None:
        return _evaluation_in_words(report.evaluation), "neutral"
    if report.record.model.threshold is None:
        return f"No verdict on {counted(checked)}: too few good images were learnt", "warn"
    if counts.rejected:
        return f"{counts.rejected:,} of {counted(checked)} rejected", "ng"
    words = f"All {counted(checked)} pass" if checked > 1 else "The image passes"
    return words, "warn" if _notes(report.record) else "ok"


def _notes(record: RunRecord) -> list[str]:
    """Return the notes that limit the verdict."""
    counts, model = record.counts, record.model
    notes = []
    if record.stopped:
        left = record.expected_images - counts.checked - counts.failed
        notes.append(f"The run was stopped: {left:,} of {counted(record.expected_images)} were not checked.")
    if record.drift is not None and record.drift.words is not None:
        notes.append(record.drift.words)
    if counts.failed:
        notes.append(f"{counted(counts.failed, 'file')} could not be used; see below.")
    if model.threshold is None:
        notes.append(
            f"No image can be rejected: {counted(model.good_images, 'good image')} are too few for a false-reject "
            f"rate of {percent(model.false_reject_rate)}. The scores and their order are still valid."
        )
    return notes


def _evaluation_in_words(evaluation: Evaluation) -> str:
    parts = []
    if evaluation.found:
        parts.append(f"{evaluation.found} defective images found")
    if evaluation.false_rejects:
        parts.append(f"{evaluation.false_rejects} good images rejected")
    return ", ".join(parts)


def _facts(report: Report) -> Markup:
    counts, model = report.record.counts, report.record.model
    times = [image.milliseconds for image in report.record.images]
    threshold = "none" if model.threshold is None else f"{number(model.threshold)} nats"
    facts = {
        "Images checked": f"{counts.checked:,}",
        "Pass (OK)": f"{counts.passed:,}",
        "Rejected (NG)": f"{counts.rejected:,}",
        "Not usable": f"{counts.failed:,}",
        "Threshold": threshold,
        "Stated false-reject rate": percent(model.false_reject_rate),
        "Good images learnt": f"{model.good_images:,}",
        "Features": model.features,
        "Time per image": f"{number(median(times))} ms" if times else "–",
    }
    pairs = [element("div", element("dt", name), element("dd", value)) for name, value in facts.items()]
    return element("dl", pairs, class_="facts")


def _scores(report: Report) -> Markup | None:
    images = report.record.images
    if not images:
        return None
    scores = np.array([image.score for image in images])
    groups = [Group("Good images of the model, each judged by the others", report.inspector.calibration_.scores)]
    if report.evaluation is None:
        groups.append(Group("This batch", scores))
    else:
        labels = np.array([image.label for image in images])
        named = {"Good images tested": "good", "Defective images tested": "defective"}
        groups += [Group(title, scores[labels == label]) for title, label in named.items() if (labels == label).any()]
    model = report.record.model
    words = "There is no threshold."
    if model.threshold is not None:
        words = (
            f"The {model.good_images:,} good images of the model set the threshold, so that about "
            f"{percent(model.false_reject_rate)} of good images are rejected. "
        )
        words += "Labels were not used for it." if report.evaluation else "This batch was not used for it."
    drawn = histogram(groups, report.inspector.calibration_.threshold)
    return element("section", element("h2", "Scores"), element("p", words), element("div", drawn, class_="chart"))


def _errors(report: Report) -> Markup | None:
    failures = report.record.failures
    if not failures:
        return None
    rows = [element("tr", element("td", each.image), element("td", each.error)) for each in failures]
    title = element("h2", f"{counted(len(rows), 'file')} could not be used")
    return element("section", title, table(("File", "Reason"), rows), class_="errors")


_BY_IMAGE = (
    "how much an image differs from the most similar good image, in nats.",
    "the good image of the model that the image was compared with, as a small picture.",
)
_BY_WORST = (
    "how much the most unusual patches of an image differ from the most similar good images, in nats.",
    "the most similar of the good images that the image was compared with, as a small picture.",
)
"""Explanations of the score and of the closest good image: if all patches count, and if only the worst do."""


def _reading(report: Report) -> Markup:
    score, closest = _BY_IMAGE if as_features(report.inspector.features).worst is None else _BY_WORST
    rate = percent(report.record.model.false_reject_rate)
    points: list[tuple[str, str | Markup]] = [
        ("Score", f"{score} Lower is more similar. An image with a score above the threshold is rejected."),
        (
            "p",
            "the p-value: the share of good images that look at least as unusual. "
            + (
                "Known bad images have moved the threshold up, so p does not decide."
                if report.record.model.known_bad_images
                else f"An image is rejected if p is {rate} or less."
            ),
        ),
        (
            "Colours",
            joined(
                "where the image differs from good images. Gray: not more than good images do. ",
                colour_scale(),
                " from the limit of good images (yellow) to twice this limit and more (dark red). The scale is the "
                "same for all images, and only good images set it. If a rejected image is below the limit everywhere, "
                "its highest places are coloured.",
            ),
        ),
        ("Closest good image", closest),
    ]
    if report.evaluation is not None:
        points.append(("Blue outline", "the defect as marked in the data set."))
    limits = (
        "a pass is no proof. A defect that does not show in the features, or that looks like the variation of good "
        "images, is not found. If good parts are rejected, add them to the model: vwkde inspect add."
    )
    points.append(("Limits", limits))
    items = [joined(element("dt", name), element("dd", words)) for name, words in points]
    summary = element("summary", "How to read this report")
    return element("details", summary, element("dl", items), open=True, class_="reading")
