"""What a baseline gives: a KL divergence, and the log ratio behind it where it has one."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Answer:
    """The KL divergence by a baseline, in nats.

    `at_numerator` and `at_denominator` are its log ratio at the samples' rows, each row left out of its own estimate or
    held out of the fit where the method allows it; `log_ratio` gives it at new points. `chosen` tells what was chosen
    from the data.
    """

    kl: float
    at_numerator: Floats | None = None
    at_denominator: Floats | None = None
    log_ratio: Callable[[Floats], Floats] | None = None
    chosen: Mapping[str, Any] = field(default_factory=dict)
