"""The guide named "tree": one tree with large leaves, whose values are not shrunk.

Boosting adds many small steps, which is right for smooth ratios. If the ratio has one value inside of a box, as where a
part of a detector is dead or rows were left out by a rule, its first trees blur the box, and few rows do not support
all the trees that would mend it. A single tree cuts the box out, and tells the ratio in it by counting.

The tree is grown until its leaves are small, and then cut back: what hangs on a split stays if it raises the log
likelihood by so much for each further leaf that chance hardly does.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vwkde._data.sample import Sample
from vwkde._models.guides.kind import Fit
from vwkde._models.guides.regression import rows_of

Floats = NDArray[np.float64]

_FEWEST, _LEAST_SHARE = 20, 0.01
"""Rows in a leaf at least, and the least share of the weight."""
_GAINS = 40.0, 20.0, 12.0
"""Twice the log likelihood that each leaf must gain; a cut at the best of many places gains some 10 by chance."""
_UNSEEN = 0.5
"""Rows of each sample that are added to every leaf: where there are none, the ratio is one."""


@dataclass(frozen=True)
class OneTree:
    """A guide that is constant in each leaf of a tree; `log_ratio` are its values, by the number of the node."""

    tree: Any
    log_ratio: Floats

    def __call__(self, x: Floats) -> Floats:
        """Return the log ratios."""
        return self.log_ratio[_leaves(self.tree, x)]


def tree_forms(_numerator: Sample, _denominator: Sample) -> tuple[Fit, ...]:
    """Return trees that are cut back far, less far, and little."""
    return tuple(partial(fit_tree, gain) for gain in _GAINS)


def fit_tree(gain: float, numerator: Sample, denominator: Sample) -> OneTree:
    """Grow a tree, cut it back, and count the rows of both samples in its leaves; both samples have equal weight."""
    from sklearn.tree import DecisionTreeClassifier  # only now: estimates of few rows do not wait for it

    samples = numerator, denominator
    sign, weight = rows_of(*samples)
    rows = sum(sample.effective_rows for sample in samples)
    tree = DecisionTreeClassifier(
        criterion="log_loss",
        min_samples_leaf=_FEWEST,
        min_weight_fraction_leaf=_LEAST_SHARE,
        ccp_alpha=gain / (2 * rows * np.log(2)),  # scikit-learn counts in bits for each row
        random_state=0,
    )
    tree.fit(np.concatenate([sample.points for sample in samples]), sign, sample_weight=weight)
    nodes = tree.tree_.node_count
    shares = [np.bincount(_leaves(tree.tree_, s.points), s.weight / s.weight.sum(), nodes) for s in samples]
    p, q = (share * sample.effective_rows + _UNSEEN for share, sample in zip(shares, samples, strict=True))
    return OneTree(tree.tree_, np.log(p / numerator.effective_rows) - np.log(q / denominator.effective_rows))


def _leaves(tree: Any, x: Floats) -> NDArray[np.intp]:
    """Return the number of the leaf that each row is in."""
    return np.asarray(tree.apply(np.ascontiguousarray(x, dtype=np.float32)))
