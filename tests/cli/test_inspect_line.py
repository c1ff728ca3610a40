"""The commands of `vwkde inspect` for a production line, as they are typed."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

pytest.importorskip("safetensors")
pytest.importorskip("PIL")

from PIL import Image

from support.commands import runner
from support.serving import file_of, surface

GOOD, SIDE = 22, 96


def write(path, seed, defect=False):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(file_of(_surface(seed, defect)))


def _surface(seed, defect=False):
    pixels = surface(seed, side=SIDE).copy()
    if defect:
        pixels[30:60, 30:60] = 128
    return pixels


@pytest.fixture
def run(capfd, monkeypatch):
    return runner(capfd, monkeypatch, "inspect")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("line")
    for seed in range(GOOD):
        write(folder / "good" / f"{seed}.png", seed)
    for seed in range(2):
        write(folder / "bad" / f"{seed}.png", 100 + seed, defect=True)
    mask = np.zeros((SIDE, SIDE), dtype=np.uint8)
    mask[24:66, 24:66] = 255
    (folder / "mask.png").write_bytes(file_of(mask))
    (folder / "rest.png").write_bytes(file_of(255 - mask))
    return folder


def fitted(run, folder, path, *options):
    status, told, errors = run("fit", str(folder / "good"), "-o", str(path), "--features", "texture", *options)
    assert status == 0, errors
    return told


def test_bad_images_move_the_threshold_up_and_the_card_says_so(run, folder, tmp_path):
    path = tmp_path / "part.vwkde"
    told = fitted(run, folder, path, "--bad", str(folder / "bad"), "--note", "lid, camera 2")
    assert "All 2 bad images are found" in told
    card = json.loads(run("show", "-m", str(path), "--json")[1])
    assert card["threshold"] > card["threshold_of_good"]
    assert (card["known_bad_images"], card["made"]["note"]) == (2, "lid, camera 2")
    lines = run("show", "-m", str(path))[1]
    assert "lid, camera 2" in lines
    assert "22 good images of 96 × 96 pixels" in lines
    assert run("check", str(folder / "bad"), "-m", str(path), "-o", str(tmp_path / "run"))[0] == 1
    status, told, _ = run("calibrate", str(folder / "good"), "-m", str(path))  # these are not bad
    assert status == 0
    assert "the threshold stays" in told
    card = json.loads(run("show", "-m", str(path), "--json")[1])
    assert card["threshold"] == card["threshold_of_good"]
    assert "calibrate" in run("history", "-m", str(path))[1]


def test_networks_are_trained_and_the_card_says_so(run, folder, tmp_path, monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.setattr("vwkde.inspection.model.trained.training.PIXELS", 2 * 10**5)
    path = tmp_path / "part.vwkde"
    status, _, errors = run("fit", str(folder / "good"), "-o", str(path), "--features", "trained")
    assert status == 0, errors
    card = run("show", "-m", str(path))[1]
    assert "2, trained on the good images with made-up defects" in card
    assert run("check", str(folder / "bad"), "-m", str(path), "-o", str(tmp_path / "run"))[0] == 1


@pytest.mark.parametrize(("option", "mask"), [("--ignore", "mask.png"), ("--roi", "rest.png")])
def test_a_defect_in_the_ignored_part_is_not_seen(run, folder, tmp_path, option, mask):
    path = tmp_path / "part.vwkde"
    fitted(run, folder, path, option, str(folder / mask))
    assert run("check", str(folder / "bad" / "0.png"), "-m", str(path), "-o", str(tmp_path / "run"))[0] == 0
    assert "ignored" in run("show", "-m", str(path))[1]


def test_a_mask_of_another_size_is_refused(run, folder, tmp_path):
    (tmp_path / "small.png").write_bytes(file_of(np.eye(50, dtype=np.uint8)))
    options = ["--features", "texture", "--ignore", str(tmp_path / "small.png")]
    status, _, errors = run("fit", str(folder / "good"), "-o", str(tmp_path / "part.vwkde"), *options)
    assert status == 2
    assert "The mask of what is ignored: is 50 × 50 pixels, but must have 96 × 96 like the images" in errors
    assert not (tmp_path / "part.vwkde").exists()


def test_a_watched_folder(run, folder, tmp_path):
    path, inbox, out = tmp_path / "part.vwkde", tmp_path / "inbox", tmp_path / "run"
    fitted(run, folder, path)
    write(inbox / "first.png", 200)
    command = [sys.executable, "-m", "vwkde.cli", "inspect", "watch", inbox, "-m", path, "-o", out, "--every", "0.05"]
    with subprocess.Popen([*command, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert verdict(process) == ("first.png", "OK")
            whole = file_of(_surface(201, defect=True))
            (inbox / "late.png").write_bytes(whole[:2000])  # a camera that stops in the middle of an image
            time.sleep(0.3)
            write(inbox / "below" / "next.png", 202)
            assert verdict(process) == ("below/next.png", "OK")
            (inbox / "late.png").write_bytes(whole)
            assert verdict(process) == ("late.png", "NG")
            (inbox / "note.png").write_text("no image")
            old = time.time() - 60
            os.utime(inbox / "note.png", (old, old))
            assert verdict(process) == ("note.png", "ERROR")
            process.send_signal(signal.SIGTERM)
            assert process.wait(60) == 0, process.stderr.read()
        finally:
            process.kill()
    record = json.loads((out / "results.json").read_text())
    assert record["state"] == "complete"
    assert record["counts"] == {"OK": 2, "NG": 1, "ERROR": 1}
    assert "late.png" in (out / "report.html").read_text()
    assert not [each for each in out.iterdir() if each.name.startswith(".")]


def verdict(process):
    line = json.loads(process.stdout.readline())
    return line["image"], line["verdict"]


def test_images_that_pass_but_score_higher_than_learnt_are_told(run, folder, tmp_path):
    path = tmp_path / "part.vwkde"
    fitted(run, folder, path, "--rate", "0.05")
    for seed in range(16):  # dimmer light
        image = (128 + 0.8 * (_surface(300 + seed).astype(float) - 128)).astype(np.uint8)
        (tmp_path / "dim").mkdir(exist_ok=True)
        (tmp_path / "dim" / f"{seed}.png").write_bytes(file_of(image))
    errors = run("check", str(tmp_path / "dim"), "-m", str(path), "-o", str(tmp_path / "run"))[2]
    assert "warning:" in errors
    drift = json.loads((tmp_path / "run" / "results.json").read_text())["drift"]
    assert drift["p_value"] is None or drift["p_value"] < 0.001
    assert "the false-reject rate no longer holds" in drift["warning"]
    assert "the false-reject rate no longer holds" in (tmp_path / "run" / "report.html").read_text()


def test_a_device_judges_as_the_cpu_does(run, folder, tmp_path):
    pytest.importorskip("torch")
    path = tmp_path / "part.vwkde"
    status, _, errors = run("fit", str(folder / "good"), "-o", str(path), "--features", "combined", "--device", "cpu:0")
    assert status == 0, errors
    scores = []
    for device in ([], ["--device", "cpu:0"]):
        _, told, _ = run("check", str(folder / "bad"), "-m", str(path), "-o", str(tmp_path / "run"), "--json", *device)
        scores.append([image["score"] for image in json.loads(told)["images"]])
    assert scores[0] == pytest.approx(scores[1], rel=1e-4)
    status, _, errors = run("check", str(folder / "bad"), "-m", str(path), "--device", "gpu")
    assert status == 2
    assert "The device 'gpu' cannot be used" in errors


def test_a_folder_of_images_of_many_sizes_is_learnt_and_checked(run, tmp_path):
    for seed in range(24):
        pixels = surface(seed, side=128)[: 80 + 2 * seed, : 128 - seed].copy()
        if seed >= 22:
            pixels[30:60, 30:60] = 128
        path = tmp_path / ("good" if seed < 22 else "bad") / f"{seed}.png"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(file_of(pixels))
    model = tmp_path / "part.vwkde"
    status, _, errors = run("fit", str(tmp_path / "good"), "-o", str(model), "--features", "texture")
    assert status == 0, errors
    assert "The images differ in size: all are scaled to 118 × 101 pixels." in errors
    card = json.loads(run("show", "-m", str(model), "--json")[1])
    assert (card["image_width"], card["image_height"], card["any_size"]) == (118, 101, True)
    status, _, errors = run("check", str(tmp_path / "bad"), "-m", str(model), "-o", str(tmp_path / "run"))
    assert status == 1, errors
    with Image.open(tmp_path / "run" / "overlays" / "23.png") as overlay:
        assert overlay.size == (128 - 23, 126)
    status, _, errors = run(
        "eval", str(tmp_path), "--features", "texture", "-o", str(tmp_path / "eval"), "--size", "96x96", "--rate", "0.2"
    )
    assert status == 0, errors
    assert json.loads(run("show", "-m", str(tmp_path / "eval" / "model.vwkde"), "--json")[1])["image_width"] == 96


def test_a_stray_image_of_another_size_is_told_and_left_out(run, folder, tmp_path):
    good = tmp_path / "good"
    shutil.copytree(folder / "good", good)
    (good / "stray.png").write_bytes(file_of(surface(3, side=64)))
    status, _, errors = run("fit", str(good), "-o", str(tmp_path / "part.vwkde"), "--features", "texture")
    assert status == 2
    assert "stray.png: is 64 × 64 pixels, but must have 96 × 96" in errors
    status, _, errors = run("fit", str(good), "-o", str(tmp_path / "other.vwkde"), "--size", "96")
    assert status == 2
    assert "The '--size' option must be a width and a height, for example 640x480. Got '96' instead." in errors


def test_colours_count_if_asked_for(run, tmp_path):
    for seed in range(24):
        gray = surface(seed, side=SIDE).astype(int)
        change = np.array([14, -7, 0]) + np.random.default_rng(seed).integers(-2, 3, size=(SIDE, SIDE, 3))
        if seed >= 22:
            change[30:60, 30:60] = [-10, 5, 0]  # leaves the brightness nearly as it is
        path = tmp_path / ("good" if seed < 22 else "bad") / f"{seed}.png"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(file_of(np.clip(gray[..., None] + change, 0, 255).astype(np.uint8)))
    statuses = []
    for colour in ([], ["--colour"]):
        model = tmp_path / f"part{len(colour)}.vwkde"
        status, _, errors = run("fit", str(tmp_path / "good"), "-o", str(model), "--features", "texture", *colour)
        assert status == 0, errors
        statuses.append(run("check", str(tmp_path / "bad"), "-m", str(model), "-o", str(tmp_path / "run"))[0])
    assert statuses == [0, 1]
    assert json.loads(run("show", "-m", str(model), "--json")[1])["colour"]
