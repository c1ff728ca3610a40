"""Images of different sizes, and parts that lie a little elsewhere each time."""

import numpy as np
import pytest
from scipy import ndimage

pytest.importorskip("safetensors")
pytest.importorskip("PIL")

from support.serving import as_seen, surface
from vwkde.inspection import ImageError, ModelFileError, SurfaceInspector
from vwkde.inspection.model.files.container import read_container, write_container
from vwkde.inspection.model.filters.interpolation import scaled
from vwkde.inspection.model.frames import Framing

GOOD = 22
SHAPES = [(96, 128), (100, 120), (90, 140), (192, 256)]


def image_of(shape, seed, defect=False):
    """Return a surface at another size; its defect is in its lower right quarter."""
    image = as_seen(surface(seed))
    if defect:
        image[70:100, 70:100] = 0.5
    return np.clip(scaled(image, shape), 0, 1)


def part(seed, down=0, right=0, scratch=False):
    """Return a part with a pattern that all parts have, moved by some pixels, with noise and perhaps a scratch."""
    pattern = ndimage.gaussian_filter(np.random.default_rng(7).normal(size=(160, 160)), 5) > 0.01
    image = 0.3 + 0.4 * pattern[16 - down : 144 - down, 16 - right : 144 - right]
    if scratch:
        image[60 + down : 63 + down, 40 + right : 70 + right] = 0.5
    return np.clip(image + 0.02 * np.random.default_rng(seed).normal(size=image.shape), 0, 1).astype(np.float32)


@pytest.fixture(scope="module")
def mixed():
    good = [image_of(SHAPES[seed % len(SHAPES)], seed) for seed in range(GOOD)]
    return SurfaceInspector(features="combined", size=(96, 128)).fit(good)


@pytest.mark.parametrize("shape", [*SHAPES, (64, 200), (300, 70)])
def test_images_of_every_size_are_judged_and_have_maps_of_their_own_size(mixed, shape):
    bad = mixed.check(image_of(shape, 100, defect=True))
    assert bad.log_ratio.shape == shape
    assert bad.verdict == "NG"
    row, column = np.unravel_index(bad.log_ratio.argmax(), shape)
    assert 0.45 < row / shape[0] < 0.85
    assert 0.45 < column / shape[1] < 0.85


def test_sizes_are_as_saved(mixed, tmp_path):
    mixed.save(tmp_path / "part.vwkde")
    loaded = SurfaceInspector.load(tmp_path / "part.vwkde")
    assert (loaded.size, loaded.image_shape, loaded.accepted_shape) == ((96, 128), (96, 128), None)
    image = image_of((90, 140), 50)
    assert loaded.check(image).score == mixed.check(image).score
    assert len(loaded.add([("late", image_of((77, 99), 60))]).names_) == GOOD + 1


def test_an_image_that_is_too_small_is_refused(mixed):
    with pytest.raises(ImageError, match="tiny: the image has 100×20 pixels, and each side needs at least 32"):
        mixed.check(np.zeros((20, 100), dtype=np.float32), "tiny")


@pytest.mark.parametrize("size", [(96, 31), 128, (1.5, 64), "64x64"])
def test_a_size_must_be_a_height_and_a_width(size):
    with pytest.raises(ValueError, match="The 'size' parameter must be a height and a width of at least 32 pixels"):
        SurfaceInspector(size=size).check_parameters()


def test_without_a_size_all_images_must_be_alike():
    with pytest.raises(ImageError, match="Crop or resize it"):
        SurfaceInspector(features="texture").fit([image_of(shape, 1) for shape in SHAPES])


@pytest.mark.parametrize("moved", [(0, 0), (5, -3), (-11, 9)])
def test_a_shift_is_found_and_undone(moved):
    frame = Framing(align=True).made_from([part(seed) for seed in range(5)])
    framed = frame.bring(part(50, *moved), "part")
    assert framed.shift == (-moved[0], -moved[1])
    assert np.abs(framed.image - part(50))[16:-16, 16:-16].mean() < 0.03
    values = np.zeros((128, 128), dtype=np.float32)
    values[64, 64] = 1
    assert frame.take_back(values, framed)[64 + moved[0], 64 + moved[1]] == 1


def test_textures_are_not_moved():
    frame = Framing(align=True).made_from([as_seen(surface(seed)) for seed in range(10)])
    assert {frame.bring(as_seen(surface(seed)), "").shift for seed in range(20, 30)} == {(0, 0)}


def test_a_part_that_lies_elsewhere_passes_only_if_parts_are_aligned(tmp_path):
    places = np.random.default_rng(3).integers(-6, 7, size=(GOOD, 2))
    good = [part(seed, *place) for seed, place in enumerate(places)]
    aligned = SurfaceInspector(false_reject_rate=0.1, align=True).fit(good)
    aligned.save(tmp_path / "part.vwkde")
    loaded = SurfaceInspector.load(tmp_path / "part.vwkde")
    assert loaded.align
    assert loaded.check(part(200, 5, -6)).verdict == "OK"
    found = loaded.check(part(201, 5, -6, scratch=True))
    assert found.verdict == "NG"
    assert found.score == aligned.check(part(201, 5, -6, scratch=True)).score
    row, column = np.unravel_index(found.log_ratio.argmax(), found.log_ratio.shape)
    assert abs(row - 66) < 8
    assert 30 < column < 68
    loose = SurfaceInspector(false_reject_rate=0.1).fit(good)
    gain = [each.check(part(201, 5, -6, scratch=True)).score - each.calibration_.threshold for each in (aligned, loose)]
    assert gain[0] > 2 * gain[1]


@pytest.mark.parametrize(
    ("settings", "reference", "words"),
    [({"any_size": 1}, None, "any_size"), ({}, np.zeros((5, 5), np.float32), "reference must be an image")],
)
def test_a_file_with_another_frame_is_refused(mixed, tmp_path, settings, reference, words):
    mixed.save(tmp_path / "part.vwkde")
    arrays, known, _ = read_container(tmp_path / "part.vwkde")
    write_container(
        tmp_path / "odd.vwkde", arrays | ({} if reference is None else {"reference": reference}), known | settings
    )
    with pytest.raises(ModelFileError, match=words):
        SurfaceInspector.load(tmp_path / "odd.vwkde")
