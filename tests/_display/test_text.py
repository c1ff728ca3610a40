import pytest

from vwkde._display.text import shown


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (12.34567, "12.35"),
        (7, "7"),
        (None, "–"),
        ([1.0, 2.5], "1, 2.5"),
        ({"a": 0.5, "b": None}, "a 0.5, b –"),
        ([{"a": -1.5, "b": -1.25}, {"a": -2.0}], "a -1.5, b -1.25 / a -2"),
    ],
)
def test_a_value_is_one_line_of_text(value, text):
    assert shown(value) == text
