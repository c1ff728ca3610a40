import numpy as np
import pytest

from vwkde._answers.functionals import KINDS
from vwkde._answers.kinds import check_divergence, check_interval, unit_of


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ("js", "jensen-shannon"),
        ("Jensen Shannon", "jensen-shannon"),
        ("tv", "total-variation"),
        ("total_variation", "total-variation"),
        ("chi-squared", "chi2"),
        ("reverse_kl", "reverse-kl"),
        *((kind, kind) for kind in KINDS if kind != "renyi"),
    ],
)
def test_a_kind_has_other_names(given, kind):
    assert check_divergence(given, None) == (kind, {})


def test_a_kind_that_was_probably_meant_is_named():
    with pytest.raises(ValueError, match="Got 'jensenshanon' instead; did you mean 'jensen-shannon'"):
        check_divergence("jensenshanon", None)


@pytest.mark.parametrize(
    ("kind", "order", "message"),
    [
        ("magic", None, "'kind' parameter of divergence must be one of"),
        ("kl", 0.5, "'order' parameter belongs to kind='renyi'"),
        ("renyi", None, "positive number other than 1, .* Got None"),
        ("renyi", 1.0, "positive number other than 1, .* Got 1.0"),
        *(("renyi", order, rf"at most 1000\. Got {order!r}") for order in (1e3 + 1, np.inf, np.nan, "a", True, -1)),
        ("renyi", 1e300, r"at most 1000\. Got 1e\+300"),
        ("renyi", 2j, "at most 1000. Got 2j"),
        (["kl"], None, "'kind' parameter of divergence must be one of"),
    ],
)
def test_bad_kinds_are_refused(kind, order, message):
    with pytest.raises(ValueError, match=message):
        check_divergence(kind, order)


@pytest.mark.parametrize(
    ("interval", "level", "message"),
    [
        ("magic", 0.9, "must be 'influence', 'quick' or 'subsample'"),
        (["influence"], 0.9, "must be 'influence', 'quick' or 'subsample'"),
        *(
            ("influence", level, f"'confidence_level' parameter .* lies between 0 and 1. Got {level!r} instead")
            for level in (95, 1.5, 0, np.nan, "a", None, True)
        ),
    ],
)
def test_bad_intervals_are_refused(interval, level, message):
    with pytest.raises(ValueError, match=message):
        check_interval(interval, level)


def test_only_logarithms_are_in_nats():
    assert {kind for kind in KINDS if unit_of(kind) == ""} == {"hellinger", "chi2", "total-variation"}
    assert unit_of("renyi") == "nats"
