"""The estimators by name: the default, every method, guides, simple peers, and functions of other people."""

from collections.abc import Callable
from importlib import import_module
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray

import peers
import vwkde
from vwkde.divergences import make_estimator

Floats = NDArray[np.float64]

PEERS: dict[str, Callable[[Floats, Floats], Any]] = {
    "boosted-odds": peers.boosted,
    "quadratic-odds": peers.quadratic,
    "neighbours-1": lambda p, q: peers.nearest_neighbours(p, q, 1),
    "neighbours-5": lambda p, q: peers.nearest_neighbours(p, q, 5),
    "plain-kde": peers.plain_kde,
    "gaussian-plug-in": peers.gaussian,
}
"""Simple estimators that use nothing of vwkde."""

ORACLE = "oracle"
"""What knows the true ratio, and so is no estimator: it shows what the best can attain."""
_GUIDE = "-guide"


class NotAskedError(Exception):
    """An estimator does not answer this question."""


def names_of(asked: list[str]) -> list[str]:
    """Return the names of estimators, with "methods", "peers" and "all" spelled out."""
    groups = {"methods": list(vwkde.methods()), "peers": list(PEERS)}
    groups["all"] = ["default", *groups["methods"], *groups["peers"], ORACLE]
    names = [name for each in asked for name in groups.get(each, [each])]
    for name in names:
        check(name)
    return list(dict.fromkeys(names))


def check(name: str) -> None:
    """Raise if no estimator has this name."""
    if ":" in name:
        function_at(name)
    elif not (name in ("default", ORACLE) or name in vwkde.methods() or name in PEERS or name.endswith(_GUIDE)):
        raise ValueError(
            f"An estimator must be one of {['default', *vwkde.methods(), *PEERS, ORACLE]}, 'NAME-guide' for a guide of "
            f"DensityRatio, 'methods', 'peers', 'all', or 'package.module:function'. Got {name!r} instead."
        )


def fit(name: str, p: Floats, q: Floats) -> Any:
    """Return what an estimator makes of two samples: a number, an estimate, or an object that answers questions."""
    if ":" in name:
        function = function_at(name)
        return Asked(function, p, q) if "kind" in signature(function).parameters else function(p, q)
    if name in PEERS:
        return PEERS[name](p, q)
    if name.endswith(_GUIDE):
        return vwkde.DensityRatio(guide=name.removesuffix(_GUIDE)).fit(p, q)
    return make_estimator(None if name == "default" else name, {}).fit(p, q)


class Asked:
    """A function f(P, Q, kind=...) with its samples, which is called once per kind of divergence."""

    def __init__(self, function: Callable[..., Any], p: Floats, q: Floats) -> None:
        self._function, self._samples = function, (p, q)

    def divergence(self, kind: str, order: float | None = None) -> Any:
        """Return the function's answer; it is told the kind, and must know the order of "renyi"."""
        del order
        return self._function(*self._samples, kind=kind)


def function_at(name: str) -> Callable[..., Any]:
    """Return the function that 'package.module:function' names."""
    module, _, function = name.partition(":")
    try:
        return getattr(import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise ValueError(
            f"An estimator 'package.module:function' must be one that Python can import here. Got {name!r}: {error}."
        ) from None
