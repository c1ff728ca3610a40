"""Whether two samples overlap enough for their ratio to be known."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from vwkde._display import matplotlib
from vwkde._display.style import central_range
from vwkde.displays._samples import DENOMINATOR, LEAVE_ONE_OUT, NUMERATOR, check_ratio, layers
from vwkde.ratio import DensityRatio

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

Floats = NDArray[np.float64]

_EDGE = 0.01
"""Share of a sample's rows that count as its edge; beyond it, the sample has almost no rows."""


class OverlapDisplay:
    """Whether two samples overlap enough: the log ratios at their rows, and how few rows carry the weight.

    Left: the distributions of the log ratio at the rows of both samples, shaded where one sample has almost no rows,
    beyond its own outermost percent. Right: the share of the importance weights that the heaviest rows of the
    denominator carry together. Use `from_estimator` to make one. The parameters are kept as attributes.

    Parameters
    ----------
    numerator_log_ratio : array of shape (n,)
        The log ratios at the numerator's rows.
    denominator_log_ratio : array of shape (m,)
        The log ratios at the denominator's rows.
    importance_weights : array of shape (m,)
        The importance weights of the denominator's rows.

    Attributes
    ----------
    ax_ : array of matplotlib.axes.Axes
        The two axes drawn on.
    figure_ : matplotlib.figure.Figure
        Their figure.
    lines_ : list of matplotlib.lines.Line2D
        The two distributions, and the share of the weights.

    Examples
    --------
    >>> import numpy as np
    >>> from vwkde import OverlapDisplay
    >>> values = np.linspace(-1, 1, 50)
    >>> display = OverlapDisplay(
    ...     numerator_log_ratio=values, denominator_log_ratio=values, importance_weights=np.ones(50)
    ... )
    >>> display.effective_size
    50.0
    """

    def __init__(
        self, *, numerator_log_ratio: Floats, denominator_log_ratio: Floats, importance_weights: Floats
    ) -> None:
        self.numerator_log_ratio = numerator_log_ratio
        self.denominator_log_ratio = denominator_log_ratio
        self.importance_weights = importance_weights

    @property
    def effective_size(self) -> float:
        """The number of equally weighted rows that the importance weights are worth.

        Returns
        -------
        float
            (Σ w)² / Σ w², at most the number of rows.
        """
        return float(self.importance_weights.sum() ** 2 / np.sum(self.importance_weights**2))

    @classmethod
    def from_estimator(cls, ratio: DensityRatio, *, ax: "Sequence[Axes] | None" = None, **kwargs: Any) -> Self:
        """Draw the overlap of the samples that a `DensityRatio` was fitted to.

        Parameters
        ----------
        ratio : DensityRatio
            A fitted ratio.
        ax : sequence of two matplotlib.axes.Axes, optional
            Axes to draw on. By default, those of a new figure.
        **kwargs : dict
            Passed to `Axes.plot` for all three curves.

        Returns
        -------
        OverlapDisplay
            The display, drawn.

        Raises
        ------
        TypeError
            If `ratio` is not a `DensityRatio`.
        NotFittedError
            If it is not fitted.
        ValueError
            If `ax` is not two axes, or not all rows are in memory.
        ImportError
            If Matplotlib is not installed.

        Examples
        --------
        >>> from vwkde import DensityRatio, OverlapDisplay
        >>> from vwkde.datasets import isotropic
        >>> ratio = DensityRatio(guide="gaussian").fit(*isotropic(2).sample(200))
        >>> len(OverlapDisplay.from_estimator(ratio).ax_)
        2
        """
        matplotlib.require_matplotlib()
        check_ratio(ratio)
        return cls(
            numerator_log_ratio=ratio.numerator_log_ratio_,
            denominator_log_ratio=ratio.denominator_log_ratio_,
            importance_weights=ratio.importance_weights(),
        ).plot(ax, **kwargs)

    def plot(self, ax: "Sequence[Axes] | None" = None, **kwargs: Any) -> Self:
        """Draw on two given axes or on a new figure.

        Parameters
        ----------
        ax : sequence of two matplotlib.axes.Axes, optional
            Axes to draw on. By default, those of a new figure.
        **kwargs : dict
            Passed to `Axes.plot` for all three curves.

        Returns
        -------
        OverlapDisplay
            The display itself.
        """
        matplotlib.require_matplotlib()
        if ax is not None and (count := np.size(np.asarray(ax, dtype=object))) != 2:
            raise ValueError(
                f"The 'ax' parameter must be two axes, for example plt.subplots(1, 2)[1]. Got {count} instead."
            )
        self.ax_ = np.ravel(matplotlib.axes_or_new(ax, 1, 2, figsize=(10, 4.2)))
        self.figure_ = self.ax_[0].figure
        self.lines_ = [*self._plot_log_ratios(self.ax_[0], **kwargs), self._plot_weights(self.ax_[1], **kwargs)]
        for one in self.ax_:
            matplotlib.legend_above(one, columns=2)
        return self

    def _plot_log_ratios(self, ax: "Axes", **kwargs: Any) -> "list[Line2D]":
        """Draw the empirical distributions of the log ratio, and shade where one sample has almost no rows."""
        p, q = self.numerator_log_ratio, self.denominator_log_ratio
        lines = [ax.ecdf(s.values, **{"color": s.colour, "label": s.label} | kwargs) for s in layers(p, q)]
        low, high = central_range(p, q)
        first, last = np.quantile(p, _EDGE), np.quantile(q, 1 - _EDGE)
        if low < first:
            ax.axvspan(low, first, color=DENOMINATOR, alpha=0.12, lw=0, label="almost no numerator rows")
        if last < high:
            ax.axvspan(last, high, color=NUMERATOR, alpha=0.12, lw=0, label="almost no denominator rows")
        ax.set(xlabel=LEAVE_ONE_OUT, ylabel="share of rows below", xlim=(low, high), ylim=(0, 1.02))
        return lines

    def _plot_weights(self, ax: "Axes", **kwargs: Any) -> "Line2D":
        """Draw the share of the weight that the heaviest rows carry together."""
        weights = self.importance_weights
        rows = np.arange(len(weights) + 1) / len(weights)
        share = np.concatenate([[0], np.cumsum(np.sort(weights)[::-1])]) / weights.sum()
        (line,) = ax.plot(rows, share, **{"color": DENOMINATOR, "label": "importance weights"} | kwargs)
        ax.plot([0, 1], [0, 1], color="grey", ls=":", label="equal weights")
        text = f"effective sample size\n{self.effective_size:,.0f} of {len(weights):,} rows"
        ax.text(0.97, 0.05, text, ha="right", va="bottom", transform=ax.transAxes)
        names = {"xlabel": "share of denominator rows, heaviest first", "ylabel": "share of the weight"}
        ax.set(**names, xlim=(0, 1), ylim=(0, 1.02))
        return line
