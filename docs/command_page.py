"""Write the page of the command line from the commands themselves."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from vwkde.cli.main import app

HEAD = """# Command line

Every command, with its arguments and options. `vwkde COMMAND --help` prints the same.
"""


def write_page(path: Path) -> None:
    """Write the page if its text has changed."""
    text = "\n".join([HEAD, *_lines(typer.main.get_command(app), "vwkde")]) + "\n"
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def _lines(command: Any, name: str) -> Iterator[str]:
    """Yield the lines about a command and its subcommands."""
    subcommands = getattr(command, "commands", {})
    if not subcommands:
        yield from _section(command, name)
    for each, subcommand in subcommands.items():
        yield from _lines(subcommand, f"{name} {each}")


def _section(command: Any, name: str) -> Iterator[str]:
    """Yield the section of one command: its usage, its help and a table of its parameters."""
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    options = [each for each in command.params if each.param_type_name == "option" and each.name != "help"]
    required = [f"{max(each.opts, key=len)} {_value(each)}" for each in options if each.required]
    yield f"## {name}\n\n```text\n{' '.join([name, *map(_usage, arguments), *required])}\n```\n"
    yield f"{command.help}\n"
    yield "| name | what it does | default |\n|---|---|---|"
    for each in (*arguments, *options):
        yield f"| {_names(each)} | {_escaped(each.help or '')} | {_default(each)} |"
    yield ""


def _usage(argument: Any) -> str:
    return _value(argument) if argument.required else f"[{_value(argument)}]"


def _value(parameter: Any) -> str:
    return str(parameter.metavar or parameter.name.upper())


def _names(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return f"`{_value(parameter)}`"
    return ", ".join(f"`{name}`" for name in sorted(parameter.opts, key=len))


def _default(parameter: Any) -> str:
    default = parameter.default
    if default is None or default is False or parameter.required or not getattr(parameter, "show_default", True):
        return ""
    return f"`{default}`"


def _escaped(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
