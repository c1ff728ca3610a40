"""Optional dependencies: import the module, or raise with the command that installs it."""

from importlib import import_module
from typing import Any


def require(module: str, need: str, extra: str) -> Any:
    """Return the module; if it is missing, raise with what needs it and how to install its extra."""
    try:
        return import_module(module)
    except ImportError:
        raise ImportError(f"{need}; install it with: pip install 'vwkde[{extra}]'") from None
