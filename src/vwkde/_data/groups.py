"""Rows that belong together, by labels: time blocks, patients, repeated measurements."""

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vwkde._data.validation import on_host

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Pair = tuple[Ints | None, Ints | None]

FEWEST_GROUPS = 5
"""One for each fold of the guides: with fewer, neither a held-out loss nor a standard error means much."""


def check_group_pair(
    groups: Any,
    weights: tuple[Floats, Floats],
    owner: str,
    samples: tuple[str, str] = ("numerator", "denominator"),
) -> Pair:
    """Return the number of each row's group in two samples, equal for equal labels; None where there are no groups.

    Enough groups must have rows of positive weight. `samples` are the names of the samples in messages.
    """
    if groups is None:
        return None, None
    if not isinstance(groups, tuple | list) or len(groups) != 2:
        raise ValueError(
            f"The 'groups' parameter of {owner} must be a pair: the labels of the {samples[0]}'s rows and those of the "
            f"{samples[1]}'s rows. Got {type(groups).__name__} instead; pass groups=(labels, other_labels), with None "
            f"where rows are independent."
        )
    known: dict[Hashable, int] = {}
    p, q = (
        None if labels is None else _numbers(labels, weight, known, f"{owner}, for the {name},")
        for labels, weight, name in zip(groups, weights, samples, strict=True)
    )
    return p, q


def check_groups(groups: Any, rows: int, owner: str) -> Ints | None:
    """Return the number of each row's group in one sample, or None if there are no groups."""
    return None if groups is None else _numbers(groups, np.ones(rows), {}, owner)


def number_groups(p: Ints | None, q: Ints | None) -> Pair:
    """Return groups numbered without gaps by their first row; those in both samples come first, with equal numbers."""
    shared = np.array([], dtype=np.intp) if p is None or q is None else _by_appearance(p)
    if q is not None:
        shared = shared[np.isin(shared, q)]
    return _renumbered(p, shared), _renumbered(q, shared)


def random_half(rows: int, group: Ints | None, random: np.random.Generator) -> Ints:
    """Return the half, 0 or 1, of each of some rows; groups stay together."""
    if group is None:
        return random.permutation(rows) % 2
    labels, place = np.unique(group, return_inverse=True)
    return (random.permutation(len(labels)) % 2)[place.ravel()]


def refuse_groups(groups: Any, owner: str, why: str) -> None:
    """Raise if there are groups where none can be used."""
    if groups is not None:
        raise ValueError(f"The 'groups' parameter of {owner} must be None {why}.")


def _numbers(labels: Any, weight: Floats, known: dict[Hashable, int], owner: str) -> Ints:
    given = on_host(labels)
    numbers = np.fromiter((known.setdefault(_label(each, owner), len(known)) for each in _each(given, owner)), np.intp)
    if len(numbers) != len(weight):
        raise ValueError(
            f"The 'groups' parameter of {owner} must have one label for each of {len(weight)} rows. Got {len(numbers)} "
            f"labels instead; give the label of every row."
        )
    counted = weight > 0
    if (count := len(np.unique(numbers[counted]))) < FEWEST_GROUPS:
        where = "" if counted.all() else " in rows of positive weight"
        raise ValueError(
            f"The 'groups' parameter of {owner} must have at least {FEWEST_GROUPS} different labels{where}. Got "
            f"{count} instead; errors cannot be estimated from so few groups. Use smaller ones, or omit the parameter."
        )
    return numbers


def _each(labels: Any, owner: str) -> Iterable[Any]:
    if isinstance(labels, str) or not isinstance(labels, Iterable) or np.ndim(getattr(labels, "values", 0)) > 1:
        raise ValueError(
            f"The 'groups' parameter of {owner} must be a list or one-dimensional array of labels. Got "
            f"{type(labels).__name__} instead; pass one label for each row."
        )
    return labels


def _label(label: Any, owner: str) -> Hashable:
    if not isinstance(label, Hashable) or _is_missing(label):
        raise ValueError(
            f"The 'groups' parameter of {owner} must have labels such as numbers or strings. Got {label!r} instead; "
            f"give every row a label, its own one if it belongs to no group."
        )
    return label


def _is_missing(label: Any) -> bool:
    """Return whether a label is None, NaN, NaT or pandas' NA, whose comparisons are neither true nor false."""
    try:
        return label is None or bool(label != label)
    except TypeError:
        return True


def _by_appearance(group: Ints) -> Ints:
    values, first = np.unique(group, return_index=True)
    return values[np.argsort(first)]


def _renumbered(group: Ints | None, shared: Ints) -> Ints | None:
    if group is None:
        return None
    own = _by_appearance(group)
    order = np.concatenate([shared, own[~np.isin(own, shared)]])
    place = np.empty(int(order.max()) + 1, dtype=np.intp)
    place[order] = np.arange(len(order))
    return place[group]
