"""The command line: kl, divergence, ratio, mi, test, drift, reweight, demo, reproduce, bench and inspect."""

import os
import sys
import warnings
from typing import Annotated, Any

import typer

from vwkde._data.tallies import ColumnError
from vwkde._runtime.versions import VERSION
from vwkde.cli import estimates, information, inspect_line, reweighting, studies
from vwkde.cli.console import complain
from vwkde.cli.drift import app as drift
from vwkde.cli.inspect import app as inspection
from vwkde.cli.interrupts import caused_by_interrupt
from vwkde.cli.once import Commands
from vwkde.cli.options import BROKEN_PIPE, ERROR, INTERRUPTED, METHODS, in_options
from vwkde.cli.terminating import terminating

app = Commands(
    help="Estimate density ratios and divergences from samples, with the leading bias removed.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=METHODS,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(VERSION)
        raise typer.Exit


Version = Annotated[
    bool, typer.Option("--version", help="Print the version and exit.", is_eager=True, callback=_print_version)
]


@app.callback()
def _common(version: Version = False) -> None:
    del version


app.command(epilog=METHODS)(estimates.kl)
app.command(epilog=METHODS)(estimates.divergence)
app.command(epilog=METHODS)(estimates.ratio)
app.command()(information.mi)
app.command(name="test")(information.two_samples)
app.command()(reweighting.reweight)
app.command()(studies.demo)
app.add_typer(drift, name="drift")
inspect_line.add_commands(inspection)
app.add_typer(inspection, name="inspect")
app.command()(studies.reproduce)
app.command()(studies.bench)


def main() -> None:
    """Run the command line; every error is reported in one line, with exit status 2."""
    warnings.showwarning = _print_warning
    with terminating() as terminate:
        status = terminate.status(_status())
    raise SystemExit(status or 0)


def _status() -> Any:
    """Run the command that was asked for, and return its exit status."""
    try:
        status = app(standalone_mode=False)
        sys.stdout.flush()
        return status
    except (typer.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except BrokenPipeError:
        return _discard_output()
    except SystemExit as stop:  # Typer and Rich end like this when nobody reads the output
        return _discard_output() if isinstance(stop.__context__, BrokenPipeError) else stop.code
    except Exception as error:
        return INTERRUPTED if caused_by_interrupt(error) else _report(error)


def _discard_output() -> int:
    """Discard the remaining output: writing it would fail again when the program ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.__stdout__.fileno() if sys.__stdout__ else 1)
    return BROKEN_PIPE


def _report(error: Exception) -> int:
    """Print an error in one line; a usage error also names the command that prints the help."""
    words = error.format_message() if hasattr(error, "format_message") else str(error)
    context = getattr(error, "ctx", None)
    if context is not None:
        if not words:  # no command was given, and the help has been printed
            return ERROR
        words = f"{words if words.endswith('?') else words.rstrip('.') + '.'} See: {context.command_path} --help"
    if isinstance(error, ColumnError):
        words = f"{words} Or choose columns with --columns a,b,c."
    complain(f"error: {in_options(words) or type(error).__name__}", "red")
    return ERROR


def _print_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    complain(f"warning: {message}", "yellow")
