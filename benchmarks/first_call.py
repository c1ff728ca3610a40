"""How long the first call takes: on a fresh machine, and in every new process after that.

Run with `python benchmarks/first_call.py [--repetitions 3] [--sources src OTHER/src]`. Each repetition copies the
package without any compiled file, makes the call in a new process, and makes it again in another one. Several sources
take turns, so that a busy machine is busy for all of them. Printed are the shortest times of a whole process, in
seconds: elapsed, and of the processor. Other packages keep their compiled files.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from time import perf_counter

import numpy as np

_CALL = "import numpy, vwkde; vwkde.kl_divergence(numpy.load('p.npy'), numpy.load('q.npy'))"
_PYTHON = [sys.executable, "-c"]
COMMANDS = {
    "import numpy": [*_PYTHON, "import numpy"],
    "import scikit-learn": [*_PYTHON, "import sklearn.ensemble, sklearn.linear_model, sklearn.mixture"],
    "import vwkde": [*_PYTHON, "import vwkde"],
    "import kl_divergence": [*_PYTHON, "from vwkde import kl_divergence"],
    "kl_divergence": [*_PYTHON, _CALL],
    "vwkde kl": [sys.executable, "-m", "vwkde.cli", "kl", "p.csv", "q.csv"],
}
CASES = [
    *((command, 500, 3) for command in COMMANDS),
    ("kl_divergence", 500, 10),
    ("kl_divergence", 1_000, 10),
    ("kl_divergence", 1_500, 3),
]
"""What is timed, with the rows of each sample and the columns; the last needs compiled loops."""
Times = tuple[float, float]


def write_samples(folder: Path, rows: int, columns: int) -> None:
    """Write two Gaussian samples, the same every time."""
    random = np.random.default_rng(0)
    samples = {"p": random.normal(size=(rows, columns)), "q": random.normal(0.3, 1.1, (rows, columns))}
    for name, x in samples.items():
        np.save(folder / f"{name}.npy", x)
        header = ",".join(f"x{number}" for number in range(columns))
        np.savetxt(folder / f"{name}.csv", x, delimiter=",", header=header, comments="")


def time_process(command: list[str], folder: Path) -> Times:
    """Run a command in the folder, with the package there; return its elapsed time and its processor time."""
    environment = os.environ | {"PYTHONPATH": str(folder), "NUMBA_CACHE_DIR": str(folder / "numba")}
    for name in ("PYTHONPYCACHEPREFIX", "PYTHONDONTWRITEBYTECODE"):
        environment.pop(name, None)
    before, start = os.times(), perf_counter()
    subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
    elapsed, after = perf_counter() - start, os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return elapsed, used


def time_case(source: Path, command: str, rows: int, columns: int) -> tuple[Times, Times]:
    """Return the times of the first process that ever uses the package, and of the second."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(source / "vwkde", folder / "vwkde", ignore=shutil.ignore_patterns("__pycache__"))
        write_samples(folder, rows, columns)
        return time_process(COMMANDS[command], folder), time_process(COMMANDS[command], folder)


def main() -> None:
    """Time all cases and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    here = Path(__file__).parents[1] / "src"
    parser.add_argument("--sources", type=Path, nargs="+", default=[here], help="folders that hold the package")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--only", default="", help="time only cases whose command has this in its name")
    options = parser.parse_args()
    cases = [case for case in CASES if options.only in case[0]]
    times = defaultdict(list)
    for _ in range(options.repetitions):
        for case in cases:
            for source in options.sources:
                times[case, source].append(time_case(source, *case))
    print(f"{'':52}{'fresh machine':>20}{'new process':>20}")
    print(f"{'':52}{'elapsed':>12}{'CPU':>8}{'elapsed':>12}{'CPU':>8}")
    for (case, source), found in times.items():
        command, rows, columns = case
        (first, first_cpu), (second, second_cpu) = np.min(found, axis=0)
        label = f"{command}, {rows} × {columns}" + (f", {source}" if len(options.sources) > 1 else "")
        print(f"{label:52}{first:12.2f}{first_cpu:8.2f}{second:12.2f}{second_cpu:8.2f}")


if __name__ == "__main__":
    main()
