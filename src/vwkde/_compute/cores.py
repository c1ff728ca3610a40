"""How many cores this process may use.

`joblib.cpu_count` says the same, but takes longer to load than a small kernel sum takes to compute.
"""

import os
from math import ceil
from pathlib import Path

_CONTROL = Path("/sys/fs/cgroup")
"""Where Linux keeps the limits of a container."""


def allowed_cores(control: Path = _CONTROL) -> int:
    """Return the number of cores that the system, its settings for this process, and its container allow."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota, period = _limit_of_container(control)
    return max(1, min(cores, ceil(quota / period))) if quota > 0 else cores


def _limit_of_container(control: Path) -> tuple[int, int]:
    """Return the microseconds that all cores may compute in a period, and its length; the former is −1 without a limit.

    Versions 2 and 1 of control groups have it in different files.
    """
    try:
        quota, period = (control / "cpu.max").read_text().split()
    except (OSError, ValueError):
        try:
            quota, period = ((control / "cpu" / f"cpu.cfs_{name}_us").read_text() for name in ("quota", "period"))
        except OSError:
            return -1, 1
    return (-1, 1) if quota == "max" else (int(quota), int(period))
