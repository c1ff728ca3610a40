"""The rows of a scikit-learn estimator: arrays as scikit-learn checks them, tables as samples are read elsewhere."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vwkde._data.intake import Layout, Single, check_points, check_table, must_be_encoded
from vwkde._data.labels import labels_to_leave_out, without_columns
from vwkde._data.reading import PLAIN, Reading
from vwkde._data.tallies import ColumnError
from vwkde._data.validation import Array, column_names
from vwkde._runtime.quiet import validated

_FLOATS = [np.float64, np.float32]


def rows_to_fit(estimator: Any, X: Any, y: Any, reading: Reading) -> tuple[Array, NDArray[Any], Layout]:
    """Return the rows as numbers, the targets, and what new rows must look like; columns that label rows are left out.

    The number of columns and their names are set on the estimator, as scikit-learn does.
    """
    if _is_table(X, reading):
        single = _checked(X, reading)
        values, y = validated(estimator, single.values, y, dtype=_FLOATS)
        _set_columns(estimator, single.layout)
        return values, y, single.layout
    values, y = validated(estimator, X, y, dtype=_FLOATS)
    left_out = labels_to_leave_out((values,), column_names(X))
    if left_out:
        values = validated(estimator, without_columns(X, left_out), dtype=_FLOATS)
    return values, y, Layout(column_names(X), values.shape[1], left_out)


def new_rows(estimator: Any, X: Any, layout: Layout) -> Array:
    """Return new rows as numbers, encoded as those that were fitted."""
    if layout.encoding is not None or _is_table(X, PLAIN):
        return check_points(X, "X", layout, "rows that were fitted")
    return np.asarray(validated(estimator, without_columns(X, layout.left_out), dtype=_FLOATS, reset=False))


def _checked(X: Any, reading: Reading) -> Single:
    """Return a table that can be used, or raise and note where the parameters are that the error asks for."""
    try:
        return check_table(X, "X", reading)
    except ColumnError as error:
        error.add_note("'missing' and 'dates' are parameters of the ratio: ratio=DensityRatio(missing=…, dates=…).")
        raise


def _is_table(X: Any, reading: Reading) -> bool:
    """Return whether X is for us to read: arrays of text are refused by scikit-learn, in its own words."""
    if isinstance(X, np.ndarray | list) and reading.missing == "refuse":
        return False
    return must_be_encoded(X, "X", reading)


def _set_columns(estimator: Any, layout: Layout) -> None:
    estimator.n_features_in_ = layout.count
    if layout.given:
        estimator.feature_names_in_ = np.asarray(layout.given, dtype=object)
