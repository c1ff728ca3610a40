"""Stopped runs, full disks, occupied folders: they are reported, and no partly written file is left."""

import csv
import errno
import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager

import numpy as np
import pytest
from typer.testing import CliRunner

pytest.importorskip("safetensors")
pytest.importorskip("PIL")

from PIL import Image

from vwkde.cli.main import app
from vwkde.inspection import SurfaceInspector, make_surfaces
from vwkde.inspection.runs import folder as run_folder
from vwkde.inspection.runs import output as run_output
from vwkde.inspection.runs.records import FORMAT, ModelInfo
from vwkde.inspection.runs.scores import ScoreRow, scores_table

SIZE = 96
SLOWLY = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # also where the tests run in the background
from vwkde.inspection.data import pictures
read = pictures.read_image_like

def read_slowly(path, *wanted):
    print(path, flush=True)
    time.sleep(0.1)
    return read(path, *wanted)

pictures.read_image_like = read_slowly
from vwkde.cli.main import main
main()
"""
"""The command line, slowed down, which prints each image that it reads."""


def run(*arguments):
    return CliRunner().invoke(app, ["inspect", *map(str, arguments)])


def interrupt(after, *arguments):
    """Run a command slowly and send the signal of Ctrl-C after this many images."""
    command = [sys.executable, "-c", SLOWLY, "inspect", *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        for _ in range(after):
            process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)
        return process.returncode, told


def hidden(folder):
    return [path for path in folder.rglob("*") if path.name.startswith(".")]


def rows(folder):
    return list(csv.DictReader((folder / "scores.csv").read_text(encoding="utf-8").splitlines()))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("surfaces")
    surfaces = make_surfaces("woven", 30, 2, SIZE)
    for place, image in enumerate(surfaces.images):
        path = folder / ("good" if place < 20 else "new") / f"{place}.png"
        path.parent.mkdir(exist_ok=True)
        Image.fromarray(np.rint(255 * image).astype(np.uint8)).save(path)
    done = run("fit", folder / "good", "-o", folder / "part.vwkde")
    assert done.exit_code == 0, done.output
    return folder


def check(folder, output, images="new"):
    return run("check", folder / images, "-m", folder / "part.vwkde", "-o", output)


def test_a_check_that_is_stopped_keeps_what_was_found(folder, tmp_path):
    output = tmp_path / "run"
    status, told = interrupt(6, "check", folder / "new", "-m", folder / "part.vwkde", "-o", output)
    assert status == 130
    record = json.loads((output / "results.json").read_text())
    assert record["state"] == "stopped"
    assert record["expected_images"] == 12
    assert 4 <= len(rows(output)) <= 6
    assert told.strip().splitlines() == [
        f"stopped: {len(rows(output))} of 12 images were checked; only these are in {output / 'scores.csv'}"
    ]
    assert "The run was stopped" in (output / "report.html").read_text()
    assert hidden(tmp_path) == []
    assert check(folder, output).exit_code == 1
    assert len(list(output.rglob("*.png"))) == len(rows(output)) == 12


def test_a_fit_that_is_stopped_writes_nothing(folder, tmp_path):
    status, told = interrupt(6, "fit", folder / "good", "-o", tmp_path / "part.vwkde")
    assert status == 130
    assert told.strip().splitlines() == ["stopped: Nothing was learnt or written."]
    assert list(tmp_path.iterdir()) == []


def test_an_addition_that_is_stopped_leaves_the_model_as_it_was(folder, tmp_path):
    before = (folder / "part.vwkde").read_bytes()
    (tmp_path / "part.vwkde").write_bytes(before)
    status, told = interrupt(2, "add", folder / "new", "-m", tmp_path / "part.vwkde")
    assert status == 130
    assert told.strip().endswith("was not changed.")
    assert (tmp_path / "part.vwkde").read_bytes() == before
    assert hidden(tmp_path) == []


def fill_disk_after(monkeypatch, count, everything=False):
    """Let the disk be full after this many pictures; for pictures alone, or for all later files."""
    written = 0
    real = run_folder.whole_file

    @contextmanager
    def fails(path):
        nonlocal written
        if path.suffix == ".png":
            written += 1
        full = written > count and (everything or path.suffix == ".png")
        with real(path) as file:
            yield file
            if full:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def write_text(path, text):
        with fails(path) as file:
            file.write(text.encode())

    monkeypatch.setattr(run_folder, "whole_file", fails)
    monkeypatch.setattr(run_folder, "write_text", write_text)


@pytest.mark.parametrize("everything", [False, True])
def test_a_full_disk_is_told_with_what_was_saved(folder, tmp_path, monkeypatch, everything):
    fill_disk_after(monkeypatch, 3, everything)
    done = check(folder, tmp_path / "run")
    told = str(done.exception)
    assert done.exit_code == 1  # of the test runner, which hands on the exception; the program's own is 2
    assert told.startswith(f"{tmp_path / 'run' / 'overlays' / '23.png'}: cannot be written: No space left on device")
    assert "3 of 12 images had been checked" in told
    record = json.loads((tmp_path / "run" / "results.json").read_text())
    if everything:
        assert "could not be written either" in told
        assert record["state"] == "running"
        assert not (tmp_path / "run" / "scores.csv").exists()
    else:
        assert f"their scores are in {tmp_path / 'run' / 'scores.csv'}" in told
        assert record["state"] == "stopped"
        assert len(rows(tmp_path / "run")) == 3
    assert hidden(tmp_path) == []


def test_a_full_disk_ends_with_status_2_and_one_line(folder, tmp_path):
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)); "
        "from vwkde.cli.main import main; main()"
    )
    arguments = ["check", folder / "new", "-m", folder / "part.vwkde", "-o", tmp_path / "run"]
    command = [sys.executable, "-c", code, "inspect", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "cannot be written: File too large" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert hidden(tmp_path) == []


def test_an_output_folder_that_is_a_file(folder, tmp_path):
    (tmp_path / "file").write_text("mine")
    for output in (tmp_path / "file", tmp_path / "file" / "run"):
        for arguments in (
            ["check", folder / "new", "-m", folder / "part.vwkde"],
            ["eval", folder / "good"],
        ):
            done = run(*arguments, "-o", output)
            assert str(done.exception).startswith(f"{tmp_path / 'file'}: is a file, but a folder is needed there")
    done = run("fit", folder / "good", "-o", tmp_path / "file" / "part.vwkde")
    assert "a folder is needed there" in str(done.exception)
    done = run("fit", folder / "good", "-o", tmp_path)
    assert "is a folder. Give a file name" in str(done.exception)
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written_to(folder, tmp_path):
    (tmp_path / "closed").mkdir(mode=0o500)
    done = check(folder, tmp_path / "closed")
    assert str(done.exception) == f"{tmp_path / 'closed'}: cannot be written: Permission denied."


def test_a_folder_that_refuses_files_is_found_out_before_the_work(folder, tmp_path, monkeypatch):
    def refuse(**_):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(run_output, "TemporaryFile", refuse)
    done = run("fit", folder / "good", "-o", tmp_path / "part.vwkde")
    assert str(done.exception) == f"{tmp_path}: cannot be written: Permission denied."


def test_a_second_run_leaves_nothing_of_the_first(folder, tmp_path):
    output = tmp_path / "run"
    assert check(folder, output).exit_code == 1
    (output / "overlays" / "mine.txt").write_text("mine")
    (output / "notes.txt").write_text("mine")
    assert check(folder, output, "good/3.png").exit_code in (0, 1)
    assert [path.name for path in output.rglob("*.png")] == ["3.png"]
    assert len(rows(output)) == 1
    assert (output / "overlays" / "mine.txt").read_text() == "mine"
    assert (output / "notes.txt").read_text() == "mine"


def test_what_a_killed_run_left_goes_too(folder, tmp_path):
    output = tmp_path / "run"
    model = ModelInfo("part.vwkde", 20, "gradient", 0.05, 1.0, 2.0)
    run_folder.RunFolder(output, ["a/b.png", "c.png"], "images", model)
    (output / "overlays" / "a").mkdir(parents=True)
    (output / "overlays" / "a" / "b.png").write_bytes(b"an old picture")
    assert json.loads((output / "results.json").read_text())["state"] == "running"
    assert check(folder, output, "good/3.png").exit_code in (0, 1)
    assert [path.name for path in (output / "overlays").iterdir()] == ["3.png"]


@pytest.mark.parametrize("name", ["scores.csv", "results.json", "report.html", "overlays/23.png"])
def test_files_of_others_are_not_replaced(folder, tmp_path, name):
    (tmp_path / "overlays").mkdir()
    (tmp_path / name).write_text("mine")
    done = check(folder, tmp_path)
    assert str(done.exception).startswith(f"{tmp_path / name}: already exists, and no run of vwkde wrote it")
    assert (tmp_path / name).read_text() == "mine"
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == 1


def test_a_record_of_someone_else_removes_nothing_outside(folder, tmp_path):
    (tmp_path / "precious.png").write_text("mine")
    (tmp_path / "run").mkdir()
    record = {
        "format": FORMAT,
        "images": [{"overlay": "../precious.png"}, {"overlay": "overlays/../../precious.png"}],
    }
    (tmp_path / "run" / "results.json").write_text(json.dumps(record))
    assert check(folder, tmp_path / "run", "good/3.png").exit_code in (0, 1)
    assert (tmp_path / "precious.png").read_text() == "mine"


def test_pictures_of_a_run_are_not_taken_for_images(folder, tmp_path):
    for path in (folder / "new").iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    for _ in range(2):
        assert run("check", tmp_path, "-m", folder / "part.vwkde", "-o", tmp_path / "run").exit_code == 1
        assert len(rows(tmp_path / "run")) == 12


def test_images_of_one_name_have_a_picture_each(folder, tmp_path):
    image = Image.open(folder / "good" / "3.png")
    long = "x" * 230
    for name in ("a.png", "a.bmp", "A.PNG", "a.bmp.png", f"{long}.png"):
        image.save(tmp_path / name)
    done = run("check", tmp_path, "-m", folder / "part.vwkde", "-o", tmp_path / "run")
    assert done.exit_code in (0, 1), done.output
    record = json.loads((tmp_path / "run" / "results.json").read_text())
    overlays = {row["overlay"] for row in record["images"]}
    assert len({each.casefold() for each in overlays}) == 5
    assert all((tmp_path / "run" / each).is_file() for each in overlays)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems allow no such names")
def test_names_that_are_no_text_are_told_all_the_same(folder, tmp_path):
    data = (folder / "good" / "3.png").read_bytes()
    for name in (b"caf\xe9.png", b"two\nlines.png", b"bell\x07.png"):
        with open(os.path.join(os.fsencode(tmp_path), name), "wb") as file:
            file.write(data)
    done = run("check", tmp_path, "-m", folder / "part.vwkde", "-o", tmp_path / "run")
    assert done.exit_code in (0, 1), done.exception
    names = {row["image"] for row in rows(tmp_path / "run")}
    assert names == {"caf\\udce9.png", "two\\nlines.png", "bell\\x07.png"}


def test_whatever_goes_wrong_half_way_what_was_found_is_written(folder, tmp_path, monkeypatch):
    checked = []
    real = SurfaceInspector.check

    def check_three(self, image, name="image"):
        checked.append(name)
        if len(checked) > 3:
            raise MemoryError("no more memory")
        return real(self, image, name)

    monkeypatch.setattr(SurfaceInspector, "check", check_three)
    done = check(folder, tmp_path / "run")
    assert str(done.exception) == "no more memory"
    assert {row["image"] for row in rows(tmp_path / "run")} == set(checked[:3])
    assert json.loads((tmp_path / "run" / "results.json").read_text())["state"] == "stopped"


def test_no_name_is_taken_for_a_formula():
    names = ["=1+1", "+1", "-1", "@x", "fine=.png"]
    table = [ScoreRow(name, "OK", score=-1.5, nearest_good=name, error=name) for name in names]
    found = list(csv.DictReader(scores_table(table).splitlines()))
    for column in ("image", "nearest_good", "error"):
        assert [row[column] for row in found] == ["'=1+1", "'+1", "'-1", "'@x", "fine=.png"]
    assert {row["score"] for row in found} == {"-1.5"}
