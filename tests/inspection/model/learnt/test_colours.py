"""A defect of colour, at equal brightness, is found if colours count."""

import io

import numpy as np
import pytest
from scipy import ndimage

pytest.importorskip("safetensors")
Image = pytest.importorskip("PIL.Image")

from support.serving import as_seen, surface  # noqa: E402
from vwkde.inspection import ImageError, ModelFileError, SurfaceInspector, read_image  # noqa: E402
from vwkde.inspection.data.colours import brightness, planes_of  # noqa: E402
from vwkde.inspection.data.images import decode_image  # noqa: E402
from vwkde.inspection.model.files.container import read_container, write_container  # noqa: E402
from vwkde.inspection.model.learnt.colours import LearntColours  # noqa: E402

GOOD, SIDE = 22, 96
PLACE = slice(40, 60), slice(30, 56)


def coloured(seed, stain=False, dent=False):
    """Return a reddish surface of eight bits; a stain is greener, at the same brightness, a dent is smooth."""
    random = np.random.default_rng(seed)
    gray = 0.5 + 0.08 * ndimage.gaussian_filter(random.normal(size=(SIDE, SIDE)), 1.2) * 3
    if dent:
        gray[PLACE] = 0.5
    tint = 0.06 + 0.004 * random.normal(size=(SIDE, SIDE))
    if stain:
        tint[PLACE] -= 0.05
    weights = np.array([0.299, 0.587, 0.114])
    change = np.array([1.0, -0.4, 0.0])
    change = change - weights @ change  # leaves the brightness as it is
    rgb = gray[..., None] + tint[..., None] * change
    return np.clip(np.rint(255 * rgb), 0, 255).astype(np.uint8)


@pytest.fixture(scope="module")
def good():
    return [(f"{seed}.png", coloured(seed)) for seed in range(GOOD)]


@pytest.fixture(scope="module", params=["texture", "combined"])
def inspector(request, good):
    return SurfaceInspector(features=request.param, colour=True).fit(good)


def test_a_stain_of_equal_brightness_is_found_only_by_its_colour(inspector, good):
    stained = coloured(100, stain=True)
    found = inspector.check(stained)
    assert found.verdict == "NG"
    row, column = np.unravel_index(found.log_ratio.argmax(), found.log_ratio.shape)
    assert 36 <= row < 64
    assert 26 <= column < 60
    gray = SurfaceInspector(features=inspector.features).fit(
        [(name, brightness(as_seen(image))) for name, image in good]
    )
    assert gray.check(brightness(as_seen(stained))).verdict == "OK"


def test_good_images_pass_and_other_defects_are_found(inspector):
    rejected = [inspector.check(coloured(seed)).rejected for seed in range(200, 220)]
    assert sum(rejected) <= 4
    assert inspector.check(coloured(101, dent=True)).verdict == "NG"


def test_a_model_with_colours_is_saved_grows_and_shrinks(inspector, tmp_path):
    inspector.save(tmp_path / "part.vwkde")
    loaded = SurfaceInspector.load(tmp_path / "part.vwkde")
    assert loaded.colour
    stained = coloured(102, stain=True)
    assert loaded.check(stained).score == inspector.check(stained).score
    before = loaded.calibration_.scores
    loaded.calibrate([("stain", stained)]).save(tmp_path / "part.vwkde")
    assert len(SurfaceInspector.load(tmp_path / "part.vwkde").calibration_.bad) == 1
    loaded.add([("late.png", coloured(300))])
    assert (len(loaded.names_), len(loaded.calibration_.scores)) == (GOOD + 1, GOOD + 1)
    loaded.save(tmp_path / "more.vwkde")
    again = SurfaceInspector.load(tmp_path / "more.vwkde").undo()
    np.testing.assert_allclose(again.calibration_.scores, before, rtol=1e-9)


def test_gray_images_saved_with_colours_are_judged_as_gray():
    *gray, new = [surface(seed, side=64) for seed in range(6)]
    plain = SurfaceInspector(features="combined", false_reject_rate=0.2).fit(gray)
    with_colours = SurfaceInspector(features="combined", false_reject_rate=0.2, colour=True).fit(
        [np.dstack([each] * 3) for each in gray]
    )
    assert not isinstance(with_colours._fitted, LearntColours)
    np.testing.assert_array_equal(with_colours.calibration_.scores, plain.calibration_.scores)
    assert with_colours.check(new).score == plain.check(new).score
    assert with_colours.fingerprints_ == plain.fingerprints_


def test_brightness_is_that_of_image_files():
    rgb = np.random.default_rng(0).integers(0, 256, size=(50, 60, 3), dtype=np.uint8)
    np.testing.assert_array_equal(
        brightness(as_seen(rgb)), np.asarray(Image.fromarray(rgb).convert("L"), np.float32) / np.float32(255)
    )
    assert [plane.shape for plane in planes_of(as_seen(rgb))] == [(50, 60)] * 3
    assert np.ptp(planes_of(np.full((4, 4, 3), 0.3, np.float32))[1]) == 0


@pytest.mark.parametrize("mode", ["RGB", "P", "L", "RGBA", "CMYK"])
def test_files_are_read_with_their_colours(mode, tmp_path):
    rgb = coloured(3)
    file = io.BytesIO()
    Image.fromarray(rgb).convert(mode).save(file, "TIFF" if mode == "CMYK" else "PNG")
    pixels = decode_image(file.getvalue(), "a", colour=True)
    assert pixels.shape == ((SIDE, SIDE) if mode == "L" else (SIDE, SIDE, 3))
    (tmp_path / "a.png").write_bytes(file.getvalue())
    if mode in ("RGB", "L", "RGBA"):
        np.testing.assert_array_equal(brightness(pixels), read_image(tmp_path / "a.png"))


def test_shapes_are_told(inspector):
    with pytest.raises(ImageError, match=r"an image must have colours, of shape \(height, width, 3\)"):
        inspector.check(np.zeros((SIDE, SIDE, 2), np.uint8))
    with pytest.raises(ValueError, match="The 'colour' parameter must be True or False"):
        SurfaceInspector(colour=1).check_parameters()


@pytest.mark.parametrize(
    ("arrays", "settings"),
    [({"colour_scores": np.zeros((2, 3))}, {}), ({}, {"planes": {"7": {}}}), ({}, {"colour": 1})],
    ids=["tails", "planes", "colour"],
)
def test_a_file_whose_planes_do_not_fit_is_refused(inspector, tmp_path, arrays, settings):
    inspector.save(tmp_path / "part.vwkde")
    known, about, _ = read_container(tmp_path / "part.vwkde")
    write_container(tmp_path / "odd.vwkde", known | arrays, about | settings)
    with pytest.raises(ModelFileError, match="do not fit together"):
        SurfaceInspector.load(tmp_path / "odd.vwkde")
