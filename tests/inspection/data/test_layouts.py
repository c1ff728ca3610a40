import os
from pathlib import Path

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

Image = pytest.importorskip("PIL.Image")

from vwkde.inspection.data.errors import ImageError  # noqa: E402
from vwkde.inspection.data.images import encode_png, read_image  # noqa: E402
from vwkde.inspection.data.layouts import Item, LayoutError, describe, unlike_names  # noqa: E402
from vwkde.inspection.data.masks import Ellipse, MaskError, MaskFile, MaskUnion  # noqa: E402
from vwkde.inspection.data.recognise import recognise, recognise_all  # noqa: E402

DAGM = Path(__file__).parents[4] / "shared" / "data" / "dagm-mini"


def make(root, *names):
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    return root


def save(path, pixels):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(encode_png(np.asarray(pixels, np.uint8)))


def names(items):
    return [item.name for item in items]


@pytest.fixture
def mvtec(tmp_path):
    return make(
        tmp_path / "bottle",
        *("train/good/000.png", "train/good/001.png", "test/good/000.png", "readme.txt", "overview.png"),
        *("test/crack/000.png", "test/crack/001.PNG", "test/crack/Thumbs.db", "test/big hole/000.png"),
        *("ground_truth/crack/000_mask.png", "ground_truth/crack/001_MASK.PNG"),
    )


@pytest.fixture
def dagm(tmp_path):
    root = make(
        tmp_path / "set",
        *("Class1/2.png", "Class1/10.png", "Class1/.DS_Store"),
        *("Class1_def/001.png", "Class1_def/002.png", "Class1_def/003.png", "Class1_def/Thumbs.db"),
    )
    (root / "Class1_def" / "labels.txt").write_text("1\t 6.0\t 3.0\t 0.0\t 11.0\t 8.0\n\n2   5 5 0.5 4.0 4.0 \r\ntr")
    return root


@pytest.fixture
def dagm_second(tmp_path):
    return make(
        tmp_path / "Class7",
        *("Train/0001.PNG", "Train/0002.PNG", "Train/0003.PNG", "Train/Label/0002_label.PNG"),
        *("Train/Label/Labels.txt", "Test/0001.PNG", "Test/0002.PNG", "Test/Label/0001_label.PNG"),
    )


def test_flat(tmp_path):
    layout = recognise(make(tmp_path, "10.png", "9.JPG", "notes.txt", "Thumbs.db", "._9.png"))
    assert layout.kind == "flat"
    assert names(layout.good) == names(layout.test) == ["9.JPG", "10.png"]
    assert {item.defective for item in layout.good} == {False}
    assert {item.defective for item in layout.test} == {None}
    assert not layout.labelled
    assert layout.good[0].path == tmp_path / "9.JPG"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may read everything")
def test_locked_folders_matter_only_where_there_are_no_images(tmp_path):
    locked = make(tmp_path, "locked/1.png") / "locked"
    locked.chmod(0)
    try:
        with pytest.raises(ImageError, match="locked: the folder may not be read"):
            recognise(tmp_path)
        assert recognise(make(tmp_path, "a.png")).kind == "flat"
    finally:
        locked.chmod(0o700)


def test_mvtec(mvtec):
    layout = recognise(mvtec)
    assert layout.kind == "mvtec"
    assert names(layout.good) == ["train/good/000.png", "train/good/001.png"]
    assert [(item.name, item.defective) for item in layout.test] == [
        ("test/big hole/000.png", True),
        ("test/crack/000.png", True),
        ("test/crack/001.PNG", True),
        ("test/good/000.png", False),
    ]
    masks = [item.mask and item.mask.path.name for item in layout.test]
    assert masks == [None, "000_mask.png", "001_MASK.PNG", None]
    assert names(layout.without_mask) == ["test/big hole/000.png"]
    assert layout.labelled


def test_mvtec_without_a_test_folder(tmp_path):
    layout = recognise(make(tmp_path, "train/good/0.png"))
    assert (layout.kind, len(layout.good), layout.test) == ("mvtec", 1, ())


def test_mask_named_as_its_image(mvtec):
    make(mvtec, "ground_truth/big hole/000.png")
    assert recognise(mvtec).test[0].mask == MaskFile(mvtec / "ground_truth" / "big hole" / "000.png")


def test_dagm_from_either_folder(dagm):
    for root in (dagm, dagm / "Class1"):
        layout = recognise(root)
        assert layout.kind == "dagm"
        assert names(layout.good) == ["Class1/2.png", "Class1/10.png"]
        assert names(layout.test) == ["Class1_def/001.png", "Class1_def/002.png", "Class1_def/003.png"]
        assert all(item.defective for item in layout.test)
        assert layout.test[0].mask == Ellipse(6, 3, 0, 11, 8)
        assert names(layout.without_mask) == ["Class1_def/003.png"]


def test_dagm_s_defective_images_alone_are_nothing_to_fit_on(dagm):
    layout = recognise(dagm / "Class1_def")
    assert layout.good == ()
    assert layout.test == recognise(dagm).test


def test_relative_paths(dagm, monkeypatch):
    monkeypatch.chdir(dagm / "Class1")
    assert recognise(Path(".")) == recognise(dagm)


def test_several_classes(dagm, mvtec, dagm_second):
    make(dagm, "Class2/1.png", "Class2_def/1.png", "Class2_def/Labels.TXT", "def_1.csv", "notes/a.txt")
    assert list(recognise_all(dagm)) == ["Class1", "Class2"]
    assert recognise_all(dagm)["Class1"] == recognise(dagm / "Class1")
    with pytest.raises(LayoutError, match=r"set: the folder contains 2 data sets \(Class1, Class2\); choose one"):
        recognise(dagm)
    together = recognise_all(mvtec.parent)
    assert {name: layout.kind for name, layout in together.items()} == {"bottle": "mvtec", "Class7": "dagm-2"}
    assert together["bottle"].good[0].name == "bottle/train/good/000.png"
    assert names(together["Class7"].test) == ["Class7/Test/0001.PNG", "Class7/Test/0002.PNG"]
    assert list(recognise_all(mvtec)) == ["bottle"]
    assert dagm_second.parent == mvtec.parent


def test_dagm_second_release(dagm_second):
    layout = recognise(dagm_second)
    assert layout.kind == "dagm-2"
    assert [(item.name, item.defective) for item in layout.good] == [
        ("Train/0001.PNG", False),
        ("Train/0003.PNG", False),
    ]
    assert [(item.name, item.defective) for item in layout.test] == [("Test/0001.PNG", True), ("Test/0002.PNG", False)]
    assert layout.test[0].mask == MaskFile(dagm_second / "Test" / "Label" / "0001_label.PNG")
    assert layout.test[1].mask is None
    assert layout.without_mask == ()


def test_dagm_second_release_without_labels_of_the_test_images(tmp_path):
    layout = recognise(make(tmp_path, "train/1.png", "train/2.png", "train/label/2_label.png", "test/1.png"))
    assert names(layout.good) == ["train/1.png"]
    assert [item.defective for item in layout.test] == [None]


def test_a_label_without_image_is_told(dagm_second):
    make(dagm_second, "Test/Label/0077_label.PNG")
    with pytest.raises(LayoutError, match=r"0077_label\.PNG: there is no image for this label"):
        recognise(dagm_second)


def test_training_images_that_are_all_labelled(tmp_path):
    make(tmp_path, "Train/1.png", "Train/Label/1_label.png", "Test/1.png")
    with pytest.raises(LayoutError, match="Train: every image has a label"):
        recognise(tmp_path)


def test_folders(tmp_path):
    root = make(tmp_path, "Good/1.png", "scratch/1.png", "scratch/2.bmp", "dent/1.tif", "empty/notes.txt", "plan.pdf")
    layout = recognise(root)
    assert layout.kind == "folders"
    assert names(layout.good) == ["Good/1.png"]
    assert names(layout.test) == ["dent/1.tif", "scratch/1.png", "scratch/2.bmp"]
    assert all(item.defective for item in layout.test)
    make(root, "ground_truth/dent/1_mask.png")
    assert [item.mask is not None for item in recognise(root).test] == [True, False, False]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            [],
            r"root: the folder is empty\. The known layouts are: flat: images directly in the folder; folders: ",
        ),
        (["a/1.png", "b/1.png", "c/1.png", "d/1.png"], r"but 4 folders \(a, b, c, …\)\. The known"),
        (["notes.txt", "a/1.png"], r"but 1 folder \(a\) and 1 other file \(notes\.txt\)\. The known layouts are"),
        (["train/1.png", "test/1.png"], r"2 folders \(test, train\)"),
        (["good/1.png", "1.png"], "images in good/ and in the folder itself"),
        (["good/notes.txt", "bad/1.png"], "good: the folder has no images"),
        (["train/good/notes.txt", "test/a/1.png"], "good: the folder has no images"),
        (["x.png", "Class1/1.png", "Class1_def/1.png", "Class1_def/labels.txt"], r"in its folders \(Class1\)"),
        (["Class1/notes.txt", "Class1_def/1.png", "Class1_def/labels.txt"], "Class1: the folder has no images"),
    ],
)
def test_what_cannot_be_told_apart_is_refused_in_one_line(tmp_path, content, message):
    root = make(tmp_path / "root", *content)
    root.mkdir(exist_ok=True)
    with pytest.raises(ImageError, match=message) as caught:
        recognise(root)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(str(root))


def test_missing_folder_and_file(tmp_path):
    with pytest.raises(ImageError, match="none: there is no such folder"):
        recognise(tmp_path / "none")
    with pytest.raises(ImageError, match="this is not a folder"):
        recognise(make(tmp_path, "a.png") / "a.png")


@pytest.mark.parametrize(
    "line",
    [
        "1 2 3",
        "1 6 3 0 11 8 9",
        "one 6 3 0 11 8",
        "1 6 3 zero 11 8",
        "1.5 6 3 0 11 8",
        "1 0 3 0 11 8",
        "1 6 3 nan 11 8",
    ],
)
def test_bad_labels_are_told_with_their_line(dagm, line):
    path = dagm / "Class1_def" / "labels.txt"
    path.write_text(f"2 6 3 0 11 8\n{line}\n")
    with pytest.raises(MaskError, match=r"labels\.txt: line 2 must contain six numbers"):
        recognise(dagm)


def test_labels_in_other_hands(dagm):
    path = dagm / "Class1_def" / "labels.txt"
    path.write_bytes("\ufeff# image, a, b, t, x, y\r\n1,6,3,0,11,8\r\n 1.0e+00; 2; 2; 0; 30; 30\r\n\r\n".encode())
    (mask,) = [item.mask for item in recognise(dagm).test if item.mask]
    assert mask == MaskUnion((Ellipse(6, 3, 0, 11, 8), Ellipse(2, 2, 0, 30, 30)))
    drawn = mask.draw((40, 40))
    assert drawn[7, 10]
    assert drawn[29, 29]
    assert drawn.sum() == Ellipse(6, 3, 0, 11, 8).draw((40, 40)).sum() + 13


def test_unreadable_labels(dagm):
    path = dagm / "Class1_def" / "labels.txt"
    path.unlink()
    path.symlink_to(dagm / "gone.txt")
    with pytest.raises(MaskError, match=r"labels\.txt: the file cannot be read"):
        recognise(dagm)


def test_ellipse_by_hand():
    mask = Ellipse(major=3, minor=1, rotation=0, x=5, y=3).draw((5, 9))
    expected = np.zeros((5, 9), bool)
    expected[2, 1:8] = True
    expected[[1, 3], 4] = True
    np.testing.assert_array_equal(mask, expected)
    upright = Ellipse(3, 1, np.pi / 2 + 1e-9, x=3, y=5).draw((9, 5))
    np.testing.assert_array_equal(upright, expected.T)


def test_ellipse_turns_from_right_to_down():
    mask = Ellipse(40, 4, np.pi / 4, x=51, y=51).draw((101, 101))
    assert mask[50 + 25, 50 + 25]
    assert not mask[50 - 25, 50 + 25]
    assert mask.sum() == pytest.approx(np.pi * 40 * 4, rel=0.02)
    moved = Ellipse(40, 4, np.pi / 4, x=61, y=46).draw((101, 101))
    np.testing.assert_array_equal(moved[:-5, 10:], mask[5:, :-10])


def test_mask_from_a_file(tmp_path):
    truth = np.zeros((6, 8), bool)
    truth[2:4, 1:5] = True
    for name, white in (("a.png", 255), ("b.png", 1)):
        save(tmp_path / name, truth * white)
        np.testing.assert_array_equal(MaskFile(tmp_path / name).draw((6, 8)), truth)
    with pytest.raises(MaskError, match=r"a\.png: the mask has 8×6 pixels and its image 6×8; make them equal"):
        MaskFile(tmp_path / "a.png").draw((8, 6))
    Image.fromarray((truth * 255).astype(np.uint8)).resize((64, 48), 0).save(tmp_path / "c.jpg", quality=60)
    np.testing.assert_array_equal(MaskFile(tmp_path / "c.jpg").draw((48, 64)), truth.repeat(8, 0).repeat(8, 1))
    with pytest.raises(ImageError, match=r"d\.png: there is no such file"):
        MaskFile(tmp_path / "d.png").draw((8, 6))


def test_dividing_the_good_images(dagm):
    make(dagm, *(f"Class1/{number}.png" for number in range(11, 19)))
    layout = recognise(dagm)
    divided = layout.divided(0.3, seed=4)
    moved = [item for item in divided.test if not item.defective]
    assert (len(layout.good), len(divided.good), len(moved)) == (10, 7, 3)
    assert {item.defective for item in moved} == {False}
    assert {*names(divided.good), *names(moved)} == set(names(layout.good))
    assert divided.test[3:] == layout.test
    assert divided == layout.divided(0.3, seed=4)
    assert len({layout.divided(0.3, seed).good for seed in range(5)}) > 1
    assert names(divided.good) == [name for name in names(layout.good) if name in names(divided.good)]


def test_dividing_a_flat_folder_leaves_no_image_on_both_sides(tmp_path):
    layout = recognise(make(tmp_path, *(f"{number}.png" for number in range(8)))).divided(0.5, seed=0)
    assert len(layout.good) == len(layout.test) == 4
    assert not set(names(layout.good)) & set(names(layout.test))
    assert layout.labelled


@pytest.mark.parametrize("share", [0, 1, -0.5, 2, 0.01, 0.99, float("nan")])
def test_shares_that_leave_nothing(tmp_path, share):
    layout = recognise(make(tmp_path, "1.png", "2.png", "3.png"))
    with pytest.raises(LayoutError, match="of 3 good images cannot be set aside"):
        layout.divided(share, seed=0)


def test_descriptions(mvtec, tmp_path):
    assert describe(recognise(mvtec)).splitlines() == [
        "layout   mvtec (train/good/, test/<defect>/, ground_truth/<defect>/)",
        "to fit   2 images: train/good/000.png, train/good/001.png",
        "to test  4 images: test/big hole/000.png, test/crack/000.png, test/crack/001.PNG, …",
        "         1 good, 3 defective, 2 with mask",
        "no mask  1 image: test/big hole/000.png",
    ]
    assert describe(recognise(make(tmp_path / "plain", "a.png"))).splitlines() == [
        "layout   flat (images directly in the folder)",
        "to fit   1 image: a.png",
        "to test  no images",
    ]
    assert describe(recognise(make(tmp_path / "few", "good/a.png"))).splitlines()[-1] == "to test  no images"


def test_defective_images_without_any_mask_are_told(dagm):
    (dagm / "Class1_def" / "labels.txt").write_text("image a b t x y\n")
    assert describe(recognise(dagm)).splitlines()[2:] == [
        "to test  3 images: Class1_def/001.png, Class1_def/002.png, Class1_def/003.png",
        "         3 defective",
        "no mask  3 images: Class1_def/001.png, Class1_def/002.png, Class1_def/003.png",
    ]


def test_items_compare_by_what_they_hold():
    assert Item(Path("a"), "a") == Item(Path("a"), "a", None, None)


@pytest.mark.skipif(not DAGM.is_dir(), reason="the DAGM images are not beside the repository")
def test_dagm_as_it_is_given_out():
    layouts = recognise_all(DAGM)
    assert list(layouts) == [f"Class{number}" for number in range(1, 7)]
    for layout in layouts.values():
        assert (len(layout.good), len(layout.test), layout.without_mask) == (36, 12, ())
    halves = layouts["Class1"].divided(0.5, seed=0)
    assert (len(halves.good), len(halves.test)) == (18, 30)


@pytest.mark.skipif(not DAGM.is_dir(), reason="the DAGM images are not beside the repository")
@pytest.mark.parametrize(("kind", "least"), [("Class2", 1.15), ("Class6", 1.5)])
def test_the_ellipses_lie_on_the_defects(kind, least):
    """Defects of these classes are darker or brighter than the surface, once its texture is smoothed away."""
    ratios, by_chance = [], []
    for item in recognise_all(DAGM)[kind].test:
        image = gaussian_filter(read_image(item.path), 4)
        odd = np.abs(image - np.median(image))
        mask = item.mask.draw(image.shape)
        ratios.append(odd[mask].mean() / odd[~mask].mean())
        by_chance.append(odd[mask.T].mean() / odd[~mask.T].mean())
    assert np.median(ratios) > least
    assert np.median(by_chance) < 1.05


def test_masks_named_like_no_image_are_told(mvtec):
    make(mvtec, "ground_truth/big hole/999_mask.png", "ground_truth/crack/002.png", "ground_truth/good/000.png")
    layout = recognise(mvtec)
    assert layout.lone_masks == ("ground_truth/big hole/999_mask.png", "ground_truth/crack/002.png")
    assert "no image 2 masks: ground_truth/big hole/999_mask.png" in describe(layout)
    words = unlike_names(layout)
    assert "2 masks are named like no image" in words
    assert "1 defective images have no mask (test/big hole/000.png)" in words


def test_the_folders_of_anomalib(tmp_path):
    root = make(
        tmp_path / "part",
        *("normal/0.png", "abnormal/1.png", "abnormal/2.png", "abnormal/3.png"),
        *("masks/1.png", "masks/2_label.png"),
    )
    layout = recognise(root)
    assert (layout.kind, names(layout.good)) == ("folders", ["normal/0.png"])
    assert [item.mask and item.mask.path.name for item in layout.test] == ["1.png", "2_label.png", None]
    assert unlike_names(layout) is None
