"""The folders of the data sets that anomalib reads, as they are given out."""

import numpy as np
import pytest

pytest.importorskip("PIL")

from vwkde.inspection.data.images import encode_png
from vwkde.inspection.data.layouts import LayoutError
from vwkde.inspection.data.recognise import recognise, recognise_all
from vwkde.inspection.runs.inputs import images_to_check

BLANK = np.zeros((8, 9), dtype=np.uint8)
SPOT = np.where(np.arange(72).reshape(8, 9) == 30, 255, 0).astype(np.uint8)


def make(root, *names, pixels=BLANK):
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(encode_png(pixels))
    return root


def labels(items):
    return {item.name: (item.defective, item.mask is not None) for item in items}


def names(items):
    return [item.name for item in items]


def test_btech(tmp_path):
    root = make(tmp_path / "01", "train/ok/0.png", "test/ok/1.png", "test/ko/2.png", "ground_truth/ko/2.bmp")
    layout = recognise(root)
    assert layout.kind == "mvtec"
    assert names(layout.good) == ["train/ok/0.png"]
    assert labels(layout.test) == {"test/ok/1.png": (False, False), "test/ko/2.png": (True, True)}
    assert layout.lone_masks == ()


def test_mvtec_with_a_folder_of_masks_for_each_image(tmp_path):
    root = make(tmp_path, "train/good/0.png", "test/good/1.png", "test/logical_anomalies/007.png")
    make(root, "ground_truth/logical_anomalies/007/000.png")
    make(root, "ground_truth/logical_anomalies/007/001.png", pixels=SPOT)
    layout = recognise(root)
    assert labels(layout.test)["test/logical_anomalies/007.png"] == (True, True)
    np.testing.assert_array_equal(layout.test[-1].mask.draw((8, 9)), SPOT > 0)


def test_mvtec_with_a_public_test(tmp_path):
    root = make(tmp_path, "train/good/0.png", "validation/good/1.png", "test_public/good/2.png")
    make(root, "test_public/bad/3.png", "test_public/ground_truth/bad/3_mask.png", "test_private/4.png")
    layout = recognise(root)
    assert labels(layout.test) == {"test_public/bad/3.png": (True, True), "test_public/good/2.png": (False, False)}


def test_folders_with_good_images_to_test(tmp_path):
    root = make(tmp_path, "normal/0.png", "normal_test/1.png", "abnormal/2.png", "mask/2.png")
    layout = recognise(root)
    assert layout.kind == "folders"
    assert labels(layout.test) == {"normal_test/1.png": (False, False), "abnormal/2.png": (True, True)}


def test_kolektor(tmp_path):
    root = make(tmp_path, *(f"kos0{k}/Part{n}.jpg" for k in (1, 2) for n in (0, 1)), pixels=BLANK + 99)
    make(root, "kos01/Part0_label.bmp", "kos02/Part0_label.bmp", "kos02/Part1_label.bmp")
    make(root, "kos01/Part1_label.bmp", pixels=SPOT)
    layout = recognise(root)
    assert layout.kind == "kolektor"
    assert names(layout.good) == ["kos01/Part0.jpg", "kos02/Part0.jpg", "kos02/Part1.jpg"]
    assert labels(layout.test) == {"kos01/Part1.jpg": (True, True)}
    assert len(images_to_check(root)) == 4
    (root / "kos02" / "Part9.jpg").write_bytes(encode_png(BLANK))
    (root / "kos02" / "Part8_label.bmp").write_bytes(encode_png(BLANK))
    with pytest.raises(LayoutError, match=r"Part9.jpg: there is no mask for this image"):
        recognise(root)


def test_the_second_kolektor(tmp_path):
    root = make(tmp_path, "train/1.png", "train/1_GT.png", "train/2.png", "test/3.png", "test/3_GT.png", "test/4.png")
    make(root, "train/2_GT.png", "test/4_GT.png", pixels=SPOT)
    layout = recognise(root)
    assert layout.kind == "kolektor-2"
    assert names(layout.good) == ["train/1.png"]
    assert labels(layout.test) == {"test/3.png": (False, False), "test/4.png": (True, True)}
    assert names(images_to_check(root)) == ["test/3.png", "test/4.png"]


def test_visa_and_its_classes(tmp_path):
    for kind in ("candle", "pcb1"):
        make(tmp_path / kind, "Data/Images/Normal/000.JPG", "Data/Images/Anomaly/001.JPG", "Data/Masks/Anomaly/001.png")
        (tmp_path / kind / "image_anno.csv").write_text("image,label\n")
    layouts = recognise_all(tmp_path)
    assert [layout.kind for layout in layouts.values()] == ["visa", "visa"]
    assert names(layouts["pcb1"].good) == ["pcb1/Data/Images/Normal/000.JPG"]
    assert labels(layouts["pcb1"].test) == {"pcb1/Data/Images/Anomaly/001.JPG": (True, True)}


def test_images_that_all_have_defects_are_nothing_to_fit_on(tmp_path):
    make(tmp_path, "kos01/a.png", "kos01/a_label.png", pixels=SPOT)
    with pytest.raises(LayoutError, match="no image has a black mask"):
        recognise(tmp_path)
