"""What is asked of a sum that need not be exact."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Asked:
    """The relative error that each sum may have, and the time of the exact sum: 1 unless others share its pass."""

    error: float
    share: float = 1.0
