"""`vwkde inspect` as it is typed: learning and the first check in processes of their own, the rest in this one."""

import csv
import json
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("safetensors")
pytest.importorskip("PIL")

from PIL import Image
from scipy import ndimage

from support.commands import runner
from vwkde.inspection import SurfaceInspector


def write_surface(path, seed, defect=False):
    random = np.random.default_rng(seed)
    image = ndimage.gaussian_filter(random.normal(size=(160, 160)), 1.5)
    if defect:
        image[100:140, 100:140] = ndimage.gaussian_filter(image, 6)[100:140, 100:140]
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.clip(128 + 128 * image, 0, 255).astype(np.uint8)).save(path)


def start(*arguments):
    command = [sys.executable, "-m", "vwkde.cli", "inspect", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def run(capfd, monkeypatch):
    return runner(capfd, monkeypatch, "inspect")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("surfaces")
    for seed in range(22):
        write_surface(folder / "good" / f"{seed}.png", seed)
    for seed in range(3):
        write_surface(folder / "new" / f"bad {seed}.png", 2_000 + seed, defect=True)
    write_surface(folder / "new" / "fine.png", 1_003)
    done = start("fit", folder / "good", "-o", folder / "part.vwkde")
    assert done.returncode == 0, done.stderr
    assert "22 good images learnt" in done.stdout
    return folder


def test_without_a_choice_the_recommended_features_are_used(folder):
    assert SurfaceInspector.load(folder / "part.vwkde").features == SurfaceInspector().features == "combined"


def test_a_check_finds_the_defects_and_says_so_by_its_status(folder, tmp_path):
    done = start("check", folder / "new", "-m", folder / "part.vwkde", "-o", tmp_path / "run")
    assert done.returncode == 1, done.stderr
    rows = list(csv.DictReader((tmp_path / "run" / "scores.csv").read_text().splitlines()))
    verdicts = {row["image"]: row["verdict"] for row in rows}
    assert verdicts == {"bad 0.png": "NG", "bad 1.png": "NG", "bad 2.png": "NG", "fine.png": "OK"}
    assert rows[-1]["image"] == "fine.png"  # the worst come first
    assert all(row["boxes"] for row in rows[:3])
    assert rows[3]["boxes"] == ""
    record = json.loads((tmp_path / "run" / "results.json").read_text())
    assert record["counts"] == {"OK": 1, "NG": 3, "ERROR": 0}
    overlay = np.asarray(Image.open(tmp_path / "run" / "overlays" / "bad 0.png"))
    colour = np.ptp(overlay.astype(int), axis=2)
    assert colour[110:130, 110:130].mean() > 30
    assert colour[:60, :60].max() == 0


def test_a_good_image_passes(run, folder, tmp_path):
    status, told, errors = run("check", folder / "new" / "fine.png", "-m", folder / "part.vwkde", "-o", tmp_path)
    assert status == 0, errors
    assert "1 image checked, 0 rejected" in told


def test_bad_files_are_told_and_the_rest_is_scored(run, folder, tmp_path):
    images = tmp_path / "images"
    write_surface(images / "a.png", 1_003)
    (images / "empty.png").write_bytes(b"")
    (images / "text.png").write_text("no image")
    Image.new("L", (40, 50)).save(images / "small.png")
    status, _, errors = run("check", images, "-m", folder / "part.vwkde", "-o", tmp_path / "run")
    assert status == 2
    for name in ("empty.png", "text.png", "small.png"):
        assert name in errors
    rows = {row["image"]: row for row in csv.DictReader((tmp_path / "run" / "scores.csv").read_text().splitlines())}
    assert rows["a.png"]["verdict"] == "OK"
    assert {name for name, row in rows.items() if row["verdict"] == "ERROR"} == {"empty.png", "text.png", "small.png"}


def test_adding_good_images_moves_the_threshold(run, folder, tmp_path):
    model = tmp_path / "part.vwkde"
    model.write_bytes((folder / "part.vwkde").read_bytes())
    for seed in range(3):
        write_surface(tmp_path / "more" / f"{seed}.png", 500 + seed)
    status, told, errors = run("add", tmp_path / "more", "-m", model)
    assert status == 0, errors
    assert "3 good images added, 25 in total" in told
    assert run("check", folder / "new", "-m", model, "-o", tmp_path / "run")[0] == 1


@pytest.mark.filterwarnings("always::vwkde.exceptions.UnlikeImagesWarning")
def test_adding_a_defect_is_done_with_a_warning_and_can_be_undone(run, folder, tmp_path):
    model = tmp_path / "part.vwkde"
    model.write_bytes((folder / "part.vwkde").read_bytes())
    before = SurfaceInspector.load(model).calibration_.threshold
    write_surface(tmp_path / "more" / "fine.png", 500)
    write_surface(tmp_path / "more" / "odd.png", 2_000, defect=True)
    status, told, errors = run("add", tmp_path / "more", "-m", model)
    assert (status, errors.count("\n")) == (0, 1)
    assert "2 good images added" in told
    assert errors.startswith(f"warning: The threshold rises from {before:.3g} to ")
    assert "because images were added that this model rejected: odd.png (" in errors
    assert "`vwkde inspect undo`" in errors
    assert run("undo", "-m", model)[0] == 0
    assert SurfaceInspector.load(model).calibration_.threshold == pytest.approx(before)


def test_a_new_fit_does_not_silently_lose_images_that_were_added(run, folder, tmp_path):
    model = tmp_path / "part.vwkde"
    fit = "fit", folder / "good", "-o", model
    assert run(*fit, "--features", "texture")[0] == 0
    assert run(*fit, "--features", "texture")[0] == 0  # nobody has added anything
    write_surface(tmp_path / "more" / "0.png", 500)
    assert run("add", tmp_path / "more", "-m", model)[0] == 0
    with_more = model.read_bytes()
    status, _, errors = run(*fit, "--features", "texture")
    assert (status, model.read_bytes() == with_more) == (2, True)
    assert "this model has 1 image added after its fit" in errors
    assert run(*fit, "--features", "texture", "--force")[0] == 0
    assert model.read_bytes() != with_more


def test_what_was_recognised_is_printed_and_nothing_done(run, folder, tmp_path):
    status, told, errors = run("fit", folder / "good", "-o", tmp_path / "part.vwkde", "--dry-run")
    assert status == 0, errors
    assert "flat" in told
    assert "to fit   22 images" in told
    assert "to test  no images" in told  # `fit` learns all of them
    assert not (tmp_path / "part.vwkde").exists()


def test_errors_are_one_line(run, folder, tmp_path):
    status, _, errors = run("check", folder / "new", "-m", tmp_path / "none.vwkde")
    assert status == 2
    assert "there is no such file" in errors
    assert len(errors.strip().splitlines()) == 1


def test_a_dry_check_tells_the_images_and_writes_nothing(run, folder, tmp_path):
    told = run("check", folder / "new", "-m", tmp_path / "none.vwkde", "-o", tmp_path / "run", "--dry-run")
    assert told == (0, "4 images, bad 0.png to fine.png\n", "")
    assert list(tmp_path.iterdir()) == []


def test_a_dry_fit_tells_how_many_are_held_out(run, folder, tmp_path):
    status, told, errors = run("fit", folder / "good", "-o", tmp_path / "part.vwkde", "--hold-out", 0.5, "--dry-run")
    assert status == 0, errors
    assert "to fit   11 images" in told
    assert "to test  11 images" in told
    assert list(tmp_path.iterdir()) == []
