"""The typical distance between rows, which scales the widths of basis functions and kernels."""

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist


def median_distance(*samples: NDArray[np.floating]) -> float:
    """Return the median distance between rows, the mean of it over several samples.

    Where most rows are equal the mean distance stands in for the median, and one, the unit of whitened data, for that.
    """
    distances = [pdist(sample) for sample in samples]
    return float(np.mean([np.median(d) for d in distances]) or np.mean([np.mean(d) for d in distances]) or 1.0)
