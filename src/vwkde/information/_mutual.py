"""How much information two sets of columns have about each other."""

from dataclasses import replace
from typing import Any, Literal

from vwkde._answers.kinds import check_interval, check_unit
from vwkde._data.intake import check_table
from vwkde._data.reading import PLAIN, Reading
from vwkde._data.validation import Array
from vwkde._display.waiting import shown_while_waiting
from vwkde._models.guides.cross_fit import FOLDS
from vwkde._runtime.warn import warn
from vwkde.exceptions import DegenerateDataWarning
from vwkde.information._forms import Asked, information
from vwkde.information._pairing import in_canonical_order, make_pairs
from vwkde.information._series import in_time
from vwkde.results import Estimate


@shown_while_waiting
def mutual_information(
    X: Any,
    Y: Any,
    *,
    method: str | None = None,
    confidence_level: float = 0.95,
    random_state: Any = 0,
    groups: Any = None,
    missing: Literal["refuse", "indicator"] = "refuse",
    dates: Literal["refuse", "number", "drop"] = "refuse",
    lag: int = 0,
    blocks: int | Literal["auto"] | None = None,
    unit: str = "nats",
    **parameters: Any,
) -> Estimate:
    """Estimate the mutual information of X and Y: KL(joint ‖ product of the marginals).

    The ratio of the joint density to the product of the marginals is fitted as by `DensityRatio`, to the rows and to
    pairs of different rows; models of the product are products of models of X and of Y. The result is averaged with
    that of normal and t copulas, which see tails that come together and need few rows for many columns. Nearest
    neighbours are one more opinion if X and Y together have at most six columns and there are at least fifty rows:
    where they clearly see more, the value moves towards theirs, and in two or three columns they replace a fit that no
    model suits, unless parameters ask for it. What the opinions disagree about counts as systematic error.

    If X and Y are discrete, the information is that of the table of their counts; if one of them is, with up to ten
    values, the densities of the other are compared class by class. Both need no parameters of `DensityRatio`, and are
    used if none is given. Values that ten rows share on average are taken for discrete.

    The standard error is that of the mean log ratio: to first order, the marginals add nothing to it.
    Rows that repeat others count as one group, unless the data are discrete.

    Parameters
    ----------
    X : array-like of shape (n, d) or (n,)
        An array, table or column of one (see the guide's page on tables), CPU tensor, or the path of a file.
    Y : array-like of shape (n, e) or (n,)
        The same number of rows: row i of Y belongs to row i of X.
    method : {"vwkde-mb", "vwkde-mf", "kde"}, optional
        The form of `DensityRatio` to use. By default, `DensityRatio` with all its defaults.
    confidence_level : float, default=0.95
        The level of the estimate's interval, between 0 and 1.
    random_state : int, RandomState or None, default=0
        Seeds the pairing and every other random choice.
    groups : array-like of shape (n,), optional
        Which rows belong together, such as those of a patient or of a time block: the label of each row, of any
        hashable type, at least 5 different ones. Rows of a group are held out together and never paired with each
        other, and the standard error counts them as dependent.
    missing : {"refuse", "indicator"}, default="refuse"
        What missing values do, as in `DensityRatio`.
    dates : {"refuse", "number", "drop"}, default="refuse"
        What columns of dates or times do, as in `DensityRatio`.
    lag : int, default=0
        For time series, whose rows are in the order of time: X is taken this many rows before Y. Negative lags take it
        after Y. With `groups`, no lag reaches from one group into another.
    blocks : int or "auto", optional
        For time series: the number of consecutive rows that count as a group, since they remember each other. "auto"
        takes four times as many as a column remembers, by its autocorrelation. It is the default if there is a lag and
        there are no groups.
    unit : {"nats", "bits"}, default="nats"
        The unit of the value and its errors.
    **parameters : dict
        Parameters of `DensityRatio`.

    Returns
    -------
    Estimate
        The mutual information with its errors and diagnostics. `diagnostics["by_neighbours"]` is the value by nearest
        neighbours, if there are few columns, `diagnostics["by_copula"]` that of the copulas, and
        `diagnostics["copula_share"]` their share in the average. `diagnostics["method"]` is "table" or "classes" for
        discrete data. It is `open_above` if the information may be infinite.

    Raises
    ------
    ValueError
        If X and Y differ in their number of rows or have too few rows or groups, or a parameter is invalid.

    Warns
    -----
    DegenerateDataWarning
        If columns label rows: those of a DataFrame are left out. If X or Y is constant. If a column of one of them is a
        function of the other as far as the rows show: the information of densities may then be infinite, and the value
        is a lower limit.

    Examples
    --------
    >>> import numpy as np, vwkde
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=500)
    >>> y = x + rng.normal(size=500)  # the mutual information is log(2) / 2 = 0.347
    >>> low, high = vwkde.mutual_information(x, y).interval
    >>> low < 0.347 < high
    True
    >>> vwkde.mutual_information(x, y, unit="bits").unit
    'bits'

    A time series that follows another one two rows later:

    >>> late = np.roll(x, 2) + rng.normal(size=500)
    >>> vwkde.mutual_information(x, late, lag=2).interval[0] > 0.2
    True
    """
    check_report(confidence_level, unit)
    given = check_rows(Reading(missing, dates), X=X, Y=Y)
    (x, y), groups = in_time(given, {"lag": lag, "": 0}, groups, blocks, "mutual_information")
    x, y = in_canonical_order(x, y)
    asked = Asked(mutual_information, method, random_state, parameters)
    asked.ratio()._check_parameters(x, y)
    paired = make_pairs(x, y, groups, random_state)
    repeated = groups is None and paired.group is not None
    estimate = information(paired, asked, may_be_discrete=not repeated).estimate
    warn_if_open(estimate)
    return replace(estimate, confidence_level=confidence_level).in_unit(unit)


def check_report(confidence_level: float, unit: str) -> None:
    """Raise unless the level and the unit can be used."""
    check_interval("influence", confidence_level)
    check_unit(unit, "mutual-information")


def warn_if_open(estimate: Estimate) -> None:
    """Warn that nothing limits an information from above."""
    if estimate.open_above:
        warn(
            "As far as the rows show, a column of one of X and Y is a function of the other: the information may be "
            "infinite, and the value is a lower limit. Drop columns that are computed from others, or give more rows.",
            DegenerateDataWarning,
        )


def check_rows(reading: Reading = PLAIN, **given: Any) -> list[Array]:
    """Return samples, given by name, as arrays with equally many rows, or raise."""
    samples = [check_table(values, name, reading).values for name, values in given.items()]
    rows = [len(values) for values in samples]
    if len(set(rows)) > 1:
        names, counts = (" and ".join(map(str, each)) for each in (given, rows))
        raise ValueError(f"{names} must have the same number of rows. Got {counts} instead; drop unpaired rows.")
    if rows[0] < 2 * FOLDS:
        names = " and ".join(given)
        raise ValueError(f"{names} have {rows[0]} rows; at least {2 * FOLDS} are needed. Give more rows.")
    return samples
