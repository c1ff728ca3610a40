import io
import struct
import subprocess
import sys
import warnings
import zlib
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

Image = pytest.importorskip("PIL.Image")

from vwkde.inspection.data.errors import ImageError  # noqa: E402
from vwkde.inspection.data.images import (  # noqa: E402
    MOST_PIXELS,
    decode_image,
    encode_png,
    read_image,
)

RAMP = np.arange(48, dtype=np.uint8).reshape(6, 8) * 5
ORIENTATION = 0x0112


def as_bytes(image, kind="PNG", **options):
    file = io.BytesIO()
    image.save(file, format=kind, **options)
    return file.getvalue()


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png_of(width, height, packed=b""):
    """Return a PNG of a size with the given compressed rows; without any, no pixel can be decoded."""
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", packed) + chunk(b"IEND", b"")


def frames(kind):
    first, second = Image.fromarray(RAMP), Image.fromarray(255 - RAMP)
    return as_bytes(first, kind, save_all=True, append_images=[second])


@pytest.mark.parametrize("kind", ["PNG", "BMP", "TIFF", "PPM", "WEBP", "GIF"])
def test_gray_is_read_exactly(tmp_path, kind):
    data = as_bytes(Image.fromarray(RAMP), kind, **({"lossless": True} if kind == "WEBP" else {}))
    (tmp_path / "ramp").write_bytes(data)
    image = read_image(tmp_path / "ramp")
    assert image.dtype == np.float32
    np.testing.assert_array_equal(image, RAMP / np.float32(255))
    np.testing.assert_array_equal(decode_image(data, "ramp"), image)


def test_jpeg_is_read_nearly():
    smooth = np.add.outer(np.arange(64), np.arange(96)).astype(np.uint8)
    image = decode_image(as_bytes(Image.fromarray(smooth), "JPEG", quality=95), "ramp.jpg")
    assert image.shape == (64, 96)
    assert np.abs(image - smooth / 255).max() < 0.02


@pytest.mark.parametrize("kind", ["PNG", "TIFF", "PGM"])
def test_sixteen_bits_keep_their_precision(kind):
    values = np.array([[0, 1, 255], [256, 40_001, 65_535]], np.uint16)
    pgm = b"P5 3 2 65535\n" + values.astype(">u2").tobytes()
    image = decode_image(pgm if kind == "PGM" else as_bytes(Image.fromarray(values), kind), "deep")
    np.testing.assert_allclose(image, values / 65_535, rtol=1e-6)
    assert image[1, 2] == 1
    assert image[0, 1] > 0


def test_pgm_with_its_own_largest_value():
    data = b"P5 3 1 1023\n" + struct.pack(">3H", 0, 512, 1023)
    np.testing.assert_allclose(decode_image(data, "camera.pgm"), [[0, 512 / 1023, 1]], atol=1e-5)


def test_whole_numbers_of_tiff_are_scaled_by_their_type():
    signed = np.array([[0, 2**30, 2**31 - 1]], np.int32)
    np.testing.assert_allclose(decode_image(as_bytes(Image.fromarray(signed), "TIFF"), "a.tif"), [[0, 0.5, 1]], 1e-6)
    unsigned = bytearray(as_bytes(Image.fromarray(np.array([[0, 2**31 - 1, -1]], np.int32)), "TIFF"))
    tag = unsigned.find(struct.pack("<HHI", 339, 3, 1))
    unsigned[tag + 8] = 1
    np.testing.assert_allclose(decode_image(bytes(unsigned), "b.tif"), [[0, 0.5, 1]], 1e-6)


def test_floats_are_taken_as_they_are():
    values = np.array([[0, 0.25, 1]], np.float32)
    np.testing.assert_array_equal(decode_image(as_bytes(Image.fromarray(values), "TIFF"), "a.tif"), values)


@pytest.mark.parametrize("value", [-0.1, 1.5, 200, np.nan, np.inf])
def test_floats_of_unknown_range_are_refused(value):
    data = as_bytes(Image.fromarray(np.array([[0, value]], np.float32)), "TIFF")
    with pytest.raises(ImageError, match=r"^a\.tif: .*from 0 to 1; save it with 8 or 16 bits"):
        decode_image(data, "a.tif")


def test_negative_whole_numbers_are_refused():
    with pytest.raises(ImageError, match="must not be negative"):
        decode_image(as_bytes(Image.fromarray(np.array([[0, -5]], np.int32)), "TIFF"), "a.tif")


def test_colour_becomes_luminance():
    pixels = np.array([[[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 255]]], np.uint8)
    image = decode_image(as_bytes(Image.fromarray(pixels)), "a.png")
    np.testing.assert_allclose(image, [[0.299, 0.587, 0.114, 1]], atol=0.003)


def test_alpha_is_dropped():
    gray = Image.fromarray(RAMP)
    clear = Image.new("L", gray.size, 7)
    with_alpha = [Image.merge("LA", (gray, clear)), Image.merge("RGBA", (gray, gray, gray, clear))]
    for image in with_alpha:
        np.testing.assert_array_equal(decode_image(as_bytes(image), "a.png"), RAMP / np.float32(255))


def test_palette_with_transparency():
    palette = Image.new("P", (3, 1))
    palette.putpalette([0, 0, 0, 255, 255, 255, 255, 0, 0])
    palette.putdata([0, 1, 2])
    for transparency in (1, bytes([255, 0, 128])):
        image = decode_image(as_bytes(palette, transparency=transparency), "a.png")
        np.testing.assert_allclose(image, [[0, 1, 0.299]], atol=0.003)


def test_one_bit():
    bits = Image.fromarray(RAMP).convert("1", dither=Image.Dither.NONE)
    np.testing.assert_array_equal(decode_image(as_bytes(bits), "a.png"), RAMP >= 128)


def test_colours_for_print():
    pixels = np.full((4, 5, 3), 200, np.uint8)
    image = decode_image(as_bytes(Image.fromarray(pixels).convert("CMYK"), "TIFF"), "a.tif")
    np.testing.assert_allclose(image, 200 / 255, atol=0.01)


@pytest.mark.parametrize(
    ("kind", "options"),
    [("PNG", {}), ("TIFF", {}), ("TIFF", {"compression": "tiff_lzw"}), ("WEBP", {"lossless": True})],
)
@pytest.mark.parametrize(
    ("orientation", "turned"),
    [(1, RAMP), (2, RAMP[:, ::-1]), (3, RAMP[::-1, ::-1]), (5, RAMP.T), (6, np.rot90(RAMP, -1)), (8, np.rot90(RAMP))],
)
def test_photographs_are_turned_upright(kind, options, orientation, turned):
    exif = Image.Exif()
    exif[ORIENTATION] = orientation
    data = as_bytes(Image.fromarray(RAMP), kind, exif=exif, **options)
    np.testing.assert_array_equal(decode_image(data, "photo"), turned / np.float32(255))


def test_sixteen_bits_are_turned_upright():
    values = RAMP.astype(np.uint16) * 256
    exif = Image.Exif()
    exif[ORIENTATION] = 6
    image = decode_image(as_bytes(Image.fromarray(values), exif=exif), "photo.png")
    np.testing.assert_allclose(image, np.rot90(values, -1) / 65_535, rtol=1e-6)


def test_damaged_orientation_is_no_reason_to_refuse():
    image = decode_image(as_bytes(Image.fromarray(RAMP), exif=b"Exif\0\0garbage"), "photo.png")
    np.testing.assert_array_equal(image, RAMP / np.float32(255))


def test_photograph_with_a_preview_is_one_image():
    preview = Image.fromarray(RAMP[:3, :4])
    data = as_bytes(Image.fromarray(RAMP), "MPO", save_all=True, append_images=[preview])
    assert decode_image(data, "phone.jpg").shape == RAMP.shape


ODD_FILES = {
    "empty": (b"", "is empty"),
    "text": (b"a,b\n1,2\n", "not an image.*give PNG"),
    "postscript": (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n", "not an image"),
    "png, ten bytes": (as_bytes(Image.fromarray(RAMP))[:10], "not an image"),
    "png, cut": (as_bytes(Image.fromarray(RAMP))[:50], "damaged or cut short"),
    "jpeg, cut": (as_bytes(Image.effect_noise((64, 64), 50), "JPEG")[:900], "damaged or cut short"),
    "bmp, cut": (as_bytes(Image.fromarray(RAMP), "BMP")[:-20], "damaged or cut short"),
    "pgm, cut": (b"P5 9 9 255\n" + bytes(20), "damaged or cut short"),
    "png, animated": (frames("PNG"), "more than one frame"),
    "gif, animated": (frames("GIF"), "more than one frame"),
    "webp, animated": (frames("WEBP"), "more than one frame"),
    "tiff, pages": (frames("TIFF"), "more than one frame or page"),
    "png, 900 million": (png_of(30_000, 30_000), "more than 64,000,000 pixels"),
    "png, 100 million": (png_of(10_000, 10_000), "more than 64,000,000 pixels"),
    "png, one row too many": (png_of(8_001, 8_000), "more than 64,000,000 pixels"),
    "png, just small enough": (png_of(8_000, 8_000), "damaged or cut short"),
    "pgm, 900 million": (b"P5 30000 30000 255\n", "more than 64,000,000 pixels"),
}


@pytest.mark.parametrize("kind", ODD_FILES)
def test_what_cannot_be_read_is_refused_in_one_line(tmp_path, kind):
    content, reason = ODD_FILES[kind]
    path = tmp_path / "odd.png"
    path.write_bytes(content)
    with pytest.raises(ImageError, match=f"odd.png: .*{reason}") as caught:
        read_image(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)
    with pytest.raises(ImageError, match=f"^upload: .*{reason}"):
        decode_image(content, "upload")


def test_flipped_bytes_in_the_middle_are_seen():
    rng = np.random.default_rng(0)
    data = bytearray(as_bytes(Image.fromarray(rng.integers(256, size=(64, 64), dtype=np.uint8))))
    data[len(data) // 2] ^= 255
    with pytest.raises(ImageError, match="damaged"):
        decode_image(bytes(data), "a.png")


def test_random_damage_never_raises_anything_else():
    rng = np.random.default_rng(1)
    noise = Image.fromarray(rng.integers(256, size=(16, 16), dtype=np.uint8))
    refused = 0
    for kind in ("PNG", "JPEG", "BMP", "TIFF", "PPM", "GIF", "WEBP"):
        whole = as_bytes(noise, kind)
        for _ in range(60):
            data = bytearray(whole)
            for place in rng.integers(len(data), size=3):
                data[place] = rng.integers(256)
            try:
                image = decode_image(bytes(data[: rng.integers(1, len(data) + 1)]), "a")
            except ImageError:
                refused += 1
            else:
                assert image.ndim == 2
                assert 0 <= image.min() <= image.max() <= 1
    assert refused > 100


def test_a_bomb_is_refused_without_decoding(tmp_path):
    """The compressed rows are there, so a decoder that started would need 900 MB."""
    packer = zlib.compressobj(1)
    packed = b"".join(packer.compress(bytes(30_001 * 500)) for _ in range(60)) + packer.flush()
    (tmp_path / "bomb.png").write_bytes(png_of(30_000, 30_000, packed))
    code = (
        "import resource, sys; from pathlib import Path\n"
        "from vwkde.inspection import read_image, ImageError\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "try: read_image(Path(sys.argv[1]))\n"
        "except ImageError: print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    pytest.importorskip("resource")
    command = [sys.executable, "-c", code, tmp_path / "bomb.png"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert int(done.stdout) < 100_000


def test_pillow_s_own_limit_and_warnings_stay_as_they_are():
    before, limit = list(warnings.filters), Image.MAX_IMAGE_PIXELS
    pieces = [as_bytes(Image.fromarray(RAMP)), png_of(10_000, 10_000)] * 20

    def attempt(data):
        try:
            return decode_image(data, "a.png").shape
        except ImageError:
            return None

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(attempt, pieces)) == [RAMP.shape, None] * 20
    assert list(warnings.filters) == before
    assert limit == Image.MAX_IMAGE_PIXELS
    assert limit > MOST_PIXELS


def test_least_side(tmp_path):
    (tmp_path / "a.png").write_bytes(as_bytes(Image.fromarray(RAMP)))
    assert read_image(tmp_path / "a.png", least_side=6).shape == (6, 8)
    with pytest.raises(ImageError, match=r"a\.png: the image has 8×6 pixels, and each side needs at least 7"):
        read_image(tmp_path / "a.png", least_side=7)


def test_missing_file_folder_and_permission(tmp_path, monkeypatch):
    with pytest.raises(ImageError, match=r"none\.png: there is no such file"):
        read_image(tmp_path / "none.png")
    with pytest.raises(ImageError, match="this is not a file"):
        read_image(tmp_path)
    with pytest.raises(ImageError, match="cannot be read"):
        read_image(tmp_path / ("x" * 300))
    path = tmp_path / "a.png"
    path.write_bytes(as_bytes(Image.fromarray(RAMP)))
    monkeypatch.setattr("pathlib.Path.open", deny)
    with pytest.raises(ImageError, match=r"a\.png: the file may not be read; change its permissions"):
        read_image(path)


def test_an_odd_name_gives_one_line():
    with pytest.raises(ImageError) as caught:
        decode_image(b"", "a\nb.png")
    assert "\n" not in str(caught.value)


def test_png_round_trip():
    rgb = np.random.default_rng(0).integers(256, size=(5, 7, 3), dtype=np.uint8)
    data = encode_png(rgb[:, ::-1])
    assert data.startswith(b"\x89PNG")
    np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(data))), rgb[:, ::-1])
    np.testing.assert_array_equal(decode_image(encode_png(RAMP), "a.png"), RAMP / np.float32(255))
    for wrong in (rgb.astype(float), rgb[..., :2], rgb[0, 0]):
        with pytest.raises(ValueError, match="Pixels must be 8-bit"):
            encode_png(wrong)


def test_without_pillow_the_command_that_installs_it_is_told(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    for use in (lambda: read_image(tmp_path), lambda: decode_image(b"", ""), lambda: encode_png(RAMP)):
        with pytest.raises(ImportError, match=r"pip install 'vwkde\[inspect\]'"):
            use()


def test_importing_loads_no_pillow():
    code = "import sys, vwkde.inspection.data.images; print('PIL' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def deny(*_args, **_options):
    raise PermissionError(13, "Permission denied")
