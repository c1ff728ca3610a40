"""The files that a run writes into a folder, and what goes wrong there, in one line that begins with the name."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile

SCORES, RESULTS, OVERLAYS, REPORT = "scores.csv", "results.json", "overlays", "report.html"
"""What is in the folder of a run."""


class OutputError(ValueError):
    """Something cannot be written; the message is one line that begins with its name."""


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Tell what goes wrong in writing a file or folder by its name."""
    try:
        yield
    except (FileExistsError, NotADirectoryError):
        blocking = next((each for each in (path, *path.parents) if each.exists() and not each.is_dir()), path)
        raise OutputError(f"{blocking}: is a file, but a folder is needed there. Name another.") from None
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror or error}.") from None


def check_writable(folder: Path) -> None:
    """Make a folder, unless it is there, and find out whether files can be written to it."""
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder) as file:
            file.write(b"a file")
