"""Real tables with outliers, and tables with an index among their columns: items 9 and 14."""

import io
import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv as pacsv
from numpy.typing import NDArray
from sklearn import datasets
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from scenarios.scenario import Answer, Floats, Random, Range, Scenario, divergence, kl

Table = tuple[Floats, NDArray[np.bool_]]
"""The rows, and which of them belong to P's part of the population."""


def scenarios() -> Iterator[Scenario]:
    yield from outlying_rows()
    yield from with_an_index()


def outlying_rows() -> Iterator[Scenario]:
    for kind, name, reported in (
        ("kl", "KL", "1.913, −0.958, 1.299 for at most 0.423"),
        ("jensen-shannon", "Jensen–Shannon", "−0.009"),
        ("reverse-kl", "reverse KL", "−1.19"),
    ):
        right = (lambda: bounds(*diamonds())) if kind == "kl" else at_most(diamonds, kind)
        draw = drawn(diamonds, 5_000)
        yield Scenario(
            f"diamonds, two cuts, n = 5,000, {name}",
            9,
            draw,
            right,
            divergence(kind),
            reported,
            slow=True,
            needs="plotnine",
        )
    for name, table in (("wine", wine), ("breast cancer", breast_cancer), ("diabetes", diabetes)):
        for wrong in (0.0, 0.005):
            words = f"{name}, one class" + (", 0.5 % of entries mistyped" if wrong else "")
            yield Scenario(words, 9, drawn(table, 150, wrong), _bounds_of(table, wrong), kl())
        yield Scenario(f"{name}, random halves, mistyped", 9, halves(table, 150, 0.005), 0.0, kl())
    yield Scenario("Gaussians one apart, 1 % far outliers, 5-D", 9, _contaminated(0.01), 0.99 * 0.5, kl())
    yield Scenario("P = Q, 2 % far outliers, 4-D", 9, _contaminated(0.02, 4, 0.0), 0.0, kl())


@cache
def diamonds() -> Table:
    """Return seven columns of ggplot2's diamonds without repeated rows; P has the cuts Ideal and Premium."""
    place = find_spec("plotnine")
    if place is None or not place.submodule_search_locations:
        raise ModuleNotFoundError("The diamonds need plotnine: pip install plotnine.")
    read = pacsv.read_csv(Path(place.submodule_search_locations[0]) / "data" / "diamonds.csv")
    names = ("carat", "depth", "table", "price", "x", "y", "z")
    rows = np.column_stack([read[name].to_numpy() for name in names]).astype(float)
    _, first = np.unique(rows, axis=0, return_index=True)
    return rows[first], np.isin(read["cut"].to_numpy(zero_copy_only=False), ["Ideal", "Premium"])[first]


@cache
def wine() -> Table:
    data = datasets.load_wine()
    return data.data, data.target > 0


@cache
def breast_cancer() -> Table:
    """Return the ten means of the table, of which P has the benign cases."""
    data = datasets.load_breast_cancer()
    return data.data[:, :10], data.target == 1


@cache
def diabetes() -> Table:
    """Return the columns that are measured; P has the patients with less than the mean progression."""
    data = datasets.load_diabetes(scaled=False)
    return np.delete(data.data, 1, axis=1), data.target < 150


def drawn(table: Callable[[], Table], rows: int, wrong: float = 0.0) -> Callable[[Random], tuple[Floats, Floats]]:
    """Return what draws P from one part of a table, and Q from all of it; no row is in both samples."""

    def draw(random: Random) -> tuple[Floats, Floats]:
        x, part = table()
        x, order = mistyped(x, wrong, random), random.permutation(len(x))
        half = len(x) // 2
        first, second = order[:half], order[half:]
        return x[first[part[first]]][:rows], x[second][:rows]

    return draw


def halves(table: Callable[[], Table], rows: int, wrong: float) -> Callable[[Random], tuple[Floats, Floats]]:
    """Return what draws two parts of a table at random."""

    def draw(random: Random) -> tuple[Floats, Floats]:
        x = random.permutation(mistyped(table()[0], wrong, random))
        half = len(x) // 2
        return x[:half][:rows], x[half:][:rows]

    return draw


def mistyped(x: Floats, share: float, random: Random) -> Floats:
    """Return the rows with some entries zero, or ten times as large, as typing errors leave them."""
    at, kind = random.uniform(size=x.shape) < share, random.uniform(size=x.shape) < 0.5
    return np.where(at, np.where(kind, 0.0, 10 * x), x)


def _bounds_of(table: Callable[[], Table], wrong: float) -> Callable[[], Range]:
    def right() -> Range:
        x, part = table()
        return bounds(mistyped(x, wrong, np.random.default_rng(0)), part)

    return right


def bounds(x: Floats, part: NDArray[np.bool_]) -> Range:
    """Return bounds of KL(part ‖ all): a cross-fitted Donsker–Varadhan bound, less its error, and −log of the share."""
    share = part.mean()
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    model = HistGradientBoostingClassifier(max_iter=60, learning_rate=0.05, min_samples_leaf=10, random_state=0)
    chance = cross_val_predict(model, x, part, cv=folds, method="predict_proba")[:, 1]
    log_ratio = np.log(np.clip(chance, 1e-3, 1) / share)
    lower = log_ratio[part].mean() - np.log(np.exp(log_ratio).mean())
    error = 2 * log_ratio[part].std() / np.sqrt(part.sum())
    return max(0.0, float(lower - error)), float(-np.log(share))


def at_most(table: Callable[[], Table], kind: str) -> Callable[[], Range]:
    """Return the range of a divergence of a part from the whole; the largest is that of parts that do not meet."""

    def right() -> Range:
        share = float(table()[1].mean())
        if kind == "reverse-kl":
            return 0.0, float("inf")
        within, without = np.log(2 / (1 + share)), np.log(2.0)
        return 0.0, 0.5 * (within + share * (np.log(share) + within) + (1 - share) * without)

    return right


def _contaminated(share: float, columns: int = 5, distance: float = 1.0) -> Callable[[Random], tuple[Floats, Floats]]:
    """Return Gaussians with the same far outliers in both samples, which add nothing to the divergence."""

    def draw(random: Random) -> tuple[Floats, Floats]:
        samples = random.normal(size=(2, 600, columns))
        samples[0, :, 0] += distance
        outlying = random.uniform(size=(2, 600)) < share
        samples[outlying] = 200 + 20 * random.normal(size=(outlying.sum(), columns))
        return samples[0], samples[1]

    return draw


def with_an_index() -> Iterator[Scenario]:
    """Yield CSV files of random parts of one table, each with one more column that says nothing."""

    def files(name: str, header: str, column: Callable[[Random, int], Any], reported: str = "") -> Scenario:
        def draw(random: Random) -> tuple[str, str]:
            return tuple(as_csv(random.normal(size=(n, 3)), header, column(random, n)) for n in (500, 1_000))

        return Scenario(name, 14, draw, 0.0, by_command, reported)

    def run(random: Random, rows: int) -> Any:
        del random
        return np.arange(rows)

    def ids(random: Random, rows: int) -> Any:
        return 10_000 * rows + random.permutation(3 * rows)[:rows]

    def times(random: Random, rows: int) -> Any:
        return 1.7e9 + 86_400 * rows + np.cumsum(random.exponential(60.0, rows))

    yield files("a pandas index in both files", "", run, "0.66 [0.59, 0.72]")
    yield files("a column 'Unnamed: 0'", "Unnamed: 0", run)
    yield files("a column 'customer_id'", "customer_id", ids)
    yield files("a column 'timestamp'", "timestamp", times)
    yield files("a count 'age' that is a measurement", "age", lambda random, rows: random.integers(18, 90, rows))
    yield Scenario("a DataFrame with the index as a column", 14, _frames, 0.0, kl(), needs="pandas")


def as_csv(rows: Floats, header: str, column: Any) -> str:
    lines = [",".join([str(first), *map(repr, map(float, row))]) for first, row in zip(column, rows, strict=True)]
    return "\n".join([f"{header},a,b,c", *lines, ""])


def by_command(p: str, q: str) -> Answer:
    """Return what `vwkde kl` prints for two files."""
    from vwkde.cli.main import app

    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, name) for name in ("p.csv", "q.csv")]
        for path, text in zip(paths, (p, q), strict=True):
            path.write_text(text)
        with redirect_stdout(io.StringIO()) as printed:
            app(["kl", *map(str, paths), "--json"], standalone_mode=False)
    told = json.loads(printed.getvalue())
    return Answer(told["value"], *told["interval"])


def _frames(random: Random) -> tuple[Any, Any]:
    import pandas as pd

    parts = [pd.DataFrame(random.normal(size=(n, 3)), columns=list("abc")) for n in (500, 1_000)]
    return tuple(part.reset_index() for part in parts)
