"""The ratio of two classes that do not meet: each point belongs to the class whose mean is nearer."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_LARGEST = 40.0
_NARROWEST = 1e-6
"""Smallest spread, relative to the distance of the means: a column that is constant in each class has none."""
_ROUNDING = 1e-12
"""Distance of the means, relative to the largest value, that is rounding."""
_FARTHEST = 1e150
"""Largest value of points, relative to the means and spreads: products of larger ones would overflow."""


@dataclass(frozen=True)
class NearestMean:
    """The ratio of two classes whose supports are disjoint: in favour of the nearer mean, and as large as ratios get.

    Columns with equal means do not count: they do not tell the classes apart, whatever the value of a new row.

    Parameters
    ----------
    means : array of shape (2, d)
        The means of numerator and denominator.
    scale : array of shape (d,)
        The columns' spread within the classes, as the unit of distances; positive where the means differ.

    Examples
    --------
    >>> import numpy as np
    >>> from vwkde._models.nearest_mean import NearestMean
    >>> NearestMean(np.array([[0.0], [100.0]]), np.array([1.0])).log_ratio(np.array([[1.0], [99.0]])).tolist()
    [40.0, -40.0]
    """

    means: Floats
    scale: Floats

    @classmethod
    def fit(cls, numerator: Floats, denominator: Floats) -> "NearestMean":
        """Measure the means and spreads of two samples.

        Parameters
        ----------
        numerator : array of shape (n, d)
            The rows of one class.
        denominator : array of shape (m, d)
            The rows of the other class.

        Returns
        -------
        NearestMean
            The fitted ratio.
        """
        unit = _unit(np.maximum(np.abs(numerator).max(axis=0), np.abs(denominator).max(axis=0)))
        p, q = numerator / unit, denominator / unit
        means = np.stack([p.mean(axis=0), q.mean(axis=0)])
        distance = np.abs(means[0] - means[1])
        means[1] = np.where(distance > _ROUNDING, means[1], means[0])
        spread = np.sqrt((p.var(axis=0) + q.var(axis=0)) / 2)
        return cls(means * unit, np.maximum(spread, _NARROWEST * distance) * unit)

    def log_ratio(self, x: Floats) -> Floats:
        """Return half the difference of the squared distances to the two means, limited to ±40.

        Parameters
        ----------
        x : array of shape (n, d)
            Points.

        Returns
        -------
        array of shape (n,)
            The log ratio at each point.
        """
        differs = self.means[0] != self.means[1]
        means, scale = self.means[:, differs], self.scale[differs]
        unit = _unit(np.maximum(np.abs(means).max(axis=0), scale))
        means, scale = means / unit, scale / unit
        with np.errstate(over="ignore"):
            points = np.clip(x[:, differs] / unit, -_FARTHEST, _FARTHEST)
        # The squares of the points cancel: what is left is linear in them.
        towards, middle = (means[0] - means[1]) / scale, means.mean(axis=0)
        return np.clip((points - middle) / scale @ towards, -_LARGEST, _LARGEST)


def _unit(size: Floats) -> Floats:
    """Return the power of two below each size, by which division is exact; one for a size of zero."""
    return np.where(size > 0, np.ldexp(1.0, np.frexp(size)[1] - 1), 1.0)
