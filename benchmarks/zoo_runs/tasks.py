"""One task: an estimator, a problem, a repetition; or no estimator, and the problem is described."""

import math
import warnings
from collections import Counter
from functools import lru_cache
from time import perf_counter
from typing import Any

from running import Record, Task
from zoo_problems import Problem, problem
from zoo_runs.entrants import ORACLE, NotAskedError, fit
from zoo_runs.oracle import Oracle
from zoo_runs.questions import FRESH, POSTERIOR, Answer, ask, truths_of


def run_task(task: Task) -> Record:
    """Return the answers of an estimator, or the description of a problem with its truths."""
    seed, repetition, estimator, questions, rows = task
    one = _problem(seed, rows)
    if estimator is None:
        return {"problem": seed, "asked_rows": rows, "description": one.describe() | {"truths": truths_of(one)}}
    drawn = one.draw(repetition, FRESH if POSTERIOR in questions else 0)
    record: Record = {"problem": seed, "asked_rows": rows, "repetition": repetition, "estimator": estimator}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        record["answers"] = answers(estimator, questions, drawn)
    record["not_asked"] = [question for question in questions if question not in record["answers"]]
    record["warnings"] = dict(Counter(warning.category.__name__ for warning in caught))
    record["warned"] = any(warning.category.__module__.startswith("vwkde") for warning in caught)
    return record


@lru_cache(maxsize=4)
def _problem(seed: int, rows: int | None) -> Problem:
    return problem(seed) if rows is None else problem(seed).with_rows(rows)


def answers(estimator: str, questions: tuple[str, ...], drawn: Any) -> dict[str, Answer]:
    """Return the answers by question, or the errors that came instead. The time to fit counts for each of them."""
    start = perf_counter()
    try:
        fitted = Oracle(drawn) if estimator == ORACLE else fit(estimator, drawn.p.x, drawn.q.x)
    except Exception as error:  # what is refused is counted; it must not end the run
        refusal = failure(error) | {"seconds": perf_counter() - start}
        return dict.fromkeys(questions, refusal)
    seconds, found = perf_counter() - start, {}
    for place, question in enumerate(questions):
        start = perf_counter()
        try:
            answer = finite(ask(question, place == 0, fitted, drawn))
        except (NotAskedError, NotImplementedError):
            continue
        except Exception as error:
            answer = failure(error)
        found[question] = answer | {"seconds": seconds + perf_counter() - start}
    return found


def failure(error: Exception) -> Answer:
    return {"error": type(error).__name__, "words": str(error)[:300]}


def finite(answer: Answer) -> Answer:
    """Return an answer for JSON, which has no infinity: an end of an interval that is not finite is None."""
    if not math.isfinite(answer["value"]):
        return {"error": "NotFinite", "words": str(answer["value"])}
    return {name: number if math.isfinite(number) else None for name, number in answer.items()}


def crashed(task: Task) -> Record:
    """Return the record of a task that ended its process."""
    seed, repetition, estimator, questions, rows = task
    answer = {"error": "Crash", "words": "", "seconds": 0.0}
    record = {"problem": seed, "asked_rows": rows, "repetition": repetition, "estimator": estimator}
    silent = {"warnings": {}, "warned": False, "not_asked": []}
    return record | silent | {"answers": dict.fromkeys(questions, answer)}
