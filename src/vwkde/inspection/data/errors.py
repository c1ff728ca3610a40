"""The error of images that cannot be used: one line that begins with the name of the file."""

from pathlib import Path
from typing import NoReturn


class ImageError(ValueError):
    """An image or a folder of images cannot be used; the message is one line that begins with its name."""


def refuse(name: Path | str, reason: str) -> NoReturn:
    """Raise an error of one line, whatever a name is made of."""
    raise ImageError(" ".join(f"{name}: {reason}".splitlines())) from None
