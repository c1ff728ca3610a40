"""Weights with which one sample represents another, and what can be asked of them."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vwkde._answers.reweighting.balance import balance_lines
from vwkde._answers.reweighting.discrimination import Curve, discriminate
from vwkde._answers.reweighting.means import mean_over_target
from vwkde._answers.reweighting.origin import Halves, Origin
from vwkde._data.sample import effective_rows
from vwkde._data.validation import to_floats
from vwkde._display import html
from vwkde._display.tabular import Tabular
from vwkde._display.waiting import shown_while_waiting
from vwkde._runtime.lazy import lazy
from vwkde.results import Estimate

__all__ = ["BalanceTable", "ImportanceWeights"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class BalanceTable(Tabular):
    """Statistics of each column: those of the target, and of the weighted rows before and after reweighting.

    `str(table)` and notebooks show the means; `to_frame()` has all statistics.

    Parameters
    ----------
    lines : list of dict
        One for each statistic of each column: the mean, the standard deviation ("sd") and quantiles ("q05" to "q95").
        Differences from the target are in its standard deviations.

    Examples
    --------
    >>> import vwkde
    >>> from vwkde.datasets import mean_difference
    >>> target, training = mean_difference(2, 1.0).sample(500)
    >>> table = vwkde.importance_weights(target, training, estimator="gaussian").balance
    >>> table.largest_difference(before=True) > 0.9 > 0.1 > table.largest_difference()
    True
    """

    lines: Sequence[dict[str, Any]] = field(repr=False)

    def largest_difference(self, statistic: str = "mean", before: bool = False) -> float:
        """Return the largest difference from the target over all columns.

        Parameters
        ----------
        statistic : str, default="mean"
            The statistic, for example "sd" or "q95".
        before : bool, default=False
            Whether to look at the rows before they are reweighted.

        Returns
        -------
        float
            The largest absolute difference, in standard deviations of the target.
        """
        name = "difference_before" if before else "difference_after"
        return float(np.nanmax([abs(line[name]) for line in self.lines if line["statistic"] == statistic]))

    def _answers(self) -> dict[str, Any]:
        return {"balance": [dict(line) for line in self.lines]}

    def _lines(self) -> Sequence[dict[str, Any]]:
        return self.lines

    def __str__(self) -> str:
        """Return the means as a table of text."""
        names = "target", "before", "after"
        head = f"{'mean of':<20}" + "".join(f"{name:>12}" for name in names)
        means = [line for line in self.lines if line["statistic"] == "mean"]
        return "\n".join(
            [head, *(f"{line['column']:<20.20}" + "".join(f"{line[name]:>12.4g}" for name in names) for line in means)]
        )


@dataclass(frozen=True, eq=False)
class ImportanceWeights(Tabular):
    """Weights on the denominator's rows with which they look like the numerator's.

    `np.asarray(weights)` gives the values, so the object can be passed on as `sample_weight`.

    Parameters
    ----------
    values : array of shape (n,)
        One weight for each row of the denominator, in the order given. The row's own weight is in it: use it alone.
        The sum is that of the own weights; without own weights, the mean is one.
    ratio : array of shape (n,)
        The same without the own weights: the estimated p/q, bounded and balanced. Each row's ratio comes from an
        estimate that has not seen the row.
    limit : float
        No ratio was above it before balancing; infinite if there is no limit.
    relative : float
        The α of the relative ratio p/(α·p + (1 − α)·q); zero for p/q itself.
    balanced : str
        What was balanced: "means", "moments" (means, variances and covariances) or "none".

    Examples
    --------
    >>> import numpy as np, vwkde
    >>> from vwkde.datasets import mean_difference
    >>> target, training = mean_difference(2, 1.0).sample(500)
    >>> weights = vwkde.importance_weights(target, training, estimator="gaussian")
    >>> len(weights), round(float(np.mean(weights)), 6)
    (500, 1.0)
    >>> bool(20 < weights.effective_size < 500)
    True
    >>> weights.at(training[:3]).shape
    (3,)
    """

    values: Floats = field(repr=False)
    ratio: Floats = field(repr=False)
    limit: float
    relative: float
    balanced: str
    _origin: Origin = field(repr=False)

    @property
    def effective_size(self) -> float:
        """How many equally weighted rows the weighted ones are worth in a mean: (Σw)² / Σw² (Kish).

        Returns
        -------
        float
            The number of rows.
        """
        return effective_rows(self.values)

    @property
    def largest_share(self) -> float:
        """The share of the heaviest row in the total weight.

        Returns
        -------
        float
            A number between zero and one.
        """
        return float(np.abs(self.values).max() / abs(self.values.sum()))

    @lazy
    def standard_errors(self) -> Floats:
        """The standard error of each row's weight, which the estimated ratio has over repeated samples.

        Returns
        -------
        array of shape (n,)
            In units of the weights. Errors of different rows are dependent.
        """
        return np.abs(self.values) * self._origin.errors(self._origin.rows)

    @lazy
    def balance(self) -> BalanceTable:
        """Means, standard deviations and quantiles of each column against the target, before and after.

        Returns
        -------
        BalanceTable
            The table, with `to_frame()`.
        """
        origin = self._origin
        return BalanceTable(balance_lines(origin.names, origin.target, origin.rows, origin.own, self.values))

    def at(self, x: Any, own_weight: Any = None, *, return_std: bool = False) -> Any:
        """Return the weights of new rows of the denominator's population.

        Parameters
        ----------
        x : array-like of shape (k, d)
            Rows with the columns of the samples.
        own_weight : array-like of shape (k,), optional
            Their own weights, which may be negative.
        return_std : bool, default=False
            Whether to return standard errors too.

        Returns
        -------
        array of shape (k,), or a pair of such arrays
            The weights, on the scale of `ratio`, times the rows' own. With `return_std`, also their standard errors.

        Raises
        ------
        ValueError
            If the columns differ from those of the samples, or there is not one own weight for each row.
        """
        points, log_ratio = self._origin.log_ratio(x)
        ratio = np.exp(self._origin.weighing(log_ratio, points))
        own = np.ones(len(ratio)) if own_weight is None else to_floats(own_weight, "own_weight", None)
        if own.shape != ratio.shape:
            raise ValueError(
                f"The own_weight must have shape ({len(ratio)},). Got shape {own.shape} instead; pass one weight for "
                f"each row."
            )
        return (own * ratio, np.abs(own) * ratio * self._origin.errors(points)) if return_std else own * ratio

    def mean(self, y: Any, confidence_level: float = 0.95) -> Estimate:
        """Estimate the mean of y over the numerator's population, from its values at the denominator's rows.

        Parameters
        ----------
        y : array-like of shape (n,)
            One value for each row of the denominator.
        confidence_level : float, default=0.95
            The level of the estimate's interval.

        Returns
        -------
        Estimate
            The weighted mean. Its standard error counts the rows of both samples; its systematic error is what the
            imbalance that is left would cost if y were linear in what is balanced. Neither knows of a y that
            depends on something else than the columns, nor of target rows beyond the reach of all others.

        Raises
        ------
        ValueError
            If there is not one finite value for each row.
        """
        values = to_floats(y, "y", None).astype(np.float64)
        if values.shape != self.values.shape or not np.isfinite(values).all():
            raise ValueError(
                f"y must have one finite number for each of the {len(self.values)} rows. Got shape {values.shape}"
                f"{'' if np.isfinite(values).all() else ' with missing or infinite values'} instead."
            )
        origin = self._origin
        value, error, systematic = mean_over_target(values, self.values, origin.rows, origin.target, origin.weighing)
        rows = min(self.effective_size, effective_rows(origin.target[1]))
        return Estimate(value, error, "mean", "", systematic, confidence_level, max(1.0, rows - 1))

    @shown_while_waiting
    def discriminator(
        self, numerator: Any = None, denominator: Any = None, *, numerator_weight: Any = None, own_weight: Any = None
    ) -> Estimate:
        """Check the weights independently: can a new classifier tell the weighted rows from the target?

        Without arguments, the ratio is fitted again to one half of the rows and the other half is weighted, both ways:
        it takes about as long as the first fit. With new rows, of both populations, nothing is fitted again.

        Parameters
        ----------
        numerator : array-like of shape (k, d), optional
            New rows of the target, which no fit has seen.
        denominator : array-like of shape (l, d), optional
            New rows to be weighted.
        numerator_weight : array-like of shape (k,), optional
            Weights of the new target rows.
        own_weight : array-like of shape (l,), optional
            Own weights of the new rows to be weighted.

        Returns
        -------
        Estimate
            The area under the ROC curve on rows that the classifier has not seen, with its standard error. One half
            means that it finds no difference.

        Raises
        ------
        ValueError
            If only one of the two samples is given.
        """
        if (numerator is None) != (denominator is None):
            raise ValueError("discriminator needs new rows of both samples, or none. Got one; give both or leave both.")
        if numerator is None:
            curves = [
                discriminate(p, p_weight, q, each.at(q, q_weight), self._origin.seed)
                for each, p, p_weight, q, q_weight in self._origin.halves()
            ]
        else:
            target = self._origin.log_ratio(numerator)[0]
            rows = self._origin.log_ratio(denominator)[0]
            weight = np.ones(len(target)) if numerator_weight is None else np.asarray(numerator_weight, float)
            curves = [discriminate(target, weight, rows, self.at(denominator, own_weight), self._origin.seed)]
        return _as_estimate(curves)

    def _with_own(self, own: Floats, halves: Halves | None = None) -> "ImportanceWeights":
        """Return the same ratios with other own weights, which may be negative, and with their sum.

        `halves` fits the ratio again to halves of the rows, if these weights need more than the ratio does.
        """
        values = own * self.ratio
        values = values * (own.sum() / values.sum())
        origin = replace(self._origin, own=own, halves=halves or self._origin.halves)
        return replace(self, values=values, _origin=origin)

    def __len__(self) -> int:
        """Return the number of weights."""
        return len(self.values)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Return the values, for functions that take arrays."""
        return np.array(self.values, dtype=dtype, copy=True if copy is None else copy)

    def __str__(self) -> str:
        """Return a short report."""
        bound = f"ratios cut at {self.limit:.3g}" if np.isfinite(self.limit) else "no limit"
        bound = f"relative ratio, α = {self.relative:g}" if self.relative else bound
        weight = f"largest {self.values.max():.3g} (mean {self.values.mean():.3g})"
        return (
            f"importance weights of {len(self)} rows, worth {self.effective_size:.0f} equally weighted ones\n"
            f"  {weight}; {bound}, then balanced: {self.balanced}\n"
            f"  largest difference of a mean from the target: {self.balance.largest_difference():.2g} standard "
            f"deviations (before: {self.balance.largest_difference(before=True):.2g})"
        )

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        title, *lines = str(self).splitlines()
        return html.card(title, *(line.strip() for line in lines))

    def _answers(self) -> dict[str, Any]:
        return {
            "effective_size": self.effective_size,
            "rows": len(self),
            "largest_share": self.largest_share,
            "limit": self.limit,
            "relative": self.relative,
            "balanced": self.balanced,
            "largest_mean_difference": self.balance.largest_difference(),
            "weights": self.values,
        }

    def _details(self) -> dict[str, Any]:
        return {"balance": [dict(line) for line in self.balance.lines]}

    def _lines(self) -> Sequence[dict[str, Any]]:
        columns = {"weight": self.values, "ratio": self.ratio, "own_weight": self._origin.own}
        columns["standard_error"] = self.standard_errors
        return [dict(zip(columns, line, strict=True)) for line in zip(*columns.values(), strict=True)]


def _as_estimate(curves: list[Curve]) -> Estimate:
    areas, errors = zip(*curves, strict=True)
    return Estimate(float(np.mean(areas)), float(np.linalg.norm(errors) / len(errors)), "roc-auc", "")
