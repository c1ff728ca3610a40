"""Several informations at once: between the columns of a table, and at several lags."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vwkde._data.intake import check_table
from vwkde._data.reading import Reading
from vwkde._data.validation import Array
from vwkde._display import html
from vwkde._display.tabular import Tabular
from vwkde._display.text import with_interval
from vwkde._display.waiting import shown_while_waiting
from vwkde._runtime.keywords import keywords_of, refuse_unknown
from vwkde._runtime.progress import track
from vwkde.information._conditional import conditional_mutual_information
from vwkde.information._mutual import mutual_information
from vwkde.information._series import check_lag
from vwkde.ratio._plain import DEFAULTS
from vwkde.results import Estimate

Floats = NDArray[np.float64]
Pair = tuple[str, str]

_MOST_SHOWN = 12
"""Maximum number of columns in the table that a notebook shows."""


@dataclass(frozen=True)
class InformationMatrix(Tabular):
    """The mutual information of every two columns of a table.

    `matrix["a", "b"]` is the estimate of two columns, in either order, with its interval. `to_frame()` is the square
    table of the values, like `DataFrame.corr`; its diagonal is empty, since a column says everything about itself.

    Parameters
    ----------
    columns : tuple of str
        The names of the columns, or their numbers.
    estimates : dict of (str, str) to Estimate
        The estimate of each pair of columns, the first of which comes first in the table.
    unit : str, default="nats"
        The unit of all values.

    Examples
    --------
    >>> import numpy as np, vwkde
    >>> x = np.random.default_rng(0).normal(size=(300, 2))
    >>> table = np.column_stack([x, x[:, 0] > 0])
    >>> matrix = vwkde.mutual_information_matrix(table, guide="gaussian")
    >>> matrix["0", "2"].value > 0.3 > abs(matrix["0", "1"].value)
    True
    """

    columns: tuple[str, ...]
    estimates: Mapping[Pair, Estimate] = field(repr=False)
    unit: str = "nats"

    def __getitem__(self, pair: Pair) -> Estimate:
        """Return the estimate of two columns."""
        first, second = (str(name) for name in pair)
        found = self.estimates.get((first, second)) or self.estimates.get((second, first))
        if found is None:
            raise KeyError(f"There is no pair of columns {pair!r}. The columns are {list(self.columns)}.")
        return found

    @property
    def values(self) -> Floats:
        """The values as a symmetric array, with NaN on its diagonal.

        Returns
        -------
        array of shape (columns, columns)
            In the unit of the matrix.
        """
        matrix = np.full((len(self.columns), len(self.columns)), np.nan)
        place = {name: i for i, name in enumerate(self.columns)}
        for (first, second), estimate in self.estimates.items():
            i, j = place[first], place[second]
            matrix[i, j] = matrix[j, i] = estimate.value
        return matrix

    def __str__(self) -> str:
        """Return a line for each pair, the largest first."""
        width = max(len(" – ".join(pair)) for pair in self.estimates)
        return "\n".join(
            f"{' – '.join(pair):{width}s}  {with_interval(each.value, each.interval, each.unit, each.confidence_level)}"
            for pair, each in sorted(self.estimates.items(), key=lambda item: -item[1].value)
        )

    def to_frame(self) -> Any:
        """Return the square table of the values.

        Returns
        -------
        pandas.DataFrame
            The columns of the table are its index and its columns; the diagonal is missing.
        """
        return super().to_frame().set_index("column").rename_axis(None)

    def _answers(self) -> dict[str, Any]:
        return {"kind": "mutual-information", "unit": self.unit, "columns": self.columns, "values": self.values}

    def _details(self) -> dict[str, Any]:
        return {
            "estimates": [{"x": x, "y": y, **estimate.to_dict()} for (x, y), estimate in self.estimates.items()],
        }

    def _lines(self) -> list[dict[str, Any]]:
        rows = zip(self.columns, self.values, strict=True)
        return [{"column": name, **dict(zip(self.columns, row, strict=True))} for name, row in rows]

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the values, shaded by their size."""
        values = self.values[:_MOST_SHOWN, :_MOST_SHOWN]
        cells = {(i, j): float(v) for (i, j), v in np.ndenumerate(values) if np.isfinite(v)}
        largest = max(max(cells.values()), np.finfo(np.float64).tiny)
        shades = {pair: max(value, 0.0) / largest for pair, value in cells.items()}
        texts = {pair: f"{value:.3f}" for pair, value in cells.items()}
        shown = html.matrix(self.columns[:_MOST_SHOWN], texts, shades)
        return html.card(f"mutual information in {self.unit}", shown)


@dataclass(frozen=True)
class LaggedInformation(Tabular):
    """The information of two time series at several lags.

    `lagged[2]` is the estimate at lag 2. `to_frame()` has a line for each lag.

    Parameters
    ----------
    estimates : dict of int to Estimate
        The estimate at each lag.

    Examples
    --------
    >>> import numpy as np, vwkde
    >>> x = np.random.default_rng(0).normal(size=302)
    >>> lagged = vwkde.mutual_information_by_lag(x, np.roll(x, 1) ** 3, range(2), guide="gaussian")
    >>> lagged.largest
    1
    """

    estimates: Mapping[int, Estimate]

    def __getitem__(self, lag: int) -> Estimate:
        """Return the estimate at a lag."""
        return self.estimates[lag]

    @property
    def largest(self) -> int:
        """The lag with the largest value.

        Returns
        -------
        int
            One of the lags that were asked for.
        """
        return max(self.estimates, key=lambda lag: self.estimates[lag].value)

    def __str__(self) -> str:
        """Return a line for each lag."""
        return "\n".join(
            f"lag {lag}: {with_interval(each.value, each.interval, each.unit, each.confidence_level)}"
            for lag, each in self.estimates.items()
        )

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        return html.card("information by lag", *str(self).splitlines())

    def _answers(self) -> dict[str, Any]:
        first = next(iter(self.estimates.values()))
        values = {lag: estimate.value for lag, estimate in self.estimates.items()}
        return {"kind": first.kind, "unit": first.unit, "largest": self.largest, "values": values}

    def _details(self) -> dict[str, Any]:
        return {"estimates": [{"lag": lag, **estimate.to_dict()} for lag, estimate in self.estimates.items()]}

    def _lines(self) -> list[dict[str, Any]]:
        return [{"lag": lag, **line} for lag, each in self.estimates.items() for line in each._lines()]


@shown_while_waiting
def mutual_information_matrix(
    table: Any, *, missing: str = "refuse", dates: str = "refuse", **parameters: Any
) -> InformationMatrix:
    """Estimate the mutual information of every two columns of a table.

    Parameters
    ----------
    table : array-like of shape (n, d)
        An array or table with at least two columns: numbers, truth values, categories. Columns that label rows are left
        out, with a warning.
    missing : {"refuse", "indicator"}, default="refuse"
        What missing values do, as in `DensityRatio`.
    dates : {"refuse", "number", "drop"}, default="refuse"
        What columns of dates or times do, as in `DensityRatio`.
    **parameters : dict
        Parameters of `mutual_information`, for example `unit="bits"` or `groups=patients`.

    Returns
    -------
    InformationMatrix
        The estimate of each pair of columns.

    Raises
    ------
    ValueError
        If there are fewer than two columns, or a column cannot be used.

    Examples
    --------
    >>> import numpy as np, vwkde
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=300)
    >>> table = np.column_stack([x, x + rng.normal(size=300), rng.normal(size=300)])
    >>> matrix = vwkde.mutual_information_matrix(table, guide="gaussian", unit="bits")
    >>> bool(matrix.values[0, 1] > 0.3), bool(matrix.values[0, 2] < 0.1)
    (True, True)
    """
    _refuse_unknown(parameters, mutual_information, mutual_information_matrix)
    columns = _columns(table, Reading(missing, dates))
    pairs = list(combinations(columns, 2))
    if not pairs:
        raise ValueError(f"The table must have at least 2 columns. Got {list(columns)} instead; add columns.")
    estimates = {
        (x, y): mutual_information(columns[x], columns[y], **parameters)
        for x, y in track(pairs, "pairs of columns", len(pairs))
    }
    return InformationMatrix(tuple(columns), estimates, next(iter(estimates.values())).unit)


def _refuse_unknown(given: Iterable[str], asked: Callable[..., Any], owner: Callable[..., Any]) -> None:
    """Raise if a keyword is none of the function that is asked many times, in the name of the one that was called."""
    refuse_unknown(given, [*keywords_of(asked), *DEFAULTS], owner)


def _columns(table: Any, reading: Reading) -> dict[str, Array]:
    """Return the numbers of each column of a table; a category has several."""
    values, layout = check_table(table, "table", reading)
    return dict(_named(values, layout))


def _named(values: Array, layout: Any) -> Iterator[tuple[str, Array]]:
    start = 0
    for column in layout.columns:
        yield str(column.name), values[:, start : start + len(column.names)]
        start += len(column.names)


@shown_while_waiting
def mutual_information_by_lag(
    X: Any, Y: Any, lags: Iterable[int], *, Z: Any = None, z_lag: int = 0, **parameters: Any
) -> LaggedInformation:
    """Estimate how much a time series X says about Y that many rows later.

    Intervals are by blocks of rows, as by `mutual_information` with `blocks="auto"`, unless groups are given.

    Parameters
    ----------
    X : array-like of shape (n, d) or (n,)
        The time series that comes first, with its rows in the order of time.
    Y : array-like of shape (n, e) or (n,)
        The other time series, with the same rows.
    lags : iterable of int
        The lags: X is taken this many rows before Y. Repeated ones count once.
    Z : array-like of shape (n, f) or (n,), optional
        What is known already: the information is then conditional on it. The past of Y makes it a transfer entropy.
    z_lag : int, default=0
        How many rows before Y what is known is taken.
    **parameters : dict
        Parameters of `mutual_information` or, with Z, of `conditional_mutual_information`.

    Returns
    -------
    LaggedInformation
        The estimate at each lag.

    Raises
    ------
    ValueError
        If there is no lag, or a lag is no int or leaves too few rows.

    Examples
    --------
    >>> import numpy as np, vwkde
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=302)
    >>> y = np.roll(x, 2) + rng.normal(size=302)
    >>> lagged = vwkde.mutual_information_by_lag(x, y, [0, 2], guide="gaussian")
    >>> lagged[2].value > 0.2 > lagged[0].value
    True
    """
    asked = mutual_information if Z is None else conditional_mutual_information
    _refuse_unknown(parameters, asked, mutual_information_by_lag)
    wanted = _check_lags(lags)
    check_lag("z_lag", z_lag, "mutual_information_by_lag")
    if parameters.get("groups") is None:
        parameters = {"blocks": "auto"} | parameters
    estimates = {}
    longest_first = sorted(wanted, key=abs, reverse=True)  # one that leaves too few rows is told before the others run
    for lag in track(longest_first, "lags", len(wanted)):
        if Z is None:
            estimates[lag] = mutual_information(X, Y, lag=lag, **parameters)
        else:
            estimates[lag] = conditional_mutual_information(X, Y, Z, lag=lag, z_lag=z_lag, **parameters)
    return LaggedInformation({lag: estimates[lag] for lag in wanted})


def _check_lags(lags: Any) -> list[int]:
    """Return the different lags, or raise unless all are whole numbers."""
    if not isinstance(lags, Iterable):
        raise ValueError(
            f"The 'lags' parameter of mutual_information_by_lag must be several ints, such as range(10). Got {lags!r} "
            f"instead; for one lag, use mutual_information with lag={lags!r}."
        )
    given = list(lags)
    if not given:
        raise ValueError("The 'lags' parameter of mutual_information_by_lag must have at least one lag. Got none.")
    return list(dict.fromkeys(check_lag("lags", lag, "mutual_information_by_lag", "ints") for lag in given))
