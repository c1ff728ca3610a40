"""Importance weights beside skada (covariate shift) and hep_ml (reweighting of events), in one run.

Run with `python benchmarks/weights.py diabetes [--draws 12]` and `python benchmarks/weights.py events [--rows 50000]`.
Peers that are not installed are left out. `--tune` uses other seeds: those that choices were made with.

diabetes
    Biased samples of scikit-learn's diabetes data, and the error of the mean outcome over the population, whose columns
    are known. A row is kept with a probability that falls with some of the columns.
events
    Five columns like those of simulated and measured events. Weights are learnt from some events and used for others,
    and a new classifier tries to tell those from the data: 0.5 is the best.
"""

import argparse
import warnings
from collections.abc import Callable
from importlib import import_module
from time import perf_counter, process_time

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from scipy.special import expit
from sklearn.datasets import load_diabetes
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

import vwkde

Floats = NDArray[np.float64]
Weigh = Callable[[Floats, Floats], Floats]

SELECTIONS = {"bmi, bp, s5": ((2, 3, 8), 1.5), "bmi": ((2,), 2.0), "age, bmi, s2": ((0, 2, 5), -1.5)}
"""Columns that a row's chance depends on, and how much."""
FIRST_TUNING_SEED = 1_000


def by_logistic(target: Floats, rows: Floats) -> Floats:
    x, y = np.concatenate([target, rows]), np.repeat([1, 0], [len(target), len(rows)])
    return np.exp(LogisticRegression().fit(x, y).decision_function(rows))


def by_kmm(target: Floats, rows: Floats) -> Floats:
    skada = import_module("skada")
    x = np.concatenate([rows, target])
    domain = np.repeat([1, -2], [len(rows), len(target)])
    adapter = skada.KMMReweightAdapter().fit(x, sample_domain=domain)
    return adapter.compute_weights(x, sample_domain=domain)[: len(rows)]


ESTIMATORS: dict[str, Weigh] = {
    "uncorrected": lambda target, rows: np.ones(len(rows)),  # noqa: ARG005
    "logistic regression": by_logistic,
    "skada KMM": by_kmm,
    "vwkde": lambda target, rows: vwkde.importance_weights(target, rows).values,
}


def diabetes(options: argparse.Namespace) -> Table:
    x, y = load_diabetes(return_X_y=True)
    scaled = x / x.std(axis=0)
    table = Table(title=f"RMSE of the mean outcome over {options.draws} draws; standard deviation {y.std():.0f}")
    for column in ("estimator", *SELECTIONS, "seconds"):
        table.add_column(column, justify="left" if column == "estimator" else "right")
    for name, weigh in ESTIMATORS.items():
        start, errors = perf_counter(), []
        for columns, slope in SELECTIONS.values():
            chance = expit(-slope * scaled[:, list(columns)].sum(axis=1) / np.sqrt(len(columns)))
            draws = [
                np.random.default_rng(options.first + draw).random(len(x)) < chance for draw in range(options.draws)
            ]
            try:
                means = [np.average(y[kept], weights=weigh(x, x[kept])) for kept in draws]
            except ImportError:
                break
            errors.append(np.sqrt(np.mean((np.array(means) - y.mean()) ** 2)))
        else:
            seconds = (perf_counter() - start) / len(SELECTIONS) / options.draws
            table.add_row(name, *(f"{error:.1f}" for error in errors), f"{seconds:.2f}")
    return table


def events(rows: int, seed: int, measured: bool) -> Floats:
    """Return events: momentum, angle, tracks, isolation and mass, which differ a little between both kinds."""
    random = np.random.default_rng(seed)
    by = float(measured)
    momentum = random.gamma(3 + 0.4 * by, 8 - 0.3 * by, rows)
    angle = np.clip(random.normal(0, 1.5 - 0.15 * by, rows), -4, 4)
    tracks = random.poisson(12 + 3 * by + momentum / 12).astype(float)
    isolation = np.exp(0.5 * random.normal(size=rows) * (1 + 0.1 * by) - 0.3 * by) * (1 + tracks / 40)
    shift = by * (0.008 * np.sin(2 * angle) + 0.0004 * (momentum - 24))
    mass = 5.28 + 0.03 * random.normal(size=rows) * (1 + 0.15 * by) + shift
    return np.column_stack([momentum, angle, tracks, isolation, mass])


def entangled(rows: int, seed: int, measured: bool) -> Floats:
    """Return five columns that differ in how they depend on each other."""
    random = np.random.default_rng(seed)
    x = random.normal(size=(rows, 5))
    if measured:
        x[:, 0] = 0.9 * x[:, 0] + 0.3
        x[:, 1] += 0.4 * np.sin(2 * x[:, 0])
        x[:, 3] *= 1 + 0.3 * np.tanh(x[:, 4])
    x[:, 2] = np.exp(0.3 * x[:, 2]) * (1.1 if measured else 1.0) - 1
    return x


def held_out_area(data: Floats, simulation: Floats, weight: Floats) -> float:
    """Return the ROC AUC of a new classifier, trained on half of the events and tested on the others, both ways."""
    x, y = np.concatenate([data, simulation]), np.repeat([1, 0], [len(data), len(simulation)])
    weight = np.concatenate([np.ones(len(data)), weight / weight.mean()])
    half = np.random.default_rng(0).permutation(len(x)) % 2
    areas = []
    for tested in (0, 1):
        model = HistGradientBoostingClassifier(max_iter=100, early_stopping=False, random_state=0)
        model.fit(x[half != tested], y[half != tested], sample_weight=weight[half != tested])
        scores = model.decision_function(x[half == tested])
        areas.append(roc_auc_score(y[half == tested], scores, sample_weight=weight[half == tested]))
    return float(np.mean(areas))


def by_vwkde(data: Floats, simulation: Floats, new: Floats) -> Floats:
    return vwkde.importance_weights(data, simulation).at(new)


def by_gb_reweighter(data: Floats, simulation: Floats, new: Floats) -> Floats:
    reweighter = import_module("hep_ml.reweight").GBReweighter()
    reweighter.fit(simulation, data)
    return reweighter.predict_weights(new)


REWEIGHTERS: dict[str, Callable[[Floats, Floats, Floats], Floats]] = {
    "uncorrected": lambda data, simulation, new: np.ones(len(new)),  # noqa: ARG005
    "hep_ml GBReweighter": by_gb_reweighter,
    "vwkde": by_vwkde,
}


def reweighting(options: argparse.Namespace) -> Table:
    table = Table(title=f"Held-out ROC AUC after reweighting {options.rows} events")
    for column in ("events", "estimator", "AUC", "effective events", "seconds", "CPU seconds"):
        table.add_column(column, justify="left" if column in ("events", "estimator") else "right")
    for make in (events, entangled):
        seeds = range(10 * options.first, 10 * options.first + 4)
        simulation, data, new, new_data = (make(options.rows, seed, bool(seed % 2)) for seed in seeds)
        for name, weigh in REWEIGHTERS.items():
            start = perf_counter(), process_time()
            try:
                weight = weigh(data, simulation, new)
            except ImportError:
                continue
            seconds, cpu = perf_counter() - start[0], process_time() - start[1]
            area = held_out_area(new_data, new, weight)
            effective = weight.sum() ** 2 / (weight**2).sum()
            table.add_row(make.__name__, name, f"{area:.3f}", f"{effective:.0f}", f"{seconds:.1f}", f"{cpu:.1f}")
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", choices=["diabetes", "events"])
    parser.add_argument("--draws", type=int, default=12)
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--tune", action="store_true", help="use the seeds that choices were made with")
    options = parser.parse_args()
    options.first = FIRST_TUNING_SEED if options.tune else 0
    warnings.simplefilter("ignore", vwkde.OverlapWarning)
    Console(width=120).print(diabetes(options) if options.study == "diabetes" else reweighting(options))


if __name__ == "__main__":
    main()
