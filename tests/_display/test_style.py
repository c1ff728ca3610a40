"""What all pictures share: how numbers are written, and which range is in view."""

import numpy as np
import pytest

from vwkde._display.style import central_range, number


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (99.94, "99.9"),
        (99.96, "100"),
        (-99.96, "−100"),
        (1234.5, "1,234"),
        (0.5, "0.500"),
        (9.999, "10.0"),
        (-2.5e15, "−2.50e+15"),
    ],
)
def test_numbers_have_three_digits(value, text):
    assert number(value) == text


def test_the_range_in_view_covers_all_samples_except_far_outliers():
    values = np.linspace(0, 1, 101)
    assert central_range(values, values + 3) == (0.0, 4.0)
    assert central_range(np.append(values, 1e6))[1] == pytest.approx(1.9, abs=0.05)


def test_equal_values_have_a_range_too():
    assert central_range(np.full(5, 2.0)) == (1.5, 2.5)
