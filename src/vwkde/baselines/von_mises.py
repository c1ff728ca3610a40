"""KL divergence by plain kernel estimates, with the first term of the von Mises expansion added.

Kandasamy, Krishnamurthy, Póczos, Wasserman and Robins, "Nonparametric von Mises estimators for entropies, divergences
and mutual informations", NIPS 2015 (arXiv 2014). The influence functions of ∫ p·log(p/q) are log(p/q) − KL for the
numerator and 1 − p/q for the denominator. Their means at the points left out correct the plug-in estimate:

    K̂L = mean over p of log(p̂/q̂)  +  1  −  mean over q of p̂/q̂.

The theory requires densities bounded away from zero. If they are not, one outlying row of q, left out of its own
density, could determine the last mean; so ratios above √n count as √n (Ionides, "Truncated importance sampling", 2008).
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from vwkde.baselines.answer import Answer
from vwkde.baselines.kernel_density import answer_by, own_bandwidths, plain_estimate, whiten

Floats = NDArray[np.float64]


def von_mises(p: Floats, q: Floats, seed: int) -> Answer:
    """Estimate by the leave-one-out form, each density with its own bandwidth.

    Parameters
    ----------
    p, q
        The numerator's and the denominator's rows.
    seed
        Seed of the bandwidth selection.

    Returns
    -------
    Answer
        The divergence, its log ratio, and the bandwidths in units of the whitened data.
    """
    p, q, whitening = whiten(p, q)
    widths = own_bandwidths(p, q, seed)
    densities = plain_estimate(p, widths[0]), plain_estimate(q, widths[1])
    plain = answer_by(densities, p, q, whitening, numerator_bandwidth=widths[0], denominator_bandwidth=widths[1])
    ratio = np.exp(np.minimum(np.asarray(plain.at_denominator), 0.5 * np.log(len(q))))
    return replace(plain, kl=plain.kl + 1 - float(ratio.mean()))
