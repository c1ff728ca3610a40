import dataclasses
import json
import math

import pytest

from vwkde import Estimate

ESTIMATE = Estimate(0.5, 0.1, kind="kl", diagnostics={"bandwidth": 0.123456, "rows": [3, 4]})


def test_is_a_number_with_an_error():
    assert float(ESTIMATE) == 0.5
    assert f"{ESTIMATE:.2f} nats" == "0.50 nats"
    assert f"{ESTIMATE}" == str(ESTIMATE)
    assert round(ESTIMATE, 1) == 0.5
    assert round(ESTIMATE) == 0
    assert ESTIMATE.interval == pytest.approx((0.304, 0.696), abs=1e-5)
    assert ESTIMATE.unit == "nats"


def test_the_interval_holds_both_errors_at_any_level():
    both = dataclasses.replace(ESTIMATE, standard_error=0.03, systematic_error=0.04, confidence_level=0.5)
    assert both.interval == pytest.approx((0.5 - 0.05 * 0.67449, 0.5 + 0.05 * 0.67449))
    assert str(both).startswith("kl = 0.5 nats, 50 % interval")


def test_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        ESTIMATE.value = 1.0


def test_prints_a_report():
    assert str(ESTIMATE).splitlines() == [
        "kl = 0.5 nats, 95 % interval 0.304 to 0.696",
        "  bandwidth: 0.1235",
        "  rows: 3, 4",
    ]


def test_a_negative_value_is_explained():
    assert "too small to distinguish from zero" in str(Estimate(-0.01, 0.1, kind="kl"))
    assert "too small" not in str(ESTIMATE)


@pytest.mark.parametrize(
    ("kind", "largest"), [("jensen-shannon", math.log(2)), ("hellinger", 1), ("total-variation", 1), ("kl", math.inf)]
)
def test_the_interval_stays_in_the_range_of_the_divergence(kind, largest):
    for value in (0.01, 0.69):
        low, high = Estimate(value, 0.3, kind=kind, unseen=0.5).interval
        assert 0 <= low < value < high <= largest
        assert high - low > 0.1
    assert Estimate(0.69, 0.3, kind=kind).interval[1] == pytest.approx(min(largest, 0.69 + 0.3 * 1.959964))


def test_the_interval_of_a_negative_value_contains_it_and_zero():
    assert Estimate(-0.01, 0.1, kind="kl").interval == pytest.approx((-0.01, 0.185996), abs=1e-5)


def test_at_its_bound_the_interval_has_a_width():
    assert Estimate(1.0, 1e-3, kind="hellinger").interval == pytest.approx((0.99804, 1.0), abs=1e-5)
    assert Estimate(0.0, 1e-3, kind="kl").interval == pytest.approx((0.0, 0.00196), abs=1e-5)


def test_becomes_json():
    assert json.loads(json.dumps(ESTIMATE.to_dict())) == {
        "kind": "kl",
        "value": 0.5,
        "unit": "nats",
        "interval": pytest.approx([0.304, 0.696], abs=1e-5),
        "confidence_level": 0.95,
        "standard_error": 0.1,
        "open_above": False,
        "details": {
            "systematic_error": 0.0,
            "unseen": 0.0,
            "degrees_of_freedom": None,
            "diagnostics": {"bandwidth": 0.123456, "rows": [3, 4]},
        },
    }


def test_answers_come_before_details():
    assert list(ESTIMATE.to_dict())[:2] == ["kind", "value"]
    assert list(ESTIMATE.to_dict())[-1] == "details"


def test_becomes_a_line_of_a_table():
    frame = ESTIMATE.to_frame()
    assert frame.to_dict("records") == [
        {
            "kind": "kl",
            "value": 0.5,
            "low": pytest.approx(0.304, abs=1e-5),
            "high": pytest.approx(0.696, abs=1e-5),
            "unit": "nats",
            "standard_error": 0.1,
            "confidence_level": 0.95,
        }
    ]


def test_all_that_has_a_unit_changes_with_it():
    found = {"by_copula": 1.0, "terms": [1.0, 2.0], "bandwidth": 1.0}
    nats = Estimate(
        1.0, 0.1, "mutual-information", systematic_error=0.2, unseen=0.3, degrees_of_freedom=9, diagnostics=found
    )
    bits = nats.in_unit("bits")
    assert [bits.value, bits.standard_error, bits.systematic_error, bits.unseen] == pytest.approx(
        [each / math.log(2) for each in (1.0, 0.1, 0.2, 0.3)]
    )
    assert bits.interval == pytest.approx([end / math.log(2) for end in nats.interval])
    assert bits.diagnostics == {
        "by_copula": 1 / math.log(2),
        "terms": [1 / math.log(2), 2 / math.log(2)],
        "bandwidth": 1,
    }
    assert bits.in_unit("nats").interval == pytest.approx(nats.interval)
    assert str(bits).startswith("mutual-information = 1.443 bits")


def test_the_largest_jensen_shannon_divergence_is_one_bit():
    assert Estimate(0.69, 0.3, kind="jensen-shannon").in_unit("bits").interval[1] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("kind", "unit", "message"),
    [
        ("kl", "bit", r"'unit' parameter must be one of \['nats', 'bits'\]. Got 'bit' instead"),
        ("hellinger", "bits", "'hellinger' is a number without a unit. Got unit='bits' instead; omit"),
    ],
)
def test_units_that_cannot_be_are_refused(kind, unit, message):
    with pytest.raises(ValueError, match=message):
        Estimate(0.5, 0.1, kind=kind, unit="" if kind == "hellinger" else "nats").in_unit(unit)


def test_what_may_be_unseen_raises_the_upper_end_alone():
    """All of the error that is left goes to the lower end, which is that of a one-sided interval."""
    unseen = dataclasses.replace(ESTIMATE, unseen=0.3)
    assert unseen.interval == pytest.approx((0.5 - 0.1 * 1.644854, 0.5 + 0.1 * 1.959964 + 0.3))
    wider = dataclasses.replace(unseen, confidence_level=0.99)
    assert wider.interval[1] == pytest.approx(0.5 + (0.1 + 0.3 / 1.959964) * 2.575829)


@pytest.mark.parametrize("level", [0.01, 0.3, 0.5, 0.99])
def test_an_interval_contains_its_value_at_every_level(level):
    low, high = dataclasses.replace(ESTIMATE, unseen=0.3, confidence_level=level).interval
    assert low < ESTIMATE.value < high


def test_an_estimate_that_may_be_infinite_says_at_least():
    bound = dataclasses.replace(ESTIMATE, open_above=True)
    assert bound.interval == (pytest.approx(0.304, abs=1e-5), float("inf"))
    assert str(bound).splitlines()[0] == "kl = at least 0.5 nats, 95 % interval 0.304 to inf"
    assert json.loads(json.dumps(bound.to_dict(), allow_nan=False))["interval"] == [
        pytest.approx(0.304, abs=1e-5),
        None,
    ]
