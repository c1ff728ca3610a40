"""Boosted trees of many rows: those of `few_trees`, and of scikit-learn, by compiled loops.

scikit-learn takes some steps in Python for each leaf. They hold the interpreter's lock, so that the folds of a guide
wait for each other, and take most of the time of a few thousand rows.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vwkde._data.sample import Sample
from vwkde._models.guides.few_trees import FEWEST, RATE, RIDGE, Plan, log_odds_at_start, most_log_odds
from vwkde._models.guides.regression import rows_of

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ManyTrees:
    """A guide from trees.

    `nodes`, (trees, nodes, 3), are a column, a step, and the number of the first of two children: rows with more than
    the step in the column go to the second one. A leaf has none, and adds its value. The log odds are kept within
    `most` of zero.
    """

    start: float
    nodes: NDArray[np.int32]
    values: Floats
    most: float

    def __call__(self, x: Floats) -> Floats:
        """Return the log odds."""
        from vwkde._models.guides.tree_loops import add_trees

        log_odds = np.full(len(x), self.start)
        add_trees(x.astype(np.uint8, order="C"), self.nodes, self.values, log_odds)
        return np.clip(log_odds, -self.most, self.most)


def fit_many_trees(plan: Plan, numerator: Sample, denominator: Sample) -> ManyTrees:
    """Fit trees to two samples of whole numbers, below 256; both have equal weight."""
    from vwkde._models.guides.tree_loops import grow_trees  # only now: not every process loads the compiler

    sign, weight = rows_of(numerator, denominator)
    steps = np.concatenate([numerator.points, denominator.points]).T.astype(np.uint8, order="C")
    start = log_odds_at_start(sign, weight)
    nodes = np.zeros((plan.rounds, 2 * plan.leaves - 1, 3), dtype=np.int32)
    values = np.zeros(nodes.shape[:2])
    sums = np.empty((plan.leaves, len(steps), plan.steps, 3))
    at_rows, constants = np.full(len(sign), start), np.array([RATE, RIDGE, FEWEST])
    grow_trees(steps, (sign > 0).astype(np.float64), weight, at_rows, constants, sums, nodes, values)
    return ManyTrees(start, nodes, values, most_log_odds(len(sign)))
