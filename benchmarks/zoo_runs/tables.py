"""The tables of the zoo."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from rich import box
from rich.table import Table

from zoo_runs.questions import POSTERIOR, QUESTIONS
from zoo_runs.summary import GROUPS, Results, Store, descriptions_of, groups, per_problem, pooled

_PERCENT = ("answered", "coverage", "coverage ≥ 90 %", "misleads")
_SPREAD = ("geometric mean", "median", "90 %", "worst", "root mean square")
_REST = ("bias", "median bias", "coverage", "coverage ≥ 90 %", "misleads", "width", "effective size", "seconds")

Measured = dict[str, dict[int, Results]]


def tables(stores: dict[str, Store], markdown: bool = False, details: bool = False, worst: int = 0) -> Iterator[Table]:
    """Yield a table of every question over all problems, and tables by kind of the first or, with `details`, of all."""
    described = {seed: each for store in stores.values() for seed, each in descriptions_of(store).items()}
    asked = {question: measured for question in QUESTIONS if (measured := _by_label(stores, question))}
    for place, (question, measured) in enumerate(asked.items()):
        yield overall(question, measured, markdown)
        for name in GROUPS if details or place == 0 else ():
            yield by_group(question, name, measured, described, markdown)
        if worst:
            yield largest(question, measured, described, worst, markdown)


def _by_label(stores: dict[str, Store], question: str) -> Measured:
    """Return the measures by estimator, of the problems that all have been asked; several files add their names."""
    measured = {
        estimator + (f" ({name})" if len(stores) > 1 else ""): by_seed
        for name, store in stores.items()
        for estimator, by_seed in per_problem(store, question).items()
    }
    common = set.intersection(*map(set, measured.values())) if measured else set()
    return {label: {seed: by_seed[seed] for seed in sorted(common)} for label, by_seed in measured.items() if common}


def unit(question: str, measured: Measured) -> str:
    """Return what the errors of a table are."""
    if question == POSTERIOR:
        return "excess log loss/what there is to lose"
    repeated = any(one["asked"] > 1 for by_seed in measured.values() for one in by_seed.values())
    return "RMSE/floor" if repeated else "|error|/floor"


def overall(question: str, measured: Measured, markdown: bool) -> Table:
    results = {estimator: pooled(by_seed.values()) for estimator, by_seed in measured.items()}
    names = [name for name in (*_SPREAD, *_REST) if any(name in result for result in results.values())]
    table = new_table(
        f"{question}: {unit(question, measured)}", ["estimator", "problems", "answered", *names], markdown
    )
    for estimator, result in sorted(results.items(), key=lambda pair: pair[1].get("geometric mean", float("inf"))):
        table.add_row(estimator, str(result["problems"]), *(shown(name, result) for name in ("answered", *names)))
    return table


def by_group(question: str, name: str, measured: Measured, described: dict[int, Any], markdown: bool) -> Table:
    """Return the geometric mean of the errors and the mean coverage in every group of problems."""
    grouped: dict[str, list[int]] = defaultdict(list)
    for seed in next(iter(measured.values())):
        grouped[groups(described[seed])[name]].append(seed)
    title = f"{question} by {name}: geometric mean of {unit(question, measured)}, coverage"
    table = new_table(title, [name, "problems", *measured], markdown)
    for group, seeds in sorted(grouped.items(), key=lambda pair: order(pair[0])):
        results = [pooled(by_seed[seed] for seed in seeds) for by_seed in measured.values()]
        table.add_row(group, str(len(seeds)), *(_pair(result) for result in results))
    return table


def largest(question: str, measured: Measured, described: dict[int, Any], count: int, markdown: bool) -> Table:
    """Return the problems with the largest errors of the first estimator."""
    estimator, by_seed = next(iter(measured.items()))
    names = ("seed", "base", "change", "columns_kind", "rows", "columns")
    table = new_table(
        f"{question}: largest errors of {estimator}", [*names, "truth", "floor", "error", "bias"], markdown
    )
    answered = [(one["error"], seed) for seed, one in by_seed.items() if one["answered"]]
    for _, seed in sorted(answered, reverse=True)[:count]:
        truth, floor, _ = described[seed]["truths"][question]
        one = by_seed[seed]
        numbers = (f"{number:.3g}" for number in (truth, floor, one["error"], one["bias"]))
        table.add_row(*(str(described[seed][name]) for name in names), *numbers)
    return table


def order(group: str) -> tuple[float, str]:
    """Return what sorts ranges by their numbers and other groups by name."""
    first = group.split()[0].replace(",", "")
    return (float(first), "") if first[0].isdigit() else (0.0, group)


def _pair(result: Results) -> str:
    if "geometric mean" not in result:
        return "–"
    return shown("geometric mean", result) + (f", {shown('coverage', result)}" if "coverage" in result else "")


def shown(name: str, result: Results) -> str:
    """Return a number as a table shows it."""
    if name not in result:
        return ""
    number = result[name]
    if name in _PERCENT:
        return f"{number:.0%}"
    sign = "+" if "bias" in name else ""
    return f"{number:{sign}.2f}" if abs(number) < 100 else f"{number:{sign}.3g}"


def new_table(title: str, columns: list[str], markdown: bool) -> Table:
    """Return an empty table, for a page or for a terminal."""
    table = Table(title=title, box=box.MARKDOWN if markdown else box.HEAVY_HEAD)
    for place, column in enumerate(columns):
        table.add_column(column, justify="right" if place else "left")
    return table
