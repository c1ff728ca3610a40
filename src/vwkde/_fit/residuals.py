"""What a log ratio leaves unexplained at the rows of both samples, and how clearly something differs there."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from vwkde._data.sample import Sample
from vwkde._models.exponentials import chance_of
from vwkde._models.log_loss import AtBoth

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True)
class Residuals:
    """What a log ratio leaves unexplained at the rows of both samples, and the rows' shares in their samples.

    Positive residuals are those of the numerator. `squares` are their expected squares, if the ratio is right: those of
    the sample with more rows are small, and if by chance a rare value has only such rows, their own squares would say
    that it differs clearly. `inflation` is the factor by which rows that depend on each other raise a standard error.
    """

    left: Floats
    squares: Floats
    share: Floats
    inflation: float

    @classmethod
    def of(cls, log_ratios: AtBoth, samples: tuple[Sample, Sample]) -> "Residuals":
        """Return the residuals of a log ratio, given at the rows of both samples."""
        shares = [sample.weight / sample.weight.sum() for sample in samples]
        left = np.concatenate([shares[0] * chance_of(-log_ratios[0]), -shares[1] * chance_of(log_ratios[1])])
        squares = np.concatenate(
            [
                (share * len(share)) ** 2 * _expected_squares(log_ratio, len(samples[0]), len(samples[1]))
                for share, log_ratio in zip(shares, log_ratios, strict=True)
            ]
        )
        per_row = [1 / (share @ share) / s.effective_rows for share, s in zip(shares, samples, strict=True)]
        return cls(left, squares, np.concatenate(shares), float(np.sqrt(max(1.0, *per_row))))

    def at(self, rows: Ints) -> "Residuals":
        """Return those of some rows."""
        return replace(self, left=self.left[rows], squares=self.squares[rows], share=self.share[rows])

    def excess(self, values: Floats) -> float:
        """Return by how many standard errors the means of values, one for each row, differ."""
        return float(self.excesses(values[:, None])[0])

    def excesses(self, values: Floats) -> Floats:
        """Return it for each column of values."""
        return self._excesses(self.left @ values, *(each @ values**2 for each in (self.left**2, self.squares)))

    def excesses_of_products(self, z: Floats) -> Floats:
        """Return it for the products of all pairs of columns of mean zero and variance one, around their means."""
        sums = (z.T * self.left) @ z - z.T @ z * self.left.mean()
        return self._excesses(sums, *((z.T**2 * each) @ z**2 for each in (self.left**2, self.squares)))

    def without(self, features: list[Floats]) -> "Residuals":
        """Return what is left after features, one value for each row, have explained what they can."""
        root = np.sqrt(self.share)
        columns = np.column_stack(features) * root[:, None]
        known = np.divide(self.left, root, out=np.zeros_like(root), where=root > 0)
        explained = columns @ np.linalg.lstsq(columns, known, rcond=None)[0]
        return replace(self, left=self.left - root * explained)

    def _excesses(self, sums: Floats, squares: Floats, expected: Floats) -> Floats:
        """Return sums in standard errors, the larger ones of those that are seen and those that are expected."""
        return np.abs(sums) / np.sqrt(np.maximum(np.maximum(squares, expected), _TINY)) / self.inflation


def _expected_squares(log_ratio: Floats, numerators: int, denominators: int) -> Floats:
    """Return the mean squares of residuals at rows of either sample, if the log ratio is right there."""
    ours = chance_of(log_ratio + np.log(numerators / denominators))
    return ours * (chance_of(-log_ratio) / numerators) ** 2 + (1 - ours) * (chance_of(log_ratio) / denominators) ** 2
