"""The boosted trees of scikit-learn, with which those of the package are compared."""

from sklearn.ensemble import HistGradientBoostingClassifier


def classifier_of(plan):
    """Return the classifier that grows trees by a plan."""
    return HistGradientBoostingClassifier(
        max_iter=plan.rounds,
        max_leaf_nodes=plan.leaves,
        max_bins=plan.steps,
        l2_regularization=1.0,
        early_stopping=False,
        random_state=0,
    )
