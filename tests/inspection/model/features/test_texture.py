import numpy as np
import pytest

from vwkde.inspection.model.features.patches import PAPER_GRID
from vwkde.inspection.model.features.texture import Texture

TEXTURE = Texture(grid=PAPER_GRID)
WAVELENGTHS = (4.0, 6.0, 9.0, 14.0, 24.0)
LEVEL, COS_2, COS_4, SIN_2, SIN_4, PEAK = range(6)
"""Places of the features of one wavelength."""


def grain(features):
    """Return the features of every wavelength, (rows, columns, wavelengths, 6)."""
    return features[..., 1:31].reshape(*features.shape[:2], 5, 6)


def grating(wavelength, angle, size=128, contrast=0.2):
    """Waves that run along a direction, measured from the rightward axis downwards."""
    rows, columns = np.mgrid[:size, :size]
    along = columns * np.cos(angle) + rows * np.sin(angle)
    return (0.5 + contrast * np.cos(2 * np.pi * along / wavelength)).astype(np.float32)


def test_the_grain_is_that_of_a_plain_transform():
    """One wavelength and patch at a time, with the filter written out and in double precision."""
    image = np.random.default_rng(0).random((96, 80)).astype(np.float32)
    found = TEXTURE(image)
    extended = np.pad(image.astype(np.float64), 32, mode="symmetric")
    spectrum = np.fft.fft2(extended)
    fy, fx = np.fft.fftfreq(160)[:, None], np.fft.fftfreq(144)[None]
    with np.errstate(divide="ignore"):
        log_frequency = np.log(np.hypot(fy, fx))
    for place, wavelength in enumerate(WAVELENGTHS):
        radial = np.exp(-((log_frequency + np.log(wavelength)) ** 2) / (2 * np.log(0.65) ** 2))
        levels, peaks = [], []
        for k in range(6):
            turn = (np.arctan2(fy, fx) - np.pi * k / 6 + np.pi) % (2 * np.pi) - np.pi
            filtered = np.fft.ifft2(spectrum * radial * 2 * np.exp(-(turn**2) / (2 * (np.pi / 7.2) ** 2)))
            patch = np.abs(filtered)[32 + 48 : 32 + 80, 32 + 16 : 32 + 48]  # the patch in row 3, column 1
            levels.append(np.log(patch.mean() + 1e-4))
            peaks.append(np.log(patch.max() + 1e-4) - levels[-1])
        turns = np.exp(-2j * np.pi * np.outer([1, 2], np.arange(6)) / 6) @ levels / 6
        expected = [np.mean(levels), *turns.real, *turns.imag, np.mean(peaks)]
        np.testing.assert_allclose(grain(found)[3, 1, place], expected, atol=2e-4)


@pytest.mark.parametrize("place", range(5))
def test_waves_are_strongest_at_their_own_length(place):
    levels = grain(TEXTURE(grating(WAVELENGTHS[place], 0.4)))[2:-2, 2:-2, :, LEVEL]
    assert (levels.argmax(axis=-1) == place).all()


def test_the_second_harmonic_points_along_the_waves():
    for angle in (0.0, np.pi / 4, np.pi / 2, 3 * np.pi / 4):
        inner = grain(TEXTURE(grating(9.0, angle)))[2:-2, 2:-2, 2]
        pointed = np.arctan2(-inner[..., SIN_2], inner[..., COS_2]) / 2
        turned = (pointed - angle + np.pi / 2) % np.pi - np.pi / 2
        assert np.abs(turned).max() < 0.05


def test_gray_and_roughness_are_told_apart():
    image = 0.3 + 0.2 * np.random.default_rng(1).random((96, 96)).astype(np.float32)
    brighter = TEXTURE(image + np.float32(0.25)) - TEXTURE(image)
    np.testing.assert_allclose(brighter[..., 0], 0.25, atol=1e-5)
    np.testing.assert_allclose(brighter[..., 1:], 0, atol=0.02)
    rougher = TEXTURE(image.mean() + 2 * (image - image.mean())) - TEXTURE(image)
    np.testing.assert_allclose(rougher[..., 0], 0, atol=0.02)
    np.testing.assert_allclose(grain(rougher)[..., LEVEL], np.log(2), atol=0.02)
    np.testing.assert_allclose(grain(rougher)[..., PEAK], 0, atol=0.02)
    np.testing.assert_allclose(rougher[..., 31], np.log(2), atol=0.05)


def test_a_flat_image_has_finite_features():
    found = TEXTURE(np.full((64, 80), 0.5, dtype=np.float32))
    assert found.shape == (2, 3, 41)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found[..., 0], 0.5, rtol=1e-6)
