"""Whether to leave directions out: only where rows that had no say in it confirm that the ratio gains.

Directions found on all rows would look too good on the same rows. So they are found, and the ratio in them fitted,
without one third of the rows at a time, and what that third says is compared with the ratio in all directions. What
most of the three fits agree on is kept.
"""

import numpy as np
from numpy.typing import NDArray

from vwkde._coordinates.directions import MOST_DIRECTIONS, find_directions
from vwkde._coordinates.projection import Projection, project_samples
from vwkde._data.sample import Sample
from vwkde._fit.averaging import average_of
from vwkde._fit.candidates import Candidate, Space, find_candidates
from vwkde._fit.kernel_estimate import Numerics
from vwkde._models.folds import deal_folds
from vwkde._models.guides.cross_fit import is_affine
from vwkde._models.log_loss import AtBoth, fall_of_log_loss
from vwkde._runtime.progress import track

Floats = NDArray[np.float64]

_FOLDS = 3
_FEWEST_ROWS = 200
_GUIDES = (None, "mixture")
"""Guides by which a subspace is judged."""


def project(space: Space, directions: Floats) -> Space:
    """Return the projections on some directions, with the guides that do not depend on their choice."""
    return Space(
        "subspace",
        Projection(space.coordinates, directions),
        project_samples(space.samples, directions),
        tuple(filter(is_affine, space.guides)),
    )


def find_subspace(
    space: Space, candidates: list[Candidate], bandwidth: float | None, numerics: Numerics
) -> Floats | None:
    """Return directions (d, k) in which the log loss falls by more than one standard error, or None.

    It falls from that of the best of the candidates, all of them of this space, that do not depend on the axes.
    """
    rows = min(sample.effective_rows for sample in space.samples)
    if space.samples[0].points.shape[1] <= MOST_DIRECTIONS or rows < _FEWEST_ROWS:
        return None
    best = min((c for c in candidates if not c.axes_matter), key=lambda c: c.loss)
    random = np.random.default_rng(numerics.seed)
    folds = [deal_folds(sample, _FOLDS, random) for sample in space.samples]
    within = best.at_samples[0].copy(), best.at_samples[1].copy()
    found = []
    for fold in track(range(_FOLDS), "subspace", _FOLDS):
        p, q = (sample.subset(its != fold) for sample, its in zip(space.samples, folds, strict=True))
        directions = find_directions(p, q, numerics.seed)
        if directions is None:
            continue
        found.append(directions)
        judges = folds[0] == fold, folds[1] == fold
        _judge(within, space.samples, judges, (p, q), directions, bandwidth, numerics)
    fall, error = fall_of_log_loss(best.at_samples, within, space.samples)
    agreed = _agreed(found) if fall > error else np.empty(0)
    return agreed if agreed.size else None


def _judge(
    within: AtBoth,
    samples: tuple[Sample, Sample],
    judges: tuple[NDArray[np.bool_], NDArray[np.bool_]],
    taught: tuple[Sample, Sample],
    directions: Floats,
    bandwidth: float | None,
    numerics: Numerics,
) -> None:
    """Fit the ratio in some directions to the rows taught, and write what it says of the judges."""
    space = Space("subspace", np.asarray, project_samples(taught, directions), _GUIDES)
    candidates = find_candidates(space.thinned(numerics.seed), bandwidth, numerics)
    ratio = average_of(candidates, [space], bandwidth, numerics)
    for values, sample, chosen in zip(within, samples, judges, strict=True):
        values[chosen] = ratio.log_ratio(sample.points[chosen] @ directions)


def _agreed(found: list[Floats]) -> Floats:
    """Return the directions on which most thirds agree: those that their projections keep by more than half."""
    kept, vectors = np.linalg.eigh(np.sum([directions @ directions.T for directions in found], axis=0) / _FOLDS)
    return np.asarray(vectors[:, kept > 0.5][:, ::-1])
