"""The typical distance between rows, which scales the widths of basis functions and kernels."""

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist


def median_distance(*samples: NDArray[np.floating]) -> float:
    """Return the median distance between rows; for several samples, the mean of their medians.

    If most rows are equal, so that the median is zero, it is the mean distance. If all rows are equal, it is one.
    """
    distances = [pdist(sample) for sample in samples]
    return float(np.mean([np.median(d) for d in distances]) or np.mean([np.mean(d) for d in distances]) or 1.0)
