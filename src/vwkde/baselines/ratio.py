"""A baseline as a fitted object with the methods of `DensityRatio` that it can offer."""

from collections.abc import Callable
from functools import partial
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from vwkde._answers.functionals import KINDS, AtSample
from vwkde._answers.kinds import check_divergence, check_interval, check_unit, unit_of
from vwkde._answers.uncertainty import scatter_over_halves
from vwkde._data.groups import refuse_groups
from vwkde._data.intake import check_pair, check_points
from vwkde._data.reading import PLAIN, Reading
from vwkde._data.validation import POINTS, like_input
from vwkde._runtime.random_states import random_state_of
from vwkde.baselines.answer import Answer
from vwkde.baselines.settings import as_plain
from vwkde.results import Estimate

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


class BaselineRatio:
    """A baseline estimator of the KL divergence.

    Parameters
    ----------
    name
        The name of the method, for messages and diagnostics.
    estimate
        The function behind it, one of `BASELINES`.
    settings
        Keyword arguments of that function.
    random_state
        Seed or `RandomState`.
    reading
        How tables are read.
    """

    def __init__(
        self,
        name: str,
        estimate: Callable[..., Answer],
        settings: dict[str, Any],
        random_state: Any = 0,
        reading: Reading = PLAIN,
    ) -> None:
        self.name = name
        self.settings = {setting: as_plain(value) for setting, value in settings.items()}
        self.random_state = random_state
        self.reading = reading
        self._estimate = partial(estimate, **self.settings)
        self._answer: Answer | None = None

    def fit(
        self,
        numerator: Any,
        denominator: Any,
        *,
        numerator_weight: Any = None,
        denominator_weight: Any = None,
        groups: Any = None,
    ) -> Self:
        """Fit the two samples.

        Parameters
        ----------
        numerator, denominator
            The samples, in any form that `DensityRatio` takes.
        numerator_weight, denominator_weight
            Must be None: baselines do not support row weights.
        groups
            Must be None: baselines leave out single rows only.

        Returns
        -------
        BaselineRatio
            The fitted object itself.
        """
        if numerator_weight is not None or denominator_weight is not None:
            raise ValueError(
                f"The method {self.name!r} does not support row weights. Omit the weights, or omit method=."
            )
        refuse_groups(groups, "fit", f"with method={self.name!r}, which leaves out single rows only; omit method=")
        pair = check_pair(numerator, denominator, self.reading)
        p, q = pair.numerator, pair.denominator
        seed = int(random_state_of(self.random_state).randint(2**31))
        data = _in_random_order(p, seed), _in_random_order(q, seed)
        self._answer = self._estimate(*data, seed)
        self._seed, self._data, self._layout = seed, data, pair.layout
        return self

    @property
    def answer_(self) -> Answer:
        """The baseline's answer."""
        if self._answer is None:
            raise NotFittedError(f"The method {self.name!r} has not been fitted yet. Call fit with two samples first.")
        return self._answer

    def log_ratio(self, x: Any) -> Floats:
        """Return log p₁/p₂ at new points.

        Parameters
        ----------
        x
            Points, with the columns of the samples.

        Returns
        -------
        array of shape (n,)
            The log ratios.

        Raises
        ------
        ValueError
            If the method estimates a divergence only.
        """
        if self.answer_.log_ratio is None:
            raise ValueError(
                f"The method {self.name!r} estimates a divergence only, not a ratio. Choose another method."
            )
        points = check_points(x, POINTS, self._layout, "samples")
        return like_input(self.answer_.log_ratio(points.astype(np.float64)), x)

    def divergence(
        self,
        kind: str = "kl",
        order: float | None = None,
        *,
        interval: Literal["influence", "quick", "subsample"] = "influence",
        confidence_level: float = 0.95,
        unit: str | None = None,
    ) -> Estimate:
        """Return a divergence with its standard error, which does not include the baseline's bias.

        Parameters
        ----------
        kind
            The divergence; methods without a log ratio estimate "kl" only.
        order
            The order of kind="renyi".
        interval
            The standard error's source: influence functions, or the scatter over subsamples. Methods without a log
            ratio always use subsamples.
        confidence_level
            The level of the interval.
        unit
            "nats" or "bits".

        Returns
        -------
        Estimate
            The value with its standard error, interval and diagnostics.
        """
        kind, options = check_divergence(kind, order)
        unit = check_unit(unit, kind)
        check_interval(interval, confidence_level)
        value, error = self._value_and_error(self.answer_, kind, options)
        if interval == "subsample" or error is None:

            def on_half(rows: tuple[Ints, Ints]) -> float:
                p, q = self._data[0][rows[0]], self._data[1][rows[1]]
                return self._value_and_error(self._estimate(p, q, self._seed), kind, options)[0]

            error = scatter_over_halves((len(self._data[0]), len(self._data[1])), on_half, self._seed)
        estimate = Estimate(
            value,
            error,
            kind,
            unit_of(kind),
            confidence_level=confidence_level,
            open_above=self._layout.is_coarse,
            diagnostics=self._describe(),
        )
        return estimate.in_unit(unit)

    def _value_and_error(self, answer: Answer, kind: str, options: dict[str, float]) -> tuple[float, float | None]:
        if answer.at_numerator is None or answer.at_denominator is None:
            if kind != "kl":
                raise ValueError(f"The method {self.name!r} estimates 'kl' only. Got {kind!r} instead.")
            return answer.kl, None
        sides = [AtSample(each, np.ones(len(each))) for each in (answer.at_numerator, answer.at_denominator)]
        value, error = KINDS[kind](*sides, **options)
        return answer.kl if kind == "kl" else value, error

    def _describe(self) -> dict[str, Any]:
        p, q = self._data
        return {
            "method": self.name,
            **self.settings,
            **self.answer_.chosen,
            "rows": [len(p), len(q)],
            "columns": p.shape[1],
        }


def _in_random_order(x: NDArray[np.floating], seed: int) -> Floats:
    """Return the rows in a random order that does not depend on their given order."""
    ordered = x[np.lexsort(x.T)].astype(np.float64)
    return ordered[np.random.default_rng(seed).permutation(len(x))]
