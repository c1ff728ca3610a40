"""All input is checked here, once; the rest of the package assumes clean arrays."""

from collections.abc import Mapping
from numbers import Real
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from vwkde._data.frames import NAMELESS, check_unique, in_words, subject, the

Array = NDArray[np.floating]
Names = tuple[str, ...] | None

POINTS = "points"
"""What rows are called at which a fitted ratio is evaluated."""


def check_sample(data: Any, name: str, like: tuple[int, Names, str] | None = None) -> tuple[Array, Names]:
    """Return a sample of plain numbers as a float array (n, d) and its column names.

    `like` is (number of columns, column names, name) of an earlier sample, whose order named columns take.
    """
    array, names = as_columns(data, name)
    if like is not None:
        array, names = _match_columns(array, names, name, like)
    check_finite(array, name, names)
    return np.ascontiguousarray(array), names


def as_columns(data: Any, name: str) -> tuple[Array, Names]:
    """Return numbers as a float array (n, d), which may have missing ones, and the column names."""
    names = column_names(data)
    array = to_floats(data, name, names)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim == 0:
        raise ValueError(
            f"{subject(name)} must be an array of shape (rows, columns). Got {data!r} instead; pass one row per "
            f"observation."
        )
    if array.ndim != 2:
        raise ValueError(
            f"{subject(name)} must be an array of shape (rows, columns). Got {array.ndim} dimensions instead; "
            f"reshape it, for example with x.reshape(len(x), -1)."
        )
    check_not_empty(array.shape, name)
    return array, names


def check_not_empty(shape: tuple[int, int], name: str) -> None:
    """Raise if there are no rows or no columns."""
    if name == POINTS and not shape[0]:
        raise ValueError("There are no rows to evaluate. Give at least one.")
    if 0 in shape:
        raise ValueError(f"{subject(name)} is empty: shape {shape}. Give at least two rows and one column.")


def check_two_rows(rows: int, name: str) -> None:
    """Raise if a sample that is not empty has one row only."""
    if rows < 2:
        raise ValueError(f"{subject(name)} has 1 row; at least 2 are needed to estimate a density. Give more rows.")


def on_host(data: Any) -> Any:
    """Return tensors as arrays, and everything else unchanged."""
    if not hasattr(data, "detach"):
        return data
    tensor = data.detach().cpu()
    return np.asarray(tensor.float() if str(tensor.dtype) == "torch.bfloat16" else tensor)  # NumPy has no bfloat16


def like_input(values: NDArray[np.float64], data: Any) -> Any:
    """Return values in the form of the input: a tensor for a tensor, otherwise an array."""
    if not hasattr(data, "detach"):
        return values
    import torch

    dtype = data.dtype if data.dtype.is_floating_point else torch.float64
    return torch.as_tensor(values, dtype=dtype, device=data.device)


def check_weight(weight: Any, n: int, name: str) -> NDArray[np.float64]:
    """Return non-negative weights with mean one; all ones if `weight` is None."""
    if weight is None:
        return np.ones(n)
    array = to_floats(weight, name, None).astype(np.float64)
    if array.shape != (n,):
        raise ValueError(
            f"{subject(name)} must have shape ({n},). Got shape {array.shape} instead; pass one weight for each row."
        )
    if not np.isfinite(array).all() or (array < 0).any():
        raise ValueError(
            f"{subject(name)} must be finite and non-negative. Got values such as {_first_bad(array)!r} instead; "
            f"use 0 for rows that must not count."
        )
    if np.count_nonzero(array) < 2:
        raise ValueError(
            f"{subject(name)} must be positive for at least 2 rows. Got {np.count_nonzero(array)} such rows instead; "
            f"give more rows a positive weight."
        )
    array = array / array.max()
    if array.sum() < 1 + 1e-9:
        raise ValueError(
            f"{subject(name)} must not give one row all the weight. Got others that sum to less than 1e-9 of the "
            f"largest; lower the largest."
        )
    return array / array.mean()


def is_number(value: object) -> TypeGuard[float]:
    """Return whether a parameter is a real number; True and False are not meant as such."""
    return isinstance(value, Real) and not isinstance(value, bool)


def refuse_booleans(owner: str, parameters: Mapping[str, Any], constraints: Mapping[str, list[Any]]) -> None:
    """Raise for a parameter that is True or False and must not be; to Python these are the numbers 1 and 0."""
    for name, value in parameters.items():
        if isinstance(value, bool) and "boolean" not in constraints.get(name, ["boolean"]):
            raise ValueError(
                f"The {name!r} parameter of {owner} must not be {value}. Give a number, a name or nothing."
            )


def column_names(data: Any) -> Names:
    """Return the column names, or None if there are none."""
    columns = getattr(data, "columns", None)
    if columns is None:
        return None
    names = [str(column) for column in columns]
    check_unique(names)
    return tuple(names)


def to_floats(data: Any, name: str, names: Names) -> Array:
    """Return float32 input as float32, other numbers as float64; raise for anything else."""
    if isinstance(data, str | Path):
        raise ValueError(
            f"{subject(name)} must be an array. Got a path instead; load it, for example with np.load(path)."
        )
    if isinstance(data, Mapping):
        raise TypeError(
            f"{subject(name)} must be an array or a table. Got a {type(data).__name__} instead; if it holds columns, "
            f"pass pandas.DataFrame(data)."
        )
    if sparse.issparse(data):
        raise TypeError(f"{subject(name)} must be a dense array. Got a sparse matrix instead; call .toarray() on it.")
    if isinstance(data, np.ma.MaskedArray):
        data = np.ma.filled(data.astype(np.float64), np.nan)
    array = _as_array(data, name)
    if array.dtype.kind == "c":
        raise ValueError(
            f"{subject(name)} must hold real numbers. Got complex numbers instead; pass real and imaginary parts as "
            f"columns."
        )
    if array.dtype.kind in "mM":
        raise ValueError(f"{subject(name)} must hold numbers. Got dates or durations instead; convert them first.")
    if array.dtype.kind in "biuf":
        return array if array.dtype == np.float32 else array.astype(np.float64, copy=False)
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(
            f"{subject(name)} must hold numbers only. Got {_not_numbers(array, names)} instead; drop or encode it."
        ) from None


def _as_array(data: Any, name: str) -> NDArray[Any]:
    try:
        return np.asarray(on_host(data))
    except ValueError:
        raise ValueError(
            f"{subject(name)} must be an array of shape (rows, columns). Got rows of several lengths instead; give "
            f"all rows the same columns."
        ) from None


def _not_numbers(array: NDArray[Any], names: Names) -> str:
    """Describe the first entry that is not a number, by column if the columns have names."""
    for index, value in np.ndenumerate(array):
        try:
            float(value)
        except (TypeError, ValueError, OverflowError):
            where = f"column {names[index[1]]!r}" if names and len(index) == 2 else f"entry {index}"
            return f"{value!r} in {where}"
    return "values of several lengths"


def check_columns(count: int, names: Names, name: str, like: tuple[int, Names, str]) -> Names:
    """Return the column names in the order of an earlier sample, or raise if the columns differ."""
    columns, like_names, like_name = like
    if names and like_names and set(names) != set(like_names):
        missing = [column for column in like_names if column not in names]
        extra = [column for column in names if column not in like_names]
        raise ValueError(
            f"{subject(name)} must have the same columns as {the(like_name)}. "
            f"Missing: {_listed(missing)}; not in {the(like_name)}: {_listed(extra)}. {_cure(missing + extra)}"
        )
    if count != columns:
        raise ValueError(
            f"{subject(name)} must have as many columns as {the(like_name)} ({columns}). Got {count} instead; "
            f"pass the same columns."
        )
    return like_names or names


def _listed(names: list[str]) -> str:
    if all(name.strip() for name in names):
        return str(names or "none")
    return ", ".join(map(in_words, names))


def _cure(names: list[str]) -> str:
    if all(name.strip() for name in names):
        return "Add, drop or rename columns."
    return (
        f"{NAMELESS.capitalize()} is an index that was saved with the table, or comes from a separator at the end of "
        f"each line. Write the table without it, or choose the columns to use."
    )


def _match_columns(array: Array, names: Names, name: str, like: tuple[int, Names, str]) -> tuple[Array, Names]:
    ordered = check_columns(array.shape[1], names, name, like)
    if names and ordered and names != ordered:
        array = array[:, [names.index(column) for column in ordered]]
    return array, ordered


def check_finite(array: Array, name: str, names: Names) -> None:
    """Raise if some entry is not finite."""
    finite = np.isfinite(array)
    if finite.all():
        return
    row, column = (int(index) for index in np.argwhere(~finite)[0])
    raise not_finite(name, names, (row, column), float(array[row, column]), int(np.count_nonzero(~finite)))


def not_finite(name: str, names: Names, place: tuple[int, int], value: float, count: int) -> ValueError:
    """Return the error for entries that are not finite: it names the first one and says how many there are."""
    row, column = place
    label = names[column] if names else column
    hint = ", or give missing='indicator' if they are missing" if np.isnan(value) else ""
    return ValueError(
        f"{subject(name)} must be finite. Got {value} in row {row}, column {label!r}, "
        f"and {count} such entries in all; drop those rows or fill them in{hint}."
    )


def _first_bad(array: NDArray[np.float64]) -> float:
    return float(array[~np.isfinite(array) | (array < 0)][0])
