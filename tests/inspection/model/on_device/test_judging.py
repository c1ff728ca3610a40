"""What a torch device computes is what the CPU computes. The device here is the CPU, by its torch name cpu:0."""

from functools import cache

import numpy as np
import pytest

pytest.importorskip("torch")

from vwkde.inspection import ImageError, SurfaceInspector, make_surfaces
from vwkde.inspection.model.features.registry import FEATURES
from vwkde.inspection.model.measuring import rows_of
from vwkde.inspection.model.on_device.judging import judge_on_device
from vwkde.inspection.model.on_device.measuring import batch_size, on_device

TORCH = "cpu:0"
GOOD, RATE = 8, 0.2
COMBINED = FEATURES["combined"]


def surfaces(shape):
    """Return good and defective images of a shape, with eight bits; one has a flat area, where rounding shows."""
    made = make_surfaces("woven", n_good=GOOD + 2, n_bad=3, size=max(64, *shape)).images
    images = [np.round(255 * image[: shape[0], : shape[1]]).astype(np.float32) / 255 for image in made]
    images[-1][: shape[0] // 3] = 0.5
    return images


@pytest.mark.parametrize("shape", [(128, 128), (97, 150), (40, 33), (560, 700)])
def test_features_and_marks_are_those_of_the_cpu(shape):
    images = surfaces(shape)[-2:]
    features, marks = on_device(COMBINED, TORCH).measure(images)
    for image, of_patches, of_marks in zip(images, features, marks, strict=True):
        np.testing.assert_allclose(of_patches, rows_of(COMBINED(image)), atol=1e-3)
        expected = COMBINED.marking(image).astype(np.float32)
        np.testing.assert_allclose(of_marks.astype(np.float32), expected, rtol=2e-3, atol=1e-4)


@pytest.mark.parametrize("shape", [(128, 128), (97, 150), (32, 70)])
def test_texture_is_that_of_the_cpu(shape):
    texture = FEATURES["texture"]
    images = surfaces(shape)[-3:-1]  # where a patch is flat, its skewness is but rounding on the CPU
    features, marks = on_device(texture, TORCH).measure(images)
    assert marks == []
    for image, found in zip(images, features, strict=True):
        np.testing.assert_allclose(found, rows_of(texture(image)), atol=1e-3)


@pytest.mark.parametrize("features", ["combined", "texture"])
@pytest.mark.parametrize("ignored", [False, True], ids=["whole", "part"])
@pytest.mark.parametrize("shape", [(128, 128), (97, 150)])
def test_scores_and_maps_are_those_of_the_cpu(shape, ignored, features):
    images = surfaces(shape)[: None if features == "combined" else -1]
    mask = np.zeros(shape, dtype=bool)
    mask[:9], mask[30:40, 50:70] = True, True
    inspector = SurfaceInspector(
        features=features, ignore=mask if ignored else None, candidates=4, false_reject_rate=RATE
    )
    inspector.fit(images[:GOOD])
    named = [(str(number), image) for number, image in enumerate(images[GOOD:])]
    expected = list(inspector.check_all(named))
    inspector.device = TORCH
    for one, other in zip(inspector.check_all(named), expected, strict=True):
        assert one.score == pytest.approx(other.score, rel=1e-4, abs=1e-4)
        assert (one.name, one.nearest, one.verdict) == (other.name, other.nearest, other.verdict)
        np.testing.assert_allclose(one.log_ratio, other.log_ratio, atol=5e-3)
        assert one.log_ratio.dtype == other.log_ratio.dtype
    assert inspector.check(images[-1]).score == pytest.approx(expected[-1].score, rel=1e-4)
    assert expected[-1].verdict == "NG"


def test_a_map_without_patches_is_that_of_the_cpu(monkeypatch):
    monkeypatch.setattr("vwkde.inspection.model.learnt.joint.patches_outline", lambda *_: False)
    images = surfaces((96, 96))
    inspector = SurfaceInspector(features="combined", false_reject_rate=RATE).fit(images[:GOOD])
    expected = inspector.check(images[-2])
    inspector.device = TORCH
    np.testing.assert_allclose(inspector.check(images[-2]).log_ratio, expected.log_ratio, atol=5e-3)


def test_a_model_learnt_on_the_device_is_that_of_the_cpu():
    images = surfaces((96, 96))
    one, other = (
        SurfaceInspector(features="combined", device=device, false_reject_rate=RATE)
        .fit(images[: GOOD - 1])
        .add(images[GOOD - 1 : GOOD])
        for device in (TORCH, None)
    )
    np.testing.assert_allclose(one.calibration_.scores, other.calibration_.scores, rtol=1e-3, atol=1e-3)
    assert one.names_ == other.names_


@cache
def fitted():
    inspector = SurfaceInspector(features="combined", device=TORCH, false_reject_rate=RATE)
    return inspector.fit(surfaces((96, 96))[:GOOD])


def test_images_are_judged_in_batches_of_bounded_size(monkeypatch):
    inspector = fitted()
    judge = judge_on_device(inspector._fitted, TORCH)
    sizes = []
    judged = type(judge).__call__
    monkeypatch.setattr(type(judge), "__call__", lambda self, images: sizes.append(len(images)) or judged(self, images))
    monkeypatch.setattr("vwkde.inspection.model.on_device.measuring._PIXELS", 5 * 96 * 96)
    results = list(inspector.check_all((str(number), image) for number, image in enumerate(surfaces((96, 96))[:12])))
    assert [result.name for result in results] == [str(number) for number in range(12)]
    assert sizes == [5, 5, 2]
    assert batch_size((4096, 4096)) == 1


def test_an_image_of_another_size_is_refused_on_the_device_too():
    with pytest.raises(ImageError, match="odd: is 64 × 96 pixels"):
        list(fitted().check_all([("odd", surfaces((96, 96))[0][:, :64])]))


@pytest.mark.parametrize("features", ["gradient", "multiscale"])
def test_other_features_are_measured_on_the_cpu(features):
    assert on_device(FEATURES[features], "cuda") is None
    assert on_device(COMBINED, "cpu") is None
    assert on_device(COMBINED, None) is None
