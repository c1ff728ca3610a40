"""The figures of evaluations as they are printed, and of several data sets as they are written."""

from collections.abc import Mapping
from pathlib import Path
from statistics import mean
from typing import Any

from rich.table import Table
from rich.text import Text

from vwkde.cli.console import screen
from vwkde.inspection.report import write_overview
from vwkde.inspection.runs.evaluation import LEVEL
from vwkde.inspection.runs.folder import COMPLETE, FORMAT, plain, write_results
from vwkde.inspection.runs.run import RunResult


def print_evaluation(outcomes: Mapping[str, RunResult]) -> None:
    """Print the figures of one evaluation."""
    (outcome,) = outcomes.values()
    evaluation = outcome.evaluation
    if evaluation is None:
        return
    table = Table("measure", "value", f"{LEVEL:.0%} interval")
    for each in evaluation.measures:
        table.add_row(each.title, f"{each.value:.3f}", f"{each.low:.3f} – {each.high:.3f}")
    shares = {"defective images found": evaluation.found, "good images rejected": evaluation.false_rejects}
    for title, share in shares.items():
        if share is not None:
            low, high = share.interval
            table.add_row(title, str(share), f"{low:.3f} – {high:.3f}")
    screen.print(table)


def print_overview(outcomes: Mapping[str, RunResult]) -> None:
    """Print the figures of several evaluations, and their means."""
    titles = _titles(outcomes)
    means = _means(outcomes)
    table = Table()
    for title in ("data set", *titles.values(), "found", "rejected"):
        table.add_column(title, no_wrap=title not in titles.values())  # of 80 columns the measures' titles give way
    for name, outcome in outcomes.items():
        values = _values(outcome)
        figures = [f"{values[key]:.3f}" if key in values else "–" for key in titles]
        evaluation = outcome.evaluation
        shares = (evaluation.found, evaluation.false_rejects) if evaluation else (None, None)
        table.add_row(Text(plain(name)), *figures, *(str(share or "–") for share in shares))
    table.add_section()
    table.add_row("mean", *(f"{means[key]:.3f}" for key in titles))
    screen.print(table)


def write_summary(folder: Path, outcomes: Mapping[str, RunResult]) -> dict[str, Any]:
    """Write the figures of several evaluations, and a page that leads to their reports."""
    record = {
        "format": FORMAT,
        "state": COMPLETE,
        "mean": _means(outcomes),
        "data_sets": {
            plain(name): {key: outcome.record.get(key) for key in ("model", "counts", "metrics")}
            for name, outcome in outcomes.items()
        },
    }
    write_results(folder, record)
    write_overview(folder, {name: outcome.evaluation for name, outcome in outcomes.items() if outcome.evaluation})
    return record


def _titles(outcomes: Mapping[str, RunResult]) -> dict[str, str]:
    evaluations = [outcome.evaluation for outcome in outcomes.values() if outcome.evaluation]
    return {each.name: each.title for evaluation in evaluations for each in evaluation.measures}


def _values(outcome: RunResult) -> dict[str, float]:
    return {each.name: each.value for each in outcome.evaluation.measures} if outcome.evaluation else {}


def _means(outcomes: Mapping[str, RunResult]) -> dict[str, float]:
    """Return the mean of each measure over the data sets that have it."""
    values = [_values(outcome) for outcome in outcomes.values()]
    return {key: round(mean(each[key] for each in values if key in each), 6) for key in _titles(outcomes)}
