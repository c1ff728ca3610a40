"""The paper's figures and tables again: one module each, from tasks to numbers, claims and a picture or rows."""

from dataclasses import replace
from pathlib import Path

from vwkde._display.matplotlib import require_matplotlib
from vwkde.reproduce.core.figure import QUICK, Figure, Scale, SurfaceImages
from vwkde.reproduce.core.pages import write_overview, write_page, write_picture, write_results
from vwkde.reproduce.core.tasks import run_tasks, versions_used
from vwkde.reproduce.figures import fig1, fig2, fig3, fig4, fig5, fig_a1, fig_a2
from vwkde.reproduce.surfaces import fig6, table1, table2

_MODULES = (fig1, fig2, fig3, fig4, fig5, table1, table2, fig6, fig_a1, fig_a2)
FIGURES = {module.FIGURE.name: module.FIGURE for module in _MODULES}
"""All that can be reproduced, by name."""
_JOURNAL = "journal.jsonl"


def reproduce(
    name: str,
    output: Path,
    *,
    quick: bool = False,
    n_jobs: int | None = None,
    cluster: str | None = None,
    surfaces: SurfaceImages | None = None,
) -> Path:
    """Reproduce one figure or table in a folder of its name, and return that folder.

    What a run before has done is not done again. A quick run goes into a folder of its own. The folder above gets a
    page of all that are there. With `cluster`, the address of a Dask scheduler, its workers do the work; what they
    read, such as images, must be where they can find it.
    """
    require_matplotlib()
    figure = figure_named(name)
    scale = replace(QUICK, surfaces=surfaces) if quick else Scale(figure.repetitions, surfaces=surfaces)
    output = output / "quick" if quick else output
    folder = output / figure.name
    journal = output / (figure.journal or figure.name) / _JOURNAL
    outcomes = run_tasks(figure.tasks(scale), journal, figure.name, n_jobs, cluster)
    results = figure.collect(outcomes, scale)
    folder.mkdir(parents=True, exist_ok=True)
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
