"""Estimated divergences side by side, each with its interval."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from vwkde._display import matplotlib
from vwkde._display.style import BLACK, number
from vwkde.displays._samples import NUMERATOR, check_ratio
from vwkde.ratio import DensityRatio
from vwkde.results import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_KINDS = {
    "kl": "KL(p₁ ‖ p₂)",
    "reverse-kl": "KL(p₂ ‖ p₁)",
    "jensen-shannon": "Jensen–Shannon",
    "renyi": "Rényi",
    "hellinger": "Hellinger",
    "total-variation": "Total variation",
}


class DivergenceDisplay:
    """Estimated divergences, one per line: a dot, and its interval as a whisker.

    Use `from_estimates` or `from_estimator` to make one. The parameters are kept as attributes.

    Parameters
    ----------
    names : sequence of str
        The names of the lines, from top to bottom.
    estimates : sequence of Estimate
        The estimates, in the same order.
    truth : float, optional
        The true value, marked by a vertical line.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        The axes drawn on.
    figure_ : matplotlib.figure.Figure
        Their figure.
    errorbar_ : matplotlib.container.ErrorbarContainer
        The dots and whiskers.

    Examples
    --------
    >>> from vwkde import DivergenceDisplay, Estimate
    >>> estimates = {"first": Estimate(0.7, 0.1, "kl"), "second": Estimate(1.0, 0.2, "kl")}
    >>> display = DivergenceDisplay.from_estimates(estimates, truth=1.0)
    >>> display.names
    ['first', 'second']
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
        """Draw estimates.

        Parameters
        ----------
        estimates : mapping of str to Estimate, or iterable of Estimate
            What to draw. Estimates without a name are labelled by their kind.
        truth : float, optional
            The true value, marked by a vertical line.
        ax : matplotlib.axes.Axes, optional
            Axes to draw on. By default, those of a new figure.
        **kwargs : dict
            Passed to `Axes.errorbar`.

        Returns
        -------
        DivergenceDisplay
            The display, drawn.

        Raises
        ------
        TypeError
            If anything but estimates is given, or none.
        ImportError
            If Matplotlib is not installed.

        Examples
        --------
        >>> from vwkde import DivergenceDisplay, Estimate
        >>> DivergenceDisplay.from_estimates([Estimate(0.7, 0.1, "kl")]).names
        ['KL(p₁ ‖ p₂)']
        """
        matplotlib.require_matplotlib()
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
        """Draw divergences of a fitted `DensityRatio`.

        Parameters
        ----------
        ratio : DensityRatio
            A fitted ratio.
        kinds : str or sequence of str, default=("kl", "reverse-kl", "jensen-shannon", "hellinger", "total-variation")
            The kinds of divergence, as in `DensityRatio.divergence`.
        order : float, optional
            The order of the kind "renyi".
        truth : float, optional
            The true value, marked by a vertical line.
        ax : matplotlib.axes.Axes, optional
            Axes to draw on. By default, those of a new figure.
        **kwargs : dict
            Passed to `Axes.errorbar`.

        Returns
        -------
        DivergenceDisplay
            The display, drawn.

        Raises
        ------
        TypeError
            If `ratio` is not a `DensityRatio`.
        NotFittedError
            If it is not fitted.
        ImportError
            If Matplotlib is not installed.

        Examples
        --------
        >>> from vwkde import DensityRatio, DivergenceDisplay
        >>> from vwkde.datasets import isotropic
        >>> ratio = DensityRatio(guide="gaussian").fit(*isotropic(2).sample(200))
        >>> DivergenceDisplay.from_estimator(ratio, ["kl", "renyi"], order=0.5).names
        ['KL(p₁ ‖ p₂)', 'Rényi of order 0.5']
        """
        matplotlib.require_matplotlib()
        check_ratio(ratio)
        kinds = [kinds] if isinstance(kinds, str) else kinds
        orders = {kind: order if kind == "renyi" else None for kind in kinds}
        estimates = {_kind_name(*item): ratio.divergence(*item) for item in orders.items()}
        return cls.from_estimates(estimates, truth=truth, ax=ax, **kwargs)

    def plot(self, ax: "Axes | None" = None, **kwargs: Any) -> Self:
        """Draw on the given axes or on a new figure.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Axes to draw on. By default, those of a new figure.
        **kwargs : dict
            Passed to `Axes.errorbar`.

        Returns
        -------
        DivergenceDisplay
            The display itself.
        """
        matplotlib.require_matplotlib()
        self.ax_ = matplotlib.axes_or_new(ax, figsize=(6.4, 1.3 + 0.5 * len(self.estimates)))
        self.figure_ = self.ax_.figure
        self.ax_.axvline(0, color="grey", lw=0.8, ls=":")
        if self.truth is not None:
            self.ax_.axvline(self.truth, color=BLACK, lw=1.2, ls="--", label=f"truth {number(self.truth)}")
        rows = [matplotlib.Whisker(estimate.value, *estimate.interval) for estimate in self.estimates]
        style = {"color": NUMERATOR, "label": _legend(self.estimates)}
        self.errorbar_ = matplotlib.whiskers(self.ax_, self._row_names(), rows, **style | kwargs)
        self.ax_.set_xlabel(self._axis_name())
        matplotlib.legend_above(self.ax_)
        return self

    def _row_names(self) -> Sequence[str]:
        """Return the names, with their units where these differ."""
        return self.names if self._has_one_unit() else list(map(_with_unit, self.names, self.estimates))

    def _axis_name(self) -> str:
        kinds = {estimate.kind for estimate in self.estimates}
        name = _kind_name(kinds.pop()) if len(kinds) == 1 else "divergence"
        return _with_unit(name, self.estimates[0]) if self._has_one_unit() else name

    def _has_one_unit(self) -> bool:
        return len({estimate.unit for estimate in self.estimates}) == 1


def _kind_name(kind: str, order: float | None = None) -> str:
    return _KINDS.get(kind, kind) + ("" if order is None else f" of order {order:g}")


def _with_unit(name: str, estimate: Estimate) -> str:
    return f"{name} ({estimate.unit})" if estimate.unit else name


def _legend(estimates: Sequence[Estimate]) -> str:
    """Return what dots and whiskers mean, with the level of the intervals if all have the same."""
    levels = {estimate.confidence_level for estimate in estimates}
    return f"estimate, {100 * levels.pop():g} % interval" if len(levels) == 1 else "estimate and its interval"


def _check_estimates(estimates: Any) -> list[tuple[str, Estimate]]:
    """Return pairs of name and estimate."""
    if isinstance(estimates, Mapping):
        named = [(str(name), estimate) for name, estimate in estimates.items()]
    elif isinstance(estimates, Iterable):
        named = [(_kind_name(getattr(e, "kind", "")), e) for e in estimates]
    else:
        named = []
    if not named or not all(isinstance(estimate, Estimate) for _, estimate in named):
        raise TypeError(
            "The 'estimates' parameter must be a list of Estimate or a dictionary of them by name, with at least one, "
            f"such as {{'KDE': vwkde.kl_divergence(P, Q, method='kde')}}. Got {estimates!r} instead."
        )
    return named
