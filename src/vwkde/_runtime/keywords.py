"""Keywords that a function passes on: an unknown one is refused in the name of the function that was called."""

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from inspect import Parameter, signature
from typing import Any


def keywords_of(function: Callable[..., Any]) -> list[str]:
    """Return the names of a function's own keyword-only parameters."""
    return [each.name for each in signature(function).parameters.values() if each.kind is Parameter.KEYWORD_ONLY]


def refuse_unknown(given: Iterable[str], known: Iterable[str], owner: Callable[..., Any], where: str = "") -> None:
    """Raise if a keyword is neither known nor the owner's own, and name the one that was probably meant."""
    known = list(dict.fromkeys([*keywords_of(owner), *known]))
    for name in given:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            meant = f"Did you mean {near[0]!r}?" if near else f"It has: {', '.join(map(repr, known))}."
            raise TypeError(f"{owner.__name__} has no parameter {name!r}{where and f' with {where}'}. {meant}")
