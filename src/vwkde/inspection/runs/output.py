"""The files that a run writes into a folder, and errors in one line that begins with the file name."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile

SCORES, RESULTS, OVERLAYS, REPORT = "scores.csv", "results.json", "overlays", "report.html"
"""The contents of the folder of a run."""


class OutputError(ValueError):
    """A file or folder cannot be written. The message is one line that begins with its name."""


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Report errors in writing a file or folder, with its name."""
    try:
        yield
    except (FileExistsError, NotADirectoryError):
        blocking = next((each for each in (path, *path.parents) if each.exists() and not each.is_dir()), path)
        raise OutputError(f"{blocking}: is a file, but a folder is needed there. Choose another name.") from None
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror or error}.") from None


def check_writable(folder: Path) -> None:
    """Create a folder if it does not exist, and check that files can be written to it."""
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder) as file:
            file.write(b"a file")
