"""Versions of this package, Python and other packages, as results report them."""

from contextlib import suppress

VERSION = "0.1.0"
"""The version of vwkde; the package and its builds read it from here."""


def versions_here(*packages: str) -> dict[str, str]:
    """Return the versions of vwkde, Python and, of the given packages, those that are installed."""
    import platform  # only now: these two take most of the time of `import vwkde`
    from importlib.metadata import PackageNotFoundError, version

    versions = {"vwkde": VERSION, "python": platform.python_version()}
    for name in packages:
        with suppress(PackageNotFoundError):
            versions[name] = version(name)
    return versions
