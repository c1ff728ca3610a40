"""Where a command writes is checked before its work begins: it overwrites its earlier outputs, and nothing else."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from vwkde._runtime.files import can_be_replaced
from vwkde.inspection.runs.output import OutputError, check_writable

Force = Annotated[
    bool,
    typer.Option(
        "--force",
        help="Overwrite a file even if it is an input, was not written by such a command, or is a model with more "
        "images.",
    ),
]

_OF_ANOTHER_KIND = "{output}: already exists and is not {kind}. Choose another name, or overwrite it with --force."
_WITHOUT_NAMES = (
    "{output}: already exists, and an NPY file does not say what wrote it. Choose another name, or overwrite it with "
    "--force."
)
_WITH_MORE_IMAGES = (
    "{output}: this model has {count} added after its fit, which a new fit would lose. Choose another name, or "
    "overwrite it with --force."
)


def check_file(output: Path, inputs: Iterable[Path], force: bool = False) -> None:
    """Raise an error if a file cannot be written, or is one of the inputs and `force` does not allow that."""
    if output.is_dir():
        raise OutputError(f"{output}: is a folder. Name a file.")
    _check_place(output)
    if not force and any(_is_same(output, each) for each in inputs):
        raise OutputError(
            f"{output}: is an input of this command, and would be overwritten. Choose another name, or allow it with "
            "--force."
        )


def check_table_file(output: Path, inputs: Iterable[Path], columns: Sequence[str], force: bool = False) -> None:
    """Raise an error if a table cannot be written, or would replace a file without exactly these columns."""
    from vwkde._data.tables import check_target, column_names

    check_target(output)
    check_file(output, inputs, force)
    if force or not _has_content(output):
        return
    if output.suffix.lower() == ".npy":
        raise OutputError(_WITHOUT_NAMES.format(output=output))
    if column_names(output) != list(columns):
        kind = f"a table with the columns {', '.join(columns)}"
        raise OutputError(_OF_ANOTHER_KIND.format(output=output, kind=kind))


def check_model_file(output: Path, force: bool = False) -> None:
    """Raise an error if a model file cannot be written, would replace a file of another kind, or would lose images."""
    from vwkde.inspection.model.files.container import stated_digest
    from vwkde.inspection.model.files.model import images_added
    from vwkde.inspection.report.content import counted

    if output.is_dir():
        raise OutputError(f"{output}: is a folder. Give a file name, for example {output / 'part.vwkde'}.")
    _check_place(output)
    if force:
        return
    if _has_content(output) and stated_digest(output) is None:
        raise OutputError(_OF_ANOTHER_KIND.format(output=output, kind="a model file"))
    if added := images_added(output):
        raise OutputError(_WITH_MORE_IMAGES.format(output=output, count=counted(added)))


def check_reference_file(output: Path, inputs: Iterable[Path], force: bool = False) -> None:
    """Raise an error if a reference for drift cannot be written, or would replace a file that is none."""
    from vwkde.monitoring._reference import is_reference

    check_file(output, inputs, force)
    if not force and _has_content(output) and not is_reference(output):
        raise OutputError(_OF_ANOTHER_KIND.format(output=output, kind="a reference"))


def check_report_file(output: Path, inputs: Iterable[Path], force: bool = False) -> None:
    """Raise an error if a report cannot be written, has no name of a page, or would replace a file that is none."""
    from vwkde.monitoring._report import is_report

    check_file(output, inputs, force)
    if force:
        return
    if output.suffix.lower() not in (".html", ".htm"):
        raise OutputError(f"{output}: a report is a page. Name it {output.with_suffix('.html').name}.")
    if _has_content(output) and not is_report(output):
        raise OutputError(_OF_ANOTHER_KIND.format(output=output, kind="a report of drift"))


def _check_place(output: Path) -> None:
    """Raise an error if there is no folder, or a pipe or a device would be replaced, which `force` does not allow."""
    if not can_be_replaced(output):
        raise OutputError(f"{output}: is not a regular file, and is not replaced. Choose another name.")
    folder = Path(os.path.realpath(output)).parent if output.is_symlink() else output.parent
    if not folder.exists():
        raise OutputError(f"{output}: there is no folder {folder}. Create it first, or choose another.")
    check_writable(folder)


def _has_content(output: Path) -> bool:
    return output.exists() and output.stat().st_size > 0


def _is_same(one: Path, other: Path) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:  # one of them does not exist
        return False
