"""Every baseline through the public interface."""

import json
import warnings

import numpy as np
import pytest

import vwkde
from vwkde import datasets
from vwkde.baselines import BASELINES
from vwkde.catalogue import is_baseline, methods

NETWORKS = ("mine",)
WITHOUT_RATIO = ("nngarcia",)
PAIR = datasets.isotropic(2)


def test_the_catalogue_lists_exactly_the_baselines_there_are():
    assert [name for name in methods() if is_baseline(name)] == list(BASELINES)


def test_every_method_is_described_in_one_line_with_a_year():
    contract = (
        "vwkde-mb vwkde-mf kde nn nnwang nng nngarcia kliep ulsif rulsif mine ensemble vonmises sd-kde laplace-kde "
        "classifier"
    )
    assert set(methods()) == set(contract.split())
    for line in methods().values():
        assert "\n" not in line
        assert any(str(year) in line for year in range(1950, 2027))


@pytest.mark.parametrize("name", [name for name in BASELINES if name not in NETWORKS + WITHOUT_RATIO])
def test_a_baseline_gives_a_divergence_with_error_and_a_log_ratio(name):
    rows = (2_000, 1_900) if name == "ulsif" else (600, 500)  # with few rows its choice of a width is erratic
    p, q = PAIR.sample(*rows)
    estimate = vwkde.kl_divergence(p, q, method=name)
    assert estimate.value == pytest.approx(1, abs=0.35)
    assert 0.02 < estimate.standard_error < 0.4
    assert estimate.diagnostics["method"] == name
    assert estimate.diagnostics["rows"] == list(rows)
    at_p, at_q = (vwkde.log_density_ratio(p, q, at=x, method=name) for x in PAIR.sample(300, random_state=1))
    assert np.median(at_p) == pytest.approx(1, abs=0.4)
    assert np.median(at_q) == pytest.approx(-1, abs=0.6)


def test_without_a_log_ratio_the_error_is_that_over_subsamples():
    p, q = PAIR.sample(300)
    estimate = vwkde.kl_divergence(p, q, method="nngarcia")
    scatter = np.std(
        [vwkde.kl_divergence(*PAIR.sample(300, random_state=s), method="nngarcia").value for s in range(8)]
    )
    assert 0.3 * scatter < estimate.standard_error < 3 * scatter
    with pytest.raises(ValueError, match="'nngarcia' estimates a divergence only"):
        vwkde.log_density_ratio(p, q, at=p, method="nngarcia")
    with pytest.raises(ValueError, match="'nngarcia' estimates 'kl' only"):
        vwkde.divergence(p, q, "hellinger", method="nngarcia")


def test_subsamples_can_be_asked_for():
    p, q = PAIR.sample(400)
    by_influence = vwkde.kl_divergence(p, q, method="nn")
    by_subsample = vwkde.kl_divergence(p, q, method="nn", interval="subsample")
    assert by_subsample.value == by_influence.value
    assert by_subsample.standard_error != by_influence.standard_error
    assert 0.3 < by_subsample.standard_error / by_influence.standard_error < 3


def test_other_divergences_come_from_the_log_ratio():
    p, q = PAIR.sample(2_000)
    hellinger = vwkde.divergence(p, q, "hellinger", method="ensemble")
    assert hellinger.value == pytest.approx(np.sqrt(1 - np.exp(-0.25)), abs=0.06)
    assert hellinger.unit == ""


def test_rows_may_come_in_any_order():
    p, q = PAIR.sample(200)
    for name in ("kliep", "classifier"):
        one = vwkde.kl_divergence(p, q, method=name).value
        assert vwkde.kl_divergence(p[::-1], q[::-1], method=name).value == one


def test_settings_reach_the_method():
    p, q = PAIR.sample(300)
    one, ten = (vwkde.kl_divergence(p, q, method="nn", k=k) for k in (1, 10))
    assert one.value == vwkde.kl_divergence(p, q, method="nn").value != ten.value
    assert ten.diagnostics["k"] == 10


def test_the_seed_reaches_the_method():
    p, q = PAIR.sample(300)
    values = [vwkde.kl_divergence(p, q, method="kliep", random_state=seed).value for seed in (0, 0, 1)]
    assert values[0] == values[1] != values[2]


def test_data_frames_are_welcome_and_columns_are_matched():
    pandas = pytest.importorskip("pandas")
    p, q = PAIR.sample(200)
    named = pandas.DataFrame(p, columns=["a", "b"])
    swapped = pandas.DataFrame(q[:, ::-1], columns=["b", "a"])
    expected = vwkde.kl_divergence(p, q, method="nn").value
    assert vwkde.kl_divergence(named, swapped, method="nn").value == pytest.approx(expected)
    at = vwkde.log_density_ratio(named, swapped, at=swapped[:3], method="nn")
    np.testing.assert_allclose(at, vwkde.log_density_ratio(p, q, at=q[:3], method="nn"))


def test_what_a_baseline_cannot_do_is_told():
    p, q = PAIR.sample(50)
    with pytest.raises(
        TypeError, match=r"kl_divergence has no parameter 'bandwidth' with method='nn'. It has: .*'k', 'random_state'"
    ):
        vwkde.kl_divergence(p, q, method="nn", bandwidth=0.5)
    with pytest.raises(ValueError, match="does not support row weights"):
        vwkde.kl_divergence(p, q, method="nn", numerator_weight=np.ones(50))
    with pytest.raises(ValueError, match="'method' parameter must be one of"):
        vwkde.kl_divergence(p, q, method="nearest")
    with pytest.raises(ValueError, match="as many columns as the samples"):
        vwkde.log_density_ratio(p, q, at=np.zeros((3, 5)), method="nn")
    with pytest.raises(ValueError, match=r"Only \['vwkde-mb', 'vwkde-mf', 'kde'\] can be used here"):
        vwkde.mutual_information(p[:, :1], p[:, 1:], method="nn")


def test_no_warning_is_given_on_good_data():
    p, q = PAIR.sample(300)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in ("nn", "kliep", "ensemble", "classifier"):
            vwkde.kl_divergence(p, q, method=name)


@pytest.mark.parametrize(
    ("method", "setting"),
    [
        ("sd-kde", {"bandwidth": "scott"}),
        ("laplace-kde", {"bandwidth": -1.0}),
        ("kliep", {"centres": 10.0}),
        ("ulsif", {"width": "wide"}),
        ("ensemble", {"members": 10.0}),
        ("mine", {"steps": 2.5}),
    ],
)
def test_settings_that_cannot_be_are_refused(method, setting):
    (name,) = setting
    with pytest.raises(ValueError, match=f"The '{name}' parameter must be"):
        vwkde.kl_divergence(*PAIR.sample(50), method=method, **setting)


def test_settings_of_numpy_can_be_written_as_json():
    estimate = vwkde.kl_divergence(*PAIR.sample(50), method="nn", k=np.int64(2))
    assert json.loads(json.dumps(estimate.to_dict()))["details"]["diagnostics"]["k"] == 2
