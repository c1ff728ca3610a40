"""Where a command writes is checked before its work begins: no input is overwritten, and files can be written there."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from vwkde._runtime.files import can_be_replaced
from vwkde.inspection.runs.output import OutputError, check_writable

Force = Annotated[
    bool,
    typer.Option(
        "--force", help="Overwrite a file even if it is an input, of another kind, or a model with more images."
    ),
]

_OF_ANOTHER_KIND = "{output}: already exists and is not a {kind}. Choose another name, or overwrite it with --force."
_WITH_MORE_IMAGES = (
    "{output}: this model has {count} added after its fit, which a new fit would lose. Choose another name, or "
    "overwrite it with --force."
)


def check_file(output: Path, inputs: Iterable[Path], force: bool = False) -> None:
    """Raise an error if a file cannot be written, or is one of the inputs and `force` does not allow that."""
    if output.is_dir():
        raise OutputError(f"{output}: is a folder. Name a file.")
    _check_regular(output)
    folder = Path(os.path.realpath(output)).parent if output.is_symlink() else output.parent
    if not folder.is_dir():
        raise OutputError(f"{output}: there is no folder {folder}. Create it first, or choose another.")
    if not force and any(_is_same(output, each) for each in inputs):
        raise OutputError(
            f"{output}: is an input of this command, and would be overwritten. Choose another name, or allow it with "
            "--force."
        )
    check_writable(folder)


def check_model_file(output: Path, force: bool = False) -> None:
    """Raise an error if a model file cannot be written, or would replace another kind of file or more images."""
    from vwkde.inspection.model.files.container import stated_digest
    from vwkde.inspection.model.files.model import images_added
    from vwkde.inspection.report.content import counted

    if output.is_dir():
        raise OutputError(f"{output}: is a folder. Give a file name, for example {output / 'part.vwkde'}.")
    _check_regular(output)
    if not force and output.exists() and stated_digest(output) is None:
        raise OutputError(_OF_ANOTHER_KIND.format(output=output, kind="model file"))
    if not force and (added := images_added(output)):
        raise OutputError(_WITH_MORE_IMAGES.format(output=output, count=counted(added)))
    check_writable(output.parent)


def check_reference_file(output: Path, inputs: Iterable[Path], force: bool = False) -> None:
    """Raise an error if a reference for drift cannot be written, or would replace a file that is none."""
    from vwkde.monitoring._reference import is_reference

    check_file(output, inputs, force)
    if not force and output.exists() and not is_reference(output):
        raise OutputError(_OF_ANOTHER_KIND.format(output=output, kind="reference"))


def check_report_file(output: Path, inputs: Iterable[Path], force: bool = False) -> None:
    """Raise an error if a report cannot be written, or its name is not that of a page."""
    check_file(output, inputs, force)
    if not force and output.suffix.lower() not in (".html", ".htm"):
        raise OutputError(f"{output}: a report is a page. Name it {output.with_suffix('.html').name}.")


def _check_regular(output: Path) -> None:
    """Raise an error if a pipe or a device would be replaced; `force` does not allow that either."""
    if not can_be_replaced(output):
        raise OutputError(f"{output}: is not a regular file, and is not replaced. Choose another name.")


def _is_same(one: Path, other: Path) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:  # one of them does not exist
        return False
