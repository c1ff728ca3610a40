"""Whether to leave directions out: only where rows that had no say in it confirm that the ratio gains.

Directions found on all rows would flatter themselves on the same rows. So they are found, and the ratio in them fitted,
without one third of the rows at a time, and what that third says is compared with the ratio in all directions. What
most of the three fits agree on is kept.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from vwkde._answers.functionals import fall_of_log_loss
from vwkde._coordinates.directions import MOST_DIRECTIONS, find_directions
from vwkde._data.sample import Sample
from vwkde._data.validation import Array
from vwkde._runtime.progress import track

Floats = NDArray[np.float64]
LogRatio = Callable[[Floats], Floats]

_FOLDS = 3
_FEWEST_ROWS = 200


@dataclass(frozen=True)
class Projection:
    """Coordinates, and of those only the projections on some directions."""

    coordinates: Callable[[Array], Floats]
    directions: Floats

    def __call__(self, x: Array) -> Floats:
        """Return the projections, of shape (n, k)."""
        return self.coordinates(x) @ self.directions


def as_it_is(x: Array) -> Floats:
    """Return points that are projections already."""
    return np.asarray(x, dtype=np.float64)


def project_samples(samples: tuple[Sample, Sample], directions: Floats) -> tuple[Sample, Sample]:
    """Return the samples' projections on some directions."""
    p, q = (_projected(sample, directions) for sample in samples)
    return p, q


def _projected(sample: Sample, directions: Floats) -> Sample:
    rest = sample.rest and replace(sample.rest, coordinates=Projection(sample.rest.coordinates, directions))
    return replace(sample, points=sample.points @ directions, rest=rest)


def find_subspace(
    samples: tuple[Sample, Sample],
    log_ratios: tuple[Floats, Floats],
    fit: Callable[[Sample, Sample], LogRatio],
    seed: int,
) -> Floats | None:
    """Return directions (d, k) in which the log loss falls by more than one standard error, or None.

    `log_ratios` are those in all directions, at rows that did not enter them; `fit` fits a ratio to projections.
    """
    rows = min(sample.effective_rows for sample in samples)
    if samples[0].points.shape[1] <= MOST_DIRECTIONS or rows < _FEWEST_ROWS:
        return None
    random = np.random.default_rng(seed)
    folds = [_folds(sample, random) for sample in samples]
    within = log_ratios[0].copy(), log_ratios[1].copy()
    found = []
    for fold in track(range(_FOLDS), "subspace", _FOLDS):
        taught = samples[0].subset(folds[0] != fold), samples[1].subset(folds[1] != fold)
        directions = find_directions(*taught, seed)
        if directions is None:
            continue
        found.append(directions)
        log_ratio = fit(*project_samples(taught, directions))
        for values, sample, its_fold in zip(within, samples, folds, strict=True):
            judges = its_fold == fold
            values[judges] = log_ratio(sample.points[judges] @ directions)
    fall, error = fall_of_log_loss(log_ratios, within, samples)
    if fall <= error:
        return None
    agreed = _agreed(found)
    return agreed if agreed.size else None


def _folds(sample: Sample, random: np.random.Generator) -> NDArray[np.intp]:
    """Return the third of the data that each row belongs to; rows made of one row stay together."""
    if sample.fold is not None:
        return sample.fold % _FOLDS
    return random.permutation(np.arange(len(sample)) % _FOLDS)


def _agreed(found: list[Floats]) -> Floats:
    """Return the directions on which most thirds agree: those that their projections keep by more than half."""
    kept, vectors = np.linalg.eigh(np.sum([directions @ directions.T for directions in found], axis=0) / _FOLDS)
    return np.asarray(vectors[:, kept > 0.5][:, ::-1])
