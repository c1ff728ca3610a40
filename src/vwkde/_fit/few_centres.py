"""Kernel sums over some rows of each sample, at all of their rows.

In many columns no kernel is so narrow that far rows could be left out of a sum, and the sums over all rows would cost
the square of their number. What more centres gain there is little: the noise of a sum falls with their number, but the
bandwidth, and with it the bias, hardly does. So the sums run over randomly drawn rows; guides learn from all. In up to
three columns a grid makes sums over many rows quick, and they resolve what some thousand rows do not.

The level of a ratio, though, is known as well as the rows that it comes from, and every average has its error. So it is
corrected at all rows.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from vwkde._data.sample import Sample
from vwkde._fit.guided_ratio import GuidedRatio
from vwkde._fit.kernel_estimate import KernelEstimate
from vwkde._fit.kernel_pair import KernelPair, LogDensities
from vwkde._models.log_loss import best_level
from vwkde._runtime.lazy import lazy

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_MOST_PAIRS = 1e8
"""Pairs of rows in the sums at all rows, up to which all rows are centres, or more than the fewest."""
_FEWEST_CENTRES = 2_000
QUICK_COLUMNS = 2
"""Columns up to which sums are quick however many rows there are."""
_MOST_IN_THREE_COLUMNS = 100_000
"""Centres up to which sums in three columns are quick, on a grid."""


@dataclass(frozen=True)
class FewCentres(KernelPair):
    """The estimates of two samples from some of their rows: `chosen`; `all_rows` are the samples."""

    all_rows: tuple[Sample, Sample]
    chosen: tuple[Ints, Ints]

    @property
    def samples(self) -> tuple[Sample, Sample]:
        """The two samples, with all their rows."""
        return self.all_rows

    @lazy
    def at_samples(self) -> tuple[LogDensities, LogDensities]:
        """The log densities at the points of both samples, each point left out of its own estimate."""
        (p, q), (p_chosen, q_chosen) = self.all_rows, self.chosen
        return (
            LogDensities(_at_own(self.numerator, p, p_chosen), self.denominator.at_other_groups(p)),
            LogDensities(self.numerator.at_other_groups(q), _at_own(self.denominator, q, q_chosen)),
        )


def _at_own(estimate: KernelEstimate, sample: Sample, chosen: Ints) -> Floats:
    """Return the log density at all rows of the sample that the estimate's rows were chosen from."""
    values = estimate.at_other_groups(sample)
    if sample.group is None:
        values[(slice(None), chosen) if np.ndim(estimate.bandwidth) else chosen] = estimate.left_out()
    return values


def most_centres(samples: tuple[Sample, Sample]) -> float:
    """Return how many rows of each sample may be centres of the sums at all rows."""
    if any(sample.rest is not None or sample.pairs is not None for sample in samples):
        return np.inf
    columns = samples[0].points.shape[1]
    if columns <= QUICK_COLUMNS:
        return np.inf
    fewest = _MOST_IN_THREE_COLUMNS if columns == QUICK_COLUMNS + 1 else _FEWEST_CENTRES
    return max(fewest, _MOST_PAIRS / sum(map(len, samples)) / 2)


def with_few_centres(pair: KernelPair, seed: int) -> KernelPair:
    """Return the pair with fewer centres where all would take too long."""
    most = most_centres(pair.samples)
    if all(len(sample) <= most for sample in pair.samples):
        return pair
    random = np.random.default_rng(seed)
    p_chosen, q_chosen = (_draw(sample, int(most), random) for sample in pair.samples)
    return FewCentres(
        pair.numerator.from_rows(p_chosen), pair.denominator.from_rows(q_chosen), pair.samples, (p_chosen, q_chosen)
    )


def level_by_all_rows(ratio: GuidedRatio) -> GuidedRatio:
    """Return a ratio with the level that suits all rows best, if its sums run over few of them."""
    if not isinstance(ratio.pair, FewCentres):
        return ratio
    (p, q), samples = ratio.at_samples, ratio.samples
    level = best_level((p, q), (samples[0].weight, samples[1].weight))
    return replace(ratio, known=(p + level, q + level), level=ratio.level + level)


def _draw(sample: Sample, most: int, random: np.random.Generator) -> Ints:
    counted = np.flatnonzero(sample.weight)
    return np.sort(random.choice(counted, min(most, len(counted)), replace=False))
