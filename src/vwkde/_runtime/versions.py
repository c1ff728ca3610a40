"""What computes here: the versions of this package, of Python and of others, as results report them."""

import platform
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version

VERSION = "0.1.0"
"""The version of vwkde, which the package and its builds take from here."""


def versions_here(*packages: str) -> dict[str, str]:
    """Return the versions of vwkde, Python and those of the packages that are installed."""
    versions = {"vwkde": VERSION, "python": platform.python_version()}
    for name in packages:
        with suppress(PackageNotFoundError):
            versions[name] = version(name)
    return versions
