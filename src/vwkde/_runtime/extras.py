"""What an extra brings: a module, or the command that installs it."""

from importlib import import_module
from typing import Any


def require(module: str, need: str, extra: str) -> Any:
    """Return the module; where it is missing, tell what needs it and how to install the extra that has it."""
    try:
        return import_module(module)
    except ImportError:
        raise ImportError(f"{need}; install it with: pip install 'vwkde[{extra}]'") from None
