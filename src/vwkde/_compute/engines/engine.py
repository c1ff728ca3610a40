"""What an engine is: one way to compute weighted Gaussian log kernel sums of arrays in memory."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from vwkde._compute.devices import require_device

Floats = NDArray[np.floating]


class LogSums(Protocol):
    """The sums that an engine computes."""

    def __call__(
        self,
        queries: Floats,
        points: Floats,
        bandwidths: NDArray[np.float64],
        log_weight: NDArray[np.float64],
        excluded: NDArray[np.int64],
        memory_budget: int,
        device: str,
        /,
    ) -> NDArray[np.float64]:
        """Return log Σ_j exp(log_weight_jc − ‖x_i − y_j‖² / 2h_g²), of shape (bandwidths, queries, columns of weights).

        Both samples are contiguous and have the same precision. `excluded` is empty, or gives for each query the index
        of the point that its sum leaves out.
        """


class LogSumsWithin(Protocol):
    """The same sums within a permitted error."""

    def __call__(
        self,
        queries: Floats,
        points: Floats,
        bandwidths: NDArray[np.float64],
        log_weight: NDArray[np.float64],
        excluded: NDArray[np.int64],
        memory_budget: int,
        device: str,
        /,
        error: float,
    ) -> NDArray[np.float64]:
        """Return the log of sums whose relative error is at most `error`, in addition to rounding."""


class MeanLog2Sums(Protocol):
    """Mean log sums between many samples of equal size, in one call on a device."""

    def __call__(
        self, x: NDArray[np.float32], y: NDArray[np.float32], own: bool, device: str, /
    ) -> NDArray[np.float64]:
        """Return, base 2, the mean over each sample of x of the log kernel sums over each sample of y; (x, y) or (x,).

        Samples have shape (samples, points, columns), in units in which the exponent is −‖x − y‖². With `own`, y is x,
        and each sample is compared only with itself; each point is left out of its own sum.
        """


def _nowhere() -> str | None:
    return None


@dataclass(frozen=True)
class Engine:
    """An engine and what it can do. It is pickled, so its functions are module-level functions.

    Attributes
    ----------
    log_sums
        The sums, exact but for rounding.
    mean_log2_sums
        Sums between many samples in one call; without it, compiled loops on the CPU do the work.
    on_device
        Whether it computes with torch on the device of the resources. Other engines compute on the CPU, and only
        networks use the device.
    usual_device
        The default device.
    require
        Raises, for a device, with what is missing to compute there.
    device_here
        Returns the device on which it would be fastest on this machine, or None if it cannot run or is not meant to be
        fast.
    log_sums_within
        The sums within a permitted error, which is faster for many rows; without it, sums are always exact.
    """

    name: str
    log_sums: LogSums
    mean_log2_sums: MeanLog2Sums | None = None
    on_device: bool = False
    usual_device: str = "cpu"
    require: Callable[[str], None] = require_device
    device_here: Callable[[], str | None] = _nowhere
    log_sums_within: LogSumsWithin | None = None
