"""References in files."""

import pickle

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import vwkde
from vwkde.monitoring import _reference

RANDOM = np.random.default_rng(0)
BEFORE = pd.DataFrame({"x": RANDOM.normal(size=150), "c": RANDOM.choice(list("ab"), size=150)})
AFTER = pd.DataFrame({"x": RANDOM.normal(size=100), "c": RANDOM.choice(list("ab"), size=100)})


@pytest.fixture
def path(tmp_path):
    vwkde.DriftReference.fit(BEFORE).save(tmp_path / "ref.model")
    return tmp_path / "ref.model"


def test_a_saved_reference_gives_the_answers_of_its_table(path):
    checked = vwkde.DriftReference.load(path).check(AFTER)
    assert checked.to_dict() == vwkde.drift(BEFORE, AFTER, measure="if-drift").to_dict()


def test_groups_are_kept(tmp_path):
    labels = np.repeat(np.arange(15), 10)
    vwkde.DriftReference.fit(BEFORE, groups=labels).save(tmp_path / "grouped")
    loaded = vwkde.DriftReference.load(tmp_path / "grouped")
    np.testing.assert_array_equal(loaded.groups, labels)
    own = np.repeat(np.arange(10), 10)
    expected = vwkde.drift(BEFORE, AFTER, groups=(labels, own + 100), measure="never")
    assert loaded.check(AFTER, groups=own, measure="never").p_value == expected.p_value


def test_arrays_without_names_and_many_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(_reference, "MOST_ROWS", 50)
    reference = vwkde.DriftReference.fit(RANDOM.normal(size=(120, 2)))
    reference.save(tmp_path / "array")
    loaded = vwkde.DriftReference.load(tmp_path / "array")
    assert (loaded.rows, loaded.frame.table.num_rows, loaded.frame.columns) == (120, 50, None)
    assert not loaded.check(RANDOM.normal(size=(40, 2)), measure="never").has_drifted


def test_no_file_is_left_if_writing_fails(path, monkeypatch):
    before = path.read_bytes()

    def fail(*_, **__):
        raise OSError("disk full")

    monkeypatch.setattr(pq, "write_table", fail)
    with pytest.raises(OSError, match="disk full"):
        vwkde.DriftReference.fit(AFTER).save(path)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_files_that_are_no_references_are_refused(path, tmp_path):
    damaged = bytearray(path.read_bytes())
    damaged[60] ^= 255
    cases = {
        "damaged": (bytes(damaged), "not a reference, or damaged"),
        "half": (path.read_bytes()[:200], "not a reference, or damaged"),
        "pickle": (pickle.dumps({"x": 1}), "not a reference, or damaged"),
        "empty": (b"", "not a reference, or damaged"),
    }
    for name, (content, words) in cases.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(ValueError, match=words):
            vwkde.DriftReference.load(tmp_path / name)
    BEFORE.to_parquet(tmp_path / "plain.parquet")
    with pytest.raises(ValueError, match="a table, but not a reference"):
        vwkde.DriftReference.load(tmp_path / "plain.parquet")
    with pytest.raises(ValueError, match="there is no such file"):
        vwkde.DriftReference.load(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("settings", "words"),
    [(b'{"version": 99}', "written by a newer vwkde"), (b'{"version": 1}', "'rows' is missing"), (b"[", "damaged")],
)
def test_settings_of_other_versions(path, settings, words):
    table = pq.read_table(path).replace_schema_metadata({b"vwkde-drift": settings})
    pq.write_table(table, path)
    with pytest.raises(ValueError, match=words):
        vwkde.DriftReference.load(path)
