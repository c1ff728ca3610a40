"""What the displays share: the ratios they accept, and the names and colours of the two samples."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from vwkde._display.matplotlib import Layer
from vwkde._display.style import RED, TEAL
from vwkde.ratio import DensityRatio

Floats = NDArray[np.float64]

NUMERATOR, DENOMINATOR = TEAL, RED
LOG_RATIO = "log p₁/p₂ (nats)"
LEAVE_ONE_OUT = f"leave-one-out {LOG_RATIO}"


def check_ratio(ratio: Any) -> None:
    """Raise an error unless it is a fitted ratio."""
    how = "call fit(numerator, denominator) first"
    if not isinstance(ratio, DensityRatio):
        raise TypeError(
            f"The 'ratio' parameter must be a fitted DensityRatio. Got {type(ratio).__name__} instead; "
            f"make one and {how}."
        )
    check_is_fitted(ratio, "weight_", msg=f"This %(name)s is not fitted yet; {how}.")


def layers(numerator: Floats | None, denominator: Floats | None) -> list[Layer]:
    """Return the samples that are not None, with their labels and colours."""
    both = ("numerator p₁", numerator, NUMERATOR), ("denominator p₂", denominator, DENOMINATOR)
    return [
        Layer(f"{name} ({len(values):,} rows)", values, colour) for name, values, colour in both if values is not None
    ]
