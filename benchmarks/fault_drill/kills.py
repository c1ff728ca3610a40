"""Commands that are killed at random moments: what was there before must still be there, whole."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np

from fault_drill.bad_inputs import contents
from fault_drill.programs import killed, run, seconds_of, write_images
from vwkde.inspection import ModelFileError, SurfaceInspector


def moments(rounds: int, longest: float, seed: int) -> Iterator[float]:
    """Yield random moments within a command's time, most of them after it has loaded the library."""
    yield from np.random.default_rng(seed).uniform(0.3 * longest, longest, rounds)


def fits(folder: Path, rounds: int) -> str:
    """Kill fits; a model file that an earlier fit wrote must stay whole."""
    write_images(folder / "good", 20)
    model = folder / "part.vwkde"
    longest = seconds_of("inspect", "fit", folder / "good", "-o", model)
    hit = lost = 0
    for after in moments(rounds, longest, 1):
        hit += killed(after, "inspect", "fit", folder / "good", "-o", model)
        lost += not _loads(model)
    return f"fit: killed {hit} of {rounds} times, model files lost: {lost}, left over: {_left_over(folder)}"


def additions(folder: Path, rounds: int) -> str:
    """Kill additions; every image of an addition that ended with status 0 must be there, and the file whole."""
    write_images(folder / "good", 20)
    model = folder / "part.vwkde"
    run("inspect", "fit", folder / "good", "-o", model)
    write_images(folder / "first", 1, 500)
    longest = seconds_of("inspect", "add", folder / "first", "-m", model)
    acknowledged, hit, lost = {"500.png"}, 0, 0
    for number, after in enumerate(moments(rounds, longest, 2)):
        more = folder / f"more {number}"
        write_images(more, 1, 1_000 + number)
        if killed(after, "inspect", "add", more, "-m", model):
            hit += 1
        else:
            acknowledged.add(f"{1_000 + number}.png")
        names = set(SurfaceInspector.load(model).names_) if _loads(model) else set()
        lost += len(acknowledged - names)
        acknowledged |= names  # an addition may be complete although nobody was told
    write_images(folder / "last", 1, 5_000)
    last = run("inspect", "add", folder / "last", "-m", model)
    stuck = "no" if last.returncode == 0 else f"yes ({last.stderr.strip()})"
    return f"add: killed {hit} of {rounds} times, images lost: {lost}, locked afterwards: {stuck}"


def checks(folder: Path, rounds: int) -> str:
    """Kill checks; images and model must not change, and the next check must do all of it."""
    write_images(folder / "good", 20)
    write_images(folder / "new", 12, 700)
    model = folder / "part.vwkde"
    run("inspect", "fit", folder / "good", "-o", model)
    before = {**contents(folder / "good"), **contents(folder / "new"), "model": model.read_bytes()}
    check = "inspect", "check", folder / "new", "-m", model, "-o", folder / "run"
    longest = seconds_of(*check)
    hit = sum(killed(after, *check) for after in moments(rounds, longest, 3))
    after_all = {**contents(folder / "good"), **contents(folder / "new"), "model": model.read_bytes()}
    status = run(*check).returncode
    rows = len((folder / "run" / "scores.csv").read_text().splitlines()) - 1
    changed = sum(after_all.get(name) != content for name, content in before.items())
    return (
        f"check: killed {hit} of {rounds} times, inputs changed: {changed}, the next run: status {status}, "
        f"{rows} of 12 rows"
    )


def reproductions(folder: Path, rounds: int) -> str:
    """Kill a reproduction and continue it: it must end as if nothing had happened."""
    command = "reproduce", "fig1", "--quick", "-o"
    longest = seconds_of(*command, folder / "whole")
    hit = sum(killed(after, *command, folder / "killed") for after in moments(rounds, longest, 4))
    status = run(*command, folder / "killed").returncode
    whole, again = (_numbers(folder / name) for name in ("whole", "killed"))
    return f"reproduce: killed {hit} of {rounds} times, then status {status}, same numbers: {whole == again}"


def _numbers(folder: Path) -> dict[str, str]:
    return {name: digest for name, digest in contents(folder).items() if name.endswith((".json", ".csv"))}


def _loads(model: Path) -> bool:
    with suppress(ModelFileError):
        SurfaceInspector.load(model)
        return True
    return False


def _left_over(folder: Path) -> int:
    """Return how many temporary files there are; they do no harm, but nobody removes them."""
    return len(list(folder.glob(".*")))
