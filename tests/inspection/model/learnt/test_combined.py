from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import ndimage

from vwkde._compute.resources import DEFAULT_RESOURCES
from vwkde.exceptions import UnlikeImagesWarning
from vwkde.inspection import ModelFileError, SurfaceInspector, make_surfaces
from vwkde.inspection.model.features.combined import Combined, working
from vwkde.inspection.model.features.registry import FEATURES, marking_of
from vwkde.inspection.model.files.container import read_container, write_container
from vwkde.inspection.model.filters.interpolation import enlarged, shrunk, working_shape
from vwkde.inspection.model.filters.pyramid import PYRAMID
from vwkde.inspection.model.learnt.combined import LearntCombined
from vwkde.inspection.model.learnt.joint import Compared, Joint, median_values
from vwkde.inspection.model.learnt.library import Comparison
from vwkde.inspection.model.learnt.rarity import fit_rarities, mean_of_highest, places_of
from vwkde.inspection.model.map_colours import map_colours
from vwkde.inspection.model.marks import known as known_marks
from vwkde.inspection.model.marks.filters import DIRECTIONS, KINDS, strengths
from vwkde.inspection.model.marks.known import MarkComparison, learn_marks
from vwkde.inspection.model.marks.made_up import marks_of_defects
from vwkde.inspection.model.marks.strengths import MARKS
from vwkde.inspection.model.tails import Tail, fit_tail

GOOD = 24
SIZE = 72


def part(random, mark=None):
    """Return an image of a part: noise, and a bright bar that all parts have at the same place; perhaps a mark."""
    image = 0.4 + 0.02 * random.normal(size=(SIZE, SIZE))
    image[20:23, 10:60] += 0.3
    if mark is not None:
        image[mark] += 0.3
    return np.clip(image, 0, 1).astype(np.float32)


@pytest.fixture(scope="module")
def parts():
    random = np.random.default_rng(5)
    return [part(random) for _ in range(GOOD)]


@pytest.fixture(scope="module")
def inspector(parts):
    return SurfaceInspector(features="combined").fit(parts)


def test_a_line_is_strongest_in_the_filter_of_its_direction():
    image = np.zeros((64, 64), dtype=np.float32)
    image[:, 32] = 1
    lines = strengths(image)[1 : 1 + 2 * DIRECTIONS : 2, 32, 32]
    assert lines.argmax() == 0
    assert lines[0] > 2 * lines[1:].max()
    np.testing.assert_allclose(strengths(image.T)[1 : 1 + 2 * DIRECTIONS : 2, 32, 32], np.roll(lines, 4), atol=1e-5)


def test_marks_of_both_signs_are_told_apart():
    image = np.zeros((40, 41), dtype=np.float32)
    image[20, 20] = 1
    bright, dark = strengths(image), strengths(-image)
    spot = 0
    assert bright[spot].max() == bright[spot, 20, 20] > 0.05
    np.testing.assert_allclose(bright[spot], dark[KINDS // 2 + spot], atol=1e-6)


def test_neither_brightness_nor_contrast_of_an_image_changes_its_marks(parts):
    plain, changed = (MARKS(image).astype(np.float32) for image in (parts[0], 0.2 + 0.7 * parts[0]))
    np.testing.assert_allclose(changed, plain, rtol=0.1, atol=0.1)
    assert np.abs(plain).max() > 3


def test_cells_fill_the_copies_and_the_map_shows_their_places():
    shape = (70, 101)
    assert MARKS.grids(shape) == [(35, 51), (18, 26), (9, 13)]
    values = np.zeros(MARKS.cells(shape)[-1].stop)
    values[MARKS.cells(shape)[0].start + 10 * 51 + 40] = 3
    shown = MARKS.spread(values, shape)
    assert shown.shape == shape
    assert np.unravel_index(shown.argmax(), shape) in {(row, column) for row in (20, 21) for column in (79, 80, 81)}
    assert shown.sum() == pytest.approx(4, rel=0.05)  # 3 in a cell of four pixels, the mean over three copies


def test_large_images_are_measured_at_a_smaller_size():
    assert working((1024, 2048)) == (362, 724)
    assert working(working((1000, 3000))) == working((1000, 3000))
    assert working((300, 200)) == (300, 200)
    image = np.add.outer(np.arange(64.0), np.arange(96.0)).astype(np.float32)
    small = shrunk(image, working_shape(image.shape, 32 * 48))
    assert small.shape == (32, 48)
    np.testing.assert_allclose(small, image.reshape(32, 2, 48, 2).mean(axis=(1, 3)), rtol=1e-6)
    np.testing.assert_allclose(enlarged(small, image.shape)[1:-1, 1:-1], image[1:-1, 1:-1], atol=1e-4)


def test_tails_are_exponential():
    values = np.random.default_rng(0).exponential(3.0, size=(20_000, 2)) * [1, 10]
    tail = fit_tail(values)
    np.testing.assert_allclose(tail.width, [3, 30], rtol=0.05)
    np.testing.assert_allclose(tail(tail.centre + 2 * tail.width), 2)


def test_a_value_far_out_in_a_narrow_tail_of_half_precision_is_finite():
    tail = fit_tail(np.array([1.0, 1.0, 1.001, 1.001], dtype=np.float16))
    assert np.isfinite(tail(np.array([3_000.0], dtype=np.float16))).all()


def odd_at(patch, cell):
    """Return how an image compares that is odd in one patch and in one cell of the finest copies."""
    log_ratio = np.zeros(PYRAMID.shape((SIZE, SIZE))[0])
    excess = np.zeros(MARKS.cells((SIZE, SIZE))[-1].stop, dtype=np.float32)
    log_ratio[patch] = excess[np.ravel_multi_index(cell, MARKS.grids((SIZE, SIZE))[0])] = 6.0
    weighed = excess[: MARKS.cells((SIZE, SIZE))[0].stop]
    return Compared(Comparison(6.0, np.array([0]), log_ratio), MarkComparison(excess, weighed))


def good_pairs(count=20):
    """Return log ratios and excesses of good images: noise, on small copies more than on large ones."""
    random = np.random.default_rng(4)
    widths = [
        np.concatenate([np.full(place.stop - place.start, 1.0 + number) for number, place in enumerate(places)])
        for places in places_of((SIZE, SIZE))
    ]
    return [tuple(random.exponential(width) for width in widths) for _ in range(count)]


def test_what_differs_in_texture_and_marks_at_one_place_scores_higher():
    rarities = fit_rarities(good_pairs(), (SIZE, SIZE))
    joint = Joint(Tail(np.zeros(3), np.ones(3)), rarities, LearntCombined.shares)
    in_first_patch, far = (7, 7), (30, 30)
    peaks = [joint.maps(odd_at(0, cell))[0].max() for cell in (in_first_patch, far)]
    assert peaks[0] > 1.1 * peaks[1]
    scores = joint.score(np.array([[6.0, 6.0, peak] for peak in peaks]), np.zeros(4))
    assert scores[0] - scores[1] == pytest.approx((peaks[0] - peaks[1]) / 4)
    assert joint.score(np.array([2.0, 4.0, 6.0]), np.zeros(4)) == pytest.approx(4.0)


def test_a_long_defect_scores_higher_than_a_short_one_with_the_same_peak():
    """A hundredth of 100 × 100 places is a hundred places."""
    short, long = (np.zeros((100, 100)) for _ in range(2))
    short[50, :10] = long[50, :60] = 3.0
    assert [mean_of_highest(each) for each in (short, long)] == pytest.approx([0.3, 1.8])
    assert mean_of_highest(np.array([[1.0, 4.0]])) == 4.0


def test_an_image_is_compared_with_the_good_images_that_it_is_like():
    """Three good images of a calm kind, and three of a busy one."""
    joint = Joint(Tail(np.array([3.0, 3.0, 3.0]), np.array([1.0, 2.0, 0.5])), None, LearntCombined.shares)
    values = np.array([[1.0, 1, 1, 1]] * 3 + [[5.0, 5, 7, 7]] * 3)
    calm, busy = (median_values(values, np.array(kind)) for kind in ([0, 1, 2], [4, 3, 5]))
    odd = np.array([5.0, 5.0, 7.0])
    assert joint.score(odd, busy) == 0
    assert joint.score(odd, calm) == pytest.approx(0.25 * 4 + 0.5 * 4 / 2 + 0.25 * 6 / 0.5)
    assert joint.level(calm) == pytest.approx(4 / 2)
    assert joint.level(busy) == pytest.approx(4 / 8)


def grain(random, calm, mark=None):
    """Return an image of a calm and fine surface or of a busy and coarse one, perhaps with a scratch."""
    noise = ndimage.gaussian_filter(random.normal(size=(SIZE, SIZE)), 0.5 if calm else 2.0)
    image = 0.5 + (0.02 if calm else 0.15) * noise / noise.std()
    if mark is not None:
        image[mark] += 0.03
    return np.clip(image, 0, 1).astype(np.float32)


def test_a_defect_on_a_calm_surface_is_found_beside_busy_ones_in_one_model():
    random = np.random.default_rng(3)
    inspector = SurfaceInspector(false_reject_rate=0.1).fit([grain(random, i % 2 == 0) for i in range(40)])
    found = [inspector.check(grain(random, True, np.s_[30:33, 10:50])).rejected for _ in range(10)]
    rejected = [inspector.check(grain(random, i % 2 == 0)).rejected for i in range(20)]
    assert sum(found) >= 8  # 5 if all images are compared with all others
    assert sum(rejected) <= 6  # two are expected; seven or more have a probability below 1 %


def test_marks_are_in_units_of_their_image():
    random = np.random.default_rng(2)
    finest = MARKS.cells((SIZE, SIZE))[0]
    for calm in (True, False):
        marks = MARKS(grain(random, calm))[:, finest].astype(np.float32)
        middle, upper = np.quantile(marks, [0.5, 0.75], axis=1)
        np.testing.assert_allclose(middle, 0, atol=0.02)
        np.testing.assert_allclose(upper, 1, atol=0.02)


def test_an_image_without_any_detail_has_finite_marks():
    flat = np.full((SIZE, SIZE), 0.5, dtype=np.float32)
    assert (np.abs(MARKS(flat).astype(np.float32)) < 1).all()
    flat[30, 30] = 1
    assert np.isfinite(MARKS(flat)).all()


def test_a_mark_that_good_parts_have_elsewhere_is_found(inspector):
    random = np.random.default_rng(6)
    good = inspector.check(part(random))
    shifted = inspector.check(part(random, np.s_[50:53, 15:45]))
    assert not good.rejected
    assert shifted.rejected
    row, column = np.unravel_index(shifted.log_ratio.argmax(), shifted.log_ratio.shape)
    assert 47 <= row <= 56
    assert 10 <= column <= 50
    assert shifted.log_ratio.max() > shifted.map_threshold


def test_the_limit_of_the_map_is_positive_with_few_good_images(parts):
    few = SurfaceInspector(false_reject_rate=0.2).fit(parts[:6])
    assert few.map_calibration_.threshold > 0
    assert few.map_calibration_.scores.min() > 0


@pytest.mark.parametrize("threshold", [0.0, -1.0])
def test_a_map_whose_limit_is_not_positive_has_colours(threshold):
    colours = map_colours(np.array([[-1.0, 2.0]], dtype=np.float32), threshold)
    assert colours[0, 0, 3] == 0
    assert colours[0, 1].tolist() == [128, 0, 38, 255]


def learnt_marks(images):
    made_up = [marks_of_defects(image, seed) for seed, image in enumerate(images)]
    return learn_marks([MARKS(image) for image in images], made_up, (SIZE, SIZE), 0)[:2]


def test_few_good_images_are_not_rejected_too_often():
    """The tails of many kinds of marks are known badly; images that are in them would look too common."""
    random = np.random.default_rng(9)
    shares = []
    for _ in range(3):
        known, compared = learnt_marks([part(random) for _ in range(10)])
        limit = np.sort([each.excess.max() for each in compared])[-2]  # a fifth of new good images may be above
        shares.append(np.mean([known.compare(MARKS(part(random))).excess.max() > limit for _ in range(20)]))
    assert np.mean(shares) < 0.35


def test_good_images_are_judged_by_the_others(parts):
    odd = [*parts, part(np.random.default_rng(7), np.s_[60:63, 20:50])]
    known, compared = learnt_marks(odd)
    peaks = [each.excess.max() for each in compared]
    assert np.argmax(peaks) == GOOD
    assert peaks[GOOD] > 2 * np.sort(peaks)[-2]
    assert known.compare(MARKS(odd[GOOD])).excess.max() < peaks[GOOD]


def test_all_other_good_images_judge_a_good_image(parts, monkeypatch):
    """A new image is judged by all of them: if fewer judged those that set the limit, it would be too high."""
    unit = Tail(np.zeros((len(MARKS.cells((SIZE, SIZE))), KINDS)), np.ones(1))
    monkeypatch.setattr(known_marks, "fit_tail", lambda values: replace(unit, width=np.ones(values.shape[1:])))
    few = parts[:8]
    _, compared = learnt_marks(few)
    others, _ = learnt_marks(few[:-1])
    np.testing.assert_allclose(compared[-1].excess, others.compare(MARKS(few[-1])).excess, rtol=2e-3, atol=2e-3)


def test_a_saved_model_judges_as_before(inspector, parts, tmp_path):
    path = Path(tmp_path) / "part.vwkde"
    inspector.save(path)
    loaded = SurfaceInspector.load(path)
    one, other = inspector.check(parts[3]), loaded.check(parts[3])
    assert (one.score, one.threshold, one.nearest) == (other.score, other.threshold, other.nearest)
    np.testing.assert_array_equal(one.log_ratio, other.log_ratio)


@pytest.mark.parametrize("patches_shown", [True, False])
def test_a_saved_model_keeps_whether_patches_are_shown(parts, tmp_path, monkeypatch, patches_shown):
    monkeypatch.setattr("vwkde.inspection.model.learnt.joint.patches_outline", lambda *_: patches_shown)
    path = Path(tmp_path) / "part.vwkde"
    fitted = SurfaceInspector(features="combined", false_reject_rate=0.2).fit(parts[:8])
    fitted.save(path)
    loaded = SurfaceInspector.load(path)
    assert loaded._fitted.joint.rarities.patches_shown is patches_shown
    np.testing.assert_array_equal(loaded.check(parts[9]).log_ratio, fitted.check(parts[9]).log_ratio)


def test_images_with_drawn_defects_are_judged_by_the_other_good_images(parts, monkeypatch):
    """Else a drawing would look like a defect on a copy of a known image: nothing but the defect would differ."""
    asked = []
    monkeypatch.setattr(
        "vwkde.inspection.model.learnt.joint.patches_outline", lambda *given: asked.append(given) or True
    )
    inspector = SurfaceInspector(features="combined", false_reject_rate=0.2).fit(parts[:8])
    (_, drawings), *_ = asked
    assert len(drawings) == 8
    (log_ratio, *_), _ = drawings[3]
    known = inspector._fitted.compare(FEATURES["combined"].marking.drawn(parts[3], 3)[0], DEFAULT_RESOURCES)
    assert np.median(log_ratio) > np.median(known.log_ratio)


def test_images_are_added_and_taken_back(inspector, tmp_path):
    path = Path(tmp_path) / "part.vwkde"
    inspector.save(path)
    changed = SurfaceInspector.load(path)
    random = np.random.default_rng(8)
    with pytest.warns(UnlikeImagesWarning, match="good 25 .*, good 24 "):  # they are not good at all
        changed.add([part(random, np.s_[50:53, 15:45]) for _ in range(2)])
    assert changed.unlike_others_ == ["good 25", "good 24"]
    assert changed.calibration_.threshold > inspector.calibration_.threshold
    assert len(changed.calibration_.scores) == len(changed.map_calibration_.scores) == GOOD + 2
    changed.undo()
    np.testing.assert_allclose(changed.calibration_.scores, inspector.calibration_.scores, rtol=1e-6)
    np.testing.assert_array_equal(changed.map_calibration_.scores, inspector.map_calibration_.scores)


@pytest.mark.parametrize(
    ("name", "spoil", "words"),
    [
        ("mark_mean", lambda values: values[:, 1:], "mark_mean must be"),
        ("mark_spread", lambda values: -values, "must be positive"),
        ("score_tail", lambda values: values * np.nan, "score_tail must be finite"),
        ("rarities", lambda values: values[:, :2], "rarities must be finite numbers of shape"),
        ("rarities", lambda values: values[:, ::-1], "must be positive"),
        ("patches_shown", lambda values: values + 2, "patches_shown must be 0 or 1"),
    ],
)
def test_a_model_file_whose_marks_do_not_fit_is_refused(inspector, tmp_path, name, spoil, words):
    path = Path(tmp_path) / "part.vwkde"
    inspector.save(path)
    arrays, settings, _ = read_container(path)
    write_container(path, arrays | {name: spoil(arrays[name])}, settings)
    with pytest.raises(ModelFileError, match=words):
        SurfaceInspector.load(path)


def test_the_paper_s_features_have_no_marks():
    surfaces = make_surfaces("woven", n_good=3, n_bad=1, size=64)
    assert marking_of(SurfaceInspector(features="gradient").check_parameters()) is None
    assert Combined().marking(surfaces.images[0]).shape == (KINDS, MARKS.cells((64, 64))[-1].stop)
