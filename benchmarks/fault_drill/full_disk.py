"""A full disk: every write of a file beyond a size fails, as if there were no more room."""

from pathlib import Path

from fault_drill.programs import run, write_images
from vwkde.inspection import SurfaceInspector


def full_disk(folder: Path) -> str:
    """Let fits, additions and checks run out of room at several sizes; the model must stay as it was."""
    write_images(folder / "good", 20)
    write_images(folder / "more", 2, 900)
    model = folder / "part.vwkde"
    run("inspect", "fit", folder / "good", "-o", model)
    before = model.read_bytes()
    commands = {
        "fit": ("inspect", "fit", folder / "good", "-o", model),
        "add": ("inspect", "add", folder / "more", "-m", model),
        "check": ("inspect", "check", folder / "more", "-m", model, "-o", folder / "run"),
        "ratio": ("ratio", folder / "p.csv", folder / "p.csv", "--at", folder / "p.csv", "-o", folder / "r.csv"),
    }
    (folder / "p.csv").write_text("a\n" + "\n".join(str(number / 7) for number in range(400)))
    tries = told = 0
    for command in commands.values():
        for room in (100, 2_000):
            found = run(*command, room=room)
            tries += 1
            told += found.returncode == 2 and "Traceback" not in found.stderr and found.stderr.count("\n") == 1
    kept = model.read_bytes() == before and len(SurfaceInspector.load(model).names_) == 20
    return f"full disk: {told} of {tries} commands ended with status 2 and one line; the model is as it was: {kept}"
