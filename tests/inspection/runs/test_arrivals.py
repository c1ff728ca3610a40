"""Files are given when they are whole, once for each content."""

import os
from types import SimpleNamespace

import pytest

from vwkde.inspection.data.errors import ImageError
from vwkde.inspection.runs import watch
from vwkde.inspection.runs.arrivals import Arrivals


def given(arrivals):
    return [(each.item.name, each.is_settled) for each in arrivals.look()]


def write(path, text, when):
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    os.utime(path, (when, when))


def test_a_file_is_given_when_it_has_stopped_growing_and_again_when_it_changes(tmp_path):
    clock = [1000.0]
    arrivals = Arrivals(tmp_path, patience=10, now=lambda: clock[0])
    write(tmp_path / "below" / "a.png", "some", 1000)
    (tmp_path / "empty.png").touch()
    (tmp_path / "note.txt").write_text("no image")
    assert given(arrivals) == []
    write(tmp_path / "below" / "a.png", "some more", 1001)
    assert given(arrivals) == []
    assert given(arrivals) == [("below/a.png", False)]
    clock[0] = 1011.0
    (arrival,) = arrivals.look()
    assert arrival.is_settled
    arrivals.done(arrival)
    assert given(arrivals) == []
    write(tmp_path / "below" / "a.png", "another", 1012)
    assert given(arrivals) == []
    assert given(arrivals) == [("below/a.png", False)]
    (tmp_path / "below" / "a.png").unlink()
    assert given(arrivals) == []


def test_a_file_that_is_written_anew_after_the_look_is_known_to_have_changed(tmp_path):
    arrivals = Arrivals(tmp_path, now=lambda: 1_000.0)
    write(tmp_path / "late.png", "half", 900)
    arrivals.look()
    (arrival,) = arrivals.look()
    assert arrivals.is_unchanged(arrival)
    write(tmp_path / "late.png", "the whole image", 999)
    assert not arrivals.is_unchanged(arrival)
    assert given(arrivals) == []
    assert given(arrivals) == [("late.png", False)]


class JudgedError(Exception):
    """Raised in place of a result."""


def test_an_image_that_is_completed_between_look_and_reading_is_judged_when_it_is_whole(tmp_path, monkeypatch):
    def judge(*_):
        raise JudgedError

    def read_while_it_is_written(path, *_):
        write(path, "the whole image", 999)

    write(tmp_path / "late.png", "half", 900)
    monkeypatch.setattr(watch, "read_image_like", read_while_it_is_written)
    inspector = SimpleNamespace(accepted_shape=None, colour=None, check=judge)
    watched = watch.Watch(Arrivals(tmp_path, now=lambda: 1_000.0), run=None)
    for _ in range(3):  # it is found, read while it changes, and found again
        assert list(watched.look(inspector)) == []
    with pytest.raises(JudgedError):
        list(watched.look(inspector))


def test_a_folder_that_is_not_there_is_told(tmp_path):
    with pytest.raises(ImageError, match="there is no such folder"):
        Arrivals(tmp_path / "missing").look()
