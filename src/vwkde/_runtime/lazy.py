"""An attribute that is computed on first access.

In Python 3.11, `functools.cached_property` holds one lock for all instances of a class while it computes. If the
computation waits for the workers of a thread pool, and a worker waits for that lock, both wait for ever. `lazy` has no
lock. Threads that ask at the same time may each compute the value; all of them get the one that was stored first.
"""

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

T = TypeVar("T")


class lazy(Generic[T]):  # noqa: N801  used like `property`
    """A method as an attribute, computed once and stored in the instance; works in frozen dataclasses too."""

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        """Remember the name under which the value is stored."""
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type) -> T: ...

    def __get__(self, instance: object | None, owner: type) -> Self | T:
        """Return the value and store it in the instance, where later lookups find it without this call."""
        if instance is None:
            return self
        return instance.__dict__.setdefault(self._name, self._compute(instance))
