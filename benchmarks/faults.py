"""The fault drill: programs killed at random moments, a full disk, hostile clients, bad inputs. What is lost?

Run with `python benchmarks/faults.py [--quick] [--only PART …]`. It takes some twenty minutes on
two cores, with `--quick` a few. Nothing here is a timing of the library: the waits of honest clients are those of
this machine with whatever else it does. Linux only. The results are in `docs/security.md`.
"""

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

from fault_drill import bad_inputs, clients, dask_kills, full_disk, kills

Lines = Iterator[str]


def drill_kills(folder: Path, quick: bool) -> Lines:
    for part in (kills.fits, kills.additions, kills.checks):
        (folder / part.__name__).mkdir()
        yield part(folder / part.__name__, 4 if quick else 15)


def drill_reproduce(folder: Path, quick: bool) -> Lines:
    yield kills.reproductions(folder, 1 if quick else 3)


def drill_disk(folder: Path, quick: bool) -> Lines:
    del quick
    yield full_disk.full_disk(folder)


def drill_dask(folder: Path, quick: bool) -> Lines:
    del folder
    yield dask_kills.workers(2 if quick else 5)


def drill_clients(folder: Path, quick: bool) -> Lines:
    yield from clients.under_attack(folder, 8 if quick else 40, honest=2)


def drill_inputs(folder: Path, quick: bool) -> Lines:
    del quick
    count, outcomes = bad_inputs.run(folder)
    yield f"{count} bad inputs: {len(outcomes)} tracebacks, wrong successes or losses"
    yield from (f"{each.call}: {each.problem}" for each in outcomes)


PARTS = {
    "kills": drill_kills,
    "disk": drill_disk,
    "reproduce": drill_reproduce,
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
        print(name, flush=True)
        with tempfile.TemporaryDirectory() as folder:
            for line in PARTS[name](Path(folder), options.quick):
                print(f"  {line}", flush=True)
        print(f"  {perf_counter() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
