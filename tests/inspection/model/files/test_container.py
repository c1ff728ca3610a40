import json

import numpy as np
import pytest

safetensors = pytest.importorskip("safetensors.numpy")

from vwkde.inspection.model.files import container  # noqa: E402
from vwkde.inspection.model.files.container import ModelFileError, read_container, stated_digest, write_container  # noqa: E402

ARRAYS = {"patches": np.arange(24, dtype=np.float32).reshape(2, 3, 4), "mean": np.array([0.1, 1e300])}
SETTINGS = {"features": "gradient", "rate": 0.01, "names": ["ä.png", "b.png"]}


@pytest.fixture
def path(tmp_path):
    write_container(tmp_path / "part.vwkde", ARRAYS, SETTINGS)
    return tmp_path / "part.vwkde"


def test_what_was_written_is_read_to_the_last_bit(path):
    arrays, settings, digest = read_container(path)
    assert digest == stated_digest(path)
    assert settings == SETTINGS
    assert set(arrays) == set(ARRAYS)
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(arrays[name], array)


def test_the_file_is_safetensors_and_nothing_else(path):
    assert set(safetensors.load(path.read_bytes())) == set(ARRAYS)


@pytest.mark.parametrize("keep", [0, 5, 100, -1])
def test_a_file_cut_off_is_told(path, keep):
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(ModelFileError, match=r"part.vwkde: not a model file, or damaged"):
        read_container(path)


def test_a_flipped_bit_is_told(path):
    data = bytearray(path.read_bytes())
    data[-3] ^= 4
    path.write_bytes(data)
    with pytest.raises(ModelFileError, match="the checksum does not match"):
        read_container(path)


def test_a_foreign_file_is_told(path, tmp_path):
    path.write_text("no model at all, but a text that is long enough for a header")
    with pytest.raises(ModelFileError, match="not a model file"):
        read_container(path)
    path.write_bytes(safetensors.save({"x": np.zeros(3)}))
    with pytest.raises(ModelFileError, match="not one written by vwkde"):
        read_container(path)
    with pytest.raises(ModelFileError, match="there is no such file"):
        read_container(tmp_path / "none.vwkde")
    with pytest.raises(ModelFileError, match=r"folder|cannot be read|not a model file"):
        read_container(tmp_path)


def test_a_newer_file_is_told(path, monkeypatch):
    monkeypatch.setattr(container, "VERSION", container.VERSION + 1)
    write_container(path, ARRAYS, SETTINGS)
    monkeypatch.undo()
    with pytest.raises(ModelFileError, match="written by a newer vwkde"):
        read_container(path)


def test_nothing_is_left_of_a_file_that_cannot_be_written(path, tmp_path):
    before = path.read_bytes()
    with pytest.raises(ValueError, match="JSON"):
        write_container(path, ARRAYS, {"rate": float("nan")})
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["part.vwkde"]
    assert json.dumps(read_container(path)[1]) == json.dumps(SETTINGS, sort_keys=True)


def rewrite(path, **header):
    """Write the arrays again with another header."""
    path.write_bytes(safetensors.save(ARRAYS, {"format": container.FORMAT, **header}))


def test_a_changed_setting_is_told(path):
    path.write_bytes(path.read_bytes().replace(b'rate\\": 0.01', b'rate\\": 0.51'))
    with pytest.raises(ModelFileError, match="checksum does not match"):
        read_container(path)


def test_a_file_of_the_first_version_is_still_read(path):
    rewrite(path, version="1", settings=json.dumps(SETTINGS), digest=container._digest(ARRAYS, ""))
    assert read_container(path)[1] == SETTINGS


@pytest.mark.parametrize(
    ("header", "told"),
    [
        ({}, "version cannot be read"),
        ({"version": "two"}, "version cannot be read"),
        ({"version": "1", "settings": "{cut", "digest": container._digest(ARRAYS, "")}, "settings cannot be read"),
        ({"version": "1", "settings": "[]", "digest": container._digest(ARRAYS, "")}, "settings cannot be read"),
        ({"version": "1", "digest": container._digest(ARRAYS, "")}, "settings cannot be read"),
    ],
)
def test_a_header_that_makes_no_sense_is_told(path, header, told):
    rewrite(path, **header)
    with pytest.raises(ModelFileError, match=f"part.vwkde: damaged: .*{told}"):
        read_container(path)
