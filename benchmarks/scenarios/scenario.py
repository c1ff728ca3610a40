"""What a scenario is: samples, a question, and the range of right answers."""

import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from time import perf_counter
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from scipy import integrate, stats

import vwkde

Floats = NDArray[np.float64]
Random = np.random.Generator
Range = tuple[float, float]


class Answer(NamedTuple):
    """A number, and its interval if it has one."""

    value: float
    low: float = np.nan
    high: float = np.nan


@dataclass(frozen=True)
class Scenario:
    """One line of the table.

    `draw` returns what `ask` takes. `truth` is the right answer, or the lowest and highest right ones, or a function
    that computes them. `reported` is what was reported as wrong; fresh scenarios have none: they show the same fault on
    data that nobody looked at. `measure` is "interval" (error and coverage), "number" (error only) or "level" (how
    often a p-value is small). `repetitions` multiplies the number of repetitions, for questions that cost little.
    """

    name: str
    item: int
    draw: Callable[[Random], tuple[Any, ...]]
    truth: float | Range | Callable[[], float | Range]
    ask: Callable[..., Answer]
    reported: str = ""
    measure: str = "interval"
    slow: bool = False
    needs: str = ""
    repetitions: int = 1

    @property
    def fresh(self) -> bool:
        """Whether the scenario is not one of those that were reported."""
        return not self.reported

    def right(self) -> Range:
        """Return the lowest and the highest right answer."""
        truth = self.truth() if callable(self.truth) else self.truth
        return truth if isinstance(truth, tuple) else (float(truth), float(truth))

    def run(self, seed: int) -> dict[str, Any]:
        """Draw, ask, and record the answer with its warnings, or the error that came instead."""
        random = np.random.default_rng([seed, crc32(self.name.encode())])
        record: dict[str, Any] = {"name": self.name, "seed": seed}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            start = perf_counter()
            try:
                data = self.draw(random)
                record |= {name: float(number) for name, number in self.ask(*data)._asdict().items()}
            except Exception as error:  # what is refused is counted; it must not end the run
                record |= {"error": type(error).__name__, "words": str(error)[:300]}
            record["seconds"] = perf_counter() - start
        record["warnings"] = dict(Counter(warning.category.__name__ for warning in caught))
        record["warned"] = any(warning.category.__module__.startswith("vwkde") for warning in caught)
        return record


def kl(**parameters: Any) -> Callable[..., Answer]:
    return divergence("kl", **parameters)


def divergence(kind: str, **parameters: Any) -> Callable[..., Answer]:
    def ask(p: Any, q: Any) -> Answer:
        return answer(vwkde.divergence(p, q, kind, **parameters))

    return ask


def mutual_information(**parameters: Any) -> Callable[..., Answer]:
    def ask(x: Any, y: Any) -> Answer:
        return answer(vwkde.mutual_information(x, y, **parameters))

    return ask


def p_value(p: Any, q: Any) -> Answer:
    return Answer(vwkde.two_sample_test(p, q, n_permutations=199).p_value)


def answer(estimate: Any) -> Answer:
    return Answer(estimate.value, *estimate.interval)


def normals(rows: int, columns: int = 1) -> Callable[[Random], Floats]:
    return lambda random: random.normal(size=(rows, columns))


def pair_of(one: Callable[[Random], Any], other: Callable[[Random], Any]) -> Callable[[Random], tuple[Any, Any]]:
    """Return what draws two independent samples."""
    return lambda random: (one(random), other(random))


def gaussians(columns: int, rows: int, distance: float) -> Callable[[Random], tuple[Floats, Floats]]:
    """Return what draws two unit Gaussians whose means are this far apart."""
    shift = distance / np.sqrt(columns)
    return lambda random: (random.normal(size=(rows, columns)) + shift, random.normal(size=(rows, columns)))


def independent(p: Any, q: Any, columns: int, rows: int) -> Callable[[Random], tuple[Floats, Floats]]:
    """Return what draws samples of independent columns, each with these distributions of SciPy."""
    size = (rows, columns)
    return lambda random: (p.rvs(size, random_state=random), q.rvs(size, random_state=random))


def kl_of(p: Any, q: Any, columns: int = 1) -> Callable[[], float]:
    """Return what integrates the KL divergence of such columns."""
    return lambda: columns * _integral(p, lambda x: p.logpdf(x) - q.logpdf(x))


def _integral(p: Any, term: Callable[[float], float]) -> float:
    """Return the mean of a term under p, by parts between quantiles, so that no peak or tail is missed."""
    ends = [p.support()[0], *p.ppf([1e-12, 1e-6, 0.01, 0.25, 0.5, 0.75, 0.99, 1 - 1e-6, 1 - 1e-12]), p.support()[1]]
    return float(
        sum(integrate.quad(lambda x: p.pdf(x) * term(x) if p.pdf(x) else 0.0, *part)[0] for part in pairwise(ends))
    )


NORMAL = stats.norm()
