"""What is asked of an estimator: divergences, the posterior at new rows, importance weights.

A divergence is compared with its truth. The posterior's answer is the excess of its log loss over that of the true
posterior, both classes equally likely, at rows that the fit has not seen. The weights' answer is the mean log ratio
over Q's rows, weighted to stand for P, which should be KL.
"""

from typing import Any

import numpy as np

from zoo_problems.cores import Rows, Sample
from zoo_problems.definition import Problem
from zoo_problems.truths import KINDS, RENYI_ORDER
from zoo_runs.entrants import NotAskedError

POSTERIOR, WEIGHTS = "posterior", "weights"
QUESTIONS = (*KINDS, POSTERIOR, WEIGHTS)
FRESH = 2_000
"""Rows of either class that judge a posterior; tables without replacement have fewer."""

Answer = dict[str, Any]


def check_questions(asked: list[str]) -> None:
    """Raise if there is no such question."""
    for question in asked:
        if question not in QUESTIONS:
            raise ValueError(f"A question must be one of {list(QUESTIONS)}. Got {question!r} instead.")


def ask(question: str, first: bool, fitted: Any, drawn: Sample) -> Answer:
    """Return the answer to a question as numbers; `first` if what answers one question only is meant to answer this."""
    if question == POSTERIOR:
        return {"value": excess_log_loss(_method(fitted, "log_ratio", question), drawn.fresh_p, drawn.fresh_q)}
    if question == WEIGHTS:
        return weighted_mean(_method(fitted, "importance_weights", question)(), drawn.q)
    if hasattr(fitted, "divergence"):
        order = (RENYI_ORDER,) if question == "renyi" else ()
        return numbers(fitted.divergence(question, *order))
    if first:
        return numbers(fitted)
    raise NotAskedError(question)


def _method(fitted: Any, name: str, question: str) -> Any:
    if not hasattr(fitted, name):
        raise NotAskedError(question)
    return getattr(fitted, name)


def numbers(answer: Any) -> Answer:
    """Return the value and the interval of a number or an estimate."""
    result = {"value": float(getattr(answer, "value", answer))}
    if hasattr(answer, "interval"):
        low, high = answer.interval
        result |= {"low": float(low), "high": float(high)}
    return result


def excess_log_loss(log_ratio: Any, p: Rows, q: Rows) -> float:
    """Return how much larger the log loss is than that of the true ratio."""
    terms = [
        np.mean(np.logaddexp(0, sign * np.asarray(log_ratio(rows.x))) - np.logaddexp(0, sign * rows.log_ratio))
        for rows, sign in ((p, -1), (q, 1))
    ]
    return float(0.5 * sum(terms))


def weighted_mean(weights: Any, q: Rows) -> Answer:
    """Return the weighted mean of the true log ratio, and the effective size in units of that of the true weights."""
    weights, true = np.asarray(weights), np.exp(q.log_ratio)
    return {
        "value": float(np.average(q.log_ratio, weights=weights)),
        "effective": effective_size(weights) / effective_size(true),
    }


def effective_size(weights: Any) -> float:
    return float(weights.sum() ** 2 / (weights**2).sum())


def truths_of(problem: Problem) -> dict[str, list[float]]:
    """Return value, floor and error of every question's truth.

    The posterior's unit is what there is to lose: the log loss of the prior over that of the true posterior, which is
    the Jensen–Shannon divergence, and the expected loss of fitting one number, so that it is positive where P = Q.
    """
    found = {kind: list(problem.truth(kind)) for kind in KINDS}
    one_number = sum(1 / rows for rows in problem.rows) / 8
    found[POSTERIOR] = [0.0, found["jensen-shannon"][0] + one_number, 0.0]
    kl, _, error = found["kl"]
    variances = [
        (reference.q_weight @ (np.exp(reference.log_ratio) * (reference.log_ratio - kl)) ** 2)
        for reference in problem.references
    ]
    found[WEIGHTS] = [kl, float(np.sqrt(np.mean(variances) / problem.rows[1])), error]
    return found
