"""The small pictures for notebooks: positions of their elements."""

from xml.etree import ElementTree

import numpy as np
import pytest

from vwkde._display.style import TEAL
from vwkde._display.svg import Mark, dots, histograms, interval, on_a_line


def shapes(markup, tag):
    return list(ElementTree.fromstring(f"<div>{markup}</div>").iter(tag))


def places(markup):
    """Return the positions of the dots, by colour."""
    return {each.get("fill"): float(each.get("cx")) for each in shapes(markup, "circle")}


def test_an_interval_lies_in_proportion_between_zero_and_its_end():
    drawn = interval(3.0, 2.0, 4.0)
    at = places(drawn)
    bar = next(line for line in shapes(drawn, "line") if line.get("stroke") == TEAL)
    zero, value, low, high = at["currentColor"], at[TEAL], float(bar.get("x1")), float(bar.get("x2"))
    assert (value - zero) / (high - zero) == pytest.approx(3 / 4, abs=1e-3)
    assert (low - zero) / (high - zero) == pytest.approx(2 / 4, abs=1e-3)


def test_a_negative_estimate_lies_left_of_zero():
    at = places(interval(-1.0, -2.0, -0.5))
    assert at[TEAL] < at["currentColor"]


def test_an_interval_without_an_upper_end_is_an_arrow():
    drawn = interval(3.0, 2.0, np.inf)
    (arrow,) = shapes(drawn, "path")
    bar = next(line for line in shapes(drawn, "line") if line.get("stroke") == TEAL)
    assert arrow.get("d").startswith(f"M{bar.get('x2')},")
    assert float(bar.get("x1")) < places(drawn)[TEAL] < float(bar.get("x2"))
    assert "interval 2.00 to infinity" in drawn
    assert shapes(interval(3.0, 2.0, 4.0), "path") == []


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_not_finite_is_not_drawn(value):
    assert interval(value, 0.0, 1.0) is None
    assert on_a_line([Mark(value, "threshold")]) is None
    assert len(shapes(on_a_line([Mark(value, "threshold"), Mark(1.0, "score")]), "circle")) == 1


def test_close_marks_are_written_on_either_side_of_the_line():
    far, close = (on_a_line([Mark(10.0, "a"), Mark(other, "b")]) for other in (1.0, 9.9))
    assert len({each.get("y") for each in shapes(far, "text")}) == 1
    assert len({each.get("y") for each in shapes(close, "text")}) == 2


def test_histograms_have_a_shape_and_a_name_for_each_group():
    drawn = histograms({"low": np.linspace(-1, 0, 50), "high": np.linspace(0, 1, 50)}, [Mark(0.5, "here")])
    assert len(shapes(drawn, "path")) == 2
    assert all(word in drawn for word in ("low", "high", "here", "−1.00", "1.00"))


def test_a_histogram_is_highest_where_most_rows_are():
    (path,) = shapes(histograms({"one": np.concatenate([np.zeros(90), np.linspace(0, 1, 10)])}), "path")
    heights = [float(step.split("H")[0]) for step in path.get("d").split("V")[1:-1]]
    assert int(np.argmin(heights)) == 0  # the highest bar ends at the smallest distance from the top


def test_equal_values_make_a_histogram_too():
    assert shapes(histograms({"one": np.zeros(5)}), "path")


def test_dots_lie_in_proportion_to_their_logarithms():
    drawn = dots({"low": 0.001, "middle": 0.1, "one": 1.0}, 0.001, Mark(0.05, "0.05"))
    low, middle, one = (float(each.get("cx")) for each in shapes(drawn, "circle"))
    assert (middle - low) / (one - low) == pytest.approx(2 / 3, abs=1e-3)
