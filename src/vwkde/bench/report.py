"""Output of the benchmark: tables for the terminal, the numbers as JSON, and a picture."""

import json
import platform
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from vwkde._compute.parallel import thread_count
from vwkde._display.style import BLACK, GOLD, NAVY, RED, TEAL
from vwkde._runtime.files import save_picture, write_text
from vwkde._runtime.versions import versions_here
from vwkde.bench.limits import Limits
from vwkde.bench.measurement import Measurement

TITLES = {
    "sums": "Weighted log kernel sums",
    "fit": "Fit of the paper's weight",
    "kl": "KL divergence, end to end",
    "inspection": "Surface inspection",
}
_SIZES = {"sums": "queries and points", "fit": "rows per sample", "kl": "rows per sample", "inspection": "good images"}
_COLOURS = (TEAL, RED, GOLD, NAVY, "#66a182", "#8d6a9f", "#9a9a9a", "#c77d4f")
_SIZES_SHOWN = 4
"""Maximum number of sizes in a table, so that it fits a terminal of 80 columns."""


def tables(measurements: list[Measurement]) -> list[Table]:
    """Return a table per task and setting: seconds at some sizes, rate and share of the limit at the largest."""
    by_setting: dict[tuple[str, str], list[Measurement]] = {}
    for each in measurements:
        by_setting.setdefault((each.task, each.setting), []).append(each)
    return [_table(task, setting, group) for (task, setting), group in by_setting.items()]


def _table(task: str, setting: str, measurements: list[Measurement]) -> Table:
    sizes = _some(sorted({each.rows for each in measurements}))
    table = Table(title=f"{TITLES[task]}: seconds by {_SIZES[task]} ({setting})")
    table.add_column("", justify="left")
    for size in sizes:
        table.add_column(f"{size:,}", justify="right", no_wrap=True)
    if task == "sums":
        table.add_column("1e9 /s", justify="right", no_wrap=True)
    limited = any(each.share_of_limit is not None for each in measurements)
    if limited:
        table.add_column("of limit", justify="right", no_wrap=True)
    for contender in dict.fromkeys(each.contender for each in measurements):
        own = {each.rows: each for each in measurements if each.contender == contender}
        cells = [f"{own[size].seconds:.2g}" if size in own else "–" for size in sizes]
        last = own[max(own)]
        if task == "sums":
            cells.append(f"{last.rate / 1e9:.2g}")
        if limited:
            cells.append("–" if last.share_of_limit is None else f"{last.share_of_limit:.0%}")
        table.add_row(contender, *cells)
    return table


def _some(sizes: list[int]) -> list[int]:
    """Return the smallest, the largest and some sizes in between."""
    count = min(len(sizes), _SIZES_SHOWN)
    return [sizes[round(place)] for place in np.linspace(0, len(sizes) - 1, count)]


def describe_limits(limits: list[Limits]) -> str:
    """Return the machine's limits in words, one line each."""
    return "\n".join(
        f"Limits of the {each.device} in {each.dtype}: {each.operations / 1e9:,.0f}e9 operations per second in a "
        f"matrix product, {each.exponentials / 1e9:,.2f}e9 exponentials per second."
        for each in limits
    )


def to_dict(measurements: list[Measurement], limits: list[Limits], n_threads: int | None = None) -> dict[str, Any]:
    """Return all numbers of a run, and the machine."""
    return {
        **machine_here(n_threads),
        "limits": [vars(each) for each in limits],
        "measurements": [each.to_dict() for each in measurements],
    }


def machine_here(n_threads: int | None = None) -> dict[str, Any]:
    """Return the machine with `n_threads` threads, or all by default, and the versions of what runs on it."""
    versions = versions_here("numpy", "scipy", "scikit-learn", "numba")
    return {
        "machine": {
            "processor": platform.machine(),
            "threads": n_threads or thread_count(),
            "python": versions.pop("python"),
        },
        "versions": versions,
    }


def write_numbers(path: Path, record: dict[str, Any]) -> None:
    """Write the numbers as JSON."""
    write_text(path, json.dumps(record, indent=2) + "\n")


def save_bench(path: Path, measurements: list[Measurement]) -> None:
    """Draw the throughput of the kernel sums, and the seconds of the other tasks, against the size."""
    from matplotlib.figure import Figure

    panels = list(dict.fromkeys((each.task, each.setting) for each in measurements))
    columns = min(3, len(panels))
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(5 * columns, 4.6 * rows), layout="constrained")
    for place, (task, setting) in enumerate(panels):
        ax = figure.add_subplot(rows, columns, place + 1)
        _panel(ax, [each for each in measurements if (each.task, each.setting) == (task, setting)])
        ax.set(xlabel=_SIZES[task], ylabel="1e9 kernels per second" if task == "sums" else "seconds")
        ax.set_title(f"{TITLES[task]}\n{setting}", loc="left", fontsize="medium")
    save_picture(path, figure, dpi=120)


def _panel(ax: Any, measurements: list[Measurement]) -> None:
    """Draw one line per contender, vwkde's thicker, with the measured sizes as ticks."""
    from matplotlib.ticker import NullLocator

    for place, contender in enumerate(dict.fromkeys(each.contender for each in measurements)):
        own = [each for each in measurements if each.contender == contender]
        values = [each.rate / 1e9 if each.task == "sums" else each.seconds for each in own]
        style = {"lw": 2.5 if contender.startswith("vwkde") else 1.2, "color": _COLOURS[place % len(_COLOURS)]}
        ax.plot([each.rows for each in own], values, "o-", ms=4, label=contender, **style)
    for limit in {each.limit for each in measurements if each.task == "sums" and each.limit is not None}:
        ax.axhline(limit / 1e9, color=BLACK, ls=":", lw=1, label="matrix product and exponential")
    sizes = sorted({each.rows for each in measurements})
    ax.set(xscale="log", yscale="log")
    ax.set_xticks(sizes, [f"{size:,}" for size in sizes], fontsize="small", rotation=45 if len(sizes) > 5 else 0)
    ax.xaxis.set_minor_locator(NullLocator())
    ax.grid(alpha=0.3)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2, frameon=False, fontsize="small")
