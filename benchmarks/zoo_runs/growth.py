"""What more rows bring: the same problems with few and with many rows, kind by kind."""

from collections import defaultdict
from collections.abc import Iterator

import numpy as np
from rich.table import Table

from zoo_runs.questions import QUESTIONS
from zoo_runs.summary import SMALLEST, Results, Store, descriptions_of, groups, per_problem, pooled
from zoo_runs.tables import new_table, order, shown

KINDS = ("base", "change", "columns", "number of columns")
"""Ways to divide the problems that do not depend on their rows."""
_MEASURES = ("geometric mean", "coverage", "width")

Pair = tuple[Results, Results]
"""The measures of one problem with few rows and with many."""


def growth_tables(sized: dict[str, Store], markdown: bool = False) -> Iterator[Table]:
    """Yield a table of each question and estimator; `sized` are stores of the same problems by size, smallest first."""
    if len(sized) < 2:
        return
    few, *_, many = sized
    larger = _larger(sized[few], sized[many])
    for question in QUESTIONS:
        before, after = (per_problem(sized[size], question) for size in (few, many))
        for estimator in [name for name in before if name in after]:
            seeds = sorted(larger & before[estimator].keys() & after[estimator].keys())
            pairs = {seed: (before[estimator][seed], after[estimator][seed]) for seed in seeds}
            yield growth_table(f"{question}, {estimator}", (few, many), pairs, _by_kind(sized[many], seeds), markdown)


def growth_table(
    title: str, sizes: tuple[str, str], pairs: dict[int, Pair], kinds: dict[str, list[int]], markdown: bool
) -> Table:
    """Return the errors and intervals by kind at both sizes, the ratio of the errors and the factor it is known to."""
    measures = [f"{measure}, {size}" for measure in _MEASURES for size in sizes]
    table = new_table(f"{title}: what more rows bring", ["kind", "problems", *measures, "ratio", "±"], markdown)
    for kind, seeds in kinds.items():
        here = [pairs[seed] for seed in seeds]
        both = [pooled(side) for side in zip(*here, strict=True)]
        cells = [shown(measure, result) for measure in _MEASURES for result in both]
        table.add_row(kind, str(len(seeds)), *cells, *(f"{number:.2f}" for number in ratio_of_errors(here)))
    return table


def ratio_of_errors(pairs: list[Pair]) -> tuple[float, float]:
    """Return the geometric mean of the ratios of errors, and the factor of one standard error over the problems."""
    both = [(few["error"], many["error"]) for few, many in pairs if "error" in few and "error" in many]
    logs = np.diff(np.log(np.maximum(np.array(both).reshape(-1, 2), SMALLEST)), axis=1)
    uncertain = np.std(logs, ddof=1) / np.sqrt(len(logs)) if len(logs) > 1 else np.inf
    return float(np.exp(np.mean(logs))) if len(logs) else np.nan, float(np.exp(uncertain))


def _larger(few: Store, many: Store) -> set[int]:
    """Return the problems that have more rows; a table that is used once may not."""
    before = descriptions_of(few)
    return {
        seed
        for seed, described in descriptions_of(many).items()
        if seed in before and min(described["rows"]) > min(before[seed]["rows"])
    }


def _by_kind(store: Store, seeds: list[int]) -> dict[str, list[int]]:
    """Return the problems of all kinds, one way to divide them after the other."""
    kinds: dict[tuple[int, tuple[float, str], str], list[int]] = defaultdict(list)
    described = descriptions_of(store)
    for seed in seeds:
        for place, way in enumerate(KINDS):
            kind = groups(described[seed])[way]
            kinds[place, order(kind), f"{way}: {kind}"].append(seed)
    return {"all": seeds} | {label: kinds[place, at, label] for place, at, label in sorted(kinds)}
