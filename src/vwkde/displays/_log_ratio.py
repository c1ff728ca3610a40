"""The log ratio over one feature, over two, or at the rows of the samples."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from vwkde._display import matplotlib
from vwkde.displays import _grids
from vwkde.displays._samples import DENOMINATOR, LEAVE_ONE_OUT, LOG_RATIO, NUMERATOR, check_ratio, layers
from vwkde.ratio import DensityRatio

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]


class LogRatioDisplay:
    """The log ratio of two densities: a curve over one feature, a map over two, or histograms of its values.

    Use `from_estimator` to make one. The parameters are kept as attributes.

    Parameters
    ----------
    grid : sequence of arrays, default=()
        Coordinates along one feature for a curve, along two for a map; empty for histograms.
    log_ratio : array, optional
        The log ratio on the grid, of shape (len(x),) or (len(y), len(x)).
    numerator : array of shape (n, features drawn), optional
        Points of the numerator to show with the grid.
    denominator : array of shape (m, features drawn), optional
        Points of the denominator to show with the grid.
    numerator_log_ratio : array of shape (n,), optional
        The log ratios at the numerator's rows, for histograms.
    denominator_log_ratio : array of shape (m,), optional
        The log ratios at the denominator's rows, for histograms.
    labels : sequence of str, default=()
        The names of the features drawn.
    name : str, optional
        The curve's name in the legend.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        The axes drawn on.
    figure_ : matplotlib.figure.Figure
        Their figure.
    line_ : matplotlib.lines.Line2D
        The curve.
    surface_ : matplotlib.contour.QuadContourSet
        The filled contours of the map.
    colorbar_ : matplotlib.colorbar.Colorbar
        The colour bar of the map.
    histograms_ : list of matplotlib.patches.StepPatch
        The two histograms.

    Examples
    --------
    >>> import vwkde
    >>> from vwkde.datasets import isotropic
    >>> P, Q = isotropic(2).sample(200)
    >>> ratio = vwkde.DensityRatio(guide="gaussian").fit(P, Q)
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
        features: _grids.Features = None,
        grid_resolution: int = 100,
        name: str | None = None,
        ax: "Axes | None" = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the log ratio that a fitted `DensityRatio` gives.

        One column gives a curve, two give a map. More columns give histograms of the leave-one-out log ratios at the
        fitted rows. Without row weights, their mean over the numerator is the KL divergence.

        Parameters
        ----------
        ratio : DensityRatio
            A fitted ratio.
        numerator : array-like of shape (n, d), optional
            A sample that a curve or map shows, and whose range it covers, except for far outliers.
        denominator : array-like of shape (m, d), optional
            The other sample, which is shown in the same way. Histograms need neither.
        X : array-like of shape (k, d), optional
            Points whose whole range is covered instead.
        features : int, str or a sequence of one or two of them, optional
            Columns to draw, by number or name, for a curve or map of a ratio with more columns. The others are fixed at
            their medians.
        grid_resolution : int, default=100
            Number of grid points along each feature.
        name : str, optional
            The curve's name in the legend.
        ax : matplotlib.axes.Axes, optional
            Axes to draw on. By default, those of a new figure.
        **kwargs : dict
            Passed to `Axes.plot` for a curve, `Axes.contourf` for a map, `Axes.stairs` for histograms.

        Returns
        -------
        LogRatioDisplay
            The display, drawn.

        Raises
        ------
        TypeError
            If `ratio` is not a `DensityRatio`.
        NotFittedError
            If it is not fitted.
        ValueError
            If a curve or map has no points to cover, or a parameter is invalid.
        ImportError
            If Matplotlib is not installed.

        Examples
        --------
        >>> import vwkde
        >>> from vwkde.datasets import isotropic
        >>> P, Q = isotropic(5).sample(200)
        >>> ratio = vwkde.DensityRatio(guide="gaussian").fit(P, Q)
        >>> vwkde.LogRatioDisplay.from_estimator(ratio, P, Q, features=3).labels
        ['column 3 (others at their medians)']
        """
        matplotlib.require_matplotlib()
        check_ratio(ratio)
        p = _grids.check_points(ratio, numerator, "numerator")
        q = _grids.check_points(ratio, denominator, "denominator")
        X = _grids.check_points(ratio, X, "X")
        columns = _grids.find_columns(ratio, features)
        if not columns:
            at_rows = ratio.numerator_log_ratio_, ratio.denominator_log_ratio_
            display = cls(numerator_log_ratio=at_rows[0], denominator_log_ratio=at_rows[1], name=name)
            return display.plot(ax, **kwargs)
        samples = [sample for sample in (p, q) if sample is not None]
        grid, through = _grids.span(samples, X, columns, grid_resolution)
        return cls(
            grid=grid,
            log_ratio=_grids.log_ratio_on(ratio, grid, columns, through),
            numerator=None if p is None else p[:, columns],
            denominator=None if q is None else q[:, columns],
            labels=_grids.labels(ratio, columns),
            name=name,
        ).plot(ax, **kwargs)

    def plot(self, ax: "Axes | None" = None, *, name: str | None = None, **kwargs: Any) -> Self:
        """Draw on the given axes or on a new figure.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Axes to draw on. By default, those of a new figure.
        name : str, optional
            The curve's name in the legend.
        **kwargs : dict
            As in `from_estimator`.

        Returns
        -------
        LogRatioDisplay
            The display itself.
        """
        matplotlib.require_matplotlib()
        self.ax_ = matplotlib.axes_or_new(ax)
        self.figure_ = self.ax_.figure
        if len(self.grid) == 0:
            at_rows = layers(self.numerator_log_ratio, self.denominator_log_ratio)
            self.histograms_ = matplotlib.histograms(self.ax_, at_rows, **kwargs)
            self.ax_.set_xlabel(LEAVE_ONE_OUT)
        elif len(self.grid) == 1:
            self._plot_curve(**{"label": name or self.name or "estimate"} | kwargs)
        else:
            self._plot_map(**kwargs)
        matplotlib.legend_above(self.ax_, markerscale=2)
        return self

    def _plot_curve(self, **kwargs: Any) -> None:
        samples = layers(self.numerator, self.denominator)
        self.line_ = matplotlib.curve(self.ax_, self.grid[0], np.asarray(self.log_ratio), samples, **kwargs)
        self.ax_.set(xlabel=self.labels[0], ylabel=LOG_RATIO)

    def _plot_map(self, **kwargs: Any) -> None:
        x, y = self.grid
        self.surface_ = matplotlib.colour_map(
            self.ax_,
            x,
            y,
            np.asarray(self.log_ratio),
            layers(self.numerator, self.denominator),
            colours=(DENOMINATOR, NUMERATOR),
            zero="p₁ = p₂",
            **kwargs,
        )
        self.colorbar_ = self.figure_.colorbar(self.surface_, ax=self.ax_, label=LOG_RATIO)
        self.ax_.set(xlabel=self.labels[0], ylabel=self.labels[1])
