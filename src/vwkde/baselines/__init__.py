"""The estimators that vwkde is compared with, each from its own publication, behind one interface.

A baseline is a function of two samples, a seed and its settings that returns an `Answer`.
"""

from collections.abc import Callable

from vwkde.baselines.answer import Answer
from vwkde.baselines.debiased import laplace_kde, sd_kde
from vwkde.baselines.direct import kliep, rulsif, ulsif
from vwkde.baselines.ensemble import ensemble
from vwkde.baselines.log_odds import classifier
from vwkde.baselines.metric_learning import nng
from vwkde.baselines.mine import mine
from vwkde.baselines.nearest import nn, nnwang
from vwkde.baselines.risk import nngarcia
from vwkde.baselines.von_mises import von_mises

BASELINES: dict[str, Callable[..., Answer]] = {
    "nn": nn,
    "nnwang": nnwang,
    "nng": nng,
    "nngarcia": nngarcia,
    "kliep": kliep,
    "ulsif": ulsif,
    "rulsif": rulsif,
    "mine": mine,
    "ensemble": ensemble,
    "vonmises": von_mises,
    "sd-kde": sd_kde,
    "laplace-kde": laplace_kde,
    "classifier": classifier,
}
"""The baselines by the names that `method=` accepts."""
