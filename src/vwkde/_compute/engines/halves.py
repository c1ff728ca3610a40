"""Samples as the tensor cores multiply them: rows of half-precision numbers whose products are exponents.

A coordinate is split into a high and a low part of 11 bits each. The cores multiply such parts exactly and add the
products in single precision; low times low is too small to count. What does not depend on the query, the logarithm of a
weight minus ‖y‖², is split into three parts, each multiplied by one:

    query   low x   level, in parts  1 1 1             high x   high x
    point   high y  1 1 1            column, in parts  low y    high y

So the product of two rows is the exponent of a term of the sum plus the level of the query, which brings the exponents
close to zero: it has ‖x‖², the same for all terms, and is zero at first. The factor two of 2·x·y and the bandwidth are
in the coordinates.
"""

from typing import TYPE_CHECKING, NamedTuple

from vwkde._compute.engines.torch_engine import LN2

if TYPE_CHECKING:
    from torch import Tensor

CHUNK = 128
"""Columns that are multiplied at once."""
LOWEST = -20_000.0
"""Exponents below this are not told from those of points that are left out."""
_LEFT_OUT = -60_000.0
"""The column of points that are left out or too far to count: close to the most negative number of half precision."""
_FARTHEST_QUERY = 200.0
"""The largest ‖x‖²/2h², in units of a factor of e, at which rounding stays below 1e-4."""
_PARTS = 3


class Queries(NamedTuple):
    """Rows of queries, (pairs, queries, width), for so many columns; what −‖x‖² adds; which are near enough."""

    rows: "Tensor"
    outside: "Tensor"
    near: "Tensor"
    columns: int

    def at_level(self, level: "Tensor") -> "Tensor":
        """Return the rows with a level, (pairs, queries), subtracted from all exponents of a query."""
        rows = self.rows.clone()
        rows[:, :, self.columns : self.columns + _PARTS] = _in_parts(-level.double())
        return rows


def width(columns: int) -> int:
    """Return the length of a row: a power of two up to `CHUNK`, then a multiple of it."""
    needed = 3 * columns + 2 * _PARTS
    return max(16, 1 << (needed - 1).bit_length()) if needed <= CHUNK else CHUNK * -(-needed // CHUNK)


def of_queries(x: "Tensor", powers: "Tensor", multiple: int) -> Queries:
    """Return the rows of queries for each power, padded to a multiple of rows."""
    import torch

    scaled = x * (2 * powers.to(x.dtype)).sqrt()[:, None, None]
    outside = -scaled.double().square().sum(dim=2) / 2
    near = -outside * LN2 <= _FARTHEST_QUERY
    high, low = _split(scaled * near[:, :, None])
    ones = low.new_ones((*low.shape[:2], _PARTS))
    rows = _padded(torch.cat([low, torch.zeros_like(ones), ones, high, high], dim=2), multiple)
    return Queries(rows, outside, near, x.shape[1])


def of_points(y: "Tensor", powers: "Tensor", columns: "Tensor", multiple: int) -> "Tensor":
    """Return the rows of points, (pairs, points, width), for each power and column of log weights, padded."""
    import torch

    scaled = y * (2 * powers.to(y.dtype)).sqrt()[:, None, None]
    exponents = columns - scaled.double().square().sum(dim=2) / 2
    counts = exponents > _LEFT_OUT / 2
    high, low = _split(scaled * counts[:, :, None])
    column = _in_parts(exponents.where(counts, _LEFT_OUT))
    rows = _padded(torch.cat([high, torch.ones_like(column), column, low, high], dim=2), multiple)
    rows[:, len(y) :, y.shape[1] + _PARTS] = _LEFT_OUT
    return rows


def _split(numbers: "Tensor") -> tuple["Tensor", "Tensor"]:
    high = numbers.half()
    return high, (numbers - high.float()).half()


def _in_parts(numbers: "Tensor") -> "Tensor":
    import torch

    parts = []
    for _ in range(_PARTS):
        parts.append(numbers.half())
        numbers = numbers - parts[-1].double()
    return torch.stack(parts, dim=2)


def _padded(rows: "Tensor", multiple: int) -> "Tensor":
    from torch.nn.functional import pad

    count, length = rows.shape[1:]
    columns = (length - 2 * _PARTS) // 3
    return pad(rows, (0, width(columns) - length, 0, -count % multiple)).contiguous()
