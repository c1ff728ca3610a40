"""What is timed: kernel sums, the weight's fit, a KL divergence from end to end, and inspection."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dsyrk
from scipy.linalg.lapack import dpotrf

from vwkde import datasets
from vwkde._compute.choice import choose_resources
from vwkde._compute.resources import Resources
from vwkde._compute.sums import log_kernel_sums
from vwkde.bench.limits import Limits
from vwkde.bench.measurement import Measurement, best_time, growing
from vwkde.bench.peers import Sums, peers_of_kl, peers_of_sums
from vwkde.divergences import kl_divergence, make_ratio
from vwkde.inspection import SurfaceInspector, make_surfaces

Array = NDArray[np.floating]
Floats = NDArray[np.float64]

QUADRATIC, LINEAR = 4.0, 2.0
"""How many times longer a task takes for twice the size."""
_SETTINGS = ((16, "float64"), (16, "float32"), (4, "float32"))
"""Columns and precision of the kernel sums."""
_FIT_COLUMNS, _FIT_BASIS, _KL_COLUMNS = 20, 3_000, 10
_SIDE = 512
"""Side of the inspected images in pixels."""


@dataclass(frozen=True)
class Sizes:
    """Rows, or good images, of each task, from small to large."""

    sums: tuple[int, ...] = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 300_000, 1_000_000)
    fit: tuple[int, ...] = (500, 1_000, 2_000, 5_000, 10_000)
    kl: tuple[int, ...] = (500, 1_000, 2_000, 5_000, 10_000)
    inspection: tuple[int, ...] = (10, 25, 50, 100)


QUICK = Sizes(sums=(500, 1_000, 2_000), fit=(500, 1_000), kl=(250, 500), inspection=(5, 10))


@dataclass(frozen=True)
class Bench:
    """A run: the engines with their devices, the sizes, and the limits by device and precision."""

    engines: dict[str, str]
    sizes: Sizes
    limits: dict[tuple[str, str], Limits]

    def sums(self) -> Iterator[Measurement]:
        """Time weighted log kernel sums by all engines and peers, each exact; the work is the number of kernels."""
        for columns, dtype in _SETTINGS:
            contenders: list[tuple[str, str, Sums]] = [
                *((f"vwkde {engine}", device, self._sums_by(engine)) for engine, device in self.engines.items()),
                *((name, "cpu", work) for name, work in peers_of_sums()),
            ]
            for name, device, contender in contenders:
                limit = self.limits[device, dtype].pairs(columns)
                run = partial(_time_sums, contender, columns, dtype)
                for rows, seconds in growing(list(self.sizes.sums), QUADRATIC, run):
                    yield Measurement("sums", name, rows, f"{columns} columns, {dtype}", seconds, rows**2, limit)

    def fit(self) -> Iterator[Measurement]:
        """Time the fit of the paper's weight, and the linear algebra that it needs at least."""
        setting = f"{_FIT_COLUMNS} columns, at most {_FIT_BASIS:,} basis points"
        floor: dict[int, float] = {}
        for rows, seconds in growing(list(self.sizes.fit), LINEAR, _time_bare_fit):
            floor[rows] = seconds
            yield Measurement("fit", "rank-k update and Cholesky", rows, setting, seconds, rows)
        for engine in self.engines:
            device = self.engines[engine]
            parameters = {"max_basis": _FIT_BASIS, "engine": engine, "device": device}
            for rows, seconds in growing(list(self.sizes.fit), LINEAR, partial(_time_fit, parameters)):
                limit = rows / floor[rows] if rows in floor else None
                yield Measurement("fit", f"vwkde {engine}", rows, setting, seconds, rows, limit)

    def kl(self) -> Iterator[Measurement]:
        """Time KL divergences from end to end: the default, the paper's estimator, plain KDE, and peers."""
        own = {"vwkde, default": None, "vwkde-mb": "vwkde-mb", "kde": "kde"}
        contenders: list[tuple[str, Callable[[Array, Array], float]]] = [
            *((name, partial(_own_kl, method)) for name, method in own.items()),
            *peers_of_kl(),
        ]
        for name, estimate in contenders:
            for rows, seconds in growing(list(self.sizes.kl), LINEAR, partial(_time_kl, estimate)):
                yield Measurement("kl", name, rows, f"{_KL_COLUMNS} columns", seconds, rows)

    def inspection(self) -> Iterator[Measurement]:
        """Time learning from good images, and the check of one image against them."""
        good = make_surfaces("woven", n_good=max(self.sizes.inspection) + 1, n_bad=0, size=_SIDE).images
        for features in ("gradient", "texture"):
            checks: dict[int, float] = {}

            def learn(count: int, features: str = features, checks: dict[int, float] = checks) -> float:
                inspector = SurfaceInspector(features=features, false_reject_rate=0.5)
                seconds = best_time(lambda: inspector.fit(good[:count]))
                checks[count] = best_time(lambda: inspector.check(good[-1]))
                return seconds

            for count, seconds in growing(list(self.sizes.inspection), QUADRATIC, learn):
                setting = f"{_SIDE} × {_SIDE} pixels"
                yield Measurement("inspection", f"{features}, learning", count, setting, seconds, count)
                yield Measurement("inspection", f"{features}, one image", count, setting, checks[count], count)

    def _sums_by(self, engine: str) -> Sums:
        return partial(_own_sums, choose_resources(engine, self.engines[engine]))


def _own_sums(resources: Resources, x: Array, y: Array, h: float, weight: Floats) -> Callable[[], Any]:
    log_weight = np.log(weight)
    return lambda: log_kernel_sums(x, y, h, log_weight=log_weight, max_error=0, resources=resources)


def _time_sums(contender: Sums, columns: int, dtype: str, rows: int) -> float:
    random = np.random.default_rng(0)
    x, y = (random.normal(size=(rows, columns)).astype(dtype) for _ in range(2))
    weight = random.exponential(size=rows)
    return best_time(contender(x, y, rows ** (-1 / (columns + 4)), weight))


def _time_bare_fit(rows: int) -> float:
    basis = min(_FIT_BASIS, 2 * rows)
    design = np.random.default_rng(0).normal(size=(2 * rows, basis))

    def work() -> None:
        normal = dsyrk(1.0, design.T, lower=1)
        normal[np.diag_indices(basis)] += basis
        dpotrf(normal, lower=1, overwrite_a=1)

    return best_time(work)


def _time_fit(parameters: dict[str, Any], rows: int) -> float:
    samples = datasets.isotropic(_FIT_COLUMNS).sample(rows)
    return best_time(lambda: make_ratio("vwkde-mb", parameters).fit(*samples))


def _own_kl(method: str | None, p: Array, q: Array) -> float:
    return kl_divergence(p, q, method=method).value


def _time_kl(estimate: Callable[[Array, Array], float], rows: int) -> float:
    p, q = datasets.isotropic(_KL_COLUMNS).sample(rows)
    return best_time(lambda: estimate(p, q))


TASKS: dict[str, Callable[[Bench], Iterator[Measurement]]] = {
    "sums": Bench.sums,
    "fit": Bench.fit,
    "kl": Bench.kl,
    "inspection": Bench.inspection,
}
PRECISIONS = tuple(dict.fromkeys(dtype for _, dtype in _SETTINGS))
