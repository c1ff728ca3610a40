"""Whether the first line of a CSV file has names: right, or refused."""

import numpy as np
import pandas as pd
import pytest

import vwkde
from vwkde._data.csv_files import read_csv
from vwkde._data.kinds import floats_of, kind_of
from vwkde._data.tables import read_table

NORMAL = np.random.default_rng(0).normal(size=(50, 3)).round(3)
COUNTS = np.random.default_rng(1).poisson(3, size=(50, 2))


def written(folder, values, header):
    path = folder / "table.csv"
    pd.DataFrame(values).to_csv(path, index=False, header=header)
    return path


def text(folder, content):
    path = folder / "table.csv"
    path.write_text(content)
    return path


@pytest.mark.parametrize(
    ("values", "header"),
    [
        (NORMAL, ["a", "b", "c"]),
        (NORMAL, ["0", "1", "2"]),
        (NORMAL, ["name", "2019", "2020"]),
        (COUNTS, ["a", "b"]),
        ([["red", 1.5], ["blue", 2.5]], ["colour", "x"]),
        ([["red", "x"], ["blue", "y"]], ["colour", "size"]),
        ([["red", True], ["blue", False]], ["colour", "flag"]),
    ],
)
def test_names_are_names(tmp_path, values, header):
    frame = read_csv(written(tmp_path, values, header))
    assert frame.columns == tuple(header)
    assert frame.table.num_rows == len(values)


@pytest.mark.parametrize(
    "content",
    [
        "0.12,0.53\n-0.2,1.1\n0.3,0.7\n",
        "0\n1\n0\n0\n1\n",
        "-1,2\n3,4\n5,6\n",
        "1,1\n3,4\n5,6\n",
        "3,2\n3,4\n5,1\n",
        "NA,1.5\n2,3\n",
        "5.1,3.5,setosa\n4.9,3.0,setosa\n6.3,3.3,virginica\n5.2,3.6,setosa\n",
        "1,0.5\n2,0.7\n3,0.1\n4,0.9\n",
    ],
)
def test_rows_are_rows(tmp_path, content):
    frame = read_csv(text(tmp_path, content))
    assert frame.columns is None
    assert frame.table.num_rows == content.count("\n")


@pytest.mark.parametrize(
    ("values", "header"),
    [
        (NORMAL[:, :1], ["0"]),
        (NORMAL[:, :2], ["0", "1"]),
        (NORMAL, ["2019", "2020", "2021"]),
        (NORMAL, ["1100.5", "1102.5", "1104.5"]),
        (COUNTS, ["1", "2"]),
        ([["France", 1.5], ["Spain", 2.5]], ["country", "2019"]),
    ],
)
def test_a_first_line_that_may_be_either_is_refused_until_the_user_says_which(tmp_path, values, header):
    path = written(tmp_path, values, header)
    with pytest.raises(ValueError, match=r"table\.csv: the first line \(.*\) may be .* --header or --no-header"):
        read_table(path)
    named, headless = (read_table(path, header=answer) for answer in (True, False))
    assert (named.columns, named.table.num_rows) == (tuple(header), len(values))
    assert (headless.columns, headless.table.num_rows) == (None, len(values) + 1)


def test_names_that_are_years_no_longer_count_as_a_row(tmp_path):
    random = np.random.default_rng(3)
    paths = []
    for name, shift in (("p", 0.5), ("q", 0.0)):
        paths.append(tmp_path / f"{name}.csv")
        pd.DataFrame(random.normal(shift, 1, (300, 2)), columns=["2019", "2020"]).to_csv(paths[-1], index=False)
    with pytest.raises(ValueError, match="may be the names"):
        vwkde.kl_divergence(*paths)
    named = [read_table(path, header=True) for path in paths]
    expected = vwkde.kl_divergence(*(pd.read_csv(path).to_numpy() for path in paths), guide="gaussian")
    assert vwkde.kl_divergence(*named, guide="gaussian").value == pytest.approx(expected.value, rel=1e-12)


def test_types_are_found_in_all_rows(tmp_path):
    """Arrow guesses types by the first megabyte: this column is empty there, and whole until near the end."""
    lines = ["a,b\n"] + ["1,\n"] * 400_000 + ["1.5,x\n"]
    table = read_csv(text(tmp_path, "".join(lines))).table
    assert [kind_of(column.type) for column in table.columns] == ["number", "category"]
    assert floats_of(table.column("a"))[-1] == 1.5


def test_gaps_are_missing_in_text_too_unless_quoted(tmp_path):
    table = read_csv(text(tmp_path, 'a,b\n1,x\nNA,\n3,""\n4,y\n')).table
    assert table.column("a").null_count == 1
    assert table.column("b").to_pylist() == ["x", None, "", "y"]


@pytest.mark.parametrize("blank", ["\n", "\r\n\r\n", " \n\n"])
@pytest.mark.parametrize("names", ["a,b\n", ""])
def test_blank_lines_at_the_top_are_skipped(tmp_path, blank, names):
    content = names + "1.5,2\n3,4\n5,6.5\n7,8\n"
    expected = read_table(text(tmp_path, content))
    frame = read_table(text(tmp_path, blank + content))
    assert frame.columns == expected.columns == (("a", "b") if names else None)
    assert frame.table == expected.table


def test_a_file_of_blank_lines_is_empty(tmp_path):
    with pytest.raises(ValueError, match="the file is empty"):
        read_table(text(tmp_path, "\n \n\n"))
    with pytest.raises(ValueError, match="the file has no rows"):
        read_table(text(tmp_path, "\na,b\n\n"))


@pytest.mark.parametrize("delimiter", [";", "\t"])
@pytest.mark.parametrize("whole", [1, 3000])
def test_a_decimal_comma_is_found_in_any_line(tmp_path, delimiter, whole):
    """The second line alone told: one of whole numbers made `2,5` a text."""
    rows = [["3", "4"]] * whole + [[f"{place},5", f"{place},1"] for place in range(50)]
    table = read_table(text(tmp_path, "\n".join(map(delimiter.join, [["a", "b"], *rows])) + "\n")).table
    np.testing.assert_array_equal(floats_of(table.column("a"))[whole:], np.arange(50) + 0.5)


@pytest.mark.parametrize("number", ["{}.5", "{}"])
def test_a_comma_in_a_text_is_no_decimal_mark(tmp_path, number):
    lines = ["a;b", *(f"{number.format(place)};red, or blue" for place in range(50))]
    table = read_table(text(tmp_path, "\n".join(lines) + "\n")).table
    np.testing.assert_array_equal(floats_of(table.column("a")), [float(number.format(place)) for place in range(50)])


@pytest.mark.parametrize("layout", [{"fmt": "%8.3f"}, {"fmt": "%8.3f", "header": "a b c"}, {"header": "a b c"}])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_what_numpy_writes_is_read(tmp_path, layout, newline):
    np.savetxt(tmp_path / "table.txt", NORMAL, newline=newline, **layout)
    frame = read_table(tmp_path / "table.txt")
    assert frame.columns == (("a", "b", "c") if "header" in layout else None)
    values = np.column_stack([floats_of(column) for column in frame.table.columns])
    np.testing.assert_array_equal(values, NORMAL)


@pytest.mark.parametrize("names", [("a", "b", "c"), ("2019", "2020", "2021"), ("a",)])
def test_a_line_behind_a_number_sign_has_names(tmp_path, names):
    path = tmp_path / "table.csv"
    np.savetxt(path, NORMAL[:, : len(names)], header=" ".join(names))
    assert read_table(path).columns == names
    headless = read_table(path, header=False)
    assert (headless.columns, headless.table.num_rows) == (None, len(NORMAL))


@pytest.mark.parametrize("content", ["#,a\n1,2\n3,4.5\n", "# of visits,a\n1,2\n3,4.5\n", "#a,b\n1,2\n3,4.5\n"])
def test_a_number_sign_may_belong_to_a_name(tmp_path, content):
    assert read_csv(text(tmp_path, content)).columns == tuple(content.split("\n")[0].split(","))


def test_an_odd_line_among_aligned_ones_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"line 4 has 3 fields, the first line has 2"):
        read_table(text(tmp_path, "# a  b\n 1.5   2\n 3     4\n 5  6  7\n"))


@pytest.mark.parametrize(
    ("values", "delimiter"),
    [
        (np.arange(-2, 3)[np.arange(60) % 5], ","),
        (np.arange(-30, 30), ";"),
        (np.arange(-30, 30) / 4, ","),
        (np.arange(-30, 30) / 4, ";"),
    ],
)
def test_a_typographic_minus_is_a_minus(tmp_path, values, delimiter):
    """Whole numbers with few values became categories without a word."""
    written = [
        str(value).replace(".", "," if delimiter == ";" else ".").replace("-", "\N{MINUS SIGN}") for value in values
    ]
    lines = [f"a{delimiter}b", *(f"{each}{delimiter}x" for each in written), delimiter]
    frame = read_table(text(tmp_path, "\n".join(lines) + "\n"))
    column = frame.table.column("a")
    assert kind_of(column.type) == "number"
    np.testing.assert_array_equal(floats_of(column), [*values, np.nan])


def test_a_typographic_minus_in_a_text_stays(tmp_path):
    table = read_table(text(tmp_path, "a,b\n1,\N{MINUS SIGN}5 to 3\n2.5,x\n")).table
    assert table.column("b").to_pylist() == ["\N{MINUS SIGN}5 to 3", "x"]
