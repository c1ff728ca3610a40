"""Synthetic surfaces, and the demonstration made of them."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

pytest.importorskip("safetensors")
pytest.importorskip("PIL")

from PIL import Image

from vwkde.cli import inspect_demo
from vwkde.cli.main import app
from vwkde.inspection.data import synthetic
from vwkde.inspection.data.synthetic import DEFECTS, SURFACES, make_surfaces
from vwkde.inspection.runs import evaluator


@pytest.mark.parametrize("kind", SURFACES)
def test_an_image_depends_on_its_seed_and_number_alone(kind):
    few, many = make_surfaces(kind, 2, 1, 96, seed=4), make_surfaces(kind, 3, 2, 96, seed=4)
    np.testing.assert_array_equal(few.images[:2], many.images[:2])
    np.testing.assert_array_equal(few.images[2], many.images[3])
    np.testing.assert_array_equal(few.masks[2], many.masks[3])
    other = make_surfaces(kind, 2, 0, 96, seed=5)
    assert np.abs(few.images[0] - few.images[1]).mean() > 0.01
    assert np.abs(few.images[0] - other.images[0]).mean() > 0.01


@pytest.mark.parametrize("kind", SURFACES)
def test_a_defect_changes_the_pixels_of_its_mask_and_no_others(kind, monkeypatch):
    found = make_surfaces(kind, 1, 6, 128)
    for name in DEFECTS:
        monkeypatch.setitem(synthetic.DEFECTS, name, lambda image, _: (image, np.zeros(image.shape, bool)))
    clean = make_surfaces(kind, 1, 6, 128)
    changed = found.images != clean.images
    assert not changed[0].any()
    assert not changed[~found.masks].any()
    for difference, mask in zip(changed[1:], found.masks[1:], strict=True):
        assert 0.0005 < mask.mean() < 0.2
        assert difference[mask].mean() > 0.7
    assert found.defects == (None, *SURFACES[kind][1], *SURFACES[kind][1])
    assert not found.masks[0].any()


@pytest.mark.parametrize("kind", SURFACES)
def test_images_are_as_a_camera_gives_them(kind):
    images = make_surfaces(kind, 3, 3, 128).images
    assert images.dtype == np.float32
    assert images.min() >= 0
    assert images.max() <= 1
    np.testing.assert_allclose(255 * images, np.rint(255 * images), atol=1e-4)
    assert all(0.03 < image.std() < 0.2 for image in images)
    assert (images == 1).mean() < 0.01


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("marble", 1, 1), "must be one of .*'woven'.* Got 'marble'"),
        (("woven", -1, 1), "must not be negative. Got -1 and 1"),
        (("woven", 1, 1, 32), "at least 64 pixels. Got 32"),
    ],
)
def test_what_cannot_be_made_is_told(arguments, message):
    with pytest.raises(ValueError, match=message):
        make_surfaces(*arguments)


@pytest.fixture
def small(monkeypatch):
    for name, value in (("_FIT", 20), ("_TEST", 4), ("_DEFECTIVE", 3), ("_SIZE", 96)):
        monkeypatch.setattr(inspect_demo, name, value)
    monkeypatch.setattr(evaluator, "_REPETITIONS", 20)


@pytest.mark.usefixtures("small")
def test_the_demonstration_leaves_data_models_and_reports(tmp_path):
    done = CliRunner().invoke(app, ["inspect", "demo", "-o", str(tmp_path / "demo")])
    assert done.exit_code == 0, done.output
    assert str(tmp_path / "demo" / "run" / "report.html") in done.output
    record = json.loads((tmp_path / "demo" / "run" / "results.json").read_text())
    assert set(record["data_sets"]) == set(SURFACES)
    assert record["mean"]["image_auroc"] > 0.6
    for kind, (_, defects) in SURFACES.items():
        data, run = tmp_path / "demo" / "surfaces" / kind, tmp_path / "demo" / "run" / kind
        assert len(list((data / "train" / "good").iterdir())) == 20
        assert len(list((data / "test" / "good").iterdir())) == 4
        for defect in defects:
            (mask,) = (data / "ground_truth" / defect).iterdir()
            (image,) = (data / "test" / defect).iterdir()
            assert mask.stem == f"{image.stem}_mask"
            assert 0 < np.asarray(Image.open(mask)).mean() < 50
        assert {path.name for path in run.iterdir()} >= {"model.vwkde", "report.html", "results.json", "scores.csv"}
        assert record["data_sets"][kind]["metrics"]["found"]["of"] == 3
