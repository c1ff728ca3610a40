"""The printed figures of evaluations."""

import numpy as np
from rich.table import Table
from rich.text import Text

from vwkde.cli.console import screen
from vwkde.inspection.data.names import plain
from vwkde.inspection.model.calibration import Calibration
from vwkde.inspection.runs.evaluation import LEVEL, Evaluation
from vwkde.inspection.runs.summary import Summary


def print_evaluation(evaluation: Evaluation) -> None:
    """Print the figures of one evaluation."""
    table = Table("measure", "value", f"{LEVEL:.0%} interval")
    for each in evaluation.measures:
        table.add_row(each.title, f"{each.value:.3f}", f"{each.low:.3f} – {each.high:.3f}")
    shares = {"defective images found": evaluation.found, "good images rejected": evaluation.false_rejects}
    for title, share in shares.items():
        if share is not None:
            low, high = share.interval
            table.add_row(title, str(share), f"{low:.3f} – {high:.3f}")
    screen.print(table)


def told_of_bad(calibration: Calibration) -> str:
    """Return what known bad images did to the threshold."""
    count, limit = len(calibration.bad), calibration.threshold_of_good
    if not count:
        return "No bad images are known: the good images alone set the threshold."
    found = int(np.count_nonzero(calibration.bad > limit))
    if found == count:
        return f"All {count} bad images are found, so the threshold moves up from {limit:.3g} into the gap below them."
    needed = calibration.p_value(float(calibration.bad.min()))
    return (
        f"{found} of {count} bad images are found; the threshold stays. To find all of them, {needed:.0%} of good "
        f"images would be rejected: fit with --rate {np.ceil(1000 * needed) / 1000:g}, or with other features."
    )


def print_overview(summary: Summary) -> None:
    """Print the figures of several evaluations, and their means."""
    titles, means = summary.titles, summary.means
    table = Table()
    for title in ("data set", *titles.values(), "found", "rejected"):
        table.add_column(title, no_wrap=title not in titles.values())  # on 80 columns, the titles of the measures wrap
    for name, run in summary.runs.items():
        evaluation = run.evaluation
        values = evaluation.values if evaluation else {}
        figures = [f"{values[key]:.3f}" if key in values else "–" for key in titles]
        shares = (evaluation.found, evaluation.false_rejects) if evaluation else (None, None)
        table.add_row(Text(plain(name)), *figures, *(str(share or "–") for share in shares))
    table.add_section()
    table.add_row("mean", *(f"{means[key]:.3f}" for key in titles))
    screen.print(table)
