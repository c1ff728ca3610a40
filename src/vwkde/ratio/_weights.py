"""Weights of a fitted ratio, as an object."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vwkde._answers.overlap import warn_if_weights_cannot_represent
from vwkde._answers.pointwise import log_ratio_errors
from vwkde._answers.reweighting.origin import Halves, Origin
from vwkde._answers.reweighting.weighing import Side, Weighing, check_options, make_weighing
from vwkde._data.groups import random_half
from vwkde._display.waiting import shown_while_waiting
from vwkde._runtime.warn import warn, without
from vwkde.exceptions import DegenerateDataWarning, OverlapWarning
from vwkde.importance import ImportanceWeights
from vwkde.ratio._answers import RatioAnswers
from vwkde.ratio._at_points import check_fitted, on_its_threads

Floats = NDArray[np.float64]

_FEW = 10
"""Effective rows below which a weighted mean is that of a handful of rows."""


class RatioWeights(RatioAnswers):
    """The method of `DensityRatio` that returns weights as an object."""

    @shown_while_waiting
    @on_its_threads
    def weights(
        self, *, truncate: float | str | None = "auto", relative: float | str = 0.0, balance: str = "auto"
    ) -> ImportanceWeights:
        """Return weights on the denominator's rows with which they look like the numerator's.

        They are those of `vwkde.importance_weights`, for a ratio that is fitted already, and `importance_weights` is
        the plain array, without balancing.

        Each weight is the estimated p₁/p₂ at a row, from an estimate that has not seen it, times the row's own weight.
        Two corrections make means more accurate: large ratios are bounded, and the weights are changed as little as
        possible so that weighted means of the columns agree with the numerator's (entropy balancing).

        Parameters
        ----------
        truncate : "auto", None or float, default="auto"
            The largest ratio. "auto" chooses the one with the smallest mean squared error of a weighted mean, by
            cross-fitted ratios, and at most the root of the number of rows. None is no limit.
        relative : float or "auto", default=0.0
            Bounds ratios in another way: with α between 0 and 1, the weights are p₁/(α·p₁ + (1 − α)·p₂), at most 1/α.
            "auto" chooses α as `truncate` chooses the limit.
        balance : {"auto", "means", "moments", "none"}, default="auto"
            Which weighted means agree with the numerator's: those of the columns, or those of the columns and of their
            squares and products. "auto" is "moments" with at least 50 rows for each of these, otherwise "means". "none"
            leaves the ratios as they are.

        Returns
        -------
        ImportanceWeights
            The weights, with mean one, and what can be asked of them: the effective size, a table of the balance,
            standard errors, weights of new rows, an independent check.

        Raises
        ------
        ValueError
            If a parameter is invalid, or not all rows are in memory.

        Warns
        -----
        OverlapWarning
            If numerator rows lie where the denominator has none, or the weighted rows are worth fewer than ten.

        Examples
        --------
        >>> import vwkde
        >>> from vwkde.datasets import mean_difference
        >>> target, training = mean_difference(2, 1.0).sample(500)
        >>> weights = vwkde.DensityRatio(guide="gaussian").fit(target, training).weights()
        >>> weights.balanced
        'moments'
        >>> print(weights.balance)  # doctest: +SKIP
        """
        check_fitted(self)
        check_options(truncate, relative, balance, "weights")
        if self._fitted.has_rest:
            raise ValueError(
                "Importance weights need all rows in memory, but some rows are in files or on a Dask cluster. "
                "Call ratio(rows) on the rows you need."
            )
        warn_if_weights_cannot_represent(self.diagnostics_)
        numerator, denominator = self._side(0), self._side(1)
        weighing = make_weighing(numerator, denominator, truncate, _as_float(relative), balance)
        weights = self._weigh(weighing, numerator, denominator, {"truncate": truncate, "relative": relative})
        if weights.effective_size < _FEW:
            warn(
                f"The weighted rows are worth only {weights.effective_size:.1f} equally weighted ones: the samples "
                f"hardly overlap, and any mean depends on a few rows. Use a larger denominator sample, or a numerator "
                f"that is closer to it.",
                OverlapWarning,
            )
        return weights

    def _side(self, side: int) -> Side:
        """Return the distinct rows of a sample, in the order given, with the log ratios for single points."""
        sample = self._fitted.samples[side]
        log_ratio = sample.in_given_order(self._fitted.average.at_samples(averages=False)[side])
        return Side(self._held.data[side].astype(np.float64), self._held.weights[side], log_ratio)

    def _weigh(
        self, weighing: Weighing, numerator: Side, denominator: Side, options: dict[str, Any]
    ) -> ImportanceWeights:
        ratio = np.exp(weighing(denominator.log_ratio, denominator.x))
        values = self._held.spread(1, denominator.weight * ratio)
        own = self._held.spread(1, denominator.weight)
        rows = np.column_stack([self._at_all_rows(column, at) for at, column in enumerate(denominator.x.T)])
        scale = len(own) / own.sum()
        options = {**options, "balance": weighing.kind}
        origin = Origin(
            names=tuple(self._held.names or (f"x{i}" for i in range(rows.shape[1]))),
            target=(numerator.x, numerator.weight),
            rows=rows,
            own=scale * own,
            weighing=weighing,
            log_ratio=self._at_new_rows,
            errors=lambda x: log_ratio_errors(self._fitted, x),
            halves=self._halves(options),
            seed=self._fitted.numerics.seed,
        )
        shrinkage = weighing.shrinkage
        given = self._at_all_rows(ratio, None)
        if self._held.absent[1] is not None:
            given[own == 0] = np.exp(weighing(self._log_ratio_at(rows[own == 0]), rows[own == 0]))
        return ImportanceWeights(scale * values, given, shrinkage.limit, shrinkage.relative, weighing.kind, origin)

    def _at_all_rows(self, values: Floats, column: int | None) -> Floats:
        """Return one value for each given row of the denominator; rows of weight zero have that of a column, or 0."""
        expanded, absent = self._held.expanded(1, values), self._held.absent[1]
        if absent is None:
            return expanded
        return absent.among(expanded, 0.0 if column is None else absent.rows[:, column].astype(np.float64))

    def _at_new_rows(self, x: Any) -> tuple[Floats, Floats]:
        """Return new rows, and the log ratio there."""
        points = self._points(x)
        return points.astype(np.float64), self._log_ratio_at(points)

    def _halves(self, options: dict[str, Any]) -> Halves:
        """Return what fits one half of the rows, and returns its weights with the other half, both ways."""

        def fit_halves() -> list[tuple[ImportanceWeights, Floats, Floats, Floats, Floats]]:
            held, random = self._held, np.random.default_rng(self._fitted.numerics.seed)
            halves = [random_half(len(x), group, random) for x, group in zip(held.data, held.groups, strict=True)]
            parts = []
            for fitted in (0, 1):
                seen, unseen = ([np.flatnonzero((half == fitted) == yes) for half in halves] for yes in (True, False))
                with without(DegenerateDataWarning), without(OverlapWarning):
                    weights = self._unfitted().fit(**held.part((seen[0], seen[1]))).weights(**options)
                p, q = (x[rows].astype(np.float64) for x, rows in zip(held.data, unseen, strict=True))
                own = [weight[rows] for weight, rows in zip(held.weights, unseen, strict=True)]
                parts.append((weights, p, own[0], q, own[1]))
            return parts

        return fit_halves


def _as_float(relative: float | str) -> float | str:
    return relative if isinstance(relative, str) else float(relative)
