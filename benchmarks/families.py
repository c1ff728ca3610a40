"""The default estimator of KL against its peers on many families of densities: error, floor, coverage and time.

Every family is a pair whose log ratio is known. The floor is √(Var_p(log r)/n + Var_q(r)/m): the scatter of an
estimator that knows the ratio to first order.

Run with `python benchmarks/families.py [--repetitions 30] [--only NAME …] [--methods NAME …]`; `--methods` adds a
column for each of these estimators, or for all of `vwkde.methods()` with `--methods all`. `--hard` takes the pairs of
`hard_families.py` instead, on which estimators are easily wrong and sure of it; `--fields` those of
`field_families.py`, which look like the data of particular fields; `--relations` those of `relation_families.py`, which
differ in how columns, or parts of a row, go together. With `--jobs 16` so many families are measured at a time, each by
a process of one thread.
"""

import argparse
import multiprocessing
import os
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy import stats
from scipy.special import logsumexp

import vwkde
from field_families import field_pairs
from hard_families import KnownPair, hard_pairs
from peers import boosted, nearest_neighbours, quadratic
from relation_families import relation_pairs
from vwkde.datasets import (
    Gaussian,
    GaussianPair,
    Pair,
    bananas,
    heteroscedastic,
    isotropic,
    mean_difference,
    one_dimensional,
    three_modes,
)

Floats = np.ndarray
Draw = Callable[[int, np.random.Generator], Floats]


@dataclass(frozen=True)
class Family:
    """Two densities by their samplers, and the log ratio between them."""

    name: str
    numerator: Draw
    denominator: Draw
    log_ratio: Callable[[Floats], Floats]
    rows: tuple[int, int] = (1_000, 1_000)

    def sample(self, seed: int) -> tuple[Floats, Floats]:
        """Draw both samples."""
        random = np.random.default_rng([seed, 7])
        return self.numerator(self.rows[0], random), self.denominator(self.rows[1], random)

    def truth_and_floor(self) -> tuple[float, float]:
        """Return the KL divergence and the floor, from large samples."""
        random = np.random.default_rng(0)
        p, q = (self.log_ratio(draw(400_000, random)) for draw in (self.numerator, self.denominator))
        return float(p.mean()), float(np.sqrt(p.var() / self.rows[0] + np.exp(q).var() / self.rows[1]))


def known(name: str, pair: Pair[Any], rows: tuple[int, int] = (1_000, 1_000)) -> Family:
    return Family(name, pair.numerator.sample, pair.denominator.sample, pair.log_ratio, rows)


def rotated(dimension: int) -> GaussianPair:
    """Return correlated Gaussians with condition number 100 in random directions."""
    random = np.random.default_rng(dimension)
    turn = stats.special_ortho_group.rvs(dimension, random_state=dimension)
    covariance = turn @ np.diag(np.geomspace(1, 100, dimension)) @ turn.T
    root = np.linalg.cholesky(covariance)
    stretch = np.eye(dimension) + 0.25 / np.sqrt(dimension) * random.normal(size=(dimension, dimension))
    shift = random.normal(size=dimension)
    return GaussianPair(
        Gaussian(np.zeros(dimension), covariance),
        Gaussian(0.6 * root @ shift / np.linalg.norm(shift), root @ stretch @ stretch.T @ root.T),
    )


def independent(name: str, p: stats.rv_continuous, q: stats.rv_continuous, columns: int) -> Family:
    return Family(
        name,
        lambda n, random: p.rvs((n, columns), random_state=random),
        lambda n, random: q.rvs((n, columns), random_state=random),
        lambda x: (p.logpdf(x) - q.logpdf(x)).sum(axis=1),
    )


def student(name: str, shift: float, scale: float) -> Family:
    p = stats.multivariate_t(np.zeros(3), np.eye(3), df=5)
    q = stats.multivariate_t([shift, 0, 0], scale * np.eye(3), df=5)
    return Family(
        name,
        lambda n, random: p.rvs(n, random_state=random),
        lambda n, random: q.rvs(n, random_state=random),
        lambda x: p.logpdf(x) - q.logpdf(x),
    )


def mixture(name: str, noise: int) -> Family:
    """Return two mixtures of three Gaussians in two columns, with `noise` more columns of noise."""
    means = np.array([[-2, 0], [1.2, 1.6], [1.2, -1.6]]), np.array([[2, 0], [-1, 1.4], [-1, -1.4]])
    variances = (0.5, 0.6, 0.6), (0.6, 0.8, 0.8)

    def draw(k: int) -> Draw:
        def sample(n: int, random: np.random.Generator) -> Floats:
            part = random.integers(0, 3, n)
            x = means[k][part] + np.sqrt(np.array(variances[k])[part])[:, None] * random.normal(size=(n, 2))
            return np.column_stack([x, random.normal(size=(n, noise))])

        return sample

    def log_density(x: Floats, k: int) -> Floats:
        parts = zip(means[k], variances[k], strict=True)
        return logsumexp([stats.multivariate_normal(m, v * np.eye(2)).logpdf(x[:, :2]) for m, v in parts], axis=0)

    return Family(name, draw(0), draw(1), lambda x: log_density(x, 0) - log_density(x, 1))


def families() -> Iterator[Family]:
    unequal = GaussianPair(
        Gaussian(np.zeros(6), np.eye(6)), Gaussian(0.8 * np.eye(6)[0], np.diag([1, 1.3, 0.8, 1, 1, 1]))
    )
    yield known("1-D", one_dimensional())
    yield from (known(f"Iso {d}-D", isotropic(d)) for d in (5, 10, 20))
    yield from (known(f"NH {d}-D", heteroscedastic(d)) for d in (10, 20))
    yield from (known(f"VMD {d}", mean_difference(20, d), (2_000, 2_000)) for d in (0.5, 1.0, 2.0))
    yield mixture("mixtures 2-D", 0)
    yield mixture("mixtures 20-D", 18)
    yield from (known(f"three modes {d}-D", three_modes(d)) for d in (2, 20))
    yield student("Student t5 3-D, shifted", 1.0, 1.0)
    yield student("Student t5 3-D, wider", 0.5, 2.0)
    yield known("banana 2-D", bananas())
    yield known("banana 2-D, 200 rows", bananas(), (200, 200))
    yield from (known(f"rotated {d}-D", rotated(d)) for d in (5, 10, 30))
    yield known("200 against 5,000", unequal, (200, 5_000))
    yield known("5,000 against 200", unequal, (5_000, 200))
    yield from (known(f"P = Q, {d}-D", mean_difference(d, 0.0)) for d in (3, 10))
    yield independent("Beta against uniform 3-D", stats.beta(2, 2), stats.uniform(), 3)
    yield independent("lognormal 4-D", stats.lognorm(0.8), stats.lognorm(0.8, scale=1.4), 4)
    yield independent("Gamma 3-D", stats.gamma(2), stats.gamma(3), 3)
    yield independent("Laplace 3-D", stats.laplace(), stats.laplace(0.5), 3)
    yield independent("exponential 1-D", stats.expon(), stats.expon(scale=2), 1)


def families_of(pairs: Iterator[KnownPair]) -> Iterator[Family]:
    for pair in pairs:
        yield Family(pair.name, pair.numerator.sample, pair.denominator.sample, pair.log_ratio, pair.rows)


def peers(p: Floats, q: Floats) -> dict[str, float]:
    return {
        "kde": vwkde.kl_divergence(p, q, method="kde").value,
        "vwkde-mb": vwkde.kl_divergence(p, q, method="vwkde-mb").value,
        "1-NN": nearest_neighbours(p, q, 1),
        "5-NN": nearest_neighbours(p, q, 5),
        "boosting": boosted(p, q).divergence("kl"),
        "quadratic logistic": quadratic(p, q).divergence("kl"),
    }


def rivals(p: Floats, q: Floats, with_peers: bool, methods: list[str]) -> dict[str, float]:
    values = peers(p, q) if with_peers else {}
    return values | {name: vwkde.kl_divergence(p, q, method=name).value for name in methods if name not in values}


SETS: dict[str, Callable[[], list[Family]]] = {
    "families": lambda: list(families()),
    "hard": lambda: list(families_of(hard_pairs())),
    "fields": lambda: list(families_of(field_pairs())),
    "relations": lambda: list(families_of(relation_pairs())),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=30)
    parser.add_argument("--only", nargs="*", default=None)
    parser.add_argument("--hard", action="store_const", const="hard", dest="set", default="families")
    parser.add_argument("--fields", action="store_const", const="fields", dest="set")
    parser.add_argument("--relations", action="store_const", const="relations", dest="set")
    parser.add_argument("--without-peers", action="store_true")
    parser.add_argument("--methods", nargs="*", default=[], choices=[*vwkde.methods(), "all"], metavar="NAME")
    parser.add_argument("--jobs", type=int, default=1, help="families at a time")
    options = parser.parse_args()
    methods = list(vwkde.methods()) if "all" in options.methods else options.methods
    names = [family.name for family in SETS[options.set]()]
    chosen = [name for name in names if options.only is None or any(word in name for word in options.only)]
    work = partial(measured, options.set, options.repetitions, not options.without_peers, methods)
    results = []
    for result in in_processes(work, chosen, options.jobs) if options.jobs > 1 else map(work, chosen):
        results.append(result)
        print({name: round(value, 4) for name, value in result.items() if not isinstance(value, str)}, flush=True)
    Console(width=max(140, 12 * len(results[0]))).print(as_table(results, options.repetitions))


def in_processes(work: Callable[[str], dict[str, Any]], names: list[str], jobs: int) -> Iterator[dict[str, Any]]:
    os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
        yield from pool.map(work, names)


def measured(set_name: str, repetitions: int, with_peers: bool, methods: list[str], name: str) -> dict[str, Any]:
    """Measure one family by its name; functions cannot be sent to another process."""
    warnings.simplefilter("ignore")
    family = next(each for each in SETS[set_name]() if each.name == name)
    return measure(family, repetitions, with_peers, methods)


def measure(family: Family, repetitions: int, with_peers: bool, methods: list[str]) -> dict[str, Any]:
    truth, floor = family.truth_and_floor()
    start = perf_counter()
    estimates = [vwkde.kl_divergence(*family.sample(seed)) for seed in range(repetitions)]
    seconds = (perf_counter() - start) / repetitions
    others = [rivals(*family.sample(seed), with_peers, methods) for seed in range(repetitions)]
    error = np.array([e.value for e in estimates]) - truth
    covered = np.mean([e.interval[0] <= truth <= e.interval[1] for e in estimates])
    result = {"family": family.name, "truth": truth, "floor": floor, "default": np.sqrt(np.mean(error**2))}
    result |= {"bias": error.mean(), "covers": covered, "seconds": seconds}
    return result | {name: np.sqrt(np.mean([(other[name] - truth) ** 2 for other in others])) for name in others[0]}


def as_table(results: list[dict[str, Any]], repetitions: int) -> Table:
    table = Table(title=f"KL: root mean squared error over {repetitions} repetitions, floor, and coverage of 95 %")
    for name in results[0]:
        table.add_column(name, justify="left" if name == "family" else "right")
    for result in results:
        table.add_row(*(value if isinstance(value, str) else f"{value:.3f}" for value in result.values()))
    return table


if __name__ == "__main__":
    main()
