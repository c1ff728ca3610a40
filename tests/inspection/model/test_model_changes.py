"""The model file is the one truth: no change is lost, none counts twice, each can be taken back."""

import json
import os
import subprocess
import sys
from copy import copy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("safetensors")

from support.serving import as_seen, file_of, fit_surfaces, surface
from vwkde.exceptions import RepeatedImagesWarning, UnlikeImagesWarning
from vwkde.inspection import ModelFileError, SurfaceInspector
from vwkde.inspection.model.files import container
from vwkde.inspection.model.files.container import read_container, stated_digest, write_container
from vwkde.inspection.model.history import this_user

NEW = [("a.png", as_seen(surface(300))), ("b.png", as_seen(surface(301)))]


@pytest.fixture
def path(tmp_path):
    fit_surfaces().save(tmp_path / "part.vwkde")
    return tmp_path / "part.vwkde"


def test_two_processes_that_add_at_once_lose_nothing(path, tmp_path):
    folders = []
    for seed in range(2):
        folders.append(tmp_path / str(seed))
        folders[-1].mkdir()
        (folders[-1] / f"{seed}.png").write_bytes(file_of(surface(400 + seed)))
    command = [sys.executable, "-m", "vwkde.cli", "inspect", "add"]
    added = [subprocess.Popen([*command, each, "-m", path], stdout=subprocess.PIPE) for each in folders]
    assert [process.wait(120) for process in added] == [0] * 2
    for process in added:
        process.stdout.close()
    loaded = SurfaceInspector.load(path)
    assert sorted(loaded.names_[22:]) == ["0.png", "1.png"]
    assert sorted(name for change in loaded.changes_ for name in change.names) == sorted(loaded.names_[22:])
    assert sorted(each.name for each in tmp_path.iterdir() if each.is_file()) == ["part.vwkde"]


def test_a_file_that_was_changed_since_it_was_read_is_not_overwritten(path):
    mine, theirs = SurfaceInspector.load(path), SurfaceInspector.load(path)
    theirs.add(NEW[:1]).save(path)
    theirs.save(path)  # its own change is no other program's
    with pytest.raises(ModelFileError, match="another program has changed the model file since it was read"):
        mine.add(NEW[1:]).save(path)
    assert SurfaceInspector.load(path).names_ == theirs.names_
    mine.save(path.with_name("mine.vwkde"))
    fit_surfaces().save(path)  # a new model replaces the old one


def test_the_same_images_again_change_nothing(path):
    inspector = SurfaceInspector.load(path)
    before = inspector.calibration_.scores
    with pytest.warns(RepeatedImagesWarning, match=r"3 images have the pixels.*left out: again 0, again 1, again 2\."):
        inspector.add([(f"again {seed}", surface(seed)) for seed in range(3)])
    assert inspector.calibration_.scores is before
    assert not inspector.changes_
    with pytest.warns(RepeatedImagesWarning, match="1 images"):
        inspector.add([*NEW[:1], ("twin.png", NEW[0][1])])
    assert inspector.names_[22:] == ["a.png"]


def test_copies_among_the_good_images_count_once():
    images = [(f"good {seed}.png", as_seen(surface(seed))) for seed in range(22)]
    with pytest.warns(RepeatedImagesWarning, match="22 images"):
        doubled = SurfaceInspector(features="gradient", candidates=3).fit([*images, *images])
    np.testing.assert_array_equal(doubled.calibration_.scores, fit_surfaces().calibration_.scores)


def test_an_addition_is_known_by_who_and_when_and_is_taken_back_to_the_last_bit(path):
    inspector = SurfaceInspector.load(path)
    first = inspector.calibration_.scores
    inspector.add(NEW[:1], by="line 3")
    second = inspector.calibration_.scores
    inspector.add(NEW[1:])
    inspector.save(path)
    loaded = SurfaceInspector.load(path)
    assert [(change.kind, change.names, change.who) for change in loaded.changes_] == [
        ("add", ("a.png",), "line 3"),
        ("add", ("b.png",), this_user()),
    ]
    assert all(change.when.endswith("+00:00") for change in loaded.changes_)
    loaded.undo()
    np.testing.assert_array_equal(loaded.calibration_.scores, second)
    loaded.undo(by="line 3")
    np.testing.assert_array_equal(loaded.calibration_.scores, first)
    np.testing.assert_array_equal(loaded.map_calibration_.scores, fit_surfaces().map_calibration_.scores)
    loaded.save(path)
    again = SurfaceInspector.load(path)
    assert again.names_ == fit_surfaces().names_
    assert [change.kind for change in again.changes_] == ["add", "add", "undo", "undo"]
    with pytest.raises(ValueError, match="nothing to undo"):
        again.undo()


def test_images_that_the_model_clearly_rejected_are_told_if_they_raise_the_threshold(path):
    inspector = SurfaceInspector.load(path)
    before = inspector.calibration_.threshold
    inspector.add(NEW)  # good ones, of which no warning tells
    odd = [("odd.png", as_seen(surface(302, defect=True)))]
    with pytest.warns(UnlikeImagesWarning, match=r"The threshold rises from .* rejected: odd\.png \("):
        inspector.add(odd)
    assert inspector.calibration_.threshold > before
    with pytest.warns(UnlikeImagesWarning, match="`undo`") as warned:
        SurfaceInspector.load(path).add([*NEW, *odd])
    assert [Path(each.filename).name for each in warned] == ["test_model_changes.py"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_a_pipe_is_no_model_and_is_not_waited_for(path):
    pipe = path.with_name("pipe.vwkde")
    os.mkfifo(pipe)
    for place, words in ((pipe, "is not a regular file"), (path.parent, "this is a folder")):
        with pytest.raises(ModelFileError, match=words):
            SurfaceInspector.load(place)
    assert stated_digest(pipe) is None
    with pytest.raises(OSError, match="not a regular file"):
        fit_surfaces().save(pipe)
    assert pipe.is_fifo()


def test_a_link_to_a_model_stays_a_link(path):
    link = path.with_name("link.vwkde")
    os.symlink(path.name, link)
    SurfaceInspector.load(link).add(NEW[:1]).save(link)
    assert link.is_symlink()
    assert SurfaceInspector.load(path).names_[-1] == "a.png"


def _with(arrays, settings, part, value):
    if part in arrays:
        return {**arrays, part: value(arrays[part])}, settings
    return arrays, {**settings, part: value(settings.get(part))}


CRAFTED = [
    ("patches", lambda array: array * np.float32("nan")),
    ("patches", lambda array: array[:-1]),
    ("patches", lambda array: array[:, :-1]),
    ("patches", lambda array: array[..., :-1]),
    ("patches", lambda array: array.astype(np.int32)),
    ("scores", lambda array: np.where(np.arange(len(array)) == 3, np.nan, array)),
    ("scores", lambda array: array[:-1]),
    ("scores", lambda array: array[:, None]),
    ("peaks", lambda array: array * np.inf),
    ("peaks", lambda array: array[:0]),
    ("sums", lambda array: array[:-1]),
    ("sums", lambda array: array * np.nan),
    ("mean", lambda array: array[:-1]),
    ("matrix", lambda array: array.T[:1]),
    ("matrix", lambda array: array.ravel()),
    ("thumbnails", lambda array: array[:-1]),
    ("thumbnails", lambda array: array.astype(np.float32)),
    ("thumbnails", lambda array: array[:, :0]),
    ("names", lambda names: names[:-1]),
    ("names", lambda names: [names[0]] * len(names)),
    ("names", lambda names: list(range(len(names)))),
    ("names", lambda _: "a text"),
    ("names", lambda _: None),
    ("fingerprints", lambda each: each[:-1]),
    ("fingerprints", lambda each: [1] * len(each)),
    ("features", lambda _: "unheard-of"),
    ("features", lambda _: ["gradient"]),
    ("false_reject_rate", lambda _: 5),
    ("false_reject_rate", lambda _: "0.05"),
    ("false_reject_rate", lambda _: True),
    ("candidates", lambda _: 0),
    ("candidates", lambda _: 2.5),
    ("random_state", lambda _: "seed"),
    ("bandwidth", lambda _: 0),
    ("bandwidth", lambda _: -1.0),
    ("bandwidth", lambda _: None),
    ("bandwidth", lambda _: True),
    ("bandwidth", lambda _: 1e308),
    ("bandwidth", lambda _: 1e-320),
    ("length_scale", lambda _: 10**400),
    ("length_scale", lambda _: 1e300),
    ("length_scale", lambda _: 1e-320),
    ("random_state", lambda _: -1),
    ("matrix", lambda array: array * 1e300),
    ("mean", lambda array: array * 1e300),
    ("patches", lambda array: array * np.float32(1e35)),
    ("scores", lambda array: array * 1e300),
    ("peaks", lambda array: array * 1e300),
    ("sums", lambda array: array * 1e300),
    ("bad", lambda _: np.array([-1e308])),
    ("thumbnails", lambda array: array[:, :1, :1]),
    ("image_shape", lambda _: [64, 64]),
    ("image_shape", lambda _: [128]),
    ("image_shape", lambda _: [10**9, 10**9]),
    ("image_shape", lambda _: [-128, -128]),
    ("image_shape", lambda _: "128"),
    ("image_shape", lambda _: [128.0, 128.0]),
    ("changes", lambda _: [{"kind": "add", "names": ["not there"], "who": "", "when": ""}]),
    ("changes", lambda _: [{"kind": "steal", "names": [], "who": "", "when": ""}]),
    ("changes", lambda _: [{"kind": "add"}]),
    ("changes", lambda _: 7),
]


def test_parts_that_do_not_fit_together_are_refused_at_load(path):
    arrays, settings, _ = read_container(path)
    for part, value in CRAFTED:
        write_container(path, *_with(arrays, settings, part, value))
        with pytest.raises(ModelFileError, match=r"part\.vwkde: .*(do not fit together|is missing)"):
            SurfaceInspector.load(path)
    write_container(path, arrays, settings)
    assert SurfaceInspector.load(path).names_ == fit_surfaces().names_


def _retyped(header, kind, times):
    header["mean"] |= {"dtype": kind, "shape": [header["mean"]["shape"][0] * times]}


def _with_settings(header, tensors, text):
    header["__metadata__"] |= {"settings": text, "digest": container._digest(tensors, text)}


@pytest.mark.parametrize(
    "change",
    [
        lambda header, _: _retyped(header, "BF16", 4),
        lambda header, _: _retyped(header, "F8_E4M3", 8),
        lambda header, _: header["__metadata__"].update(version="9" * 5_000),
        lambda header, tensors: _with_settings(header, tensors, "[" * 100_000 + "]" * 100_000),
        lambda header, tensors: _with_settings(header, tensors, '{"candidates": ' + "9" * 5_000 + "}"),
    ],
)
def test_a_header_that_cannot_be_parsed_is_a_damaged_model(path, change):
    tensors, _, _ = read_container(path)
    content = path.read_bytes()
    end = 8 + int.from_bytes(content[:8], "little")  # the length of the header comes first
    header = json.loads(content[8:end])
    change(header, tensors)
    written = json.dumps(header).encode()
    path.write_bytes(len(written).to_bytes(8, "little") + written + content[end:])
    with pytest.raises(ModelFileError, match=r"part\.vwkde: .*damaged"):
        SurfaceInspector.load(path)


@pytest.mark.parametrize("score", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("threshold", [0.5, np.inf, np.nan])
def test_a_score_that_is_not_finite_never_passes(score, threshold):
    result = replace(checked(), score=score, threshold=threshold)
    assert result.rejected
    assert result.verdict == "NG"


def checked():
    return copy(fit_surfaces()).check(as_seen(surface(1_001)))
