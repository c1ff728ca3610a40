"""A second opinion on mutual information: what nearest neighbours say, whatever was fitted."""

import numpy as np
from numpy.typing import NDArray

from vwkde._coordinates.normal_scores import fit_scores_in_blocks
from vwkde._data.pairs import Pairs
from vwkde._data.sample import Sample
from vwkde._data.validation import Array
from vwkde._fit.candidates import MOST_ROWS, Candidate, Form, Space
from vwkde._models.guides.cross_fit import cross_fit
from vwkde._models.guides.neighbours import neighbours_to_try
from vwkde._models.weights.uniform import UniformWeight

Floats = NDArray[np.float64]


def by_neighbours(joint: Array, product: Array, pairs: tuple[Pairs, Pairs], seed: int) -> Floats | None:
    """Return the log ratio at each row of X and Y by the kind of neighbours with the smallest loss.

    There is none in many columns or with few rows.
    """
    coordinates, split = fit_scores_in_blocks(joint, np.ones(len(joint)), pairs[0].split)
    p, q = (
        Sample(coordinates(x), np.ones(len(x)), np.arange(len(x)), pairs=Pairs(split, each.first, each.second))
        for x, each in zip((joint, product), pairs, strict=True)
    )
    samples = p, q.thinned(MOST_ROWS, np.random.default_rng(seed))
    space = Space("normal scores", coordinates, samples, neighbours_to_try(p))
    guides = [cross_fit(guide, samples, seed) for guide in space.guides]
    candidates = [Candidate(space, Form(guide, UniformWeight()), None, guide.at_samples) for guide in guides]
    if not candidates:
        return None
    return min(candidates, key=lambda candidate: candidate.average_loss).at_samples[0]
