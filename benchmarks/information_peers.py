"""Mutual and conditional mutual information on many kinds of dependence, beside ennemi, infomeasure and scikit-learn.

Run with `python benchmarks/information_peers.py [--rows 2000] [--repetitions 20] [--only NAME …] [--tune]`. Peers that
are not installed are left out.
"""

import argparse
import json
import sys
import warnings
from collections.abc import Callable
from importlib import import_module
from time import perf_counter

import numpy as np
from rich.console import Console
from rich.table import Table

import vwkde
from scenarios.information_kinds import Kind, kinds
from scenarios.mutual_tasks import Floats

_FIRST_SEED, _FIRST_TUNING_SEED = 20_000, 0
"""Choices are made with the seeds of `--tune`, and figures reported with the others."""
_ALLOWED = 0.01
"""How much larger than that of ennemi our mean absolute error may be, in nats."""

Ask = Callable[[Kind, Floats, Floats, Floats | None], float | tuple[float, float, float] | None]


def ours(kind: Kind, x: Floats, y: Floats, z: Floats | None) -> tuple[float, float, float]:
    del kind
    found = vwkde.mutual_information(x, y) if z is None else vwkde.conditional_mutual_information(x, y, z)
    return found.value, *found.interval


def by_ennemi(kind: Kind, x: Floats, y: Floats, z: Floats | None) -> float | None:
    """It takes one column of X and of Y, so that others need the chain rule: I(a, b; y) = I(a; y) + I(b; y | a)."""
    ennemi = import_module("ennemi")
    if kind.labels:
        chained = [(y[:, i], y[:, :i]) for i in range(y.shape[1])]
        return _summed(lambda a, b, c: ennemi.estimate_mi(a, b, cond=c, discrete_y=True), x[:, 0], chained)
    if y.shape[1] > 1:
        return _both(lambda a, b, c: ennemi.estimate_mi(a, b, cond=c), x, y, z)
    known = np.empty((len(x), 0)) if z is None else z
    chained = [(x[:, i], np.concatenate([known, x[:, :i]], axis=1)) for i in range(x.shape[1])]
    return _summed(lambda a, b, c: ennemi.estimate_mi(a, b, cond=c), y[:, 0], chained)


def _summed(estimate: Callable[..., Floats], y: Floats, chained: list[tuple[Floats, Floats]]) -> float:
    return float(sum(np.ravel(estimate(y, x, known if known.size else None))[0] for x, known in chained))


def _both(estimate: Callable[..., Floats], x: Floats, y: Floats, z: Floats | None) -> float:
    """Return the chain rule over the columns of Y, and for each over those of X."""
    known = np.empty((len(x), 0)) if z is None else z
    total = 0.0
    for j in range(y.shape[1]):
        before = np.concatenate([known, y[:, :j]], axis=1)
        chained = [(x[:, i], np.concatenate([before, x[:, :i]], axis=1)) for i in range(x.shape[1])]
        total += _summed(estimate, y[:, j], chained)
    return total


def by_infomeasure(kind: Kind, x: Floats, y: Floats, z: Floats | None) -> float | None:
    if kind.labels:
        return None  # it has no estimator for a discrete with a continuous variable
    infomeasure = import_module("infomeasure")
    known = {} if z is None else {"cond": z}
    ask = infomeasure.mutual_information if z is None else infomeasure.conditional_mutual_information
    return float(ask(x, y, approach="metric", **known))


def by_scikit_learn(kind: Kind, x: Floats, y: Floats, z: Floats | None) -> float | None:
    if z is not None or x.shape[1] > 1 or y.shape[1] > 1:
        return None
    selection = import_module("sklearn.feature_selection")
    ask = selection.mutual_info_classif if kind.labels else selection.mutual_info_regression
    return float(ask(y, x[:, 0], random_state=0)[0])


ESTIMATORS: dict[str, tuple[str, Ask]] = {
    "vwkde": ("vwkde", ours),
    "ennemi": ("ennemi", by_ennemi),
    "infomeasure": ("infomeasure", by_infomeasure),
    "scikit-learn": ("sklearn", by_scikit_learn),
}


def installed() -> dict[str, Ask]:
    """Return the estimators whose packages are there."""
    found = {}
    for name, (module, ask) in ESTIMATORS.items():
        try:
            import_module(module)
        except ImportError:
            continue
        found[name] = ask
    return found


def measure(kind: Kind, rows: int, seed: int, estimators: dict[str, Ask]) -> dict[str, dict[str, float]]:
    data = kind.draw(rows, np.random.default_rng(seed))
    record = {}
    for name, ask in estimators.items():
        start = perf_counter()
        found = ask(kind, *data)
        seconds = perf_counter() - start
        if found is None:
            continue
        value, *ends = found if isinstance(found, tuple) else (found,)
        covers = {"covers": float(ends[0] <= kind.truth <= ends[1]), "width": ends[1] - ends[0]} if ends else {}
        record[name] = {"value": value, "error": abs(value - kind.truth), "seconds": seconds, **covers}
    return record


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000)
    parser.add_argument("--repetitions", type=int, default=20)
    parser.add_argument("--only", nargs="*", default=None)
    parser.add_argument("--tune", action="store_true", help="use the seeds for choices, not those for figures")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    estimators = installed()
    table = Table(title=f"mean |error| in nats, {options.rows:,} rows, {options.repetitions} repetitions; (seconds)")
    for column in ("kind", "truth", *estimators, "covered", "within"):
        table.add_column(column, justify="left" if column == "kind" else "right")
    for number, kind in enumerate(kinds()):
        if options.only is not None and not any(word in kind.name for word in options.only):
            continue
        start = (_FIRST_TUNING_SEED if options.tune else _FIRST_SEED) + 1_000 * number
        seeds = range(start, start + options.repetitions)
        records = [measure(kind, options.rows, seed, estimators) for seed in seeds]
        print(json.dumps({"kind": kind.name, "truth": kind.truth, "records": records}), file=sys.stderr, flush=True)
        table.add_row(*_row(kind, records, list(estimators)))
    Console(width=140).print(table)


def _row(kind: Kind, records: list[dict[str, dict[str, float]]], names: list[str]) -> list[str]:
    def mean(name: str, what: str) -> float:
        return float(np.mean([record[name][what] for record in records]))

    cells = [
        f"{mean(name, 'error'):.3f} ({mean(name, 'seconds'):.2g})" if name in records[0] else "–" for name in names
    ]
    within = "–"
    if "ennemi" in records[0]:
        within = "yes" if mean("vwkde", "error") <= mean("ennemi", "error") + _ALLOWED else "NO"
    return [kind.name, f"{kind.truth:.3f}", *cells, f"{mean('vwkde', 'covers'):.0%}", within]


if __name__ == "__main__":
    main()
