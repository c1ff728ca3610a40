"""The names of the divergences, with their aliases, units and options, and of the intervals."""

from difflib import get_close_matches

import numpy as np

from vwkde._answers.functionals import KINDS
from vwkde._data.validation import is_number

_ALIASES = {
    "kullback-leibler": "kl",
    "rkl": "reverse-kl",
    "js": "jensen-shannon",
    "jsd": "jensen-shannon",
    "rényi": "renyi",
    "chi-2": "chi2",
    "chi-square": "chi2",
    "chi-squared": "chi2",
    "chisquare": "chi2",
    "chisq": "chi2",
    "χ²": "chi2",
    "χ2": "chi2",
    "pearson": "chi2",
    "tv": "total-variation",
}
UNITS = {"nats": 1.0, "bits": float(np.log(2))}
"""The units, each in nats."""
_LARGEST_ORDER = 1_000.0
"""Orders above this one show the largest ratio of the sample, and nothing else."""


def unit_of(kind: str) -> str:
    """Return the unit of a divergence; kinds that are not logarithms have none."""
    return "" if kind in ("hellinger", "chi2", "total-variation") else "nats"


def nats_in(unit: str, kind: str) -> float:
    """Return how many nats a unit is, or raise if there is no such unit or the kind has none."""
    if unit == "" == unit_of(kind):
        return 1.0
    if not isinstance(unit, str) or unit not in UNITS:
        raise ValueError(f"The 'unit' parameter must be one of {list(UNITS)}. Got {unit!r} instead.")
    if unit_of(kind) == "":
        raise ValueError(f"{kind!r} is a number without a unit. Got unit={unit!r} instead; omit the parameter.")
    return UNITS[unit]


def check_unit(unit: str | None, kind: str) -> str:
    """Return the unit of an estimate, which is in nats by default, or raise."""
    if unit is None:
        return unit_of(kind)
    nats_in(unit, kind)
    return unit


def check_divergence(kind: str, order: float | None) -> tuple[str, dict[str, float]]:
    """Return the kind of divergence that a name or alias stands for, and the options that go with it, or raise."""
    kind = _named(kind)
    if kind != "renyi":
        if order is not None:
            raise ValueError(
                f"The 'order' parameter belongs to kind='renyi'. Got order={order!r} with {kind!r} instead."
            )
        return kind, {}
    if not is_number(order) or not 0 < order <= _LARGEST_ORDER or order == 1:
        raise ValueError(
            f"The 'order' parameter of kind='renyi' must be a positive number other than 1, for which kind='kl' is the "
            f"limit, and at most {_LARGEST_ORDER:g}. Got {order!r} instead."
        )
    return kind, {"order": float(order)}


def _named(kind: str) -> str:
    plain = kind.strip().lower().replace("_", "-").replace(" ", "-") if isinstance(kind, str) else ""
    plain = _ALIASES.get(plain, plain)
    if plain in KINDS:
        return plain
    near = get_close_matches(plain, [*KINDS, *_ALIASES], n=1)
    hint = f"; did you mean {_ALIASES.get(near[0], near[0])!r}?" if near else "."
    raise ValueError(f"The 'kind' parameter of divergence must be one of {list(KINDS)}. Got {kind!r} instead{hint}")


def check_interval(interval: str, confidence_level: float) -> None:
    """Raise if the interval or its level is not supported."""
    if not isinstance(interval, str) or interval not in ("influence", "quick", "subsample"):
        raise ValueError(
            f"The 'interval' parameter of divergence must be 'influence', 'quick' or 'subsample'. Got {interval!r} "
            f"instead."
        )
    if not is_number(confidence_level) or not 0 < confidence_level < 1:
        raise ValueError(
            f"The 'confidence_level' parameter of divergence must be a number that lies between 0 and 1. Got "
            f"{confidence_level!r} instead."
        )
