"""Record the results of fixed calls of the public interface, to show that internal changes leave them the same.

Run with `python tools/fixed_calls.py record before.json [--only PATTERN]` before a change, with `after.json` after it,
and then with `python tools/fixed_calls.py compare before.json after.json [--tolerance 1e-9]`. The data are random, but
the same every time. Commands are run as users run them, with the installed program `vwkde`.
"""

import argparse
import json
import re
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import chdir
from dataclasses import is_dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import dask.array
import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from PIL import Image
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import vwkde

Floats = NDArray[np.float64]
Random = np.random.Generator
Record = dict[str, float | str]

LEFT_OUT = ("milliseconds", "finished", "vwkde")
"""What may differ: times, and the number of the version."""


def bent(random: Random, rows: int, bend: float) -> Floats:
    """Draw points around a parabola."""
    x, noise = random.normal(size=(2, rows))
    return np.column_stack([x, bend * (x**2 - 1) + 0.5 * noise])


def modes(random: Random, rows: int, turn: float) -> Floats:
    """Draw points of three modes on a circle, turned by an angle, in two columns, and noise in 18 more."""
    across, along = random.normal(size=(2, rows))
    angle = np.pi * (turn + 2 / 3 * random.integers(3, size=rows))
    place = (1.75 + 0.55 * across + 0.77j * along) * np.exp(1j * angle)
    return np.column_stack([place.real, place.imag, random.normal(size=(rows, 18))])


def boxes(random: Random, rows: int, pairs: int, share: float) -> Floats:
    """Draw points of a density with steps: it is high where at least half the pairs of columns are both large."""
    x = random.uniform(-1, 1, (6 * rows, 2 * pairs + 2))
    high = (x > -0.2).reshape(len(x), -1, 2).all(axis=2)[:, :pairs].mean(axis=1) >= 0.5
    return x[random.uniform(size=len(x)) < np.where(high, share, 1 - share)][:rows]


def cloud(random: Random, shape: tuple[int, int], shift: float, spread: float) -> Floats:
    """Draw points of a Gaussian with correlated columns."""
    mixing = np.random.default_rng(1).normal(size=(shape[1], shape[1])) + 2 * np.eye(shape[1])
    return random.normal(shift, spread, shape) @ mixing


PROBLEMS: dict[str, Callable[[Random], tuple[Any, Any]]] = {
    "line": lambda r: (r.normal(0, 1.1, 500), r.normal(1, 0.9, 400)),
    "plane": lambda r: (bent(r, 300, 0.7), bent(r, 250, 0.3)),
    "cloud": lambda r: (cloud(r, (400, 5), 0.0, 1.0), cloud(r, (300, 5), 0.3, 1.2)),
    "rows": lambda r: (cloud(r, (1_500, 3), 0.0, 1.0), cloud(r, (1_200, 3), 0.4, 1.2)),
    "wide": lambda r: (cloud(r, (500, 20), 0.0, 1.0), cloud(r, (500, 20), 0.1, 0.9)),
    "unequal": lambda r: (bent(r, 200, 0.7), bent(r, 2_000, 0.3)),
    "many": lambda r: (bent(r, 6_000, 0.7), bent(r, 5_000, 0.3)),
    "modes": lambda r: (modes(r, 800, 0.5), modes(r, 800, -0.5)),
    "skewed": lambda r: (np.exp(r.normal(0, 1, (600, 5))), np.exp(r.normal(0.4, 1.3, (600, 5)))),
    "boxes": lambda r: (boxes(r, 600, 3, 0.85), boxes(r, 600, 3, 0.15)),
    "corner": lambda r: (boxes(r, 500, 1, 0.85), boxes(r, 500, 1, 0.15)),
    "square": lambda r: (r.uniform(-1, 1, (300, 2)), r.normal(0, 0.7, (300, 2))),
    "counts": lambda r: (r.poisson(3, (300, 3)).astype(float), r.poisson(4, (300, 3)).astype(float)),
    "equal": lambda r: (r.normal(size=(400, 3)), r.normal(size=(400, 3))),
    "pairs": lambda r: (x := r.normal(size=200), x + r.normal(size=200)),
    "flat": lambda r: (np.insert(bent(r, 200, 0.7), 1, 5.0, axis=1), np.insert(bent(r, 200, 0.3), 1, 5.0, axis=1)),
    "few": lambda r: (r.normal(0, 1, (15, 2)), r.normal(0.5, 1, (18, 2))),
    "apart": lambda r: (r.normal(0, 1, (100, 2)), r.normal(1e6, 1, (100, 2))),
}
"""Pairs of samples of different kinds, which take the estimators down different paths."""


def samples(problem: str) -> tuple[Any, Any]:
    """Draw both samples of a problem, the same every time."""
    return PROBLEMS[problem](np.random.default_rng(0))


def ask(problem: str, verb: str = "kl_divergence", **settings: Any) -> Any:
    """Return the result of a function of two samples."""
    return getattr(vwkde, verb)(*samples(problem), **settings)


def compare_by(method: str, **settings: Any) -> dict[str, Any]:
    """Return the KL divergence by a method and, if it has one, the log ratio at points."""
    p, q = samples("cloud")
    results = {"kl": vwkde.kl_divergence(p, q, method=method, **settings)}
    if method != "nngarcia":
        results["log ratio"] = vwkde.log_density_ratio(p, q, at=q[:20] + 0.1, method=method, **settings)
    return results


def all_answers(ratio: vwkde.DensityRatio, at: Any) -> dict[str, Any]:
    """Return everything that a fitted ratio can answer."""
    properties = ("guide_", "bandwidth_", "diagnostics_", "numerator_log_ratio_", "denominator_log_ratio_")
    of_points = ("log_ratio", "ratio", "posterior", "log_weight", "residual_bias")
    return {
        **{name: getattr(ratio, name) for name in properties},
        **{name: getattr(ratio, name)(at) for name in of_points},
        "posterior at prior 0.3": ratio.posterior(at, prior=0.3),
        "importance weights": ratio.importance_weights() if ratio.held_rows_ is None else [],
        "kl": ratio.divergence(kind="kl"),
    }


def fit(problem: str = "plane", form: str = "array", weighted: bool = False, **parameters: Any) -> dict[str, Any]:
    """Fit a ratio to samples in some form, optionally with weights of the rows, and return all its answers."""
    (p, q), convert = samples(problem), FORMS[form]
    weights = {"numerator_weight": np.arange(len(p)) % 4, "denominator_weight": 0.5 + np.arange(len(q)) % 3}
    with TemporaryDirectory() as folder, chdir(folder):
        ratio = vwkde.DensityRatio(**parameters).fit(convert(p, "p"), convert(q, "q"), **(weights if weighted else {}))
        return all_answers(ratio, convert(q[:20] + 0.1, "points"))


def save(x: Floats, name: str, ending: str = "") -> Path:
    """Write rows to files of all kinds, and return the path of one of them."""
    table = pd.DataFrame(x, columns=list("abc"[: x.shape[1]]))
    table.to_csv(f"{name}.csv", index=False)
    table.to_parquet(f"{name}.parquet", row_group_size=500)
    np.save(f"{name}.npy", x)
    return Path(name + ending)


FORMS: dict[str, Callable[[Floats, str], Any]] = {
    "array": lambda x, _: x,
    "table": lambda x, _: pd.DataFrame(x, columns=list("abc")),
    "float32": lambda x, _: x.astype(np.float32),
    "tensor": lambda x, _: torch.tensor(x),
    "NPY file": lambda x, name: save(x, name, ".npy"),
    "memmap": lambda x, name: np.load(save(x, name, ".npy"), mmap_mode="r"),
    "Parquet file": lambda x, name: save(x, name, ".parquet"),
    "Dask array": lambda x, _: dask.array.from_array(x, chunks=(400, 2)),
}


def diverge(**parameters: Any) -> dict[str, Any]:
    """Return every divergence of one fitted ratio."""
    ratio = vwkde.DensityRatio(**parameters).fit(*samples("cloud"))
    kinds = ("kl", "reverse-kl", "jensen-shannon", "hellinger", "chi2", "total-variation")
    fixed = {kind: ratio.divergence(kind=kind, confidence_level=0.9) for kind in kinds}
    return fixed | {f"renyi {order}": ratio.divergence(kind="renyi", order=order) for order in (0.3, 0.5, 2, 3.5)}


def classify(centres: list[float], weighted: bool = False, **parameters: Any) -> dict[str, Any]:
    """Return the predictions of a classifier of Gaussian classes for some rows."""
    x = np.random.default_rng(0).normal(np.repeat(centres, 120)[:, None], 1.0, (120 * len(centres), 3))
    y, weight = np.arange(len(x)) // 120, 0.5 + np.arange(len(x)) % 3
    model = vwkde.RatioClassifier(**parameters).fit(x, y, sample_weight=weight if weighted else None)
    verbs = ("predict", "predict_proba", "predict_log_proba", "decision_function")
    return {verb: getattr(model, verb)(x[::10]) for verb in verbs} | {"priors": model.priors_}


def name_methods() -> list[str]:
    """Return the names of the methods."""
    return list(vwkde.methods())


def run_program(command: str) -> dict[str, Any]:
    """Run `vwkde` in the current folder; return its status, its output as JSON, and the number of warnings."""
    words = [Path(sys.executable).with_name("vwkde"), *command.split()]
    done = subprocess.run(words, capture_output=True, text=True, encoding="utf-8")
    printed = json.loads(done.stdout) if "--json" in command else None
    warned = sum(line.startswith("warning:") for line in done.stderr.splitlines())
    return {"status": done.returncode, "printed": printed, "times warned": warned}


def run_on_files(command: str) -> dict[str, Any]:
    """Run a command on files of two samples and points; return its output and the table that it writes, if any."""
    p, q = samples("plane")
    with TemporaryDirectory() as folder, chdir(folder):
        for name, x in {"p": p, "q": q, "z": q[:20]}.items():
            save(x, name)
        return {"told": run_program(command), "written": [pd.read_csv(path) for path in Path().glob("written.csv")]}


def inspect(features: str) -> dict[str, Any]:
    """Learn a surface, check images, learn more, check again, and evaluate; return the contents of the run folders."""
    commands = (
        f"inspect fit set/good --features {features} -o part.vwkde",
        "inspect check set/scratch -m part.vwkde -o first --json",
        "inspect add more -m part.vwkde",
        "inspect check set/scratch -m part.vwkde -o second",
        f"inspect eval set --features {features} --rate 0.1 --seed 3 -o third",
    )
    with TemporaryDirectory() as folder, chdir(folder):
        draw_surfaces(np.random.default_rng(0))
        results: dict[str, Any] = {command: run_program(command) for command in commands}
        for run in map(Path, ("first", "second", "third")):
            results[run.name] = json.loads((run / "results.json").read_bytes()), pd.read_csv(run / "scores.csv")
    return results


def draw_surfaces(random: Random) -> None:
    """Draw good images of a grainy surface, scratched ones with masks of the scratches, and more good ones."""
    images: dict[str, NDArray[Any]] = {f"set/good/{number}.png": grain(random) for number in range(24)}
    for number in range(6):
        scratch = np.abs(np.subtract.outer(np.arange(96), np.arange(96)) - random.integers(-40, 40)) < 3
        images[f"set/scratch/{number}.png"] = grain(random) + 0.2 * (number % 3) * scratch
        images[f"set/ground_truth/scratch/{number}_mask.png"] = scratch
        images[f"more/{number}.png"] = grain(random)
    for path, values in images.items():
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(np.rint(255 * np.clip(values, 0, 1)).astype(np.uint8)).save(path)


def grain(random: Random) -> Floats:
    """Draw smooth noise around a middle gray."""
    frequency = np.hypot(*np.meshgrid(np.fft.fftfreq(96), np.fft.fftfreq(96)))
    noise = np.fft.ifft2(np.fft.fft2(random.normal(size=(96, 96))) * np.exp(-((frequency / 0.12) ** 2))).real
    return 0.5 + 0.1 * noise / noise.std() + 0.02 * random.normal(size=(96, 96))


ROUND = SimpleNamespace(score=lambda x: -x, laplacian_over_density=lambda x: (x**2).sum(axis=1) - x.shape[1])
BROUGHT = SimpleNamespace(fit=lambda *_: ROUND)
"""A model of derivatives as a user could write it: a standard Gaussian, whatever the rows."""
PAPER = {"guide": None}
MODEL_BASED = PAPER | {"derivatives": "gaussian", "max_basis": 200}
WIDE = {"guide": "gaussian", "bandwidth": 0.5}
CALLS: dict[Callable[..., Any], list[dict[str, Any]]] = {
    ask: [
        *({"problem": name} for name in PROBLEMS),
        *({"problem": "counts", "method": name} for name in ("vwkde-mb", "kde", "nn", "nnwang", "nngarcia", "kliep")),
        {"problem": "plane", "interval": "subsample"} | MODEL_BASED,
        {"problem": "cloud", "verb": "divergence", "kind": "renyi", "order": 2, "method": "vwkde-mb"},
        {"problem": "cloud", "verb": "divergence", "kind": "jensen-shannon", "method": "ulsif"},
        {"problem": "plane", "verb": "divergence", "kind": "hellinger", "interval": "subsample"} | MODEL_BASED | WIDE,
        *({"problem": name, "verb": "two_sample_test"} for name in ("line", "equal", "counts", "wide")),
        {"problem": "many", "verb": "two_sample_test", "n_permutations": 99, "random_state": 3},
        {"problem": "pairs", "verb": "mutual_information"},
        {"problem": "pairs", "verb": "mutual_information", "method": "vwkde-mb", "max_basis": 200, "random_state": 5},
        {"problem": "equal", "verb": "mutual_information", "method": "kde"},
    ],
    compare_by: [
        *({"method": name} for name in vwkde.methods()),
        {"method": "nn", "k": 5},
        {"method": "nng", "k": 3, "ridge": 0.01},
        {"method": "kliep", "width": 0.7, "centres": 50},
        {"method": "ulsif", "width": 0.7, "ridge": 0.1},
        {"method": "rulsif", "alpha": 0.5},
        {"method": "mine", "steps": 200, "held_out": 0.2, "width": 30},
        {"method": "ensemble", "members": 8, "most_weight": 2.0},
        {"method": "classifier", "model": LogisticRegression(), "folds": 3},
    ],
    fit: [
        *({"guide": guide} for guide in ("gaussian", "shrunk-gaussian", "logistic", "mixture", "additive", "boosting")),
        {"guide": GaussianNB()},
        *(PAPER | {"weighting": name} for name in ("variational", "closed-form", "uniform", "network")),
        *(PAPER | {"derivatives": name} for name in ("gaussian", "mixture", "kernel", "network", BROUGHT)),
        *(PAPER | {"target": name} for name in ("kl", "posterior", "ratio")),
        *(PAPER | {"bandwidth": name} for name in ("scott", "silverman", "likelihood", "ise", 0.5)),
        PAPER | {"length_scale": 0.8, "ridge": 0.01, "max_basis": 50},
        *(PAPER | {"engine": name} for name in ("reference", "torch", "numba")),
        *(WIDE | {"weighting": name} for name in ("closed-form", "uniform", "network")),
        *(WIDE | {"derivatives": name} for name in ("mixture", "kernel")),
        *(WIDE | {"target": name} for name in ("kl", "posterior", "ratio")),
        *(WIDE | {"engine": name} for name in ("torch", "numba")),
        *({"bandwidth": name} for name in ("silverman", 0.4)),
        {"random_state": 7, "n_threads": 1, "memory_budget": 200_000},
        {"engine": "reference"},
        *({"weighted": True} | form for form in ({}, PAPER, PAPER | {"weighting": "uniform"}, WIDE)),
        *({"problem": "rows", "form": form, "max_held": 300} | MODEL_BASED for form in FORMS),
        *({"problem": "rows", "form": form, "max_held": 500} for form in ("table", "NPY file")),
        {"problem": "rows", "form": "Parquet file", "max_held": 500, "max_basis": 200} | WIDE,
        {"problem": "modes", "subspace": False},
        {"problem": "modes", "subspace": True, "guide": "mixture"},
        {"problem": "modes", "subspace": True, "guide": None, "derivatives": "mixture"},
    ],
    diverge: [{}, MODEL_BASED],
    classify: [
        {"centres": [0.0, 1.0]},
        {"centres": [0.0, 1.0, 1.5], "ratio": vwkde.DensityRatio(guide="gaussian"), "priors": [0.5, 0.3, 0.2]},
        {"centres": [0.0, 1.0, 1e6], "ratio": vwkde.DensityRatio(**MODEL_BASED), "weighted": True},
    ],
    name_methods: [{}],
    run_on_files: [
        {"command": "kl p.csv q.csv --json"},
        {"command": "kl p.npy q.npy --json --method vwkde-mb --seed 3"},
        {"command": "kl p.csv q.csv --json --method kde --bandwidth 0.5 --columns b"},
        {"command": "ratio p.csv q.csv --at z.csv --json"},
        {"command": "ratio p.npy q.npy --at z.npy --json --method ulsif -o written.csv"},
    ],
    inspect: [{"features": "texture"}, {"features": "gradient"}],
}
"""The functions to call, and the settings of each call."""


def name(asked: Callable[..., Any], given: Mapping[str, Any]) -> str:
    """Return the name of a call; objects are named by their class."""
    plain = str | int | float | list | None
    shown = {key: value if isinstance(value, plain) else type(value).__name__ for key, value in given.items()}
    return " ".join([asked.__name__, *(f"{key}={value}" for key, value in shown.items())])


def record(path: Path, pattern: str) -> None:
    """Make the calls whose names match, and write their results."""
    calls = {name(asked, given): partial(asked, **given) for asked, several in CALLS.items() for given in several}
    results = {}
    for each in filter(re.compile(pattern).search, calls):
        start = time.perf_counter()
        results[each] = answer(calls[each])
        print(f"{time.perf_counter() - start:7.2f} s  {each}  {results[each]['warnings']}", flush=True)
    path.write_text(json.dumps(results, indent=1), encoding="utf-8")


def answer(call: Callable[[], Any]) -> Record:
    """Return the result of a call, or the kind of its error, and the kinds of its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            given = call()
        except Exception as error:
            print(f"{type(error).__name__}: {error}")
            given = {"error": type(error).__name__}
    return dict(flat(given)) | {"warnings": " ".join(sorted(each.category.__name__ for each in caught))}


def flat(value: Any, place: str = "") -> Iterator[tuple[str, float | str]]:
    """Yield the numbers and strings of a nested value, each with its path."""
    if isinstance(value, pd.DataFrame):
        value = value.to_dict("list")
    elif is_dataclass(value):
        value = vars(value)
    elif isinstance(value, np.ndarray | torch.Tensor):
        value = value.tolist()
    if isinstance(value, Mapping | list | tuple):
        for key, part in value.items() if isinstance(value, Mapping) else enumerate(value):
            yield from flat(part, f"{place}/{key}") if key not in LEFT_OUT else ()
    else:
        yield place, str(value) if value is None or isinstance(value, str) else float(value)


def compare(before: Path, after: Path, tolerance: float) -> int:
    """Print how far two records differ; return 1 if that is too far or if something is missing, else 0."""
    then, now = (json.loads(path.read_text(encoding="utf-8")) for path in (before, after))
    beyond = []
    for each in [call for call in then if call in now]:
        places = then[each].keys() & now[each].keys()
        largest, place = max((difference(then[each][place], now[each][place]), place) for place in places)
        print(f"{largest:8.2g}  {each}  {place if largest else ''}")
        beyond += [f"{each}  {place}"] if largest > tolerance else []
    missing, new = lacking(then, now), lacking(now, then)
    for title, places in {f"beyond {tolerance:g}": beyond, "missing": missing, "new": new}.items():
        print(f"{title}: {len(places)}", *places, sep="\n  ")
    return int(bool(beyond or missing))


def difference(then: float | str, now: float | str) -> float:
    """Return |a − b| / max(1, |a|): zero for equal values, infinity for strings that differ."""
    if then == now or (then != then and now != now):
        return 0.0
    if isinstance(then, str) or isinstance(now, str) or not np.isfinite([then, now]).all():
        return np.inf
    return abs(then - now) / max(1.0, abs(then))


def lacking(one: Mapping[str, Record], other: Mapping[str, Record]) -> list[str]:
    """Return what one record has and the other lacks: whole calls, and single values of calls that both have."""
    values = [f"{call}  {place}" for call in one for place in one[call] if place not in other.get(call, one[call])]
    return [call for call in one if call not in other] + values


def main() -> None:
    """Record or compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=("record", "compare"))
    parser.add_argument("file", type=Path, help="The record to write, or the one from before.")
    parser.add_argument("after", type=Path, nargs="?", help="The record from after, to compare.")
    parser.add_argument("--only", default="", metavar="PATTERN", help="Make only calls whose names match.")
    parser.add_argument("--tolerance", type=float, default=1e-9)
    options = parser.parse_args()
    if options.command == "record":
        record(options.file, options.only)
    elif options.after is None:
        parser.error("comparing takes two records")
    else:
        sys.exit(compare(options.file, options.after, options.tolerance))


if __name__ == "__main__":
    main()
