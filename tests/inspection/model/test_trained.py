"""The features named `trained`: networks that learn from made-up defects, joined with texture and marks."""

import sys

import numpy as np
import pytest

pytest.importorskip("safetensors")
pytest.importorskip("torch")

from support.serving import as_seen, surface
from vwkde.exceptions import UnlikeImagesWarning
from vwkde.inspection import ModelFileError, SurfaceInspector
from vwkde.inspection.model.card import card_lines, model_card
from vwkde.inspection.model.files.container import read_container, write_container
from vwkde.inspection.model.trained import training

SIDE = 72
GOOD = [as_seen(surface(seed))[:SIDE, :SIDE] for seed in range(22)]


def bad(seed):
    image = as_seen(surface(seed))[:SIDE, :SIDE].copy()
    image[40:52, 20:34] = 1
    return image


@pytest.fixture(scope="module", autouse=True)
def short():
    """Make the training one of some seconds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training, "PIXELS", 40 * 8 * SIDE * SIDE)
        yield


@pytest.fixture(scope="module")
def inspector():
    return SurfaceInspector(features="trained", n_threads=1).fit(GOOD)


def test_a_defect_is_found_and_located(inspector):
    result = inspector.check(bad(100))
    assert result.verdict == "NG"
    row, column = np.unravel_index(result.log_ratio.argmax(), result.log_ratio.shape)
    assert 36 <= row < 56
    assert 16 <= column < 38
    rejected = [inspector.check(as_seen(surface(200 + seed))[:SIDE, :SIDE]).rejected for seed in range(20)]
    assert sum(rejected) <= 4  # one is expected; five or more have a probability of 0.3 %


def test_networks_change_the_map_and_the_score(inspector):
    plain = SurfaceInspector(features="combined", n_threads=1).fit(GOOD).check(bad(100))
    found = inspector.check(bad(100))
    assert np.abs(found.log_ratio - plain.log_ratio).max() > 0.1
    assert found.score != plain.score


def test_a_model_is_its_own_after_saving_adding_and_taking_back(inspector, tmp_path):
    path = tmp_path / "part.vwkde"
    inspector.save(path)
    loaded = SurfaceInspector.load(path)
    loaded.warm_up()
    one, other = inspector.check(bad(100)), loaded.check(bad(100))
    assert (one.score, one.threshold, one.nearest) == (other.score, other.threshold, other.nearest)
    np.testing.assert_array_equal(one.log_ratio, other.log_ratio)
    before = loaded.calibration_.scores
    with pytest.warns(UnlikeImagesWarning, match="good 22 "):  # they are not good at all
        loaded.add([bad(300), bad(301)])
    assert len(loaded.calibration_.scores) == 24
    assert loaded.calibration_.scores[-1] > 2 * before.max()
    np.testing.assert_allclose(loaded.undo().calibration_.scores, before, rtol=1e-6)


def test_the_file_has_arrays_alone_and_the_card_says_what_was_trained(inspector, tmp_path):
    path = tmp_path / "part.vwkde"
    inspector.save(path)
    arrays, settings, _ = read_container(path)
    count = training._FOLDS
    assert arrays["network_odds_bias"].shape == (count, 1)
    assert settings["features"] == "trained"
    card = model_card(SurfaceInspector.load(path))
    assert card["networks"] == count
    assert f"networks   {count}, trained on the good images with made-up defects" in card_lines(card)
    plain = model_card(SurfaceInspector(features="texture").fit(GOOD))
    assert plain["networks"] == 0
    assert not any(line.startswith("networks") for line in card_lines(plain))


@pytest.mark.parametrize(
    ("name", "spoil", "words"),
    [
        ("network_entry_weight", lambda values: values * np.nan, "network_entry_weight must be finite"),
        ("rarities", lambda values: values[:-1], "rarities must be finite numbers of shape"),
    ],
)
def test_a_model_file_whose_networks_do_not_fit_is_refused(inspector, tmp_path, name, spoil, words):
    path = tmp_path / "part.vwkde"
    inspector.save(path)
    arrays, settings, _ = read_container(path)
    write_container(path, arrays | {name: spoil(arrays[name])}, settings)
    with pytest.raises(ModelFileError, match=words):
        SurfaceInspector.load(path)
    write_container(path, {key: array for key, array in arrays.items() if key != "network_odds_bias"}, settings)
    with pytest.raises(ModelFileError, match="part 'network_odds_bias' is missing"):
        SurfaceInspector.load(path)


def test_the_device_judges_as_the_cpu_does(inspector, tmp_path):
    path = tmp_path / "part.vwkde"
    inspector.save(path)
    images = [("good", as_seen(surface(200))[:SIDE, :SIDE]), ("bad", bad(100))]
    on_device = SurfaceInspector.load(path, device="cpu:0")
    for one, other in zip(on_device.check_all(images), inspector.check_all(images), strict=True):
        assert one.score == pytest.approx(other.score, rel=1e-4, abs=1e-4)
        assert one.verdict == other.verdict
        np.testing.assert_allclose(one.log_ratio, other.log_ratio, atol=5e-3)


def test_networks_are_trained_on_the_device(monkeypatch):
    devices = []
    make = training.Training.__init__
    monkeypatch.setattr(training, "PIXELS", 1)
    monkeypatch.setattr(
        training.Training, "__init__", lambda self, *given: devices.append(given[-1]) or make(self, *given)
    )
    SurfaceInspector(features="trained", device="cpu:0", false_reject_rate=0.2).fit(GOOD[:6])
    assert devices == ["cpu:0"] * training._FOLDS


def test_nothing_in_the_ignored_part_changes_a_score_or_the_map():
    ignore = np.zeros((SIDE, SIDE), dtype=bool)
    ignore[:, 60:] = True
    inspector = SurfaceInspector(features="trained", ignore=ignore, false_reject_rate=0.2).fit(GOOD[:6])
    plain, changed = bad(100), bad(100)
    changed[10:60, 62:70] = 0
    results = [inspector.check(each) for each in (plain, changed)]
    assert results[0].score == results[1].score
    np.testing.assert_array_equal(results[0].log_ratio, results[1].log_ratio)


def test_each_plane_of_a_coloured_image_has_its_networks(monkeypatch, tmp_path):
    monkeypatch.setattr(training, "PIXELS", 1)
    random = np.random.default_rng(0)
    coloured = [np.clip(image[..., None] + 0.1 * random.random((SIDE, SIDE, 3)), 0, 1) for image in GOOD[:6]]
    inspector = SurfaceInspector(features="trained", colour=True, false_reject_rate=0.2).fit(coloured)
    assert inspector.n_networks_ == 3 * training._FOLDS
    inspector.save(tmp_path / "part.vwkde")
    loaded = SurfaceInspector.load(tmp_path / "part.vwkde")
    assert loaded.check(coloured[0]).score == pytest.approx(inspector.check(coloured[0]).score)


def test_without_torch_the_command_that_installs_it_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r"features named 'trained' need torch.*pip install 'vwkde\[torch\]'"):
        SurfaceInspector(features="trained").fit(GOOD)
