import numpy as np
import pytest

from vwkde.inspection.model.filters.bands import amplitudes


def grating(wavelength, angle, shape=(64, 80)):
    rows, columns = np.mgrid[: shape[0], : shape[1]]
    along = columns * np.cos(angle) + rows * np.sin(angle)
    return (0.5 + 0.2 * np.cos(2 * np.pi * along / wavelength)).astype(np.float32)


def test_amplitudes_are_those_of_whole_transforms_at_every_second_pixel():
    """With the filter written out, in double precision; only its far tail is outside the part transformed back."""
    image = np.random.default_rng(0).random((64, 80)).astype(np.float32)
    found = amplitudes(image)
    extended = np.pad(image.astype(np.float64), 16, mode="symmetric")
    spectrum = np.fft.fft2(extended)
    fy, fx = np.fft.fftfreq(96)[:, None], np.fft.fftfreq(112)[None]
    with np.errstate(divide="ignore"):
        log_frequency = np.log(np.hypot(fy, fx))
    for place, (wavelength, turn) in enumerate((length, k) for length in (4.0, 6.0) for k in range(6)):
        radial = np.exp(-((log_frequency + np.log(wavelength)) ** 2) / (2 * np.log(0.65) ** 2))
        angle = (np.arctan2(fy, fx) - np.pi * turn / 6 + np.pi) % (2 * np.pi) - np.pi
        whole = np.abs(np.fft.ifft2(spectrum * radial * 2 * np.exp(-(angle**2) / (2 * (np.pi / 7.2) ** 2))))
        expected = whole[16:-16:2, 16:-16:2]
        assert found[place].shape == expected.shape == (32, 40)
        assert np.abs(found[place] - expected).mean() < 0.15 * expected.mean()


@pytest.mark.parametrize(("place", "wavelength", "turn"), [(0, 4.0, 0), (3, 4.0, 3), (7, 6.0, 1), (11, 6.0, 5)])
def test_waves_are_strongest_in_their_own_band(place, wavelength, turn):
    inner = amplitudes(grating(wavelength, np.pi * turn / 6))[:, 4:-4, 4:-4].mean(axis=(1, 2))
    assert inner.argmax() == place
    assert inner[place] == pytest.approx(0.2, rel=0.05)
