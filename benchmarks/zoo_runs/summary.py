"""Answers and truths become numbers: per problem, and over problems.

Errors are in units of the problem's floor. With one repetition the error of a problem is |error|/floor, whose median is
0.67 for an estimator that attains the floor; with more it is RMSE/floor, which is 1 for such an estimator.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import numpy as np

Results = dict[str, Any]
Store = dict[str, Any]

_NORMAL = 1.96
_MOST_TRUTH_ERROR = 0.25
"""Largest standard error of a truth, in units of the floor, with which a problem counts."""
SMALLEST = 1e-3
"""Errors below this part of the floor count as this part in geometric means: an exact hit says nothing more."""


def descriptions_of(store: Store) -> dict[int, dict[str, Any]]:
    """Return the descriptions of a store's problems by seed."""
    return {record["problem"]: record["description"] for record in store["records"] if "description" in record}


def by_rows(stores: dict[str, Store]) -> dict[str, Store]:
    """Return stores by name and by the rows that were asked for, the fewest first; where none were, by name alone."""
    found = {(name, record.get("asked_rows")) for name, store in stores.items() for record in store["records"]}
    return {
        name if rows is None else f"{name} {rows:,} rows".strip(): stores[name]
        | {"records": [record for record in stores[name]["records"] if record.get("asked_rows") == rows]}
        for name, rows in sorted(found, key=lambda pair: (pair[0], pair[1] or 0))
    }


def per_problem(store: Store, question: str) -> dict[str, dict[int, Results]]:
    """Return the measures of every problem, by estimator and seed; problems without a clear truth are left out."""
    described = descriptions_of(store)
    answers: dict[str, dict[int, list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    for record in store["records"]:
        if question in record.get("answers", {}) and _is_clear(described.get(record["problem"]), question):
            answer = record["answers"][question] | {"warned": record["warned"]}
            answers[record["estimator"]][record["problem"]].append(answer)
    return {
        estimator: {
            seed: measures(each, *described[seed]["truths"][question][:2]) for seed, each in sorted(by_seed.items())
        }
        for estimator, by_seed in answers.items()
    }


def _is_clear(described: dict[str, Any] | None, question: str) -> bool:
    if described is None:
        return False
    _, floor, error = described["truths"][question]
    return bool(0 < floor < np.inf and error <= _MOST_TRUTH_ERROR * floor)


def measures(answers: list[dict[str, Any]], truth: float, floor: float) -> Results:
    """Return the measures of the answers to one problem."""
    given = [answer for answer in answers if "error" not in answer]
    result: Results = {
        "asked": len(answers),
        "answered": len(given),
        "seconds": float(np.mean([answer["seconds"] for answer in answers])),
    }
    if not given:
        return result
    error = (np.array([answer["value"] for answer in given]) - truth) / floor
    result |= {"error": float(np.sqrt(np.mean(error**2))), "bias": float(error.mean())}
    if all("low" in answer for answer in given):
        result |= _of_intervals(given, truth, floor)
    if all("effective" in answer for answer in given):
        result["effective"] = float(np.mean([answer["effective"] for answer in given]))
    return result


def _of_intervals(given: list[dict[str, Any]], truth: float, floor: float) -> Results:
    low = np.array([-np.inf if answer["low"] is None else answer["low"] for answer in given])
    high = np.array([np.inf if answer["high"] is None else answer["high"] for answer in given])
    covers, warned = (low <= truth) & (truth <= high), np.array([answer["warned"] for answer in given])
    return {
        "coverage": float(covers.mean()),
        "width": float(np.median((high - low) / (2 * _NORMAL * floor))),
        "misleads": float(np.mean(~covers & ~warned)),
    }


def pooled(problems: Iterable[Results]) -> Results:
    """Return the measures over problems, each of which counts once."""
    each = list(problems)
    answered = [one for one in each if one["answered"]]
    result: Results = {
        "problems": len(each),
        "answered": sum(one["answered"] for one in each) / max(1, sum(one["asked"] for one in each)),
        "seconds": float(np.mean([one["seconds"] for one in each])) if each else np.nan,
    }
    if not answered:
        return result
    error = np.array([one["error"] for one in answered])
    result |= {
        "geometric mean": float(np.exp(np.mean(np.log(np.maximum(error, SMALLEST))))),
        "median": float(np.median(error)),
        "90 %": float(np.quantile(error, 0.9)),
        "worst": float(error.max()),
        "root mean square": float(np.sqrt(np.mean(error**2))),
        "bias": float(np.mean([one["bias"] for one in answered])),
        "median bias": float(np.median([one["bias"] for one in answered])),
    }
    with_interval = [one for one in answered if "coverage" in one]
    if with_interval:
        coverage = np.array([one["coverage"] for one in with_interval])
        result |= {
            "coverage": float(coverage.mean()),
            "coverage ≥ 90 %": float(np.mean(coverage >= 0.9)),
            "width": float(np.median([one["width"] for one in with_interval])),
            "misleads": float(np.mean([one["misleads"] for one in with_interval])),
        }
    if all("effective" in one for one in answered):
        result["effective size"] = float(np.median([one["effective"] for one in answered]))
    return result


def summary(store: Store, questions: Iterable[str]) -> dict[str, dict[str, Results]]:
    """Return the measures over all problems, by question and estimator, for JSON: what is not finite is None."""
    return {
        question: {
            estimator: {
                name: number if np.isfinite(number) else None for name, number in pooled(by_seed.values()).items()
            }
            for estimator, by_seed in per_problem(store, question).items()
        }
        for question in questions
    }


GROUPS = ("base", "change", "columns", "rows of the smaller sample", "number of columns", "KL")
"""Ways to divide the problems."""


def groups(described: dict[str, Any]) -> dict[str, str]:
    """Return the groups that a problem belongs to, one for each way to divide the problems."""
    names = (
        described["base"],
        described["change"],
        described["columns_kind"],
        _between(min(described["rows"]), (30, 100, 300, 1_000, 3_000, 20_001)),
        _between(described["columns"], (1, 2, 4, 9, 21, 61)),
        _between(described["truths"]["kl"][0], (0.0, 0.01, 0.1, 0.5, 3.0)),
    )
    return dict(zip(GROUPS, names, strict=True))


def _between(number: float, edges: tuple[float, ...]) -> str:
    """Return the range, from one edge up to before the next, that a number lies in."""
    place = int(np.clip(np.searchsorted(edges, number, side="right"), 1, len(edges) - 1))
    low, high = edges[place - 1], edges[place]
    if isinstance(low, float):
        return f"{low:g} to {high:g}"
    return f"{low:,}" if high == low + 1 else f"{low:,} to {high - 1:,}"
