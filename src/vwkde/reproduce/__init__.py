"""Reproduction of the paper's figures and tables: one module each, with tasks, numbers, claims, picture or rows."""

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
"""All figures and tables that can be reproduced, by name."""
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
    """Reproduce one figure or table of the paper.

    Tasks that an earlier run has finished are not run again.

    Parameters
    ----------
    name : str
        Name of the figure or table, one of `FIGURES`.
    output : Path
        Folder for the results. The figure gets a subfolder of its name; a page in `output` shows all figures that are
        done.
    quick : bool, default False
        Whether to run a small part only, in the subfolder `quick`.
    n_jobs : int, optional
        Processes to use. By default one per core.
    cluster : str, optional
        Address of a Dask scheduler whose workers do the work. They must be able to read the images, if there are any.
    surfaces : SurfaceImages, optional
        Images of surfaces, which `table1`, `table2` and `fig6` need.

    Returns
    -------
    Path
        The folder with the numbers, the page and the picture.

    Raises
    ------
    ValueError
        If there is no such figure, or images are needed and not given.
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
    """Return the figure or table with this name.

    Raises
    ------
    ValueError
        If there is none.

    Examples
    --------
    >>> figure_named("fig3").title
    'Log ratio and KL divergence of two 1-D Gaussians'
    """
    if name not in FIGURES:
        raise ValueError(f"There is no figure {name!r} to reproduce. Choose one of: {', '.join(FIGURES)}, or all.")
    return FIGURES[name]
