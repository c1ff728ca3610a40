"""Images to fit and to test, digits on them, and when a detection is right; with a small folder like DAGM's."""

import gzip
import json
import shutil
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from scipy import ndimage
from sklearn.metrics import roc_auc_score
from typer.testing import CliRunner

import vwkde.reproduce
from vwkde.cli.main import app
from vwkde.inspection.model.features.patches import PAPER_GRID
from vwkde.reproduce import reproduce
from vwkde.reproduce.core import digits
from vwkde.reproduce.core.figure import Scale
from vwkde.reproduce.surfaces import cnn, study
from vwkde.reproduce.surfaces.cnn import choose_patches, patches_of, train
from vwkde.reproduce.surfaces.deals import SPOILT, Digit, choose_surfaces, deal
from vwkde.reproduce.surfaces.detectors import Finding
from vwkde.reproduce.surfaces.readings import LARGEST, READINGS, detected
from vwkde.reproduce.surfaces.rows import total
from vwkde.reproduce.surfaces.study import METHODS, assess, surface_tasks

SHARED = Path(__file__).parents[3] / "shared" / "data"
SIDE = 128
SHAPE = (SIDE, SIDE)


def surface(seed, spot=None):
    """A noisy image, with a bright spot 40 pixels wide if a place is given."""
    image = 0.4 + 0.1 * np.random.default_rng(seed).standard_normal(SHAPE)
    if spot is not None:
        row, column = np.ogrid[:SIDE, :SIDE]
        image += 0.5 * (np.hypot(row - spot[0], column - spot[1]) < 20) * (row % 4 < 2)
    return np.clip(255 * image, 0, 255).astype(np.uint8)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two classes, each with 24 good images and 6 defective ones."""
    root = tmp_path_factory.mktemp("dagm")
    for name in ("Class1", "Class2"):
        (root / name).mkdir()
        (root / f"{name}_def").mkdir()
        for number in range(24):
            Image.fromarray(surface(number)).save(root / name / f"{number + 1:03}.png")
        lines = []
        for number in range(6):
            spot = 30 + 10 * number, 90 - 8 * number
            Image.fromarray(surface(100 + number, spot)).save(root / f"{name}_def" / f"{number + 1:03}.png")
            lines.append(f"{number + 1}\t20\t20\t0\t{spot[1] + 1}\t{spot[0] + 1}")
        (root / f"{name}_def" / "labels.txt").write_text("\n".join(lines) + "\n")
    return root


def test_half_of_the_good_images_are_there_to_fit_and_all_others_to_test(folder):
    run = choose_surfaces(folder, None, None, None, quick=False)
    assert run.classes == ("Class1", "Class2")
    one, other = deal(run, "Class1", 0), deal(run, "Class1", 1)
    for dealt in (one, other):
        fit, good = {shot.item.path for shot in dealt.fit}, {shot.item.path for shot in dealt.good}
        assert len(fit) == len(good) == 12
        assert not fit & good
        assert len(dealt.defective) == 6
        assert len(dealt.added) == len(dealt.pasted) == round(SPOILT * 12)
        assert [shot.item for shot in dealt.added] == [shot.item for shot in dealt.good[:2]]
    assert one.fit != other.fit
    assert one.added[0].digit != other.added[0].digit
    assert deal(run, "Class1", 0) == one


def test_half_of_the_defective_images_are_there_for_labels(folder):
    dealt = deal(choose_surfaces(folder, ["1"], None, None, quick=False), "Class1", 0)
    with_labels = dealt.with_labels()
    assert set(with_labels.seen) | set(with_labels.defective) == set(dealt.defective)
    assert not set(with_labels.seen) & set(with_labels.defective)


def test_classes_and_images_can_be_fewer(folder):
    run = choose_surfaces(folder, ["2"], 10, None, quick=False)
    assert run.classes == ("Class2",)
    assert len(deal(run, "Class2", 0).fit) == 5
    with pytest.raises(ValueError, match=r"there is no class '7'\. Choose among: Class1, Class2"):
        choose_surfaces(folder, ["7"], None, None, quick=False)
    with pytest.raises(ValueError, match="Class1 has 4 good images"):
        deal(choose_surfaces(folder, None, 4, None, quick=False), "Class1", 0)


def test_a_digit_is_pasted_or_added_where_it_is_told():
    image = np.full(SHAPE, 0.25, dtype=np.float32)
    picture = digits.read_digits(None)[5]
    for pasted in (False, True):
        digit = Digit(None, 5, 10, 90, pasted)
        found = digit.put_on(image)
        inside = found[10:38, 90:118]
        np.testing.assert_allclose(inside, picture if pasted else np.minimum(0.25 + picture, 1))
        mask = digit.mask(SHAPE)
        assert mask.sum() == 28 * 28
        assert (found[~mask] == 0.25).all()
        assert found.max() == (picture.max() if pasted else 1)


def test_digits_are_read_from_every_form_of_mnist(tmp_path):
    pictures = np.random.default_rng(0).integers(0, 256, (6, 28, 28), dtype=np.uint8)
    labels = np.array([3, 1, 3, 0, 3, 9], dtype=np.uint8)
    wanted = pictures[labels == 3] / 255
    (tmp_path / "some-images-idx3-ubyte").write_bytes(bytes(16) + pictures.tobytes())
    (tmp_path / "some-labels-idx1-ubyte").write_bytes(bytes(8) + labels.tobytes())
    (tmp_path / "t-images-idx3-ubyte.gz").write_bytes(gzip.compress(bytes(16) + pictures.tobytes()))
    (tmp_path / "t-labels-idx1-ubyte.gz").write_bytes(gzip.compress(bytes(8) + labels.tobytes()))
    np.savez(tmp_path / "mnist.npz", x_test=pictures, y_test=labels)
    for name in ("some-images-idx3-ubyte", "t-images-idx3-ubyte.gz", "mnist.npz"):
        np.testing.assert_allclose(digits.read_digits(tmp_path / name), wanted, rtol=1e-6)


def test_what_is_no_mnist_is_told(tmp_path):
    (tmp_path / "a-images-idx3-ubyte").write_bytes(bytes(100))
    (tmp_path / "words.txt").write_text("no digits")
    np.savez(tmp_path / "small.npz", x_test=np.zeros((2, 8, 8), np.uint8), y_test=np.array([3, 3]))
    for name in ("a-images-idx3-ubyte", "words.txt", "small.npz", "absent.npz"):
        with pytest.raises(ValueError, match=name.split("-")[0]):
            digits.read_digits(tmp_path / name)


def test_stand_in_digits_look_like_threes():
    found = digits.read_digits(None)
    assert found.shape[1:] == (28, 28)
    assert len(found) > 100
    assert found.min() == 0
    assert found.max() == 1
    mean = found.mean(axis=0)
    assert mean[4:24, 8:20].mean() > 3 * mean[4:24, :4].mean()  # the middle is drawn, the margin is not


def finding(*patches, score=1.0, level=None):
    """Return a finding with these values at patches, (row, column): value, and zero elsewhere."""
    values = np.zeros(PAPER_GRID.shape(SHAPE))
    for row, column, value in patches:
        values[row, column] = value
    return Finding(score, values, level)


def square(top, left, side=32):
    mask = np.zeros(SHAPE, dtype=bool)
    mask[top : top + side, left : left + side] = True
    return mask


def test_the_detection_is_all_patches_above_nine_tenths_of_the_largest():
    found = detected(finding((0, 0, 10.0), (2, 3, 9.1), (4, 4, 8.9)), SHAPE)
    np.testing.assert_array_equal(found, square(0, 0) | square(32, 48))


def test_values_below_zero_have_a_detection_too():
    values = np.full(PAPER_GRID.shape(SHAPE), -5.0)
    values[1, 1] = -2.0
    np.testing.assert_array_equal(detected(Finding(0.0, values), SHAPE), square(16, 16))


def test_with_a_level_there_may_be_no_detection():
    assert not detected(finding((0, 0, 2.0), level=2.2), SHAPE).any()
    assert not READINGS["all"](finding((0, 0, 2.0), level=2.2), square(0, 0))
    assert not READINGS["region"](finding((0, 0, 2.0), level=2.2), square(0, 0))
    assert not READINGS["boxes"](finding((0, 0, 2.0), level=2.2), square(0, 0))


def test_log_ratios_beyond_single_precision_count_alike():
    far = finding((0, 0, 50_000.0), (4, 4, LARGEST))
    assert detected(far, SHAPE)[70, 70]
    assert not detected(far, SHAPE, np.inf)[70, 70]
    assert READINGS["all"](far, square(64, 64))
    assert not READINGS["unbounded"](far, square(64, 64))


def test_readings_differ_as_they_say():
    two = finding((0, 0, 10.0), (5, 5, 9.5))
    assert READINGS["all"](two, square(80, 80))  # half of the detection is on the defect
    assert not READINGS["region"](two, square(80, 80))  # the largest value is not
    assert not READINGS["boxes"](two, square(80, 80))  # the box of both is nearly the whole image
    assert READINGS["boxes"](finding((2, 2, 10.0)), square(32, 32))
    assert READINGS["pixels"](finding((2, 2, 10.0), (2, 3, 10.0), (3, 2, 10.0), (3, 3, 10.0)), square(48, 48, 20))
    assert not READINGS["pixels"](finding((2, 2, 10.0)), square(0, 0))


def test_a_map_of_pixels_is_taken_as_it_is():
    values = np.zeros(SHAPE)
    values[10:20, 30:50] = 5
    mask = np.zeros(SHAPE, dtype=bool)
    mask[10:20, 30:50] = True
    np.testing.assert_array_equal(detected(Finding(1.0, values), SHAPE), mask)
    assert all(is_right(Finding(1.0, values), mask) for is_right in READINGS.values())


def test_areas_and_precisions_of_a_known_case(folder):
    """Good images score 0 to 11, defective ones 20, 10.5 and so on; only the first two defects are found."""
    dealt = deal(choose_surfaces(folder, ["1"], None, None, quick=False), "Class1", 0)
    good = [finding((0, 0, 1.0), score=float(at)) for at in range(12)]
    scores = [20.0, 10.5, 5.5, 4.5, 3.5, 2.5]
    bad = [
        Finding(score, shot.mask(SHAPE).astype(float) if place < 2 else -shot.mask(SHAPE).astype(float))
        for place, (score, shot) in enumerate(zip(scores, dealt.defective, strict=True))
    ]
    wrong = [finding((0, 0, 1.0), score=float(at)) for at in (100.0, 0.5)]
    found = assess(dealt, {"good": good, "dagm": bad, "added": wrong, "pasted": wrong})
    assert found["auc"]["dagm"] == pytest.approx(roc_auc_score([0] * 12 + [1] * 6, [*range(12), *scores]), abs=1e-5)
    # recall 1/6 at precision 1, 2/6 at 2/3 (20, 11, 10.5), no more
    assert found["ap"]["all"]["dagm"] == pytest.approx((1 + 2 / 3) / 6, abs=1e-5)
    # against the good images that have no digit: one of the two is above all, the other below all
    assert found["auc"]["added"] == pytest.approx(0.5)


def test_tasks_of_another_set_of_images_have_other_names(folder):
    runs = [
        choose_surfaces(folder, ["1"], images, file, quick=False)
        for images, file in ((None, None), (10, None), (None, SHARED / "mnist" / "t10k-images-idx3-ubyte.gz"))
        if file is None or file.exists()
    ]
    names = [{task.name for task in surface_tasks(Scale(2, surfaces=run))} for run in runs]
    assert all(len(each) == 2 * len(METHODS) for each in names)
    assert len(set.union(*names)) == sum(map(len, names))


def test_tasks_are_those_of_the_images_wherever_they_lie(folder, tmp_path):
    def names(root):
        return [task.name for task in surface_tasks(Scale(1, surfaces=choose_surfaces(root, ["1"], None, None, False)))]

    before = names(folder)
    shutil.copytree(folder, tmp_path / "moved")
    assert names(tmp_path / "moved") == before
    shutil.copytree(folder, tmp_path / "changed")
    Image.fromarray(surface(7_000)).save(tmp_path / "changed" / "Class1" / "003.png", optimize=True)
    assert not set(names(tmp_path / "changed")) & set(before)


@pytest.mark.parametrize("method", ["texture", "cnn"])
def test_methods_that_see_more_than_gradients_find_the_defect(folder, monkeypatch, method):
    if method == "cnn":
        pytest.importorskip("torch")
        monkeypatch.setattr(cnn, "train", partial(train, steps=60))
    dealt = deal(choose_surfaces(folder, ["1"], None, None, quick=False), "Class1", 0).with_labels()
    judge = METHODS[method](dealt)
    shot = dealt.defective[0]
    bad, good = judge(shot), judge(dealt.good[-1])
    assert bad.score > good.score
    assert (bad.level is None) == (method == "texture")
    pixels = bad.values if method == "texture" else PAPER_GRID.spread(bad.values, SHAPE)
    near = ndimage.maximum_filter(shot.mask(SHAPE), 33)
    assert near.ravel()[np.argmax(pixels)]
    assert near.mean() < 0.5


def test_without_torch_the_network_is_left_out_and_told(monkeypatch, folder):
    monkeypatch.setattr(study, "find_spec", lambda _: None)
    run = choose_surfaces(folder, ["1"], None, None, quick=False)
    assert not any(task.name.endswith("/cnn") for task in surface_tasks(Scale(1, surfaces=run)))
    assert "pip install 'vwkde[torch]'" in study.missing_methods()["cnn"]


def test_a_network_sees_a_patch_as_it_sees_it_within_an_image():
    torch = pytest.importorskip("torch")
    image = surface(0, (60, 60)).astype(np.float32) / 255
    mask = square(45, 45, 50)
    network = train(
        [(image, mask), (surface(1).astype(np.float32) / 255, np.zeros(SHAPE, bool))], PAPER_GRID, 0, steps=3
    )
    alone = torch.from_numpy((patches_of(image, PAPER_GRID) - network.mean) / network.deviation)[:, None]
    with torch.inference_mode():
        wanted = network.layers(alone)[:, 0].numpy().reshape(PAPER_GRID.shape(SHAPE))
    np.testing.assert_allclose(network.log_odds(image), wanted, atol=1e-5)


def test_patches_to_learn_from_are_defective_by_three_quarters_or_good_and_four_times_as_many():
    image = np.zeros((256, 256), dtype=np.float32)
    mask = np.zeros((256, 256), dtype=bool)
    mask[64:112, 64:104] = True
    image[mask] = 1
    patches, defective = choose_patches([(image, mask)] * 3, PAPER_GRID, 0)
    assert defective.sum() * 4 == (~defective).sum()
    shares = patches.mean(axis=(1, 2))
    assert (shares[defective] >= 0.75).all()
    assert (shares[~defective] == 0).all()
    with pytest.raises(ValueError, match="with and without defects"):
        choose_patches([(image, np.zeros_like(mask))], PAPER_GRID, 0)


@pytest.fixture
def few_methods(monkeypatch):
    # a new dictionary: entries taken out of the old one would come back at its end
    monkeypatch.setattr(study, "METHODS", {name: METHODS[name] for name in ("vwkde", "kde", "osvm")})


@pytest.mark.usefixtures("few_methods")
def test_one_computation_serves_both_tables(folder, tmp_path):
    run = choose_surfaces(folder, ["1"], None, None, quick=True)
    first = reproduce("table1", tmp_path, quick=True, n_jobs=1, surfaces=run)
    journal = tmp_path / "quick" / "surfaces" / "journal.jsonl"
    done = [line for line in journal.read_text().splitlines() if "task" in line]
    assert len(done) == 2 * len(study.METHODS)
    second = reproduce("table2", tmp_path, quick=True, n_jobs=1, surfaces=run)
    assert [line for line in journal.read_text().splitlines() if "task" in line] == done
    detection, localisation = (json.loads((each / "results.json").read_text()) for each in (first, second))
    assert detection["results"] == localisation["results"]
    results = detection["results"]
    assert results["images"] == {"Class1": {"fit": 12, "good": 12, "defective": 6, "spoilt": 2}}
    mean, deviation = total(results, lambda found, method: found["methods"][method]["auc"], "vwkde", "dagm")
    assert mean > 0.9
    assert deviation >= 0
    page = (first / "README.md").read_text()
    assert f"| VWKDE | {mean:.3f} ± {deviation:.3f} | 0.785 ± 0.002 |" in page
    assert digits.STAND_IN in page
    assert "0.369 ± 0.005" in (second / "README.md").read_text()
    overview = (tmp_path / "quick" / "README.md").read_text()
    assert "Table 1: Detection of defective surfaces" in overview
    assert "--data DAGM --quick` reproduces them" in overview


@pytest.mark.usefixtures("few_methods")
def test_the_example_shows_where_the_digit_is(folder, tmp_path):
    run = choose_surfaces(folder, ["2"], None, None, quick=True)
    made = reproduce("fig6", tmp_path, quick=True, n_jobs=1, surfaces=run)
    record = json.loads((made / "results.json").read_text())
    top, left = record["results"]["digit"]
    values = np.array(record["results"]["log_ratio"])
    row, column = np.unravel_index(values.argmax(), values.shape)
    assert abs(16 * row - top) < 32
    assert abs(16 * column - left) < 32
    assert record["claims"][0]["holds"]
    assert np.asarray(Image.open(made / "fig6.png").convert("L")).std() > 10


def test_the_command_needs_images_for_the_tables(tmp_path):
    done = CliRunner().invoke(app, ["reproduce", "table1", "-o", str(tmp_path / "out")])
    assert isinstance(done.exception, ValueError)
    assert "table1 needs DAGM's images" in str(done.exception)
    assert not (tmp_path / "out").exists()


def test_all_without_images_leaves_the_tables_out_and_says_so(monkeypatch, tmp_path):
    made = []
    monkeypatch.setattr(vwkde.reproduce, "reproduce", lambda name, *_, **__: made.append(name) or tmp_path)
    done = CliRunner().invoke(app, ["reproduce", "all", "-o", str(tmp_path)])
    assert done.exit_code == 0
    assert "table1, table2, fig6" in done.output
    assert not {"table1", "table2", "fig6"} & set(made)
    assert {"fig1", "figA2"} <= set(made)


def test_the_command_hands_on_which_images(monkeypatch, folder, tmp_path):
    handed = []
    monkeypatch.setattr(vwkde.reproduce, "reproduce", lambda *_, surfaces, **__: handed.append(surfaces) or tmp_path)
    done = CliRunner().invoke(
        app,
        ["reproduce", "table1", "fig6", "--data", str(folder), "--classes", "1", "--classes", "2,1", "--images", "12"],
    )
    assert done.exit_code == 0
    assert [run.classes for run in handed] == [("Class1", "Class2")] * 2
    assert handed[0].images == 12


@pytest.mark.skipif(not (SHARED / "dagm-mini").exists(), reason="needs ../shared/data/dagm-mini")
@pytest.mark.usefixtures("few_methods")
def test_real_images_are_told_apart():
    run = choose_surfaces(SHARED / "dagm-mini", ["3"], 16, None, quick=False)
    found = {method: study.try_method(run, "Class3", 0, method) for method in study.METHODS}
    assert found["vwkde"]["auc"]["dagm"] > 0.9
    assert found["vwkde"]["auc"]["pasted"] == 1
    assert found["vwkde"]["ap"]["all"]["pasted"] == 1
    assert found["vwkde"]["auc"]["dagm"] >= found["osvm"]["auc"]["dagm"]
