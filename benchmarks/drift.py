"""Level and power of `vwkde.drift` on a mixed table, beside evidently and alibi-detect, if they are installed.

Run with `python benchmarks/drift.py [--repetitions 200] [--tables 20]`. Seeds below 10,000 were used for tuning; the
default starts at 10,000.

The table has numbers, a skewed one among them, a category, a truth value and missing values. evidently looks at each
column: its own verdict on the table needs drift in half of the columns, and "any column" is a finding in at least one,
which is far above the level unless Holm's method corrects it.
alibi-detect's MMD gets the table as standardised numbers, since it takes nothing else.
"""

import argparse
import warnings
from collections.abc import Callable

import numpy as np
import pandas as pd
from rich.console import Console
from scipy.stats import chi2_contingency

import vwkde

LEVEL = 0.05
ROWS = 500
JOINT = ("correlation", "wrong join", "by truth value", "by category", "sizes")
"""Drifts that leave each column alone as it is."""


def draw(rows: int, random: np.random.Generator, drift: str = "none") -> pd.DataFrame:
    """Return a table, with or without a drift."""
    z = random.normal(size=(rows, 5))
    z[:, 1] = 0.6 * z[:, 0] + 0.8 * z[:, 1]
    z[:, 3] = 0.3 * z[:, 2] + np.sqrt(1 - 0.3**2) * z[:, 3]
    shares = [0.42, 0.25, 0.15, 0.18] if drift == "category" else [0.5, 0.25, 0.15, 0.1]
    line = random.choice(list("ABCD"), size=rows, p=shares)
    ok = random.random(rows) < 0.4
    if drift == "shift":
        z[:, 2] += 0.25
    elif drift == "spread":
        z[:, 4] *= 1.25
    elif drift == "correlation":
        z[:, 3] = 0.6 * z[:, 2] + 0.8 * random.normal(size=rows)
    elif drift == "wrong join":
        z[:, 1] = random.permutation(z[:, 1])
    elif drift == "by truth value":
        z[:, 4] = rearranged(z[:, 4], ok, random)
    elif drift == "by category":
        z[:, 4] = rearranged(z[:, 4], (line == "B") * 1.0 - (line == "A"), random)
    elif drift == "sizes":
        z[:, 4] = rearranged(np.abs(z[:, 4]), np.abs(z[:, 2]), random) * random.choice([-1, 1], size=rows)
    values = {f"x{k}": z[:, k] for k in (0, 1, 2, 4)} | {"skewed": np.exp(z[:, 3])}
    missing = random.random(rows) < (0.1 if drift == "missing" else 0.05)
    values["gaps"] = np.where(missing, np.nan, random.exponential(size=rows))
    return pd.DataFrame(values | {"line": line, "ok": ok})


def rearranged(values: np.ndarray, key: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Return the same values in another order: in a third of the rows they follow the key, so no marginal changes."""
    some = np.flatnonzero(random.random(len(values)) < 1 / 3)
    order = np.lexsort([random.random(len(some)), key[some]])
    result = values.copy()
    result[some[order]] = np.sort(values[some])
    return result


def ours(reference: pd.DataFrame, current: pd.DataFrame, seed: int) -> dict[str, bool]:
    """Return whether `vwkde.drift` finds drift, and whether the plain two-sample test does."""
    found = vwkde.drift(reference, current, level=LEVEL, measure="never", random_state=seed)
    plain = vwkde.two_sample_test(reference, current, missing="indicator", random_state=seed)
    return {"vwkde drift": found.has_drifted, "two_sample_test": plain.p_value <= LEVEL}


def category_alone(reference: pd.DataFrame, current: pd.DataFrame, _: int) -> dict[str, bool]:
    """Return whether a chi-squared test of the one category finds drift, at its share of the level among all columns.

    It is what a test of single columns can find at most if the mix of that category changes.
    """
    counts = pd.DataFrame({name: side["line"].value_counts() for name, side in (("a", reference), ("b", current))})
    p_value = chi2_contingency(counts.fillna(0).to_numpy()).pvalue
    return {"the category alone (Holm)": bool(p_value <= LEVEL / reference.shape[1])}


def evidently() -> Callable[[pd.DataFrame, pd.DataFrame, int], dict[str, bool]] | None:
    """Return how evidently finds drift, with its own choice of tests and thresholds."""
    try:
        from evidently import Report
        from evidently.presets import DataDriftPreset
    except ImportError:
        return None

    def find(reference: pd.DataFrame, current: pd.DataFrame, _: int) -> dict[str, bool]:
        table, *columns = Report([DataDriftPreset()]).run(current, reference).dict()["metrics"]
        least = min(column["value"] for column in columns)  # so few rows get p-values, not distances
        return {
            "evidently, table": table["value"]["share"] >= 0.5,
            "evidently, any column": table["value"]["count"] >= 1,
            "evidently, any column (Holm)": least <= LEVEL / len(columns),
        }

    return find


def alibi_detect() -> Callable[[pd.DataFrame, pd.DataFrame, int], dict[str, bool]] | None:
    """Return how alibi-detect's MMD finds drift in the standardised numbers of a table."""
    try:
        from alibi_detect.cd import MMDDrift
    except ImportError:
        return None

    def find(reference: pd.DataFrame, current: pd.DataFrame, seed: int) -> dict[str, bool]:
        import torch

        torch.manual_seed(seed)
        pooled = pd.get_dummies(pd.concat([reference, current]).assign(missing=lambda x: x["gaps"].isna()))
        numbers = pooled.fillna(pooled["gaps"].median()).to_numpy(np.float32)
        numbers = (numbers - numbers.mean(axis=0)) / numbers.std(axis=0)
        x, y = numbers[: len(reference)], numbers[len(reference) :]
        detector = MMDDrift(x, backend="pytorch", p_val=LEVEL, n_permutations=99, device="cpu")
        return {"alibi-detect MMD": bool(detector.predict(y)["data"]["is_drift"])}

    return find


def finds(peers: list[Callable[..., dict[str, bool]]], drift: str, seeds: range) -> dict[str, float]:
    """Return the share of tables in which each method finds drift."""
    found = []
    for seed in seeds:
        random = np.random.default_rng(seed)
        reference, current = draw(ROWS, random), draw(ROWS, random, drift)
        found.append({name: hit for peer in peers for name, hit in peer(reference, current, seed).items()})
    return {name: float(np.mean([each[name] for each in found])) for name in found[0]}


def splits(seeds: range) -> float:
    """Return the share of findings among random splits of one table into halves."""
    table = draw(2 * ROWS, np.random.default_rng(seeds.start))
    hits = []
    for seed in seeds:
        halves = table.sample(frac=1, random_state=seed, ignore_index=True)
        found = vwkde.drift(halves[:ROWS], halves[ROWS:], level=LEVEL, measure="never", random_state=seed)
        hits.append(found.has_drifted)
    return float(np.mean(hits))


def repeated(seeds: range, rows: int) -> list[float]:
    """Return, for some saved references, the share of findings among twenty checks that are no drift."""
    shares = []
    for first in range(seeds.start, seeds.stop, 20):
        reference = vwkde.DriftReference.fit(draw(rows, np.random.default_rng([first, rows])))
        hits = []
        for seed in range(first, first + 20):
            current = draw(ROWS, np.random.default_rng([seed, rows, 1]))
            hits.append(reference.check(current, level=LEVEL, measure="never", random_state=seed + rows).has_drifted)
        shares.append(float(np.mean(hits)))
    return shares


def print_levels(seeds: range, screen: Console) -> None:
    """Print the share of findings where nothing changed."""
    screen.print(f"level over {len(seeds)} random splits of one table: {splits(seeds):.3f}")
    for rows in (ROWS, 10 * ROWS):
        shares = repeated(seeds, rows)
        words = f"level over checks against saved references of {rows:,} rows"
        screen.print(f"{words}: {np.mean(shares):.3f} (each: {', '.join(f'{share:.2f}' for share in shares)})")


def print_power(seeds: range, screen: Console) -> None:
    """Print how often each method finds each drift."""
    peers = [ours, category_alone, *(peer for peer in (evidently(), alibi_detect()) if peer is not None)]
    for drift in ("none", *JOINT, "shift", "spread", "category", "missing"):
        shares = finds(peers, drift, seeds)
        listed = ", ".join(f"{name} {share:.2f}" for name, share in shares.items())
        screen.print(f"{drift}{' (joint)' if drift in JOINT else ''}: {listed}", soft_wrap=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=200, help="Comparisons for the level.")
    parser.add_argument("--tables", type=int, default=20, help="Pairs of tables for the power, for each drift.")
    parser.add_argument("--first-seed", type=int, default=10_000)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    screen = Console()
    if options.repetitions:
        print_levels(range(options.first_seed, options.first_seed + options.repetitions), screen)
    if options.tables:
        screen.print(f"share of {options.tables} pairs of tables of {ROWS} + {ROWS} rows with drift found:")
        print_power(range(options.first_seed, options.first_seed + options.tables), screen)


if __name__ == "__main__":
    main()
