"""The fault drill: programs killed at random moments, a full disk, hostile clients, bad inputs. What is lost?

Run with `python benchmarks/faults.py [--quick] [--only kills disk dask clients inputs]`. It takes about fifteen minutes
on two cores, with `--quick` a few. Nothing here is a timing of the library: the waits of honest clients are those of
this machine with whatever else it does. Linux only. The results are in `docs/security.md`.
"""

import argparse
import tempfile
from pathlib import Path
from time import perf_counter

from fault_drill import bad_inputs, clients, dask_kills, full_disk, kills


def drill_kills(folder: Path, quick: bool) -> str:
    rounds = 4 if quick else 15
    parts = [kills.fits, kills.additions, kills.checks]
    lines = []
    for part in parts:
        (folder / part.__name__).mkdir()
        lines.append(part(folder / part.__name__, rounds))
    (folder / "reproduce").mkdir()
    lines.append(kills.reproductions(folder / "reproduce", 1 if quick else 3))
    return "\n".join(lines)


def drill_disk(folder: Path, quick: bool) -> str:
    del quick
    return full_disk.full_disk(folder)


def drill_dask(folder: Path, quick: bool) -> str:
    del folder
    return dask_kills.workers(2 if quick else 5)


def drill_clients(folder: Path, quick: bool) -> str:
    return clients.under_attack(folder, 8 if quick else 40, honest=2)


def drill_inputs(folder: Path, quick: bool) -> str:
    del quick
    count, outcomes = bad_inputs.run(folder)
    told = "".join(f"\n  {each.call}: {each.problem}" for each in outcomes)
    return f"{count} bad inputs: {len(outcomes)} tracebacks, wrong successes or losses{told}"


PARTS = {
    "kills": drill_kills,
    "disk": drill_disk,
    "dask": drill_dask,
    "clients": drill_clients,
    "inputs": drill_inputs,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few rounds")
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS))
    options = parser.parse_args()
    for name in options.only:
        start = perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            report = PARTS[name](Path(folder), options.quick)
        print(f"{name} ({perf_counter() - start:.0f} s)\n{report}\n", flush=True)


if __name__ == "__main__":
    main()
