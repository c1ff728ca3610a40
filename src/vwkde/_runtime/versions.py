"""Versions of this package, Python and other packages, as results report them."""

import platform
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version


def own_version() -> str:
    """Return the installed version of vwkde."""
    return version("vwkde")


def versions_here(*packages: str) -> dict[str, str]:
    """Return the versions of vwkde, Python and, of the given packages, those that are installed."""
    versions = {"vwkde": own_version(), "python": platform.python_version()}
    for name in packages:
        with suppress(PackageNotFoundError):
            versions[name] = version(name)
    return versions
