"""Whether rows are independent, as permutation tests take them to be."""

from vwkde._data.copies import find_distinct, merge_repeats
from vwkde._data.validation import Array
from vwkde._runtime.warn import warn
from vwkde.exceptions import DegenerateDataWarning

_MANY_REPEATS = 0.04
"""Share of repeated rows from which there is a warning: the p-value changes little with fewer."""


def warn_of_repeats(samples: dict[str, Array]) -> None:
    """Warn if rows of one of two samples, by name, repeat others."""
    distinct = [find_distinct(sample) for sample in samples.values()]
    sides = zip(samples, distinct, distinct[::-1], strict=True)
    for name, own, other in sides:
        merging = merge_repeats(own, other)
        repeats = 0 if merging is None else len(own.behind) - len(merging.kept)
        if repeats > _MANY_REPEATS * len(own.behind):
            warn(
                f"{repeats} rows of the {name} repeat others, although the data are not discrete: the test takes them "
                f"for independent, and its p-value is too small. Drop the copies, or pass groups=.",
                DegenerateDataWarning,
            )
