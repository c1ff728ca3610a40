"""What inspection needs beyond the core: told with the command that adds it."""

from importlib import import_module


def require(package: str) -> None:
    """Raise with the command that installs it, unless the package is there."""
    try:
        import_module(package)
    except ImportError:
        raise ImportError(f"Inspection needs {package}; install it with: pip install 'vwkde[inspect]'") from None
