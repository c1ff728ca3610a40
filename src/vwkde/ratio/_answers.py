"""What a fitted ratio answers about its samples: divergences, weights and diagnostics."""

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from vwkde._answers.at_samples import at_samples
from vwkde._answers.consistency import warn_if_contradictory
from vwkde._answers.diagnostics import describe_fit
from vwkde._answers.functionals import KINDS
from vwkde._answers.importance import importance_weights
from vwkde._answers.kinds import check_divergence, check_interval, check_unit, unit_of
from vwkde._answers.overlap import may_be_infinite, warn_if_weights_cannot_represent
from vwkde._answers.tails import moment_may_be_infinite
from vwkde._answers.uncertainty import Compute, scatter_over_halves, systematic_error, unseen
from vwkde._data.sources import Ints
from vwkde._display.waiting import shown_while_waiting
from vwkde.ratio._at_points import AnswersAtPoints, check_fitted, on_its_threads
from vwkde.results import Estimate

Floats = NDArray[np.float64]


class RatioAnswers(AnswersAtPoints):
    """The methods of `DensityRatio` that need a fit."""

    guide: Any
    weighting: str
    _diagnostics: dict[str, Any]
    _unfitted: Callable[..., Any]

    @shown_while_waiting
    @on_its_threads
    def divergence(
        self,
        kind: str = "kl",
        order: float | None = None,
        *,
        interval: Literal["influence", "quick", "subsample"] = "influence",
        confidence_level: float = 0.95,
        unit: str | None = None,
    ) -> Estimate:
        """Estimate a divergence between the two densities, with its errors.

        Parameters
        ----------
        kind : str, default="kl"
            "kl", "reverse-kl", "jensen-shannon", "renyi", "hellinger" (the distance, between 0 and 1), "chi2" or
            "total-variation"; or a short name such as "js" or "tv".
        order : float, optional
            The order of "renyi": positive, not 1, and at most 1000. No other kind has one.
        interval : {"influence", "quick", "subsample"}, default="influence"
            Where the standard error comes from: influence functions, which cost nothing ("quick" is another name), or
            thirty fits to random halves of the rows.
        confidence_level : float, default=0.95
            The level of the estimate's interval, between 0 and 1.
        unit : {"nats", "bits"}, optional
            The unit of the estimate: nats by default. "hellinger", "chi2" and "total-variation" have none.

        Returns
        -------
        Estimate
            The value with its errors and diagnostics. With `guide="auto"` or a list the least value is zero. With other
            guides a negative value is returned as it is: it means that the divergence is too small to distinguish from
            zero.

        Raises
        ------
        ValueError
            If a parameter is invalid, or `interval="subsample"` is used when not all rows are in memory.

        Warns
        -----
        OverlapWarning
            If rows that the divergence weighs without bound lie where the other sample has none, so that it may be
            infinite: the estimate is then `open_above`. The same if the largest ratios show that the mean behind "chi2"
            or "renyi" may not exist. Or if most of the rows that it averages over are where the other sample has almost
            none.
        BiasWarning
            If the fitted ratio cannot be right: this or another divergence is clearly negative.

        Examples
        --------
        >>> import vwkde
        >>> from vwkde.datasets import isotropic
        >>> P, Q = isotropic(2).sample(500)  # KL = 1
        >>> ratio = vwkde.DensityRatio(guide="gaussian").fit(P, Q)
        >>> round(float(ratio.divergence("kl")), 1)
        1.0
        >>> ratio.divergence("renyi", order=0.5).unit
        'nats'
        """
        check_fitted(self)
        kind, options = check_divergence(kind, order)
        order, unit = options.get("order"), check_unit(unit, kind)
        check_interval(interval, confidence_level)
        compute = partial(KINDS[kind], **options)
        diagnostics = self.diagnostics_  # first: beside the kernel sums that it needs, it looks for rows outside
        p, q = at_samples(self._fitted, kind=kind)
        value, error = compute(p, q)
        if interval == "subsample":
            error = self._scatter_over_halves(compute)
        degenerate = self._fitted.degenerate
        open_above = may_be_infinite(diagnostics, kind, order, degenerate) or moment_may_be_infinite(p, kind, order)
        open_above = open_above or self._held.layout.is_coarse
        warn_if_contradictory({kind: (value, error)}, p, q, self.guide, diagnostics["weighting"])
        systematic = systematic_error(self._fitted, compute, error, (p, q))
        missed = unseen(self._fitted, kind, order, compute, value)
        below_zero = min(value, 0.0) if self._fitted.may_miss else 0.0
        estimate = Estimate(
            value - below_zero,
            error,
            kind,
            unit_of(kind),
            systematic,
            confidence_level,
            degrees_of_freedom=min(sample.degrees_of_freedom for sample in self._fitted.samples),
            unseen=max(missed + below_zero, 0.0),  # the upper end of the interval stays
            open_above=open_above,
            diagnostics=diagnostics,
        )
        return estimate.in_unit(unit)

    @on_its_threads
    def importance_weights(self) -> Floats:
        """Return weights on the denominator's rows with which they stand for the numerator, as an array with mean one.

        Weighted means of the columns are not made to agree with the numerator's: `weights` does that, and returns an
        object that can be asked for balance and errors. The weights are p₁/p₂ at the denominator's rows, times the
        rows' own weights, if `denominator_weight` was given to `fit`: use them alone. For covariate shift, fit with the
        target sample as numerator and the training sample as denominator, and pass the weights on as `sample_weight`.

        Returns
        -------
        array of shape (n,)
            One weight per row of the denominator, in the order given to `fit`. Each row is left out of its own ratio.
            Ratios above √n count as √n, so that no single row decides everything. Their mean estimates one. If they
            add up to less than a single row instead, the samples do not meet: what is missing goes to the row with the
            largest ratio, so that the weights do not look even.

        Raises
        ------
        ValueError
            If not all rows are in memory.

        Warns
        -----
        OverlapWarning
            If numerator rows lie where the denominator has none, or most of them where it has almost none.

        Examples
        --------
        >>> import numpy as np, vwkde
        >>> from vwkde.datasets import mean_difference
        >>> target, training = mean_difference(2, 1.0).sample(500)
        >>> weights = vwkde.DensityRatio(guide="gaussian").fit(target, training).importance_weights()
        >>> mean = np.average(training, axis=0, weights=weights)
        >>> bool(np.linalg.norm(mean - target.mean(axis=0)) < 0.2)
        True
        """
        check_fitted(self)
        if self._fitted.has_rest:
            raise ValueError(
                "Importance weights need all rows in memory, but some rows are in files or on a Dask cluster. "
                "Call ratio(rows) on the rows you need."
            )
        warn_if_weights_cannot_represent(self.diagnostics_)
        weights = self._held.spread(1, importance_weights(self._fitted))
        return weights / weights.mean()

    @property
    @on_its_threads
    def numerator_log_ratio_(self) -> Floats:
        """The leave-one-out log ratio at the numerator's rows, as divergences average it.

        Returns
        -------
        array of shape (n,)
            One value per row in memory, in the order given to `fit`.
        """
        check_fitted(self)
        return self._at_given_rows(0, averages=True)

    @property
    @on_its_threads
    def denominator_log_ratio_(self) -> Floats:
        """The leave-one-out log ratio at the denominator's rows, as divergences average it.

        Returns
        -------
        array of shape (n,)
            One value per row in memory, in the order given to `fit`.
        """
        check_fitted(self)
        return self._at_given_rows(1, averages=True)

    @property
    @on_its_threads
    def diagnostics_(self) -> dict[str, Any]:
        """What was chosen, the bias that is left, and how well the samples overlap.

        Returns
        -------
        dict
            Plain values by name. Pairs are for numerator and denominator.

            - guide, coordinates, bandwidth: what was chosen. The bandwidth is None where the guide is used alone.
            - weighting: the weight in use. weighting_tried: the weight that was asked for; only with a guide.
            - derivatives, score_matching_losses: the derivatives in use, and the held-out losses if these chose them.
            - squared_bias_before, squared_bias_after: the mean of B² without guide and weight, and with them. It is
              zero where the guide is used alone, since nothing is smoothed.
            - columns_together: products of so many columns were compared at most. What shows in more columns together
              only may be missed altogether. It is there if the guide was chosen from at least 100 rows of two columns.
            - unsupported_fraction: the share of a sample's rows where the other sample is thinner than at its own
              outermost percent.
            - kernel_effective_size: the number of equally weighted rows that a sample's kernel sums are worth, at the
              median row of the other sample.
            - largest_weight_share: the largest row's share of a sample's total weight.
            - outside_fraction: the share of a sample's rows that lie outside the other sample: beyond its range or in
              its gaps, much farther than the spacing of its own rows explains.
            - rows, rows_held, columns: the rows in all, the rows in memory if fewer, the columns.
            - rows_learnt, centres: the rows that the guide or, without one, the weight learnt from, and those that
              kernel sums run over, if there are so many rows that not all were needed.
            - rows_for_errors: the rows of the denominator that overlap comes from, and those of the sample that a KL
              divergence is no average over that its errors come from, if not all were needed; only with guide=None.
            - distinct_rows: the rows without those that repeat others; only if there are such rows.
            - engine, device: what computed it, and where.
        """
        check_fitted(self)
        if not self._diagnostics:
            self._diagnostics = describe_fit(self._fitted, self.weighting, self._held.data) | self._count_rows()
        return dict(self._diagnostics)

    def _at_given_rows(self, side: int, averages: bool) -> Floats:
        """Return the log ratios at the rows of a sample, as they were given.

        Repeats have that of their original, and rows of weight zero, which no estimate has seen, that of a new point.
        """
        in_order = self._fitted.samples[side].in_given_order(self._fitted.average.at_samples(averages)[side])
        counted, absent = self._held.expanded(side, in_order), self._held.absent[side]
        return counted if absent is None else absent.among(counted, self._log_ratio_at(absent.rows))

    def _count_rows(self) -> dict[str, Any]:
        """Return the rows that were given and those that are distinct, if rows repeat others."""
        distinct = [len(sample) for sample in self._fitted.samples]
        given = [len(self._held.expanded(side, np.zeros(rows))) for side, rows in enumerate(distinct)]
        return {} if given == distinct else {"rows": given, "distinct_rows": distinct}

    def _scatter_over_halves(self, compute: Compute) -> float:
        def on_halves(rows: tuple[Ints, Ints]) -> float:
            half = self._unfitted(engine=resources.name, device=resources.device)
            half.fit(**held.part(rows))
            return compute(*at_samples(half._fitted))[0]

        if self._fitted.has_rest:
            raise ValueError(
                "interval='subsample' needs all rows in memory, but some rows are in files or on a Dask cluster. "
                "Use interval='influence', which costs nothing here."
            )
        held, resources = self._held, self._fitted.numerics.resources
        sizes = len(held.data[0]), len(held.data[1])
        return scatter_over_halves(sizes, on_halves, self._fitted.numerics.seed, held.groups)
