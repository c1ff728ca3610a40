"""Sources: files, memory maps, Parquet; what is read equals what was written."""

import pickle

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from vwkde._data.sources import ArrayRows, FileRows, ParquetRows, in_order_of, is_elsewhere, open_source, read_all

ROWS, COLUMNS = 97, 3
VALUES = np.random.default_rng(0).normal(size=(ROWS, COLUMNS))


def read_in_pieces(source, size):
    return np.concatenate([piece for part in source.parts(size) for piece in source.pieces(part, size)])


def saved(folder, values):
    np.save(folder / "x.npy", values)
    return folder / "x.npy"


@pytest.mark.parametrize("size", [1, 7, 1_000])
@pytest.mark.parametrize("dtype", ["float64", "float32", ">f8", ">f4", "int16", "bool", "float16"])
def test_a_file_gives_its_rows_as_floats_whatever_the_piece(tmp_path, dtype, size):
    values = (10 * VALUES).astype(dtype)
    source = open_source(saved(tmp_path, values), "numerator")
    found = read_in_pieces(source, size)
    assert found.dtype == (np.float32 if dtype == "float32" else np.float64)
    assert found.flags.c_contiguous
    np.testing.assert_array_equal(found, values)


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x,
        lambda x: x[5:60],
        lambda x: x[::3],
        lambda x: x[::-1],
        lambda x: x[:, 1:],
        lambda x: x[:, 0],
        lambda x: x[20:].reshape(-1, COLUMNS)[::2, ::-1],
    ],
    ids=["whole", "some rows", "every third", "backwards", "some columns", "one column", "view of a view"],
)
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_map_is_read_from_its_file_as_it_is_seen(tmp_path, view, order):
    mapped = view(np.load(saved(tmp_path, np.asarray(VALUES, order=order)), mmap_mode="r"))
    assert is_elsewhere(mapped)
    source = open_source(mapped, "numerator")
    assert isinstance(source, FileRows)
    expected = np.asarray(mapped).reshape(len(mapped), -1)
    np.testing.assert_array_equal(read_in_pieces(source, 8), expected)
    np.testing.assert_array_equal(source.take(np.array([0, 3, 11])), expected[[0, 3, 11]])


def test_a_raw_map_with_an_offset_is_found_in_its_file(tmp_path):
    path = tmp_path / "raw"
    path.write_bytes(b"header of 17 byte" + VALUES.tobytes())
    mapped = np.memmap(path, np.float64, "r", offset=17, shape=VALUES.shape)
    np.testing.assert_array_equal(read_in_pieces(open_source(mapped[10:], "numerator"), 8), VALUES[10:])


def test_what_was_written_through_a_map_is_read(tmp_path):
    mapped = np.load(saved(tmp_path, VALUES), mmap_mode="r+")
    mapped[3] = 77.0
    assert (read_in_pieces(open_source(mapped, "numerator"), 8)[3] == 77.0).all()


def test_a_copy_on_write_is_no_file(tmp_path):
    mapped = np.load(saved(tmp_path, VALUES), mmap_mode="c")
    mapped[3] = 77.0
    assert not is_elsewhere(mapped)


def test_a_map_whose_file_is_gone_is_an_array(tmp_path):
    mapped = np.load(saved(tmp_path, VALUES), mmap_mode="r")
    (tmp_path / "x.npy").unlink()
    assert not is_elsewhere(mapped)


def test_a_source_travels_without_its_rows(tmp_path):
    source = open_source(np.load(saved(tmp_path, np.zeros((100_000, 2))), mmap_mode="r"), "numerator")
    assert len(pickle.dumps(source)) < 1_000
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(source)).take(np.array([5])), [[0, 0]])


def test_parquet_is_read_by_row_groups_with_its_names(tmp_path):
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({name: VALUES[:, k] for k, name in enumerate("abc")}), path, row_group_size=20)
    source = open_source(str(path), "numerator")
    assert isinstance(source, ParquetRows)
    assert source.names == ("a", "b", "c")
    assert len(source.parts(7)) == 5
    np.testing.assert_array_equal(read_in_pieces(source, 7), VALUES)
    np.testing.assert_array_equal(source.take(np.array([0, 19, 20, 96])), VALUES[[0, 19, 20, 96]])
    np.testing.assert_array_equal(read_in_pieces(in_order_of(source, ("c", "a", "b")), 7), VALUES[:, [2, 0, 1]])


def test_row_groups_without_rows_are_passed_over(tmp_path):
    path = tmp_path / "x.parquet"
    tables = [pa.table({"a": VALUES[rows, 0]}) for rows in (slice(0, 0), slice(0, 9), slice(0, 0), slice(9, 12))]
    with pq.ParquetWriter(path, tables[0].schema) as writer:
        for table in tables:
            writer.write_table(table)
    source = open_source(path, "numerator")
    np.testing.assert_array_equal(read_in_pieces(source, 5)[:, 0], VALUES[:12, 0])
    np.testing.assert_array_equal(source.take(np.array([8, 9]))[:, 0], VALUES[8:10, 0])


def test_all_rows_can_be_read_at_once(tmp_path):
    like = COLUMNS, None, "numerator"
    np.testing.assert_array_equal(read_all(saved(tmp_path, VALUES), "points", like), VALUES)


def test_named_columns_of_points_are_brought_into_order(tmp_path):
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({name: VALUES[:, "abc".index(name)] for name in "cab"}), path)
    np.testing.assert_array_equal(read_all(path, "points", (COLUMNS, ("a", "b", "c"), "numerator")), VALUES)


def test_arrays_are_sources_too():
    source = open_source(VALUES.astype(int), "numerator")
    assert isinstance(source, ArrayRows)
    np.testing.assert_array_equal(read_in_pieces(source, 8), VALUES.astype(int))
    assert not is_elsewhere(VALUES)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.zeros((2, 3, 4)), "3 dimensions"),
        (np.zeros((0, 3)), "empty"),
        (np.zeros((3, 0)), "empty"),
        (np.zeros((5, 2), complex), "complex"),
        (np.zeros((5, 2), "M8[s]"), "dates"),
        (np.zeros((5, 2), "U3"), "numbers only"),
        (np.float64(3.0), "0 dimensions"),
    ],
)
def test_files_of_the_wrong_kind_are_refused(tmp_path, values, message):
    with pytest.raises(ValueError, match=message):
        open_source(saved(tmp_path, values), "numerator")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.npy", None, "no such file"),
        ("x.npy", b"", "cannot be read"),
        ("x.npy", b"not an array", "cannot be read"),
        ("x.parquet", b"not a table", "cannot be read"),
        ("x.xlsx", b"1,2", r"ends in \.npy, \.parquet or \.csv"),
    ],
)
def test_files_that_cannot_be_read_are_told(tmp_path, name, content, message):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=message):
        open_source(tmp_path / name, "numerator")


def test_a_file_cut_short_is_told(tmp_path):
    path = saved(tmp_path, VALUES)
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(ValueError, match="cannot be read"):
        open_source(path, "numerator")


def test_parquet_without_numbers_is_refused(tmp_path):
    pq.write_table(pa.table({"a": ["x", "y"]}), tmp_path / "x.parquet")
    with pytest.raises(ValueError, match=r"must be a file of numbers. Got columns \['a'\]"):
        open_source(tmp_path / "x.parquet", "numerator")
