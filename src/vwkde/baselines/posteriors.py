"""Class posteriors without a density ratio: P(numerator | x), with equal prior probabilities.

The appendix of the paper compares its posterior with these.

The support vector machine gives a decision value f(x), which a sigmoid 1/(1 + exp(Af + B)) turns into a probability
(Platt, Probabilistic outputs for support vector machines and comparisons to regularized likelihood methods, Advances in
Large Margin Classifiers, 1999). The network has two hidden layers of 100 units and a sigmoid output, and is fitted by
least squares: the mean of (1 − f)² over the numerator plus that of f² over the denominator is smallest for
f = p/(p + q).
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from vwkde._compute import parallel
from vwkde._compute.devices import require_torch
from vwkde._compute.torch_state import threads_of_torch
from vwkde._models.guides.classifiers import LogOdds
from vwkde.baselines.dense import dense_network, draw_batch, prepare, to_tensor, train, values
from vwkde.baselines.settings import check_count

Floats = NDArray[np.float64]
Posterior = Callable[[Floats], Floats]
"""Returns P(numerator | x), of shape (n,)."""

_FOLDS = 5
_UNITS = 100
_RATE = 1e-3
_BATCH = 128
"""Rows of each sample in one step; smaller samples are used whole."""
_HELD_OUT = 0.2


def svm_posterior(p: Floats, q: Floats, seed: int) -> Posterior:
    """Return the posterior by a support vector machine with Gaussian kernels and Platt's sigmoid.

    Columns are standardised, and cost and width are scikit-learn's defaults. Both samples have equal weight, whatever
    their sizes. The sigmoid is fitted to decision values at held-out rows; its odds are divided by those of the sizes.
    """
    folds = min(_FOLDS, len(p), len(q))
    x, is_p = np.concatenate([p, q]), np.repeat([1, 0], [len(p), len(q)])
    machine = CalibratedClassifierCV(
        make_pipeline(StandardScaler(), SVC(class_weight="balanced")),
        method="sigmoid",
        cv=StratifiedKFold(folds, shuffle=True, random_state=seed),
        ensemble=False,
    )
    with parallel.single_threaded():
        machine.fit(x, is_p)
    log_odds = LogOdds(machine, float(np.log(len(p) / len(q))), np.finfo(float).eps)
    return lambda new: np.asarray(expit(log_odds(new)))


def network_posterior(p: Floats, q: Floats, seed: int, *, steps: int = 3_000, device: str = "cpu") -> Posterior:
    """Return the posterior by a network that minimises the squared error.

    Columns are standardised. Training stops when a held-out fifth of the rows shows no progress, or after `steps`
    steps. Both samples have equal weight, whatever their sizes.
    """
    check_count("steps", steps, 1)
    require_torch(device)
    import torch

    scale, (p_known, p_judge), (q_known, q_judge) = prepare(p, q, _HELD_OUT, seed)
    with threads_of_torch(1):
        generator = torch.Generator().manual_seed(seed)
        network = dense_network((p.shape[1], _UNITS, _UNITS, 1), generator, device)
        p_rows, q_rows = to_tensor(p_known, device), to_tensor(q_known, device)

        def loss() -> torch.Tensor:
            at_p, at_q = (network(draw_batch(rows, _BATCH, generator))[:, 0] for rows in (p_rows, q_rows))
            return ((-at_p).sigmoid() ** 2).mean() + (at_q.sigmoid() ** 2).mean()

        def judge() -> float:
            return float(np.mean(expit(-values(network, p_judge)) ** 2) + np.mean(expit(values(network, q_judge)) ** 2))

        train(network, loss, steps, _RATE, judge)

    def posterior(x: Floats) -> Floats:
        with threads_of_torch(1):
            return np.asarray(expit(values(network, scale(x))))

    return posterior
