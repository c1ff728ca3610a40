"""The errors of the window, on a mesh far finer than it."""

import numpy as np
import pytest

from vwkde._compute.engines.window import (
    FAR_ERROR,
    NEAR,
    NEAR_ERROR,
    REACH,
    STEP,
    WIDE_RATIO,
    WIDTH,
    taps,
    window,
)

T = np.linspace(0, REACH + WIDTH * STEP, 700)


def on_grid(variance):
    """Return what the grid gives for two points at distances T, by the place of one of them, (places, T)."""
    g, nodes = taps(variance), np.arange(-WIDTH, WIDTH + 1)
    count = len(g) // 2
    result = []
    for x in np.arange(24) / 24:
        y = x - T / STEP
        others = np.floor(y)[:, None] + nodes
        steps = (nodes[None, :, None] - others[:, None, :]).astype(int)
        between = np.where(np.abs(steps) <= count, g[np.clip(steps + count, 0, 2 * count)], 0)
        result.append(np.einsum("a,tab,tb->t", window(x - nodes), between, window(y[:, None] - others)))
    return np.array(result)


def test_errors_are_half_of_their_bounds_or_less():
    wrong = np.abs(on_grid(1.0) - np.exp(-(T**2) / 2)).max(axis=0)
    near = T < NEAR
    assert 0.25 * NEAR_ERROR < (wrong * np.exp(T**2 / 4))[near].max() <= 0.51 * NEAR_ERROR
    assert 0.1 * FAR_ERROR < wrong[~near].max() <= 0.51 * FAR_ERROR


def test_the_wider_kernel_is_not_underestimated():
    wide = on_grid(2.0)
    assert (wide * np.exp(T**2 / 4))[:, T < NEAR].min() > WIDE_RATIO
    assert wide.min() >= 0


@pytest.mark.parametrize("variance", [1.0, 2.0])
def test_the_convolution_adds_positive_numbers(variance):
    assert taps(variance).min() > -1e-15
