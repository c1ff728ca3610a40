import copy
import warnings

import numpy as np
import pytest

pytest.importorskip("safetensors")

from scipy import ndimage
from sklearn.exceptions import NotFittedError
from threadpoolctl import threadpool_info, threadpool_limits

from vwkde.inspection import SurfaceInspector
from vwkde.inspection.data.errors import ImageError
from vwkde.inspection.model.features.registry import GradientMoments
from vwkde.inspection.model.files.container import ModelFileError, read_container, write_container
from vwkde.inspection.model.learnt.library import Library

SHAPE = (160, 160)


def surface(seed, defect=False):
    """A rough surface; a defect is a smooth spot a quarter of the way in from the lower right corner."""
    random = np.random.default_rng(seed)
    image = ndimage.gaussian_filter(random.normal(size=SHAPE), 1.5)
    if defect:
        image[100:140, 100:140] = ndimage.gaussian_filter(image, 6)[100:140, 100:140]
    return np.clip(0.5 + 0.5 * image, 0, 1).astype(np.float32)


@pytest.fixture(scope="module")
def inspector():
    return SurfaceInspector(features="gradient", false_reject_rate=0.1).fit([surface(seed) for seed in range(24)])


def test_good_images_pass_and_defects_are_found_where_they_are(inspector):
    good = [inspector.check(surface(1_000 + seed)) for seed in range(10)]
    bad = [inspector.check(surface(2_000 + seed, defect=True), f"bad {seed}") for seed in range(5)]
    assert sum(each.rejected for each in good) <= 3
    assert all(each.rejected and each.p_value <= 0.1 and each.verdict == "NG" for each in bad)
    assert min(each.score for each in bad) > max(each.score for each in good)
    for each in bad:
        row, column = np.unravel_index(np.argmax(each.log_ratio), SHAPE)
        assert 84 <= row < 156
        assert 84 <= column < 156
        box = each.shown_boxes[0]
        assert box.top < 140
        assert box.bottom > 100
        assert box.left < 140
        assert box.right > 100
    assert all(each.shown_boxes == [] for each in good if not each.rejected)


def test_the_stated_rate_of_good_images_is_rejected(inspector):
    rejected = np.mean([inspector.check(surface(5_000 + seed)).rejected for seed in range(60)])
    assert rejected <= 0.1 + 3 * np.sqrt(0.1 * 0.9 / 60) + 3 * np.sqrt(0.1 * 0.9 / 24)
    assert np.mean(inspector.calibration_.scores > inspector.calibration_.threshold) <= 0.1


def test_saved_and_loaded_scores_are_equal_to_the_last_bit(inspector, tmp_path):
    inspector.save(tmp_path / "part.vwkde")
    loaded = SurfaceInspector.load(str(tmp_path / "part.vwkde"))
    for image in (surface(77), surface(78, defect=True)):
        one, other = inspector.check(image), loaded.check(image)
        assert (one.score, one.p_value, one.threshold, one.nearest) == (
            other.score,
            other.p_value,
            other.threshold,
            other.nearest,
        )
        np.testing.assert_array_equal(one.log_ratio, other.log_ratio)
        assert one.map_threshold == other.map_threshold
    loaded.save(str(tmp_path / "again.vwkde"))
    (arrays, settings, digest), (first_arrays, first_settings, first_digest) = (
        read_container(tmp_path / name) for name in ("again.vwkde", "part.vwkde")
    )
    assert settings == first_settings
    assert digest == first_digest
    for name, array in first_arrays.items():
        np.testing.assert_array_equal(arrays[name], array)


def test_adding_is_fitting_all_with_the_same_coordinates(inspector, tmp_path):
    inspector.save(tmp_path / "part.vwkde")
    grown = SurfaceInspector.load(tmp_path / "part.vwkde")
    more = [surface(seed) for seed in range(24, 30)]
    grown.add([(f"new {seed}", image) for seed, image in enumerate(more)])
    assert grown.names_[-1] == "new 5"
    old, coordinates = inspector._learnt.library, inspector._learnt.coordinates
    patches = np.concatenate(
        [
            old.patches,
            [coordinates(grown._learnt.features(image)).reshape(-1, 4) for image in more],
        ]
    )
    whole = Library(patches, old.bandwidth, old.length_scale, old.candidates)
    expected = [each.score for each in whole.left_out(whole.mutual_sums())]
    np.testing.assert_array_equal(grown.calibration_.scores, expected)


def test_any_function_measures_but_only_names_are_saved(tmp_path):
    def means(image):
        return ndimage.uniform_filter(image, 32)[16:144:16, 16:144:16, None]

    found = SurfaceInspector(features=means, false_reject_rate=0.2).fit([surface(seed) for seed in range(6)])
    assert np.isfinite(found.check(surface(9)).score)
    with pytest.raises(ValueError, match="Only inspectors with named features can be saved"):
        found.save(tmp_path / "part.vwkde")


def test_patches_are_measured_with_blas_on_one_thread():
    """Small products on several threads make each other wait when several images are checked at once."""
    seen = set()

    def measure(image):
        seen.update(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas")
        return GradientMoments()(image)

    with threadpool_limits(2, user_api="blas"):
        inspector = SurfaceInspector(features=measure, false_reject_rate=0.3).fit([surface(seed) for seed in range(4)])
        inspector.check(surface(10))
    assert seen == {1}


def test_what_cannot_be_judged_is_told(inspector, tmp_path):
    with pytest.raises(ValueError, match=r"bad.png: is 100 × 80 pixels, but must have 160 × 160 like the others"):
        inspector.check(np.zeros((80, 100), dtype=np.float32), "bad.png")
    with pytest.raises(ValueError, match="At least 3 good images are needed"):
        SurfaceInspector().fit([surface(0), surface(1)])
    with pytest.raises(NotFittedError, match="not fitted yet"):
        SurfaceInspector().check(surface(0))
    write_container(tmp_path / "part.vwkde", {"mean": np.zeros(3)}, {"features": "gradient"})
    with pytest.raises(ModelFileError, match="is missing"):
        SurfaceInspector.load(tmp_path / "part.vwkde")


def test_an_image_of_one_grey_is_judged_without_a_warning(inspector):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        assert inspector.check(np.full(SHAPE, 0.5, dtype=np.float32)).rejected


def test_images_of_one_name_stay_apart(inspector):
    twice = copy.copy(inspector).add([("part", surface(40)), ("part", surface(41))]).add([("part", surface(42))])
    assert twice.names_[-3:] == ["part", "part (2)", "part (3)"]
    expected = surface(42)[:160, :160].reshape(80, 2, 80, 2).mean(axis=(1, 3))
    np.testing.assert_allclose(twice.thumbnail("part (3)"), 255 * expected, atol=0.51)
    assert len(inspector.names_) == len(inspector.thumbnails_) == 24  # a copy grows alone


@pytest.mark.parametrize("features", ["gradient", "texture"])
def test_a_blank_image_is_rejected_without_a_fuss(features):
    fitted = SurfaceInspector(features=features, false_reject_rate=0.1).fit([surface(seed) for seed in range(12)])
    found = fitted.check(np.full((160, 160), 0.5, dtype=np.float32))
    assert found.rejected
    assert found.score > 5 * fitted.calibration_.threshold
    assert found.shown_boxes


def test_a_gpu_judges_as_the_cpu_does(inspector, tmp_path):
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("no CUDA GPU")
    there = SurfaceInspector(features="gradient", false_reject_rate=0.1, device="cuda").fit(
        [surface(seed) for seed in range(24)]
    )
    np.testing.assert_allclose(there.calibration_.scores, inspector.calibration_.scores, atol=1e-4)
    there.save(tmp_path / "part.vwkde")
    loaded = SurfaceInspector.load(tmp_path / "part.vwkde", device="cuda")
    image = surface(2_000, defect=True)
    assert loaded.check(image).verdict == "NG"
    np.testing.assert_allclose(loaded.check(image).score, inspector.check(image).score, rtol=1e-4)


def test_a_device_that_is_not_there_is_told():
    pytest.importorskip("torch")
    with pytest.raises(ValueError, match="The device 'cuda:99' cannot be used"):
        SurfaceInspector(device="cuda:99").fit([surface(seed) for seed in range(3)])


def test_whole_numbers_are_judged_as_parts_of_the_largest(inspector):
    eight = np.rint(255 * surface(77)).astype(np.uint8)
    found = inspector.check(eight)
    assert found.score == inspector.check(eight / np.float32(255)).score
    assert found.score == pytest.approx(inspector.check(257 * eight.astype(np.uint16)).score, rel=1e-6)
    fitted = SurfaceInspector(features="gradient", false_reject_rate=0.2).fit(
        [np.rint(255 * surface(s)).astype(np.uint8) for s in range(6)]
    )
    assert fitted.check(eight / 255).score == pytest.approx(fitted.check(eight).score, rel=1e-6)


def spoilt(value):
    image = surface(0)
    image[3, 4] = value
    return image


@pytest.mark.parametrize(
    ("image", "told"),
    [
        (
            255 * surface(0),
            r"part.png: pixels must have values from 0 to 1. Got .* divide by the value of white",
        ),
        (spoilt(np.nan), "part.png: pixels must be finite. Got NaN or infinity instead"),
        (spoilt(-0.1), "part.png: pixels must have values from 0 to 1. Got values from -0.1 to"),
        ([[0, 1], [2, 3]], "part.png: pixels must be floats from 0 to 1, or .* uint8 or uint16. Got int64"),
        ([[0.0], [0.5, 1.0]], "part.png: this is not an array of pixels"),
        ("part.png", "part.png: pixels must be floats"),
        (np.zeros((160, 160, 3), np.uint8), r"part.png: an image must be gray.*Got shape \(160, 160, 3\)"),
        (np.zeros((0, 160)), r"part.png: an image must be gray.*Got shape \(0, 160\)"),
    ],
)
def test_an_array_that_is_no_image_is_told(inspector, image, told):
    with pytest.raises(ImageError, match=told):
        inspector.check(image, "part.png")
    with pytest.raises(ImageError, match=told):
        SurfaceInspector().fit([("part.png", image)])


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        ({"false_reject_rate": 0.0}, "'false_reject_rate' parameter must be between 0 and 1"),
        ({"candidates": 0}, "'candidates' parameter must be a positive integer, for example 10. Got 0"),
        ({"candidates": 2.5}, "'candidates' parameter"),
        ({"n_threads": 0}, "'n_threads' parameter must be a positive integer"),
        ({"features": "pretty"}, "'features' parameter must be one of"),
        ({"engine": "dusk"}, "'engine' parameter must be 'auto' or 'dask'. Got 'dusk' instead"),
    ],
)
def test_parameters_are_checked_before_any_image_is_looked_at(parameters, told):
    def images():
        raise AssertionError("an image was asked for")
        yield

    with pytest.raises(ValueError, match=told):
        SurfaceInspector(**parameters).fit(images())


def test_a_second_fit_that_fails_leaves_the_first(inspector, monkeypatch):
    twice = copy.copy(inspector)
    before = dict(vars(twice))
    monkeypatch.setattr(Library, "left_out", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        twice.fit([surface(seed)[:120, :120] for seed in range(4)])
    with pytest.raises(ZeroDivisionError):
        twice.add([surface(30)])
    assert vars(twice) == before


def test_a_model_file_without_fingerprints_still_loads(inspector, tmp_path):
    inspector.save(tmp_path / "part.vwkde")
    arrays, settings, _ = read_container(tmp_path / "part.vwkde")
    assert len(set(settings.pop("fingerprints"))) == 24
    write_container(tmp_path / "old.vwkde", arrays, settings)
    old = SurfaceInspector.load(tmp_path / "old.vwkde")
    assert old.fingerprints_ == [None] * 24
    assert old.check(surface(77)).score == inspector.check(surface(77)).score
    assert old.add([surface(30)]).fingerprints_[-1] is not None
