import numpy as np
import pandas as pd
import pytest

from vwkde._data.kinds import floats_of
from vwkde._data.tables import read_table, write_table


def numbers(frame):
    return np.column_stack([floats_of(column) for column in frame.table.columns])


FRAME = pd.DataFrame({"a": [1.5, 2.5, -3.0], "b": [1, 2, 3]})


@pytest.fixture
def folder(tmp_path):
    FRAME.to_csv(tmp_path / "plain.csv", index=False)
    FRAME.to_csv(tmp_path / "german.csv", index=False, sep=";", decimal=",")
    FRAME.to_csv(tmp_path / "tabs.tsv", index=False, sep="\t")
    FRAME.to_csv(tmp_path / "bom.csv", index=False, encoding="utf-8-sig")
    FRAME.to_csv(tmp_path / "headless.csv", index=False, header=False)
    FRAME.to_parquet(tmp_path / "table.parquet")
    np.save(tmp_path / "array.npy", FRAME.to_numpy())
    FRAME.assign(site="north").to_csv(tmp_path / "text.csv", index=False)
    return tmp_path


@pytest.mark.parametrize("name", ["plain.csv", "german.csv", "tabs.tsv", "bom.csv", "table.parquet"])
def test_reads_tables_with_names(folder, name):
    table = read_table(folder / name)
    assert table.columns == ("a", "b")
    np.testing.assert_array_equal(numbers(table), FRAME)


@pytest.mark.parametrize("name", ["headless.csv", "array.npy"])
def test_reads_tables_without_names(folder, name):
    table = read_table(folder / name)
    assert table.columns is None
    np.testing.assert_array_equal(numbers(table), FRAME)


def test_chooses_columns(folder):
    assert read_table(folder / "text.csv", ["b", "a"]).columns == ("b", "a")
    with pytest.raises(ValueError, match=r"no columns \['z'\]; the file has \['a', 'b'\]"):
        read_table(folder / "plain.csv", ["z"])
    with pytest.raises(ValueError, match="no column names"):
        read_table(folder / "array.npy", ["a"])


@pytest.mark.parametrize(
    ("content", "columns", "rows"),
    [
        ("0,1,2\n5,6,7\n7,8,9\n", ("0", "1", "2"), 2),
        ("NA,1.5\n2,3\n", None, 2),
        ("body mass,wing length\n1,2\n", ("body mass", "wing length"), 1),
        ("a,b\n9007199254740993,1\n", ("a", "b"), 1),
    ],
)
def test_odd_but_sound_csv(tmp_path, content, columns, rows):
    (tmp_path / "odd.csv").write_text(content)
    table = read_table(tmp_path / "odd.csv")
    assert (table.columns, len(numbers(table))) == (columns, rows)


def test_missing_values_become_nan(folder):
    (folder / "gap.csv").write_text("a,b\n1,2\n,4\n")
    assert np.isnan(numbers(read_table(folder / "gap.csv"))[1, 0])


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.xlsx", b"", "must end in one of"),
        ("missing.csv", None, "no such file"),
        ("empty.csv", b"", "empty"),
        ("header.csv", b"a,b\n", "no rows"),
        ("twice.csv", b"a,a\n1,2\n", "must be unique"),
        ("ragged.csv", b"a,b\n1,2\n3\n", "line 3 has 1 field, the first line has 2"),
        ("bad.parquet", b"PAR0 nothing", "not a readable PARQUET"),
        ("bad.npy", b"nothing", "not a readable NPY file of numbers"),
        ("binary.csv", b"\xff\xfe\x00\x01", "not a readable CSV"),
    ],
)
def test_bad_files_are_named_with_the_reason(tmp_path, name, content, message):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=f"{name}: .*{message}"):
        read_table(tmp_path / name)


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".npy"])
def test_what_is_written_can_be_read(tmp_path, suffix):
    path = tmp_path / f"out{suffix}"
    write_table(path, {"a": FRAME["a"].to_numpy(), "b": FRAME["a"].to_numpy() ** 2})
    np.testing.assert_array_equal(numbers(read_table(path))[:, 1], FRAME["a"] ** 2)
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]
    other = tmp_path / "other"
    other.write_text("")
    assert path.stat().st_mode == other.stat().st_mode


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "out.npy"
    path.write_bytes(b"old")

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr("vwkde._data.tables.np.save", fail)
    with pytest.raises(OSError, match="disk full"):
        write_table(path, {"a": np.zeros(3)})
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["out.npy"]
    with pytest.raises(ValueError, match="must end in"):
        write_table(tmp_path / "out.xls", {"a": np.zeros(3)})
