"""A CSV file that cannot be read as it was meant is refused, with the line or the column and what helps."""

import numpy as np
import pandas as pd
import pytest

import vwkde
from vwkde._data.tables import read_table
from vwkde.cli.options import in_options

ROWS = 40
NUMBERS = np.random.default_rng(0).normal(5, 2, size=(ROWS, 2)).round(3)
LINES = [f"{a},{b},{'uv'[k % 2]}" for k, (a, b) in enumerate(NUMBERS)]
HEAD = "x,y,kind"


def write(folder, lines):
    path = folder / "odd.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def changed(line, text):
    return [HEAD, *LINES[: line - 2], text, *LINES[line - 1 :]]


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (changed(7, "?,3.1,u"), r"column 'x' has text among its numbers: '\?' in line 7 \(1 of 40 values are text\)"),
        ([*changed(9, "1,n.a. (a),u"), ",-,v"], r"column 'y' .*'n\.a\. \(a\)' in line 9 \(2 of 41 values"),
        ([HEAD, "[mm],[s],[-]", *LINES], r"column 'x' has text among its numbers: '\[mm\]' in line 2"),
        ([HEAD, *LINES, "Total,,"], r"column 'x' has text among its numbers: 'Total' in line 42"),
        ([HEAD, *(f"{a},{b} mm,u" for a, b in NUMBERS)], r"'y' has numbers that are written as text, .* '\d.* mm'"),
        ([HEAD, *(f'{a},"1,{k:03d}",u' for k, (a, _) in enumerate(NUMBERS))], r"'y' has numbers .* '1,000'"),
        (["x;y", *(f"{k},5;{4 + k}.{k:03d},72" for k in range(ROWS))], r"'y' has numbers .* '4\.000,72'"),
        (["x;y", *(f"{a};{4 + k}.{k:03d}.500" for k, (a, _) in enumerate(NUMBERS))], r"'y' has .* '4\.000\.500'"),
        (["x;y", *(f"{k},5;{4 + k} {k:03d},5" for k in range(ROWS))], r"'y' has .* '4 000,5'"),
        ([HEAD, *(f"{a},{b} %,u" for a, b in NUMBERS)], r"'y' has numbers that are written as text, .* %'"),
        (changed(7, '"3.2,4.1,u'), r"line 7 has a quotation mark that is not closed: '\"3\.2,4\.1,u'"),
        (["", "", *changed(7, "?,3.1,u")], r"column 'x' has text among its numbers: '\?' in line 9"),
        ([*changed(7, "?,3.1,u")[:4], "", *changed(7, "?,3.1,u")[4:]], r"'x' has text among its numbers: .* in line 8"),
        (["", *changed(5, "3.2,4.1,u,7")], r"line 6 has 4 fields, the first line has 3"),
        (changed(5, "3.2;4.1;u"), r"line 5 has 1 field, the first line has 3, divided by ',': '3\.2;4\.1;u'"),
        (changed(5, "3.2,4.1,u,7"), r"line 5 has 4 fields, the first line has 3"),
        (["My table", "", HEAD, *LINES], r"line 3 has 1 field, the first line has 2, divided by ' '"),
        ([HEAD], "the file has no rows"),
    ],
)
def test_the_place_is_named_in_one_line(tmp_path, lines, words):
    path = write(tmp_path, lines)
    with pytest.raises(ValueError, match=words) as error:
        read_table(path)
    assert "\n" not in str(error.value)
    assert "categor" not in str(error.value)
    with pytest.raises(ValueError, match=words):
        vwkde.mutual_information_matrix(path)


def test_a_column_that_is_not_asked_for_may_be_odd(tmp_path):
    path = write(tmp_path, changed(7, "?,3.1,u"))
    assert read_table(path, ["y", "kind"]).table.num_rows == ROWS


@pytest.mark.parametrize(
    "column",
    [
        [["1", "2", "3a", "3b"][k % 4] for k in range(ROWS)],  # a class may have a letter
        [f"{k}{'abcdefgh'[k % 8]}" for k in range(ROWS)],  # so may an id
        [f"part {k}" for k in range(ROWS)],
        [f"1.{k}.{k % 3}" for k in range(ROWS)],
        [f"192.168.{k}.{k % 7}" for k in range(ROWS)],
        ["yes" if k % 2 else "" for k in range(ROWS)],
    ],
)
def test_texts_that_were_never_numbers_pass(tmp_path, column):
    path = write(tmp_path, ["x,code", *(f"{x},{code}" for (x, _), code in zip(NUMBERS, column, strict=True))])
    assert str(read_table(path).table.schema.field("code").type) == "string"


def test_numbers_with_three_digits_after_the_point_are_numbers(tmp_path):
    table = read_table(write(tmp_path, ["x;y", *(f"{a};1.{k:03d}" for k, (a, _) in enumerate(NUMBERS))])).table
    np.testing.assert_array_equal(table.column("y"), 1 + np.arange(ROWS) / 1000)


def test_spaces_after_a_delimiter_are_no_part_of_names_and_texts(tmp_path):
    path = write(tmp_path, ["x, y, kind", *(line.replace(",", ", ") for line in LINES)])
    table = read_table(path).table
    assert table.column_names == ["x", "y", "kind"]
    assert set(table.column("kind").to_pylist()) == {"u", "v"}
    np.testing.assert_array_equal(table.column("y"), NUMBERS[:, 1])


def test_a_column_of_another_kind_is_told_as_what_it_is():
    one, other = pd.DataFrame({"y": ["a", "b"] * 20}), pd.DataFrame({"y": np.arange(40.0)})
    with pytest.raises(ValueError, match=r"Column 'y' must .*\. Got text \((large_)?string\) and"):
        vwkde.kl_divergence(one, other)


def with_quotes(rows, *odd, text='"pipe'):
    return ["a,k", *(f"0.{place % 10},{text if place in odd else 'uv'[place % 2]}" for place in range(rows))]


@pytest.mark.parametrize(
    ("rows", "odd"),
    [(200, [100]), (200, [100, 150]), (200, [199]), (400_000, [100_000]), (400_000, [100_000, 300_000])],
)
def test_a_quotation_mark_that_is_not_closed_does_not_swallow_rows(tmp_path, rows, odd):
    """Up to the next mark, or the end of the file, all lines were one text."""
    path = write(tmp_path, with_quotes(rows, *odd))
    with pytest.raises(ValueError, match=f"line {odd[0] + 2} has a quotation mark that is not closed: '0.*,\"pipe'"):
        read_table(path)


def test_a_quotation_mark_that_is_not_closed_in_the_first_line_is_refused(tmp_path):
    with pytest.raises(ValueError, match="the first line has a quotation mark that is not closed"):
        read_table(write(tmp_path, ['a,"k', *LINES]))


@pytest.mark.parametrize("text", ['5" pipe', '"5"" pipe"', '"a, b"', '""'])
def test_quotation_marks_that_belong_there_stay(tmp_path, text):
    table = read_table(write(tmp_path, with_quotes(200, *range(0, 200, 3), 199, text=text))).table
    assert table.num_rows == 200


def mixed(rows, other):
    return ["a;b", *(f"{place};{place + 1},5" for place in range(rows)), other]


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (mixed(40, "1.5;2,5"), r"'a' has numbers with a decimal point: '1\.5' in line 42\. .* Write all numbers with"),
        (
            ["a;b", *(f"{k},5;x" for k in range(40)), "1.5;x"],
            r"'a' has numbers with a decimal point: '1\.5' in line 42",
        ),
        (["a,b", *(f'{k},"{k},5"' for k in range(40))], r"'b' has numbers with a decimal comma: '0,5' in line 2\."),
    ],
)
def test_two_decimal_marks_are_told_as_such(tmp_path, lines, words):
    with pytest.raises(ValueError, match=words):
        read_table(write(tmp_path, lines))


def test_the_way_out_is_told_in_python_and_on_the_command_line(tmp_path):
    with pytest.raises(ValueError, match="text among its numbers") as error:
        read_table(write(tmp_path, changed(7, "?,3.1,u")))
    assert str(error.value).endswith(
        "Correct that, leave these fields empty and give missing='indicator', or leave the column out."
    )
    assert in_options(str(error.value)).endswith(
        "leave these fields empty and add `--missing indicator`, or leave the column out."
    )
