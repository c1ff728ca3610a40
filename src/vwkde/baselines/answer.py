"""What a baseline returns: a KL divergence, and the log ratio behind it if it has one."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Answer:
    """The KL divergence by a baseline, in nats.

    Parameters
    ----------
    kl
        The KL divergence.
    at_numerator, at_denominator
        The log ratio at the samples' rows, each row left out of its own estimate, or held out of the fit, if the method
        allows it. None for methods without a log ratio.
    log_ratio
        Returns the log ratio at new points.
    chosen
        The settings that were chosen from the data.
    """

    kl: float
    at_numerator: Floats | None = None
    at_denominator: Floats | None = None
    log_ratio: Callable[[Floats], Floats] | None = None
    chosen: Mapping[str, Any] = field(default_factory=dict)
