"""The error for images that cannot be used: one line that begins with the name of the file."""

from pathlib import Path
from typing import NoReturn


class ImageError(ValueError):
    """An image or a folder of images cannot be used. The message is one line that begins with its name.

    Examples
    --------
    >>> from pathlib import Path
    >>> from vwkde.inspection import ImageError, read_image
    >>> try:
    ...     read_image(Path("missing.png"))
    ... except ImageError as error:
    ...     print(error)
    missing.png: there is no such file; check the name.
    """


def refuse(name: Path | str, reason: str) -> NoReturn:
    """Raise an error of one line, even if the name contains line breaks."""
    raise ImageError(" ".join(f"{name}: {reason}".splitlines())) from None
