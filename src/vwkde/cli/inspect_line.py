"""The commands of `vwkde inspect` for a production line: calibrate with bad images, watch a folder, show a model."""

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vwkde.cli.console import bars, complain, say
from vwkde.cli.endings import end
from vwkde.cli.inspect import Json, Model, Run, threshold
from vwkde.cli.inspect_options import Device
from vwkde.cli.once import Commands

if TYPE_CHECKING:
    from vwkde.inspection.model.inspector import SurfaceInspector
    from vwkde.inspection.runs.records import FailureRecord, ImageRecord, State
    from vwkde.inspection.runs.watch import Watch

_SHARE_OF_WRITING = 0.1
"""Maximum share of the time that a watch spends on writing results: with many images, they are written less often."""


def add_commands(app: Commands) -> None:
    """Add the commands of this module to a group."""
    for command in (calibrate, watch, show):
        app.command()(command)


def calibrate(
    bad: Annotated[Path, typer.Argument(metavar="BAD", readable=False, help="A folder of known bad images.")],
    model: Model,
) -> None:
    """Let known bad images move the threshold up, so that fewer good images are rejected.

    If all of them are found, the threshold moves into the gap between
    them and the good images. If some are missed, it stays, and you are
    told at which rate they would be found. `add` and `undo` forget them.
    """
    from vwkde.cli import inspect_work as work
    from vwkde.inspection.runs.inputs import images_to_check

    items = images_to_check(bad)
    with work.changed(model) as inspector:
        failures = work.calibrate(inspector, items)
    say(f"{threshold(inspector)} Model: {model}")
    end(failures)


def show(model: Model, as_json: Json = False) -> None:
    """Print the model card: what was learnt, when and by whom, the threshold and its limits."""
    from vwkde.inspection import SurfaceInspector
    from vwkde.inspection.model.card import card_lines, model_card

    card = model_card(SurfaceInspector.load(model))
    if as_json:
        typer.echo(json.dumps(card, allow_nan=False, indent=1))  # ASCII: the note can contain anything
    else:
        say("\n".join(card_lines(card)))


def watch(
    folder: Annotated[Path, typer.Argument(metavar="DIR", readable=False, help="The folder to which images come.")],
    model: Model,
    output: Run = Path("run"),
    every: Annotated[float, typer.Option(min=0.05, help="Seconds between two looks at the folder.")] = 1.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print a line of JSON for each image.")] = False,
    device: Device = None,
) -> None:
    """Check images as they arrive in a folder, until Ctrl-C or SIGTERM.

    Images that are there already are checked, too. A file is read when
    it has stopped growing. If the model file changes, the new model is
    used from then on.
    """
    from vwkde.inspection.runs.arrivals import Arrivals
    from vwkde.inspection.runs.folder import RunFolder
    from vwkde.inspection.runs.records import ModelInfo
    from vwkde.inspection.runs.watch import Watch

    used = _Used.read(model, device)
    arrivals = Arrivals(folder)
    arrivals.look()  # a folder that cannot be read is reported before anything is written
    run = RunFolder(output, [], folder.absolute().name, ModelInfo.of(used.inspector, model.name))
    say(f"Watching {folder} with {model.name}; results go to {output} (stop with Ctrl-C)", err=True)
    _watch(Watch(arrivals, run), used, output, every, as_json)


def _watch(watching: "Watch", used: "_Used", output: Path, every: float, as_json: bool) -> None:
    """Look at the folder again and again; write the results after images have come, and at the end."""
    from vwkde.inspection.runs.records import State

    is_new, next_write = False, 0.0
    told: str | None = None
    try:
        while True:
            used.read_again()
            with bars():
                for record in watching.look(used.inspector):
                    is_new = True
                    _print(record, as_json)
            if is_new and time.monotonic() >= next_write:
                start = time.monotonic()
                told = _publish(watching, used.inspector, output, State.RUNNING, told)
                is_new, next_write = False, start + (time.monotonic() - start) / _SHARE_OF_WRITING
            time.sleep(every)
    except KeyboardInterrupt:
        _publish(watching, used.inspector, output, State.COMPLETE, told)


def _publish(
    watching: "Watch", inspector: "SurfaceInspector", output: Path, state: "State", told: str | None
) -> str | None:
    """Write results and report, and warn of a drift, once; return what was told."""
    from vwkde.inspection.report import write_report
    from vwkde.inspection.report.content import Report

    record = watching.write(inspector, state)
    write_report(output, Report(record, inspector, watching.gallery.pictures))
    words = record.drift.words if record.drift is not None else None
    if words is not None and told is None:
        complain(f"warning: {words}", "yellow")
    return words


def _print(record: "ImageRecord | FailureRecord", as_json: bool) -> None:
    entry = record.to_json()
    if as_json:
        typer.echo(json.dumps(entry, ensure_ascii=False, allow_nan=False))
    elif entry["verdict"] == "ERROR":
        complain(f"error: {entry['error']}", "red")
    else:
        say(f"{entry['verdict']} {entry['image']}: {entry['score']:.3g} nats, p = {entry['p_value']:.3g}")


@dataclass
class _Used:
    """The model in use; its file is read again when it changes."""

    path: Path
    inspector: "SurfaceInspector"
    changed: int

    @classmethod
    def read(cls, path: Path, device: str | None) -> "_Used":
        from vwkde.inspection import SurfaceInspector

        inspector = SurfaceInspector.load(path, device=device)
        return cls(path, inspector, path.stat().st_mtime_ns)

    def read_again(self) -> None:
        """Read the model file if it has changed; one that cannot be read is left aside."""
        from vwkde.inspection import ModelFileError

        try:
            if self.path.stat().st_mtime_ns != self.changed:
                again = _Used.read(self.path, self.inspector.device)
                self.inspector, self.changed = again.inspector, again.changed
        except (OSError, ModelFileError):
            return
