"""An attribute that is computed when it is first asked for.

`functools.cached_property` of Python 3.11 holds one lock for all instances of a class while it computes. A thread that
runs blocks of work meanwhile waits for the workers of a pool, and they may wait for that lock: a deadlock. `lazy` has
no lock. Threads that ask at the same moment may each compute the value; all of them get the one that was stored first.
"""

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

T = TypeVar("T")


class lazy(Generic[T]):  # noqa: N801  used like `property`
    """A method as an attribute, computed once and kept with the instance, frozen dataclasses included."""

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        """Take the name under which the value is kept."""
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type) -> T: ...

    def __get__(self, instance: object | None, owner: type) -> Self | T:
        """Return the value; from then on it is found in the instance before this is called."""
        if instance is None:
            return self
        return instance.__dict__.setdefault(self._name, self._compute(instance))
