"""Files are given when they are whole, once for each content."""

import os

import pytest

from vwkde.inspection.data.errors import ImageError
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


def test_a_folder_that_is_not_there_is_told(tmp_path):
    with pytest.raises(ImageError, match="there is no such folder"):
        Arrivals(tmp_path / "missing").look()
