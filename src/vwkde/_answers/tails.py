"""Whether the mean of a power of the ratio exists, as far as the largest ratios at the numerator's rows show.

χ² is the mean of r under the numerator minus one, and a Rényi divergence of order a > 1 is a function of the mean of
r^(a−1). If r exceeds t with a probability that falls like t^(−1/k), the mean of r^s is finite only for s < 1/k. The
mean excess of log r over its largest values estimates k (Hill, 1975).
"""

import numpy as np

from vwkde._answers.functionals import AtSample
from vwkde._runtime.warn import warn
from vwkde.exceptions import OverlapWarning

_CLEARLY = 3.5
"""Standard errors by which the tail must be too heavy: most ratios have a lighter one farther out."""
_LEAST_TAIL = 10
"""Fewest ratios whose mean excess says something."""


def moment_may_be_infinite(numerator: AtSample, kind: str, order: float | None = None) -> bool:
    """Return whether a divergence is the mean of a power of the ratio that may not exist, and warn if so."""
    power = {"chi2": 1.0, "renyi": (order or 1.0) - 1}.get(kind, 0.0)
    if power <= 0:
        return False
    shape, error = _tail_shape(numerator)
    if (shape - _CLEARLY * error) * power < 1:
        return False
    name = "ratio" if power == 1 else f"ratio to the power {power:.3g}"
    warn(
        f"The largest ratios are so large that the mean of the {name} may be infinite (tail shape {shape:.2g} ± "
        f"{error:.1g}; it is finite below {1 / power:.2g}): the value means only 'at least'. Use 'kl', or a bounded "
        f"divergence such as 'jensen-shannon'.",
        OverlapWarning,
    )
    return True


def _tail_shape(sample: AtSample) -> tuple[float, float]:
    """Return k and its standard error; zero if there are too few rows."""
    count = int(min(sample.rows / 5, 3 * np.sqrt(sample.rows)))
    if count < _LEAST_TAIL:
        return 0.0, 0.0
    largest = np.sort(sample.log_ratio[sample.weight > 0])[-count - 1 :]
    shape = float(np.mean(largest[1:] - largest[0]))
    return shape, shape / np.sqrt(count)
