"""Whether to leave directions out: only if held-out rows confirm that the ratio gains.

Directions found on all rows would look too good on the same rows. So one fifth of the rows at a time is held out:
directions are found, and the ratio in them is fitted, on the others, and its loss on that fifth is compared with the
loss of the ratio in all directions. The directions that most of the five fits agree on are kept.

They have then seen every row, and a ratio in them looks too good at those rows. The ratios of the fits that held each
row out look too bad: they have fewer rows, and directions that were found once instead of agreed on. The truth is in
between, so half of the difference is taken off the log ratios of all candidates in the subspace.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from vwkde._coordinates.directions import MOST_DIRECTIONS, find_directions
from vwkde._coordinates.projection import Projection, project_samples
from vwkde._data.sample import Sample
from vwkde._fit.averaging import Average, average_of
from vwkde._fit.candidates import Candidate, Space, find_candidates
from vwkde._fit.kernel_estimate import Numerics
from vwkde._models.folds import deal_folds
from vwkde._models.guides.cross_fit import is_affine
from vwkde._models.log_loss import AtBoth, fall_of_log_loss
from vwkde._runtime.progress import track

Floats = NDArray[np.float64]

_FOLDS = 5
_FEWEST_ROWS = 200
_ENOUGH_FOLDS = 2
"""Folds after which the search ends if the loss has not fallen so far."""
_GUIDES = (None, "mixture")
"""Guides by which a subspace is judged."""


@dataclass(frozen=True)
class Subspace:
    """Directions (d, k) that were found on all rows, and how much that adds to the log ratios at both samples."""

    directions: Floats
    optimism: AtBoth

    def candidates(self, space: Space, bandwidth: float | None, numerics: Numerics) -> list[Candidate]:
        """Return the candidates in this subspace of a space, without the optimism."""
        found = find_candidates(project(space, self.directions), bandwidth, numerics)
        p, q = self.optimism
        return [replace(c, at_samples=(c.at_samples[0] - p, c.at_samples[1] - q)) for c in found]


def project(space: Space, directions: Floats) -> Space:
    """Return the projections onto some directions, with the guides that do not depend on the axes."""
    return Space(
        "subspace",
        Projection(space.coordinates, directions),
        project_samples(space.samples, directions),
        tuple(filter(is_affine, space.guides)),
    )


def find_subspace(
    space: Space, candidates: list[Candidate], bandwidth: float | None, numerics: Numerics
) -> Subspace | None:
    """Return a subspace in which the log loss falls by more than one standard error, or None.

    It is compared with the loss of the best candidate in this space that does not depend on the axes.
    """
    rows = min(sample.effective_rows for sample in space.samples)
    if space.samples[0].points.shape[1] <= MOST_DIRECTIONS or rows < _FEWEST_ROWS:
        return None
    best = min((c for c in candidates if not c.axes_matter), key=lambda c: c.loss)
    random = np.random.default_rng(numerics.seed)
    folds = [deal_folds(sample, _FOLDS, random) for sample in space.samples]
    held_out = best.at_samples[0].copy(), best.at_samples[1].copy()
    by_fold = []
    by_chance: dict[int, float] = {}
    for fold in track(range(_FOLDS), "subspace", _FOLDS):
        if fold == _ENOUGH_FOLDS and fall_of_log_loss(best.at_samples, held_out, space.samples)[0] <= 0:
            return None
        p, q = (sample.subset(its != fold) for sample, its in zip(space.samples, folds, strict=True))
        directions = find_directions(p, q, numerics.seed, by_chance)
        if directions is None:
            continue
        by_fold.append(directions)
        ratio = _fit_projected(project_samples((p, q), directions), bandwidth, numerics)
        for values, sample, its in zip(held_out, space.samples, folds, strict=True):
            values[its == fold] = ratio.log_ratio(sample.points[its == fold] @ directions)
    fall, error = fall_of_log_loss(best.at_samples, held_out, space.samples)
    agreed = _agreed(by_fold) if fall > error else np.empty(0)
    if not agreed.size:
        return None
    own = _fit_projected(project_samples(space.samples, agreed), bandwidth, numerics)
    at_p, at_q = own.at_samples(averages=True)
    return Subspace(agreed, (0.5 * (at_p - held_out[0]), 0.5 * (at_q - held_out[1])))


def _fit_projected(samples: tuple[Sample, Sample], bandwidth: float | None, numerics: Numerics) -> Average:
    """Fit the ratio of projected samples."""
    space = Space("subspace", np.asarray, samples, _GUIDES)
    candidates = find_candidates(space.thinned(numerics.seed), bandwidth, numerics)
    return average_of(candidates, [space], bandwidth, numerics)


def _agreed(by_fold: list[Floats]) -> Floats:
    """Return the directions on which most fits agree: those that the mean of their projections keeps by over half."""
    kept, vectors = np.linalg.eigh(np.sum([directions @ directions.T for directions in by_fold], axis=0) / _FOLDS)
    return np.asarray(vectors[:, kept > 0.5][:, ::-1])
