"""Rows in the order of time: lags between columns, and blocks of rows that remember each other."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from vwkde._data.groups import check_groups
from vwkde._data.ranks import mean_ranks
from vwkde._data.validation import Array
from vwkde._models.guides.cross_fit import FOLDS
from vwkde._runtime.warn import warn
from vwkde.exceptions import DegenerateDataWarning

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_MEMORIES = 4.0
"""Length of a block, in times over which a column remembers: the blocks then miss about an eighth of the variance,
where the log ratio remembers as long as the columns do."""
_WINDOW = 5.0
"""Lags up to which autocorrelations are added, in such times (Sokal's rule): beyond it there is only noise."""
_FEWEST_BLOCKS = 4 * FOLDS


def in_time(
    series: list[Array], lags: dict[str, Any], groups: Any, blocks: Any, owner: str
) -> tuple[list[Array], Ints | None]:
    """Return the rows of several series with lags between them, and the groups or blocks of these rows.

    `lags` are the parameters by name, one for each series. With a lag, the rows are a time series, and its blocks are
    chosen unless groups are given.
    """
    if groups is not None and blocks is not None:
        raise ValueError(
            f"The 'blocks' parameter of {owner} must be None with 'groups', whose rows are together already. Got "
            f"{blocks!r} instead; omit one of them."
        )
    group, shifts = check_groups(groups, len(series[0]), owner), [check_lag(*each, owner) for each in lags.items()]
    if any(shifts):
        places = _rows_at(shifts, len(series[0]), group, owner)
        series = [each[place] for each, place in zip(series, places, strict=True)]
        group = None if group is None else group[places[0]]
    if blocks is None and (group is not None or not any(shifts)):
        return series, group
    return series, block_labels("auto" if blocks is None else blocks, series, owner)


def check_lag(name: str, lag: Any, owner: str, what: str = "an int") -> int:
    """Return a lag, or raise unless it is a whole number; `what` the parameter must be."""
    if not isinstance(lag, int | np.integer) or isinstance(lag, bool):
        raise ValueError(
            f"The {name!r} parameter of {owner} must be {what}, the rows by which one comes before the other. Got "
            f"{lag!r} instead."
        )
    return int(lag)


def _rows_at(lags: list[int], rows: int, group: Ints | None, owner: str) -> list[Ints]:
    """Return the rows of several series at which they are that many rows before the present one.

    All rows must exist and, if there are groups, be of one group: a lag does not reach into another patient.
    """
    present = np.arange(max(0, *lags), rows + min(0, *lags))
    if len(present) < 2 * FOLDS:
        raise ValueError(
            f"The lags of {owner} must leave at least {2 * FOLDS} of {rows} rows. Got lags of {lags} instead; use "
            f"shorter ones."
        )
    places = [present - lag for lag in lags]
    if group is None:
        return places
    together = np.all([group[place] == group[places[0]] for place in places], axis=0)
    return [place[together] for place in places]


def block_labels(blocks: Any, series: list[Array], owner: str) -> Ints:
    """Return the number of each row's block; "auto" takes blocks that are long enough for the memory of the rows."""
    rows = len(series[0])
    most = rows // (2 * FOLDS)
    if isinstance(blocks, str) and blocks == "auto":
        return _in_blocks(rows, _chosen_length(series))
    if not isinstance(blocks, int | np.integer) or isinstance(blocks, bool) or not 1 <= blocks <= most:
        raise ValueError(
            f"The 'blocks' parameter of {owner} must be 'auto' or an int from 1 to {most}, the rows of a block: "
            f"at least {2 * FOLDS} blocks are needed. Got {blocks!r} instead."
        )
    return _in_blocks(rows, int(blocks))


def _in_blocks(rows: int, length: int) -> Ints:
    """Return blocks of consecutive rows; a short last one belongs to the one before."""
    return np.minimum(np.arange(rows) // length, max(rows // length - 1, 0))


def _chosen_length(series: list[Array]) -> int:
    rows, longest = len(series[0]), max(memory(column) for each in series for column in each.T)
    length, most = int(np.ceil(_MEMORIES * longest)), len(series[0]) // _FEWEST_BLOCKS
    if length > 2 * most and round(longest) > 1:
        warn(
            f"A column remembers its past for about {longest:.0f} of {rows} rows: they are worth few independent ones, "
            f"and the interval may be too narrow. Give a longer series.",
            DegenerateDataWarning,
        )
    return max(1, min(length, most))


def memory(column: Array) -> float:
    """Return the integrated autocorrelation time: how many rows are worth one independent row, for a mean.

    It is the larger one of the normal scores and of their squares, since spreads have a memory too.
    """
    scores = ndtri(mean_ranks(column) / (len(column) + 1))
    return max(_autocorrelation_time(each) for each in (scores, scores**2))


def _autocorrelation_time(values: Floats) -> float:
    centred = values - values.mean()
    if not centred.any():
        return 1.0
    transformed = np.fft.rfft(centred, 2 * len(centred))
    covariance = np.fft.irfft(np.abs(transformed) ** 2)[: len(centred)]
    times = 2 * np.cumsum(covariance / covariance[0]) - 1
    enough = np.arange(len(times)) >= _WINDOW * times
    return max(1.0, float(times[np.argmax(enough)] if enough.any() else times.max()))
