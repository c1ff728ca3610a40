"""What a fitted ratio answers at points: the ratio, the posterior, the weight and its remaining bias."""

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from vwkde._answers.pointwise import log_ratio_errors
from vwkde._answers.posterior import posterior
from vwkde._compute.parallel import at_most
from vwkde._data.in_memory import Held
from vwkde._data.intake import check_points
from vwkde._data.sources import is_elsewhere, read_all
from vwkde._data.validation import POINTS, Array, like_input
from vwkde._display.waiting import shown_while_waiting
from vwkde._fit.fitted import Fitted
from vwkde._models.weights.protocol import Weight

Floats = NDArray[np.float64]

_LARGEST_LOG = float(np.log(np.finfo(np.float64).max))

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def on_its_threads(method: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Let a method of `DensityRatio` use at most its `n_threads`."""

    @wraps(method)
    def limited(*arguments: Arguments.args, **named: Arguments.kwargs) -> Result:
        with at_most(arguments[0].n_threads):  # type: ignore[attr-defined]
            return method(*arguments, **named)

    return limited


def check_fitted(ratio: object) -> None:
    """Raise scikit-learn's error if a ratio is not fitted."""
    if not hasattr(ratio, "weight_"):
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(ratio, "weight_")


class AnswersAtPoints:
    """The methods of `DensityRatio` that take points."""

    n_threads: int | None
    weight_: Weight
    n_features_in_: int
    _fitted: Fitted
    _held: Held

    @shown_while_waiting
    def log_ratio(self, x: Any, *, return_std: bool = False) -> Any:
        """Return log p₁/p₂ at new points.

        At rows that were fitted, use `numerator_log_ratio_` and `denominator_log_ratio_`, which leave each row out.

        Parameters
        ----------
        x : array-like of shape (n, d)
            Points with the columns seen in `fit`. Columns of DataFrames are matched by name. A file or Dask input, as
            in `fit`, is read into memory.
        return_std : bool, default=False
            Whether to return standard errors too.

        Returns
        -------
        array of shape (n,), or a pair of such arrays
            The log ratio at each point, in nats. A tensor for a tensor. With `return_std`, also its standard error over
            repeated samples: from the guides' fits, the kernel sums, and the disagreement of the candidates. It knows
            nothing of a bias that all candidates share, as where a sample has no rows nearby.

        Raises
        ------
        NotFittedError
            If `fit` has not been called.
        ValueError
            If the columns differ from those seen in `fit`, or a value is not finite.

        Examples
        --------
        >>> import vwkde
        >>> from vwkde.datasets import mean_difference
        >>> P, Q = mean_difference(2, 1.0).sample(500)
        >>> ratio = vwkde.DensityRatio(guide="gaussian").fit(P, Q)
        >>> near_p, near_q = ratio.log_ratio([[-1.0, 0.0], [2.0, 0.0]])
        >>> bool(near_p > 0 > near_q)
        True
        >>> value, error = ratio.log_ratio([[-1.0, 0.0]], return_std=True)
        >>> bool(0 < error[0] < 0.5)
        True
        """
        if not return_std:
            return like_input(self._log_ratio(x), x)
        return like_input(self._log_ratio(x), x), like_input(self._log_ratio_errors(x), x)

    @shown_while_waiting
    def ratio(self, x: Any) -> Floats:
        """Return p₁/p₂ at new points.

        Parameters
        ----------
        x : array-like of shape (n, d)
            Points, as in `log_ratio`.

        Returns
        -------
        array of shape (n,)
            The ratio at each point. Where it exceeds the largest float, it is the largest float.

        Examples
        --------
        >>> import numpy as np, vwkde
        >>> from vwkde.datasets import mean_difference
        >>> P, Q = mean_difference(2, 1.0).sample(500)
        >>> ratio = vwkde.DensityRatio(guide="gaussian").fit(P, Q)
        >>> bool(np.allclose(ratio.ratio(P), np.exp(ratio.log_ratio(P))))
        True
        """
        return like_input(np.exp(np.minimum(self._log_ratio(x), _LARGEST_LOG)), x)

    @shown_while_waiting
    def posterior(self, x: Any, prior: float = 0.5) -> Floats:
        """Return the probability that a point comes from the numerator.

        Parameters
        ----------
        x : array-like of shape (n, d)
            Points, as in `log_ratio`.
        prior : float, default=0.5
            The prior probability of the numerator, between 0 and 1.

        Returns
        -------
        array of shape (n,)
            The posterior probability of the numerator at each point.

        Raises
        ------
        ValueError
            If `prior` is not between 0 and 1.

        Examples
        --------
        >>> import vwkde
        >>> from vwkde.datasets import mean_difference
        >>> P, Q = mean_difference(2, 1.0).sample(500)
        >>> ratio = vwkde.DensityRatio(guide="gaussian").fit(P, Q)
        >>> even, rare = ratio.posterior([[0.0, 0.0]])[0], ratio.posterior([[0.0, 0.0]], prior=0.01)[0]
        >>> bool(rare < 0.1 < 0.5 < even)
        True
        """
        return like_input(posterior(self._log_ratio(x), prior), x)

    @on_its_threads
    def log_weight(self, x: Any) -> Floats:
        """Return log α at points, up to a constant.

        α is the weight function that both kernel estimates share, in addition to the part that the guide has in the
        weights. It is constant where `diagnostics_["weighting"]` is "uniform".

        Parameters
        ----------
        x : array-like of shape (n, d)
            Points, as in `log_ratio`.

        Returns
        -------
        array of shape (n,)
            The logarithm of the weight at each point.

        Examples
        --------
        >>> import numpy as np, vwkde
        >>> from vwkde.datasets import isotropic
        >>> P, Q = isotropic(2).sample(200)
        >>> plain = vwkde.DensityRatio(guide=None, weighting="uniform").fit(P, Q)
        >>> float(np.ptp(plain.log_weight(P)))
        0.0
        """
        points = self._points(x)
        return like_input(self.weight_.log_weight(self._fitted.average.main.place(points)), x)

    @on_its_threads
    def residual_bias(self, x: Any) -> Floats:
        """Return B at points: to leading order, the kernel sums bias the log ratio by bandwidth_²·B.

        It is computed from the fitted derivatives. With a guide, it is the bias that guide and weight leave.

        Parameters
        ----------
        x : array-like of shape (n, d)
            Points, as in `log_ratio`.

        Returns
        -------
        array of shape (n,)
            The coefficient B at each point.

        Examples
        --------
        The weight of the paper makes the bias small at the samples:

        >>> import numpy as np, vwkde
        >>> from vwkde.datasets import isotropic
        >>> P, Q = isotropic(2).sample(200)
        >>> plain = vwkde.DensityRatio(guide=None, weighting="uniform").fit(P, Q)
        >>> weighted = vwkde.DensityRatio(guide=None, derivatives="gaussian").fit(P, Q)
        >>> bool(np.mean(weighted.residual_bias(P) ** 2) < 0.1 * np.mean(plain.residual_bias(P) ** 2))
        True
        """
        points = self._points(x)
        return like_input(self._fitted.residual_bias(self._fitted.average.main.place(points)), x)

    def _log_ratio(self, x: Any) -> Floats:
        return self._log_ratio_at(self._points(x))

    @on_its_threads
    def _log_ratio_at(self, points: Array) -> Floats:
        """Return the log ratio at points that are encoded as the samples were."""
        return self._fitted.average.log_ratio(points)

    @on_its_threads
    def _log_ratio_errors(self, x: Any) -> Floats:
        return log_ratio_errors(self._fitted, np.asarray(self._points(x), dtype=np.float64))

    def _points(self, x: Any) -> Array:
        check_fitted(self)
        layout = self._held.layout
        if is_elsewhere(x) and not isinstance(x, str | Path):
            x = read_all(x, POINTS, (layout.count, layout.given, "numerator"))
        return check_points(x, POINTS, layout)
