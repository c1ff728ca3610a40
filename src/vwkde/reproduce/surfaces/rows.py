"""Layout of tables 1 and 2: every method next to the paper's numbers, means by class, and the claims of both."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from vwkde.reproduce.core.figure import Claim, Results
from vwkde.reproduce.surfaces.study import COLUMNS, LABELS, SUPERVISED

Floats = NDArray[np.float64]
Paper = dict[str, dict[str, tuple[float, float]]]
Taken = Callable[[Results, str], Results]
"""Returns a method's numbers by column: one list per class, with one entry per repetition."""

REPETITIONS = 3
_UNSEEN = "unseen"
_NONE = "–"


def total(results: Results, taken: Taken, method: str, column: str) -> tuple[float, float]:
    """Return the mean and the standard deviation, over the repetitions, of the mean over the classes."""
    means = np.array(taken(results, method)[column]).mean(axis=0)
    return float(means.mean()), float(means.std(ddof=1)) if len(means) > 1 else float("nan")


def deal_in_words(results: Results) -> list[str]:
    """Return a line that says how many images there are of each kind, and where the digits come from."""
    kinds = {tuple(counts.items()) for counts in results["images"].values()}
    if len(kinds) == 1:
        (only,) = map(dict, kinds)
        counts = (
            f"Per class {only['fit']} good images to fit, {only['good']} others and {only['defective']} defective ones "
            f"to test; a digit on {only['spoilt']} of the good ones"
        )
    else:
        counts = "Images of each kind: " + "; ".join(f"{name} {each}" for name, each in results["images"].items())
    lines = [f"{counts}. Digits: {results['digits']}. Classes: {', '.join(results['classes'])}."]
    lines += [f"{LABELS[method]}: {reason}." for method, reason in results["missing"].items()]
    return lines


def table(results: Results, taken: Taken, paper: Paper, measure: str) -> list[str]:
    """Return the table: a row per method, with the paper's numbers next to ours."""
    heads = [measure, COLUMNS["dagm"], "paper", COLUMNS["pasted"], COLUMNS["added"], "paper, unseen defect"]
    lines = [markdown_row(heads), markdown_row(["---"] * len(heads))]
    for method in results["methods"]:
        theirs = paper.get(method, {})
        ours = {column: _with_deviation(*total(results, taken, method, column)) for column in COLUMNS}
        cells = [
            LABELS[method],
            ours["dagm"],
            _with_deviation(*theirs["dagm"]) if theirs else _NONE,
            ours["pasted"],
            ours["added"],
            _with_deviation(*theirs[_UNSEEN]) if theirs else _NONE,
        ]
        lines.append(markdown_row(cells))
    return lines


def per_class(results: Results, taken: Taken, column: str) -> list[str]:
    """Return a table of one column's means, class by class."""
    heads = ["", *results["classes"], "mean"]
    lines = [markdown_row(heads), markdown_row(["---"] * len(heads))]
    for method in results["methods"]:
        means = np.array(taken(results, method)[column]).mean(axis=1)
        lines.append(markdown_row([LABELS[method], *(f"{value:.3f}" for value in means), f"{means.mean():.3f}"]))
    return lines


def best_of_unsupervised(
    results: Results, taken: Taken, paper: Paper, measure: str, where: str, doing: str
) -> list[Claim]:
    """Return the claims that the paper's method is the best without labels, and as good as published."""
    others = [method for method in paper if method in results["methods"] and method not in (*SUPERVISED, "vwkde")]

    def claim(text: str, columns: tuple[str, ...]) -> Claim:
        parts, holds = [], True
        for column in columns:
            ours = total(results, taken, "vwkde", column)[0]
            best = max(others, key=lambda method: total(results, taken, method, column)[0])
            rival = total(results, taken, best, column)[0]
            parts.append(f"{COLUMNS[column]}: VWKDE {ours:.3f}, best other {LABELS[best]} {rival:.3f}")
            holds &= ours >= rival
        return Claim(text, where, f"{measure}: {'; '.join(parts)}", holds)

    def reached(column: str, theirs: str) -> Claim:
        ours, printed = total(results, taken, "vwkde", column)[0], paper["vwkde"][theirs][0]
        return Claim(
            f"VWKDE reaches {printed:.3f} in {doing} {'DAGM defects' if theirs == 'dagm' else 'unseen defects'}.",
            where,
            f"{measure} {ours:.3f} ({COLUMNS[column]})",
            ours >= printed,
        )

    claims = [
        claim(f"VWKDE is the best of many methods without labels in {doing} DAGM defects.", ("dagm",)),
        claim(f"VWKDE is the best of many methods without labels in {doing} unseen defects.", ("pasted", "added")),
        reached("dagm", "dagm"),
        reached("pasted", _UNSEEN),
    ]
    if "cnn" in results["methods"]:
        claims.append(_labels_help_only_there(results, taken, measure, where, doing))
    return claims


def _labels_help_only_there(results: Results, taken: Taken, measure: str, where: str, doing: str) -> Claim:
    network = {column: total(results, taken, "cnn", column)[0] for column in COLUMNS}
    ours = {column: total(results, taken, "vwkde", column)[0] for column in COLUMNS}
    return Claim(
        f"The CNN, which uses labels, is better only in {doing} DAGM defects.",
        where,
        f"{measure}, CNN and VWKDE: "
        + "; ".join(f"{name} {network[column]:.3f} and {ours[column]:.3f}" for column, name in COLUMNS.items()),
        network["dagm"] > ours["dagm"] and network["pasted"] < ours["pasted"],
    )


def _with_deviation(mean: float, deviation: float) -> str:
    return f"{mean:.3f}" if np.isnan(deviation) else f"{mean:.3f} ± {deviation:.3f}"


def markdown_row(cells: list[str]) -> str:
    """Return a row of a table in Markdown."""
    return f"| {' | '.join(cells)} |"
