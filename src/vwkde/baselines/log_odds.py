"""The log odds of a classifier that distinguishes the two samples.

With n rows of the numerator and m of the denominator, a classifier's probability π(x) that a row comes from the
numerator tends to n p/(n p + m q), so that

    log p/q = log π/(1−π) − log n/m.

Bickel, Brückner and Scheffer (Discriminative learning under covariate shift, JMLR 2009) weight a sample by it; Menon
and Ong (Linking losses for density ratio and class-probability estimation, ICML 2016) show which losses lead to it.

The values at the samples are cross-fitted: each comes from a classifier that has not seen the row. The KL divergence is
their mean over the numerator.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import StratifiedKFold

from vwkde._compute import parallel
from vwkde._models.guides.classifiers import LogOdds
from vwkde.baselines.answer import Answer

Floats = NDArray[np.float64]


def classifier(p: Floats, q: Floats, seed: int, *, model: Any = None, folds: int = 5) -> Answer:
    """Return the divergence by any scikit-learn classifier with `predict_proba`.

    A copy of the model is fitted for each fold. The log ratio at new points is the mean over the copies. Probabilities
    are kept half a row's share away from zero and one, since those of trees may be zero.

    Parameters
    ----------
    p, q
        The numerator's and the denominator's rows.
    seed
        Seed of the folds, and of the default model.
    model
        The classifier. The default is gradient boosting that stops when a held-out tenth of its rows shows no progress.
    folds
        The number of folds, from 2 to the rows of the smaller sample.

    Returns
    -------
    Answer
        The divergence and its log ratio.
    """
    if not 2 <= folds <= min(len(p), len(q)):
        raise ValueError(
            f"The 'folds' parameter must be at least 2 and at most the rows of the smaller sample, "
            f"{min(len(p), len(q))}. Got {folds!r} instead."
        )
    x, is_p = np.concatenate([p, q]), np.repeat([1, 0], [len(p), len(q)])
    if model is None:
        model = HistGradientBoostingClassifier(early_stopping=True, random_state=seed)
    fitted: list[LogOdds] = []
    at_samples = np.empty(len(x))
    for known, held_out in StratifiedKFold(folds, shuffle=True, random_state=seed).split(x, is_p):
        log_odds = _fit(model, x[known], is_p[known])
        at_samples[held_out] = log_odds(x[held_out])
        fitted.append(log_odds)

    def log_ratio(new: Floats) -> Floats:
        return np.asarray(np.mean([log_odds(new) for log_odds in fitted], axis=0))

    at_p, at_q = at_samples[: len(p)], at_samples[len(p) :]
    return Answer(float(at_p.mean()), at_p, at_q, log_ratio, {"model": type(model).__name__})


def _fit(model: Any, x: Floats, is_p: NDArray[np.int64]) -> LogOdds:
    with parallel.single_threaded():
        fitted = clone(model).fit(x, is_p)
    rows = is_p.sum()
    return LogOdds(fitted, float(np.log(rows / (len(x) - rows))), 0.5 / len(x))
