"""Files that others change or replace: the rows of the array that was given count, or an error says what happened."""

import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import vwkde
from vwkde._data.sources import ArrayRows, FileRows, open_source

RANDOM = np.random.default_rng(0)
P, Q, OTHER = RANDOM.normal(0.3, 1, (300, 2)), RANDOM.normal(size=(300, 2)), RANDOM.normal(9, 1, (300, 2))


def replace(path, values):
    np.save(path.with_name("new.npy"), values)
    os.replace(path.with_name("new.npy"), path)


@pytest.mark.parametrize("values", [OTHER, OTHER[:5], OTHER[:, :1], P[::-1]])
def test_a_map_whose_file_was_replaced_still_counts_as_it_is(tmp_path, values):
    np.save(tmp_path / "p.npy", P)
    mapped = np.load(tmp_path / "p.npy", mmap_mode="r")
    assert isinstance(open_source(mapped, "numerator"), FileRows)
    expected = vwkde.kl_divergence(mapped, Q, method="kde").value
    replace(tmp_path / "p.npy", values)
    source = open_source(mapped, "numerator")
    assert isinstance(source, ArrayRows)
    np.testing.assert_array_equal(source.take(np.arange(300)), P)
    assert vwkde.kl_divergence(mapped, Q, method="kde").value == expected


@pytest.mark.parametrize("kind", ["npy", "parquet"])
def test_a_file_that_is_replaced_while_it_is_read_is_an_error(tmp_path, kind):
    path = tmp_path / f"p.{kind}"

    def write(values):
        if kind == "npy":
            np.save(path, values)
        else:
            pq.write_table(pa.table({"a": values[:, 0], "b": values[:, 1]}), path)

    write(P)
    source = open_source(path, "numerator")
    np.testing.assert_array_equal(source.take(np.arange(300)), P)
    write(OTHER)
    for read in (lambda: source.take(np.arange(3)), lambda: next(source.pieces(slice(0, 300), 300))):
        with pytest.raises(ValueError, match=rf"p\.{kind}: the file was changed or replaced while it was read"):
            read()


def test_a_map_that_its_owner_changes_counts_with_the_changes(tmp_path):
    mapped = np.memmap(tmp_path / "p.bin", np.float64, "w+", shape=(300, 2))
    mapped[:] = P
    assert open_source(mapped, "numerator").take(np.arange(300)).tolist() == P.tolist()
    mapped[0] = 7
    source = open_source(mapped, "numerator")
    assert source.take(np.arange(1)).tolist() == [[7.0, 7.0]]
