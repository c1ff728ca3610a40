"""Image files in folders: found by their suffixes, in natural order; hidden files are skipped."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from vwkde.inspection.data.errors import refuse

IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".webp", ".pgm")
"""The suffixes of image files, in lower case."""


def find_images(folder: Path, recursive: bool = False) -> list[Path]:
    """Return the image files of a folder in natural order; no images is an error."""
    images = list_images(folder, recursive)
    if not images:
        where = "in it or below it" if recursive else "directly in it"
        refuse(folder, f"the folder has no images {where} ({_suffixes_in_words()}).")
    return images


def list_images(folder: Path, recursive: bool = False) -> list[Path]:
    """Return the image files of a folder in natural order, possibly none; hidden files are skipped."""
    return [path for path in list_files(folder, recursive) if path.suffix.lower() in IMAGE_SUFFIXES]


def list_files(folder: Path, recursive: bool = False) -> list[Path]:
    """Return the files of a folder in natural order; hidden files and folders are skipped."""
    files = [
        Path(base, name) for base, _, names in _walk(folder, recursive) for name in names if not name.startswith(".")
    ]
    return sorted(files, key=lambda path: natural_key(path.relative_to(folder)))


def list_folders(folder: Path) -> list[Path]:
    """Return the folders directly in a folder in natural order; hidden ones are skipped."""
    names = next(_walk(folder, recursive=False))[1]
    return sorted((folder / name for name in names), key=natural_key)


def natural_key(path: Path) -> tuple[Any, ...]:
    """Return a sort key that puts image 2 before image 10."""
    return tuple(_key_of_name(part) for part in path.parts)


def _walk(folder: Path, recursive: bool) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield each folder with the names of its folders, without hidden ones, and of its files."""
    try:
        if not folder.exists():
            refuse(folder, "there is no such folder; check the name.")
        if not folder.is_dir():
            refuse(folder, "this is not a folder; give the folder that contains the images.")
        for base, folders, files in os.walk(folder, onerror=_raise):
            folders[:] = [name for name in folders if not name.startswith(".")]
            yield base, folders, files
            if not recursive:
                return
    except PermissionError as error:
        refuse(error.filename or folder, "the folder may not be read; change its permissions.")
    except OSError as error:
        refuse(error.filename or folder, f"the folder cannot be read ({error.strerror or error}); check the disk.")


def _raise(error: OSError) -> NoReturn:
    raise error


def _key_of_name(name: str) -> tuple[Any, ...]:
    pieces = re.split(r"([0-9]+)", name.casefold())
    return tuple(int(piece) if index % 2 else piece for index, piece in enumerate(pieces)), name


def _suffixes_in_words() -> str:
    return ", ".join(IMAGE_SUFFIXES[:-1]) + f" or {IMAGE_SUFFIXES[-1]}"
