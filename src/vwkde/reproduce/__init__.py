"""The paper's figures again: one module each, from tasks to numbers, claims and a picture."""

from pathlib import Path

from vwkde._canvas import require_matplotlib
from vwkde.reproduce import fig1, fig2, fig3, fig4, fig5, fig_a1, fig_a2
from vwkde.reproduce.figure import QUICK, WHOLE, Figure
from vwkde.reproduce.pages import write_overview, write_page, write_picture, write_results
from vwkde.reproduce.tasks import run_tasks, versions_used

FIGURES = {module.FIGURE.name: module.FIGURE for module in (fig1, fig2, fig3, fig4, fig5, fig_a1, fig_a2)}
"""All that can be reproduced, by name."""
_JOURNAL = "journal.jsonl"


def reproduce(name: str, output: Path, *, quick: bool = False, n_jobs: int | None = None) -> Path:
    """Reproduce one figure in a folder of its name, and return that folder.

    What a run before has done is not done again. A quick run goes into a folder of its own. The folder above gets a
    page of all figures that are there.
    """
    require_matplotlib()
    figure = figure_named(name)
    scale = QUICK if quick else WHOLE
    output = output / "quick" if quick else output
    folder = output / figure.name
    journal = folder / _JOURNAL
    outcomes = run_tasks(figure.tasks(scale), journal, figure.name, n_jobs)
    results = figure.collect(outcomes, scale)
    write_results(folder, figure, results, scale, versions_used(journal))
    write_picture(folder, figure, results)
    write_page(folder, figure)
    write_overview(output, list(FIGURES.values()))
    return folder


def figure_named(name: str) -> Figure:
    """Return a figure by its name."""
    if name not in FIGURES:
        raise ValueError(f"There is no figure {name!r} to reproduce. Choose one of: {', '.join(FIGURES)}, or all.")
    return FIGURES[name]
