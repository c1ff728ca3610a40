"""What commands must not do: overwrite an input, work for an output that cannot be written, obey a file name."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

pytest.importorskip("safetensors")

from support.commands import runner
from support.serving import file_of, fit_surfaces, surface
from vwkde._data.tables import read_table
from vwkde.inspection import SurfaceInspector
from vwkde.inspection.model.files.container import read_container, write_container
from vwkde.inspection.model.inspector import SurfaceInspector as Inspector
from vwkde.inspection.runs import evaluator

RANDOM = np.random.default_rng(0)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name in ("p.csv", "q.csv", "z.csv"):
        np.savetxt(tmp_path / name, RANDOM.normal(size=(40, 2)), delimiter=",", header="a,b", comments="")
    fit_surfaces().save(tmp_path / "part.vwkde")
    for name, seed in (("new", 500), ("more", 501)):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.png").write_bytes(file_of(surface(seed)))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(folder, capfd, monkeypatch):  # noqa: ARG001  the commands run in that folder
    return runner(capfd, monkeypatch)


RATIO = ("ratio", "p.csv", "q.csv", "--at", "z.csv", "--method", "kde", "-o")


@pytest.mark.parametrize("name", ["p.csv", "q.csv", "z.csv", "./p.csv", "link.csv"])
def test_an_input_is_overwritten_only_by_force(run, folder, name):
    (folder / "link.csv").symlink_to("z.csv")
    before = {each.name: each.read_bytes() for each in folder.glob("*.csv")}
    status, _, err = run(*RATIO, name)
    assert status == 2
    assert err.startswith(f"error: {os.path.normpath(name)}: is an input of this command")
    assert {each.name: each.read_bytes() for each in folder.glob("*.csv")} == before
    assert run(*RATIO, name, "--force")[0] == 0
    assert (folder / name).read_bytes() != before[os.path.basename(name)]


OVERWRITERS = [
    (("reweight", "p.csv", "q.csv", "--estimator", "logistic"), ("p.csv", "q.csv")),
    (("drift", "p.csv", "q.csv"), ("p.csv", "q.csv")),
    (("drift", "fit", "p.csv"), ("p.csv",)),
    (("drift", "check", "ref.model", "q.csv"), ("ref.model", "q.csv")),
]


@pytest.mark.parametrize(("command", "inputs"), OVERWRITERS)
def test_weights_and_reports_overwrite_an_input_only_by_force(run, folder, command, inputs):
    assert run("drift", "fit", "p.csv", "-o", "ref.model")[0] == 0
    for name in inputs:
        before = (folder / name).read_bytes()
        status, _, err = run(*command, "-o", name)
        assert (status, err.count("\n")) == (2, 1)
        assert err.startswith(f"error: {name}: is an input of this command")
        assert (folder / name).read_bytes() == before
    assert run(*command, "-o", name, "--force")[0] in (0, 1)
    assert (folder / name).read_bytes() != before


def test_a_first_line_with_an_endless_field_is_told(run, folder):
    (folder / "long.csv").write_text(f"a,{'b' * 200_000}\n1,2\n3,4\n")
    status, _, err = run("kl", "long.csv", "q.csv")
    assert (status, err.count("\n")) == (2, 1)
    assert err.startswith("error: long.csv: the first line")
    with pytest.raises(ValueError, match=r"long\.csv: the first line"):
        read_table(folder / "long.csv")


def test_a_model_does_not_replace_a_file_of_another_kind(run, folder):
    picture = folder / "new" / "new.png"
    before = picture.read_bytes()
    status, _, err = run("inspect", "fit", "new", "-o", "new/new.png")
    assert status == 2
    assert "already exists and is not a model file" in err
    assert picture.read_bytes() == before


@pytest.mark.parametrize(
    "command",
    [
        (*RATIO, "taken/out.csv"),
        ("demo", "-o", "taken"),
        ("bench", "--quick", "-o", "taken"),
        ("reproduce", "fig2", "--quick", "-o", "taken"),
        ("inspect", "fit", "new", "-o", "taken/part.vwkde"),
    ],
)
def test_a_place_that_cannot_be_written_to_is_found_before_the_work(run, folder, command):
    (folder / "taken").write_text("a file, not a folder")
    start = time.process_time()
    status, out, err = run(*command)
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert "taken" in err
    assert time.process_time() - start < 1


@pytest.mark.filterwarnings("always:1 images have the pixels")
def test_additions_are_listed_and_taken_back(run, folder):
    status, out, _ = run("inspect", "history", "-m", "part.vwkde")
    assert (status, out) == (0, "No images were added since the fit.\n")
    assert run("inspect", "add", "more", "-m", "part.vwkde")[0] == 0
    written = (folder / "part.vwkde").read_bytes()
    status, out, err = run("inspect", "add", "more", "-m", "part.vwkde")
    assert (status, out.split(".")[0]) == (0, "0 good images added, 23 in total")
    assert "1 images have the pixels of known good images" in err
    assert (folder / "part.vwkde").read_bytes() == written
    listed = json.loads(run("inspect", "history", "-m", "part.vwkde", "--json")[1])
    assert [(each["kind"], each["names"]) for each in listed] == [("add", ["more.png"])]
    status, out, _ = run("inspect", "undo", "-m", "part.vwkde")
    assert (status, out.split(".")[0]) == (0, "1 good images taken back, 22 left")
    assert SurfaceInspector.load(folder / "part.vwkde").names_ == fit_surfaces().names_
    assert re.search(r"  undo  .*1 images: more\.png\n", run("inspect", "history", "-m", "part.vwkde")[1])
    status, _, err = run("inspect", "undo", "-m", "part.vwkde")
    assert (status, err.count("\n")) == (2, 1)


@pytest.mark.parametrize("name", ["a\x1b[31mred.png", "b\x9b2Jclear.png", "c\u202etxt.png", "d\rover.png"])
def test_a_terminal_is_shown_names_and_does_not_obey_them(run, folder, name):
    (folder / "odd").mkdir()
    (folder / "odd" / name).write_bytes(b"no image")
    for command in (
        ("inspect", "check", f"odd/{name}", "-m", "part.vwkde", "-o", "run"),
        ("inspect", "check", "odd", "-m", "part.vwkde", "--dry-run"),
        ("inspect", "fit", "odd", "-o", f"{name}.vwkde"),
        ("inspect", "check", name, "-m", "part.vwkde"),
        ("kl", name, "q.csv"),
        ("kl", "p.csv", "q.csv", f"--{name}"),
    ):
        _, out, err = run(*command)
        shown = out + err
        assert shown
        assert all(each.isprintable() for each in shown.replace("\n", ""))


SPECIAL = [
    ("drift", "p.csv", "q.csv", "-o"),
    ("drift", "fit", "p.csv", "-o"),
    (*RATIO,),
    ("reweight", "p.csv", "q.csv", "-o"),
    ("inspect", "fit", "new", "-o"),
    ("inspect", "check", "new", "-m"),
    ("inspect", "history", "-m"),
]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
@pytest.mark.parametrize("command", SPECIAL)
def test_a_pipe_is_neither_read_nor_replaced(run, folder, command):
    os.mkfifo(folder / "pipe.csv")
    (folder / "link.csv").symlink_to("/dev/stdout")
    (folder / "alias.csv").symlink_to("pipe.csv")
    reads = command[-1] == "-m"
    for name in ("pipe.csv", "alias.csv", *(() if reads else ("link.csv", "pipe.csv --force"))):
        status, _, err = run(*command, *name.split())
        assert (status, err.count("\n")) == (2, 1)
        assert f"{name.split()[0]}: is not a regular file" in err
    assert (folder / "pipe.csv").is_fifo()
    assert (folder / "link.csv").is_symlink()


def labelled_set(folder):
    """Write a small data set: four good images, and two to test."""
    for name, seeds in (("train/good", range(4)), ("test/good", [700]), ("test/hole", [701])):
        (folder / name).mkdir(parents=True)
        for seed in seeds:
            (folder / name / f"{seed}.png").write_bytes(file_of(surface(seed, name == "test/hole", 64)))


@pytest.mark.filterwarnings("ignore")
def test_an_evaluation_replaces_only_a_model_that_it_wrote(run, folder, monkeypatch):
    monkeypatch.setattr(evaluator, "_REPETITIONS", 10)
    labelled_set(folder / "ds")
    model = folder / "ds" / "model.vwkde"
    command = ("inspect", "eval", "ds", "-o", "ds")
    for content in (b"a text", (folder / "part.vwkde").read_bytes()):
        model.write_bytes(content)
        with monkeypatch.context() as patch:
            patch.setattr(Inspector, "fit", None)  # found before the fit
            status, _, err = run(*command)
        assert (status, err.count("\n")) == (2, 1)
        assert "ds/model.vwkde: already exists, and no evaluation wrote it" in err
        assert model.read_bytes() == content
        assert not (folder / "ds" / "results.json").exists()
    status, out, _ = run(*command, "--force", "--json")
    assert (status, json.loads(out)) == (0, json.loads((folder / "ds" / "results.json").read_text()))
    assert run("inspect", "check", "ds/test", "-m", "ds/model.vwkde", "-o", "ds")[0] in (0, 1)
    assert run(*command)[0] == 0
    SurfaceInspector.load(model).add([("x", np.full((64, 64), 0.5))]).save(model)
    changed = model.read_bytes()
    assert run(*command)[0] == 2
    assert model.read_bytes() == changed
    model.unlink()
    model.mkdir()
    status, _, err = run(*command, "--force")
    assert status == 2
    assert "ds/model.vwkde: is a folder" in err


@pytest.mark.parametrize(
    "command",
    [
        ("mi", "odd.csv"),
        ("mi", "odd.csv", "--json"),
        ("reweight", "odd.csv", "odd.csv", "-o", "out.csv"),
        ("drift", "odd.csv", "odd.csv"),
        ("inspect", "show", "-m", "odd.vwkde"),
        ("inspect", "show", "-m", "odd.vwkde", "--json"),
    ],
)
def test_a_terminal_does_not_obey_what_is_in_a_file(run, folder, command):
    odd = "a\x9b2J\u202e"
    values = np.random.default_rng(1).normal(size=(40, 2))
    np.savetxt(folder / "odd.csv", values, delimiter=",", header=f"{odd},b", comments="", encoding="utf-8")
    if "odd.vwkde" in command:
        arrays, settings, _ = read_container(folder / "part.vwkde")
        write_container(folder / "odd.vwkde", arrays, {**settings, "made": {"note": odd}})
    _, out, err = run(*command)
    shown = out + err
    assert shown
    assert all(each.isprintable() for each in shown.replace("\n", ""))
    if "--json" in command:
        assert json.dumps(odd).strip('"') in out


def test_pictures_behind_a_link_are_left_alone(run, folder):
    assert run("inspect", "check", "new", "-m", "part.vwkde", "-o", "run")[0] == 0
    theirs = folder / "theirs"
    (folder / "run" / "overlays").rename(theirs)
    (folder / "run" / "overlays").symlink_to(theirs)
    before = sorted(theirs.iterdir())
    assert before
    status, _, err = run("inspect", "check", "new", "-m", "part.vwkde", "-o", "run")
    assert status == 2
    assert "run/overlays: is a link to another folder" in err
    assert sorted(theirs.iterdir()) == before


def test_an_image_without_a_finite_score_is_an_error(run, monkeypatch):
    check = Inspector.check

    def unclear(self, image, name="image"):
        result = check(self, image, name)
        object.__setattr__(result, "score", float("nan"))
        return result

    monkeypatch.setattr(Inspector, "check", unclear)
    status, out, err = run("inspect", "check", "new", "-m", "part.vwkde", "-o", "run")
    assert (status, err) == (2, "error: new/new.png: its score is not finite: not judged.\n")
    assert out.startswith("0 images checked")


COMMAND = [sys.executable, "-m", "vwkde.cli"]


@pytest.mark.parametrize("wait", [0.06, 0.15, 0.3])
def test_ctrl_c_while_the_program_is_loading_leaves_no_traceback(folder, wait):
    """Python itself needs the first hundredths of a second; nothing can be promised for these."""
    heed = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"  # ignored in the background
    start = "import sys; print('up', flush=True); sys.argv = ['vwkde', 'kl', 'p.csv', 'q.csv'];"
    code = f"{heed} {start} from vwkde.cli.entry import main; main()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder
    ) as process:
        process.stdout.readline()
        time.sleep(wait)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert "Traceback" not in err
    assert process.returncode in (-signal.SIGINT, 130)


def test_sigterm_keeps_the_scores_found_so_far(folder):
    for seed in range(60):
        (folder / "new" / f"{seed:03}.png").write_bytes(file_of(surface(600 + seed)))
    with subprocess.Popen(
        [*COMMAND, "inspect", "check", "new", "-m", "part.vwkde", "-o", "run"], stderr=subprocess.PIPE, text=True
    ) as process:
        overlays = folder / "run" / "overlays"
        while not (overlays.is_dir() and len(list(overlays.iterdir())) > 3):
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 143
    assert re.search(r"stopped: \d+ of 61 images were checked", err)
    assert "Traceback" not in err
    assert len((folder / "run" / "scores.csv").read_text().splitlines()) > 3
    assert json.loads((folder / "run" / "results.json").read_text())["state"] == "stopped"
