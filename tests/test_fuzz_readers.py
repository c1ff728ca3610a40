"""Files with any content: each reader returns what the file says, or says in its own words that it cannot be read."""

import io
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vwkde._data.sources import open_source
from vwkde._data.tables import read_table

VALUES = np.random.default_rng(0).normal(size=(40, 3))
BOUNDED = settings(
    max_examples=60,
    deadline=None,
    derandomize=True,  # the same examples in every run; a failure is then seen by all
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)

EDITS = st.lists(
    st.tuples(st.floats(0, 1, exclude_max=True), st.binary(min_size=1, max_size=4)), min_size=1, max_size=4
)
LENGTH = st.one_of(st.just(1.0), st.floats(0, 1))


def damaged(data, edits, length):
    """Return the data with some bytes overwritten, and cut off."""
    changed = bytearray(data)
    for place, new in edits:
        start = int(place * len(changed))
        changed[start : start + len(new)] = new[: len(changed) - start]
    return bytes(changed[: max(1, int(length * len(changed)))])


@cache
def npy():
    file = io.BytesIO()
    np.save(file, VALUES)
    return file.getvalue()


@cache
def parquet(checksum=True):
    file = io.BytesIO()
    table = pa.table({name: VALUES[:, place] for place, name in enumerate("abc")})
    pq.write_table(table, file, write_page_checksum=checksum, compression="none", use_dictionary=False)
    return file.getvalue()


def outcome(read, what, name, refusal=ValueError):
    """Return what a reader returns; None if it refuses the file in an error that names it. Other errors go on."""
    try:
        return read(what)
    except refusal as error:
        message = str(error)
    assert name in message
    return None


def read_in_both_ways(path):
    """Read a file whole, and by rows."""
    for read in (read_table, _all_rows):
        outcome(read, path, path.name)


def _all_rows(path):
    source = open_source(path, "numerator")
    return source.take(np.arange(source.shape[0]))


@BOUNDED
@given(edits=EDITS, length=LENGTH)
def test_damaged_npy(tmp_path, edits, length):
    path = tmp_path / "p.npy"
    path.write_bytes(damaged(npy(), edits, length))
    read_in_both_ways(path)


@BOUNDED
@given(edits=EDITS, length=LENGTH, checksum=st.booleans())
def test_damaged_parquet(tmp_path, edits, length, checksum):
    path = tmp_path / "p.parquet"
    path.write_bytes(damaged(parquet(checksum), edits, length))
    read_in_both_ways(path)


@pytest.mark.parametrize("row", [0, 17, 39])
def test_a_number_of_a_parquet_file_that_was_changed_is_seen_by_its_checksum(tmp_path, row):
    path = tmp_path / "p.parquet"
    path.write_bytes(parquet().replace(VALUES[row, 1].tobytes(), (VALUES[row, 1] + 1).tobytes()))
    with pytest.raises(ValueError, match=r"p\.parquet: .*(CRC|checksum)"):
        read_table(path)
    with pytest.raises(ValueError, match=r"p\.parquet.*(CRC|checksum)"):
        _all_rows(path)
    path.write_bytes(parquet(False).replace(VALUES[row, 1].tobytes(), (VALUES[row, 1] + 1).tobytes()))
    assert read_table(path).table["b"][row].as_py() == VALUES[row, 1] + 1  # without checksums nobody can know


CSV = st.one_of(
    st.binary(max_size=200),
    st.text(max_size=200).map(str.encode),
    st.lists(st.text("0123456789.,;-eE+\t\"' \nnaif", max_size=30), max_size=8).map("\n".join).map(str.encode),
)


@BOUNDED
@given(data=CSV)
def test_any_csv(tmp_path, data):
    path = tmp_path / "p.csv"
    path.write_bytes(data)
    table = outcome(read_table, path, path.name)
    assert table is None or (table.table.num_rows > 0 and table.table.num_columns > 0)


KINDS = [
    ("PNG", {}),
    ("JPEG", {"progressive": True}),
    ("BMP", {}),
    ("TIFF", {}),
    ("TIFF", {"compression": "tiff_lzw"}),
    ("WEBP", {}),
    ("GIF", {}),
    ("PPM", {}),
]


@cache
def image(place):
    pillow = pytest.importorskip("PIL.Image")
    kind, options = KINDS[place]
    file = io.BytesIO()
    pixels = np.random.default_rng(1).integers(0, 256, (24, 20), np.uint8)
    pillow.fromarray(pixels).save(file, kind, **options)
    return file.getvalue()


@BOUNDED
@given(kind=st.integers(0, len(KINDS) - 1), edits=EDITS, length=LENGTH)
def test_damaged_images(kind, edits, length):
    from vwkde.inspection.data.errors import ImageError
    from vwkde.inspection.data.images import decode_image

    data = damaged(image(kind), edits, length)
    pixels = outcome(lambda data: decode_image(data, "a.png"), data, "a.png: ", ImageError)
    if pixels is not None:
        assert pixels.dtype == np.float32
        assert pixels.min() >= 0
        assert pixels.max() <= 1


@pytest.fixture(scope="module")
def path_of_model(tmp_path_factory):
    pytest.importorskip("safetensors")
    from support.serving import fit_surfaces

    path = tmp_path_factory.mktemp("model") / "part.vwkde"
    fit_surfaces(20).save(path)
    return path


@BOUNDED
@given(edits=EDITS, length=LENGTH, header=st.booleans())
def test_damaged_models(path_of_model, edits, length, header):
    """Damage anywhere, or in the first part, where the header is."""
    from vwkde.inspection import ModelFileError, SurfaceInspector

    data = path_of_model.read_bytes()
    first = 3_000 if header else len(data)
    other = path_of_model.with_name("damaged.vwkde")
    other.write_bytes(damaged(data[:first], edits, length) + data[first:])
    loaded = outcome(SurfaceInspector.load, other, str(other), ModelFileError)
    if loaded is not None:
        assert loaded.names_ == SurfaceInspector.load(path_of_model).names_
        assert other.read_bytes() == data
