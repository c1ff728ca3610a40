"""What inspection needs beyond the core: told with the command that adds it."""

from vwkde._runtime import extras


def require(package: str) -> None:
    """Raise with the command that installs it, unless the package is there."""
    extras.require(package, f"Inspection needs {package}", "inspect")
