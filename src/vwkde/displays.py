"""Pictures of a fitted ratio and of what it says, in the manner of scikit-learn's displays.

Each class keeps the data of one picture, and `plot` draws it, as often as wanted and on any axes.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from vwkde._display import grids, matplotlib
from vwkde._display.style import BLACK, axes_or_new, legend_above, number, require_matplotlib
from vwkde.ratio import DensityRatio
from vwkde.results import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]


class LogRatioDisplay:
    """The log ratio of two densities: a curve over one feature, a map over two, or histograms of its values.

    `from_estimator` makes one. The parameters are kept as attributes.

    Parameters
    ----------
    grid : sequence of arrays
        Coordinates along one feature for a curve, along two for a map; empty for histograms.
    log_ratio : array or None
        The log ratio on the grid, of shape (len(x),) or (len(y), len(x)).
    numerator, denominator : array or None
        Points of the two samples to show with the grid, of shape (rows, features drawn).
    numerator_log_ratio, denominator_log_ratio : array or None
        The log ratios at the samples' rows, for histograms.
    labels : sequence of str
        What the features drawn are called.
    name : str or None
        What the legend calls the curve.

    Attributes
    ----------
    ax_, figure_
        The axes drawn on, and their figure.
    line_, surface_, colorbar_, histograms_
        The curve; the map's filled contours and colour bar; the two histograms.

    Examples
    --------
    >>> import numpy as np, vwkde
    >>> rng = np.random.default_rng(0)
    >>> P, Q = rng.normal(0, 1, (500, 2)), rng.normal(0.5, 1, (500, 2))
    >>> ratio = vwkde.DensityRatio().fit(P, Q)
    >>> display = vwkde.LogRatioDisplay.from_estimator(ratio, P, Q)
    >>> display.ax_.get_xlabel()
    'column 0'
    """

    def __init__(
        self,
        *,
        grid: Sequence[Floats] = (),
        log_ratio: Floats | None = None,
        numerator: Floats | None = None,
        denominator: Floats | None = None,
        numerator_log_ratio: Floats | None = None,
        denominator_log_ratio: Floats | None = None,
        labels: Sequence[str] = (),
        name: str | None = None,
    ) -> None:
        self.grid = grid
        self.log_ratio = log_ratio
        self.numerator = numerator
        self.denominator = denominator
        self.numerator_log_ratio = numerator_log_ratio
        self.denominator_log_ratio = denominator_log_ratio
        self.labels = labels
        self.name = name

    @classmethod
    def from_estimator(
        cls,
        ratio: DensityRatio,
        numerator: Any = None,
        denominator: Any = None,
        *,
        X: Any = None,
        features: grids.Features = None,
        grid_resolution: int = 100,
        name: str | None = None,
        ax: "Axes | None" = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the log ratio that a fitted `DensityRatio` gives.

        One column gives a curve, two give a map. More give histograms of the leave-one-out log ratios at the fitted
        rows; unless these have weights, the mean over the numerator is the KL divergence.

        Parameters
        ----------
        ratio
            A fitted `DensityRatio`.
        numerator, denominator
            The two samples. A curve or map covers them, far outliers excepted, and shows them; histograms need none.
        X
            Points whose whole range is covered instead.
        features
            One column or two, by number or name, for a curve or map of a ratio that has more columns. The others are
            held at their medians.
        grid_resolution
            Points of the grid along each feature.
        name
            What the legend calls the curve.
        ax
            Axes to draw on. By default a new figure's.
        **kwargs
            Go to `Axes.plot` for a curve, `Axes.contourf` for a map, `Axes.stairs` for histograms.
        """
        require_matplotlib()
        _check_ratio(ratio)
        p = grids.check_points(ratio, numerator, "numerator")
        q = grids.check_points(ratio, denominator, "denominator")
        X = grids.check_points(ratio, X, "X")
        columns = grids.find_columns(ratio, features)
        if not columns:
            at_rows = ratio.numerator_log_ratio_, ratio.denominator_log_ratio_
            display = cls(numerator_log_ratio=at_rows[0], denominator_log_ratio=at_rows[1], name=name)
            return display.plot(ax, **kwargs)
        samples = [sample for sample in (p, q) if sample is not None]
        grid, through = grids.span(samples, X, columns, grid_resolution)
        return cls(
            grid=grid,
            log_ratio=grids.log_ratio_on(ratio, grid, columns, through),
            numerator=None if p is None else p[:, columns],
            denominator=None if q is None else q[:, columns],
            labels=grids.labels(ratio, columns),
            name=name,
        ).plot(ax, **kwargs)

    def plot(self, ax: "Axes | None" = None, *, name: str | None = None, **kwargs: Any) -> Self:
        """Draw on the given axes or a new figure's; `name` and `**kwargs` are as in `from_estimator`."""
        require_matplotlib()
        self.ax_ = axes_or_new(ax)
        self.figure_ = self.ax_.figure
        if len(self.grid) == 0:
            at_rows = matplotlib.layers(self.numerator_log_ratio, self.denominator_log_ratio)
            self.histograms_ = matplotlib.histograms(self.ax_, at_rows, **kwargs)
        elif len(self.grid) == 1:
            self._plot_curve(**{"label": name or self.name or "estimate"} | kwargs)
        else:
            self._plot_map(**kwargs)
        legend_above(self.ax_, markerscale=2)
        return self

    def _plot_curve(self, **kwargs: Any) -> None:
        samples = matplotlib.layers(self.numerator, self.denominator)
        self.line_ = matplotlib.curve(self.ax_, self.grid[0], np.asarray(self.log_ratio), samples, **kwargs)
        self.ax_.set(xlabel=self.labels[0], ylabel=matplotlib.LOG_RATIO)

    def _plot_map(self, **kwargs: Any) -> None:
        samples = matplotlib.layers(self.numerator, self.denominator)
        x, y = self.grid
        self.surface_ = matplotlib.colour_map(self.ax_, x, y, np.asarray(self.log_ratio), samples, **kwargs)
        self.colorbar_ = self.figure_.colorbar(self.surface_, ax=self.ax_, label=matplotlib.LOG_RATIO)
        self.ax_.set(xlabel=self.labels[0], ylabel=self.labels[1])


class DivergenceDisplay:
    """Estimated divergences, one per line: a dot, and its interval as a whisker.

    `from_estimates` and `from_estimator` make one. The parameters are kept as attributes.

    Parameters
    ----------
    names : sequence of str
        What the lines are called, from top to bottom.
    estimates : sequence of Estimate
        What they show.
    truth : float or None
        The true value, marked by a vertical line.

    Attributes
    ----------
    ax_, figure_
        The axes drawn on, and their figure.
    errorbar_
        Dots and whiskers.
    """

    def __init__(self, *, names: Sequence[str], estimates: Sequence[Estimate], truth: float | None = None) -> None:
        self.names = names
        self.estimates = estimates
        self.truth = truth

    @classmethod
    def from_estimates(
        cls,
        estimates: Mapping[str, Estimate] | Iterable[Estimate],
        *,
        truth: float | None = None,
        ax: "Axes | None" = None,
        **kwargs: Any,
    ) -> Self:
        """Draw estimates under the names of a mapping, or else those of their kinds.

        `truth` is marked by a vertical line; `**kwargs` go to `Axes.errorbar`.
        """
        require_matplotlib()
        named = _check_estimates(estimates)
        return cls(names=[n for n, _ in named], estimates=[e for _, e in named], truth=truth).plot(ax, **kwargs)

    @classmethod
    def from_estimator(
        cls,
        ratio: DensityRatio,
        kinds: Sequence[str] = ("kl", "reverse-kl", "jensen-shannon", "hellinger", "total-variation"),
        *,
        order: float | None = None,
        truth: float | None = None,
        ax: "Axes | None" = None,
        **kwargs: Any,
    ) -> Self:
        """Draw divergences of a fitted `DensityRatio`; `order` belongs to the kind "renyi"."""
        require_matplotlib()
        _check_ratio(ratio)
        kinds = [kinds] if isinstance(kinds, str) else kinds
        orders = {kind: order if kind == "renyi" else None for kind in kinds}
        estimates = {matplotlib.kind_name(*item): ratio.divergence(*item) for item in orders.items()}
        return cls.from_estimates(estimates, truth=truth, ax=ax, **kwargs)

    def plot(self, ax: "Axes | None" = None, **kwargs: Any) -> Self:
        """Draw on the given axes or a new figure's; `**kwargs` go to `Axes.errorbar`."""
        require_matplotlib()
        self.ax_ = axes_or_new(ax, figsize=(6.4, 1.3 + 0.5 * len(self.estimates)))
        self.figure_ = self.ax_.figure
        self.ax_.axvline(0, color="grey", lw=0.8, ls=":")
        if self.truth is not None:
            self.ax_.axvline(self.truth, color=BLACK, lw=1.2, ls="--", label=f"truth {number(self.truth)}")
        self.errorbar_ = matplotlib.whiskers(self.ax_, self.names, self.estimates, **kwargs)
        legend_above(self.ax_)
        return self


class OverlapDisplay:
    """Whether two samples overlap enough: where the log ratios at their rows lie, and how few rows carry the weight.

    Left, the distributions of the log ratio at both samples' rows, shaded where one sample has almost none: beyond its
    own outermost percent. Right, the share of the importance weights that the heaviest of the denominator's rows carry
    together. `from_estimator` makes one. The parameters are kept as attributes.

    Parameters
    ----------
    numerator_log_ratio, denominator_log_ratio : array
        The log ratios at the samples' rows.
    importance_weights : array
        A weight for each of the denominator's rows.

    Attributes
    ----------
    ax_, figure_
        The array of the two axes drawn on, and their figure.
    lines_
        The two distributions, and the share of the weights.
    """

    def __init__(
        self, *, numerator_log_ratio: Floats, denominator_log_ratio: Floats, importance_weights: Floats
    ) -> None:
        self.numerator_log_ratio = numerator_log_ratio
        self.denominator_log_ratio = denominator_log_ratio
        self.importance_weights = importance_weights

    @property
    def effective_size(self) -> float:
        """How many equally weighted rows the importance weights amount to: (Σ w)² / Σ w²."""
        return float(self.importance_weights.sum() ** 2 / np.sum(self.importance_weights**2))

    @classmethod
    def from_estimator(cls, ratio: DensityRatio, *, ax: "Sequence[Axes] | None" = None, **kwargs: Any) -> Self:
        """Draw how the samples overlap to which a `DensityRatio` was fitted; `**kwargs` go to `Axes.plot`."""
        require_matplotlib()
        _check_ratio(ratio)
        return cls(
            numerator_log_ratio=ratio.numerator_log_ratio_,
            denominator_log_ratio=ratio.denominator_log_ratio_,
            importance_weights=ratio.importance_weights(),
        ).plot(ax, **kwargs)

    def plot(self, ax: "Sequence[Axes] | None" = None, **kwargs: Any) -> Self:
        """Draw on two given axes or those of a new figure; `**kwargs` go to `Axes.plot` for all three curves."""
        require_matplotlib()
        if ax is not None and np.size(np.asarray(ax, dtype=object)) != 2:
            raise ValueError("The 'ax' parameter must be two axes, for example plt.subplots(1, 2)[1].")
        self.ax_ = np.ravel(axes_or_new(ax, 1, 2, figsize=(10, 4.2)))
        self.figure_ = self.ax_[0].figure
        curves = matplotlib.distributions(self.ax_[0], self.numerator_log_ratio, self.denominator_log_ratio, **kwargs)
        self.lines_ = [*curves, matplotlib.shares(self.ax_[1], self.importance_weights, self.effective_size, **kwargs)]
        for one in self.ax_:
            legend_above(one, columns=2)
        return self


def _check_ratio(ratio: Any) -> None:
    how = "call fit(numerator, denominator) first"
    if not isinstance(ratio, DensityRatio):
        raise TypeError(
            f"The ratio must be a fitted DensityRatio. Got {type(ratio).__name__} instead; make one and {how}."
        )
    check_is_fitted(ratio, "weight_", msg=f"This %(name)s is not fitted yet; {how}.")


def _check_estimates(estimates: Any) -> list[tuple[str, Estimate]]:
    """Return pairs of name and estimate."""
    if isinstance(estimates, Mapping):
        named = [(str(name), estimate) for name, estimate in estimates.items()]
    elif isinstance(estimates, Iterable):
        named = [(matplotlib.kind_name(getattr(e, "kind", "")), e) for e in estimates]
    else:
        named = []
    if not named or not all(isinstance(estimate, Estimate) for _, estimate in named):
        raise TypeError(
            "The estimates must be a list of Estimate or a dictionary of them by name, with at least one, such as "
            f"{{'KDE': vwkde.kl_divergence(P, Q, method='kde')}}. Got {estimates!r} instead."
        )
    return named
