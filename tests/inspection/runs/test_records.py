"""The record of a run, and its form in `results.json` and `scores.csv`."""

import json
from math import inf

import numpy as np

from vwkde.inspection import Inspection
from vwkde.inspection.data.pictures import Failure
from vwkde.inspection.runs.records import FailureRecord, ImageRecord, ModelInfo, RunRecord, State
from vwkde.inspection.runs.scores import rounded, scores_table

MAP = np.zeros((8, 9), dtype=np.float32)
MAP[1:3, 2:5] = 4.0
FOUND = Inspection("a\n.png", 2.123456789, 1 / 3, 1.5, "good.png", MAP, 3.0, 12.345)
MODEL = ModelInfo("part.vwkde", 20, "gradient", 0.05, 1.5, None)
FAILURE = FailureRecord.of(Failure("b\x07.png", "b: empty"))


def run(state=State.COMPLETE, **entries):
    return RunRecord(state, 2, "1.2", "images", MODEL, ("overlays/a.png", "overlays/b.png"), **entries)


def test_an_image_as_json_and_in_the_table():
    record = rounded(ImageRecord.of(FOUND, "overlays/a.png", "good"))
    assert json.loads(json.dumps(record.to_json())) == {
        "image": "a\\n.png",
        "verdict": "NG",
        "score": 2.123457,
        "p_value": 0.333333,
        "threshold": 1.5,
        "nearest_good": "good.png",
        "boxes": [[1, 2, 3, 5]],
        "milliseconds": 12.3,
        "overlay": "overlays/a.png",
        "label": "good",
    }
    assert scores_table([record.to_row(), FAILURE.to_row()]).splitlines() == [
        "image,verdict,score,p_value,threshold,nearest_good,boxes,milliseconds,error,label",
        "a\\n.png,NG,2.123457,0.333333,1.5,good.png,1:2:3:5,12.3,,good",
        "b\\x07.png,ERROR,,,,,,,b: empty,",
    ]


def test_an_infinite_threshold_is_null_in_json_and_inf_in_the_table():
    passing = Inspection("a.png", 2.0, 1.0, inf, "good.png", MAP, inf, 1.0)
    record = ImageRecord.of(passing, "overlays/a.png")
    assert record.to_json()["threshold"] is None
    assert "label" not in record.to_json()
    assert scores_table([record.to_row()]).splitlines()[1] == "a.png,OK,2.0,1.0,inf,good.png,,1.0,"


def test_a_run_under_way_names_the_pictures_that_it_will_write():
    assert list(run(State.RUNNING).to_json()) == [
        *("format", "state", "expected_images", "vwkde", "source", "model", "overlays", "images")
    ]


def test_a_run_that_is_done_counts_its_images():
    image = ImageRecord.of(FOUND, "overlays/a.png")
    record = run(finished="2024-01-01T00:00:00+00:00", images=(image,), failures=(FAILURE,))
    written = json.loads(json.dumps(record.to_json()))
    assert written["state"] == "complete"
    assert written["counts"] == {"OK": 0, "NG": 1, "ERROR": 1}
    assert "overlays" not in written
    assert [each["verdict"] for each in written["images"]] == ["NG", "ERROR"]
    assert not record.stopped
    assert run(State.STOPPED).stopped


def test_labels_tell_which_verdicts_are_wrong():
    rejected = ImageRecord.of(FOUND, "a", "good")
    missed = ImageRecord.of(Inspection("a", 1.0, 1.0, 1.5, "good", MAP, 3.0, 1.0), "a", "defective")
    assert (rejected.is_false_reject, rejected.is_missed) == (True, False)
    assert (missed.is_false_reject, missed.is_missed) == (False, True)
    assert not ImageRecord.of(FOUND, "a", "defective").is_false_reject
