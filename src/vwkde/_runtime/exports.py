"""Names of a package that load on first use, so that importing the package is instant."""

import gc
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any


def lazy_names(package: str, modules: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` for a package; `modules` maps each name to its submodule."""

    def get(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        with garbage_left():
            return getattr(import_module(f"{package}.{modules[name]}"), name)

    def names() -> list[str]:
        return sorted(modules)

    return get, names


@contextmanager
def garbage_left() -> Iterator[None]:
    """Collect no garbage during a `with` statement that imports, and take its objects for old ones after it.

    Hundreds of modules make objects that stay. The collector would look at all of them again and again, a sixth of the
    time of the imports, and find nothing.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        if not gc.get_freeze_count():  # what others have frozen stays frozen
            gc.freeze()
            gc.unfreeze()  # to the oldest generation
        gc.enable()
