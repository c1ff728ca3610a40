"""What computes here: the versions of this package, of Python and of others, as results tell them."""

import platform
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version

from vwkde import __version__


def versions_here(*packages: str) -> dict[str, str]:
    """Return the versions of vwkde, Python and those of the packages that are installed."""
    found = {"vwkde": __version__, "python": platform.python_version()}
    for name in packages:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found
