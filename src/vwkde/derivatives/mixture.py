import warnings
import numpy as np
from sklearn.mixture import GaussianMixture


class _M:
    def __init__(self, g):
        self.g = g
        self.weights = g.weights_

    def log_density(self, x):
        return self.g.score_samples(x)


def fit_mixture(x, weight, name="sample", random_state=0):
    best = None
    bad = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for k in range(1, 7):
            if k * (x.shape[1] + 1) * 3 > len(x) and k > 1:
                break
            g = GaussianMixture(k, reg_covar=1e-3, max_iter=60, random_state=random_state).fit(x)
            b = g.bic(x)
            if best is None or b < best[0]:
                best = (b, g)
                bad = 0
            else:
                bad += 1
                if bad >= 2:
                    break
    return _M(best[1])
