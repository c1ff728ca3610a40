"""The compiled loop of the kernel expansion."""

from vwkde._compute.compile import compiled
from vwkde._compute.exp2 import exp2


@compiled("contract")
def exponentiate(exponent, rows, columns):  # type: ignore[no-untyped-def]
    """Replace each exponent by 2^(exponent − row − column), at most one: cancellation must not make it exceed that."""
    for i in range(exponent.shape[0]):
        row = exponent[i]
        for j in range(row.shape[0]):
            row[j] = exp2(min(row[j] - rows[i] - columns[j], 0.0))
