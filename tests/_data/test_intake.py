"""Tables come in as they are: the numbers do not depend on what holds the table, and new rows are encoded alike."""

import dataclasses
import datetime
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import vwkde
from vwkde._data.intake import check_pair, check_points, check_table
from vwkde._data.reading import Reading

INDICATOR = Reading(missing="indicator")
COLOURS = ["red", "green", "blue"]


def make(rows, seed, shift=0.0, shares=(0.5, 0.3, 0.2)):
    random = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "x": random.normal(shift, 1, rows),
            "count": random.integers(0, 9, rows),
            "flag": random.random(rows) < 0.4,
            "colour": random.choice(COLOURS, rows, p=shares),
        }
    )


P, Q = make(120, 0, 0.5), make(150, 1, shares=(0.2, 0.3, 0.5))


def through_csv(frame, folder):
    frame.to_csv(folder / "table.csv", index=False)
    return folder / "table.csv"


def through_parquet(frame, folder):
    frame.to_parquet(folder / "table.parquet")
    return folder / "table.parquet"


CONTAINERS = {
    "pandas, other order": lambda frame, _: frame[frame.columns[::-1]],
    "pandas, nullable": lambda frame, _: frame.convert_dtypes(),
    "pandas, backed by Arrow": lambda frame, _: frame.convert_dtypes(dtype_backend="pyarrow"),
    "pandas, categorical": lambda frame, _: frame.astype({"colour": "category"}),
    "pandas, objects": lambda frame, _: frame.astype(object),
    "polars": lambda frame, _: pl.from_pandas(frame),
    "polars, categorical": lambda frame, _: pl.from_pandas(frame).with_columns(pl.col("colour").cast(pl.Categorical)),
    "polars, enum": lambda frame, _: pl.from_pandas(frame).with_columns(pl.col("colour").cast(pl.Enum(COLOURS))),
    "Arrow": lambda frame, _: pa.Table.from_pandas(frame, preserve_index=False),
    "Arrow, a batch": lambda frame, _: pa.RecordBatch.from_pandas(frame, preserve_index=False),
    "Arrow, dictionary": lambda frame, _: pa.Table.from_pandas(
        frame.astype({"colour": "category"}), preserve_index=False
    ),
    "an array of objects": lambda frame, _: frame.to_numpy(),
    "CSV": through_csv,
    "Parquet": through_parquet,
}


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("gaps", [False, True])
def test_numbers_do_not_depend_on_what_holds_the_table(container, gaps, tmp_path):
    p, q = (frame.mask(np.random.default_rng(2).random(frame.shape) < 0.2) if gaps else frame for frame in (P, Q))
    expected = check_pair(p, q, INDICATOR)
    found = check_pair(p, CONTAINERS[container](q, tmp_path), INDICATOR)
    np.testing.assert_array_equal(found.numerator, expected.numerator)
    np.testing.assert_array_equal(found.denominator, expected.denominator)
    assert found.layout == expected.layout


def test_what_columns_become():
    pair = check_pair(P, Q)
    assert pair.layout.names == ("x", "count", "flag", "colour=green", "colour=red")  # most rows are blue
    np.testing.assert_array_equal(pair.numerator[:, :3], P[["x", "count", "flag"]].astype(float))
    np.testing.assert_array_equal(pair.numerator[:, 3], P["colour"] == "green")
    assert [(column.name, column.kind) for column in pair.layout.columns] == [
        ("x", "number"),
        ("count", "number"),
        ("flag", "boolean"),
        ("colour", "category"),
    ]
    assert pair.layout.encoding.places["colour"] == slice(3, 5)


def test_missing_values_are_marked_and_filled():
    p, q = P.assign(x=P["x"].where(P["x"] > 0)), Q.assign(colour=Q["colour"].where(Q["x"] > 0))
    pair = check_pair(p, q, INDICATOR)
    assert pair.layout.names[:2] == ("x", "x is missing")
    assert pair.layout.names[-1] == "colour is missing"
    missing = p["x"].isna().to_numpy()
    np.testing.assert_array_equal(pair.numerator[:, 1], missing)
    filled = np.unique(pair.numerator[missing, 0])
    assert len(filled) == 1
    assert p["x"].min() < filled[0] < p["x"].max()
    gone = q["colour"].isna().to_numpy()
    np.testing.assert_array_equal(pair.denominator[gone, -3:], [[0.0, 0.0, 1.0]] * gone.sum())


def test_a_few_missing_values_get_no_column_of_their_own():
    p = P.assign(x=P["x"].where(P.index > 2), colour=P["colour"].where(P.index > 1))
    pair = check_pair(p, Q, INDICATOR)
    assert pair.layout.names == check_pair(P, Q).layout.names  # one that is constant in Q would be no density
    assert np.isfinite(check_points(p, "points", pair.layout)).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x": [None, *P["x"][1:]]}, r"no missing values. Got 1 in column 'x'; give missing='indicator'"),
        ({"colour": [None, *P["colour"][1:]]}, r"no missing values. Got 1 in column 'colour'; give missing='indi"),
        ({"x": pd.Timestamp("2026-01-01")}, r"Column 'x' .* Got dates or times \(timestamp.*\) and numbers \(double\)"),
        ({"x": "a"}, r"Column 'x' .* Got text \(.*string\) and numbers \(double\)"),
        ({"colour": 1.0}, r"Column 'colour' .* Got numbers \(double\) and text"),
        ({"colour": [1, "a"] * 60}, r"Column 'colour' of the numerator .* Got int \(1\) and str \('a'\)"),
        ({"colour": [b"a"] * 120}, "Column 'colour' of the numerator must hold .* Got binary"),
        ({"colour": [[1]] * 120}, "Column 'colour' of the numerator must hold .* Got list"),
        ({"x": [np.inf, *P["x"][1:]]}, "must be finite. Got inf in row 0, column 'x'"),
        ({"x": pd.period_range("2000", periods=120, freq="M")}, "Column 'x' of the numerator must hold"),
    ],
)
@pytest.mark.parametrize("function", [vwkde.kl_divergence, vwkde.two_sample_test])
def test_a_message_names_the_column_what_it_is_and_what_helps(change, message, function):
    with pytest.raises(ValueError, match=message):
        function(P.assign(**change), Q)


NOW = pd.Timestamp("2026-01-01")


@pytest.mark.parametrize("when", [NOW, NOW.tz_localize("CET"), NOW.date(), datetime.time(3)])
def test_dates_are_refused_with_the_argument_that_helps(when):
    message = r"dates or times in column 'when' \(.*\) instead; give dates='number' .* or dates='drop'"
    for function in (vwkde.kl_divergence, vwkde.two_sample_test, vwkde.mutual_information):
        with pytest.raises(ValueError, match=message):
            function(P.assign(when=when), P.assign(when=when))
    with pytest.raises(ValueError, match="with and without a time zone"):
        check_pair(P.assign(when=NOW), Q.assign(when=NOW.tz_localize("CET")))


def test_dates_are_numbers_only_if_asked_for():
    when = pd.date_range("2026-01-01", periods=len(P), freq="h", name="when")
    p, q = P.assign(when=when), Q.assign(when=pd.Timestamp("2026-03-01 12:00"))
    pair = check_pair(p, q, Reading(dates="number"))
    np.testing.assert_array_equal(np.diff(pair.numerator[:, -1]), 3600.0)
    assert pair.layout.columns[-1].kind == "date"
    days = check_pair(p, q.assign(when=datetime.date(2026, 3, 1)), Reading(dates="number"))
    assert (pair.denominator[:, -1] - days.denominator[:, -1] == 12 * 3600).all()  # whatever the unit
    dropped = check_pair(p, q, Reading(dates="drop"))
    assert dropped.layout == dataclasses.replace(check_pair(P, Q).layout, left_out=("when",))
    check_points(P, "points", dropped.layout)
    check_points(p, "points", dropped.layout)
    with pytest.raises(ValueError, match="No column is left"):
        check_pair(p[["when"]], q[["when"]], Reading(dates="drop"))


def test_durations_decimals_and_small_types_are_numbers():
    frame = pl.DataFrame(
        {
            "took": [datetime.timedelta(seconds=each) for each in range(30)],
            "price": [Decimal(each * 25).scaleb(-2) for each in range(30)],
            "small": pl.Series(range(30), dtype=pl.UInt8),
        }
    )
    values = check_table(frame.select(pl.all().reverse()), "X").values  # a table that counts up has row numbers
    np.testing.assert_array_equal(values[::-1], np.arange(30.0)[:, None] * [1.0, 0.25, 1.0])


def test_bins_of_pandas_are_categories():
    p, q = (frame.assign(x=pd.cut(frame["x"], [-9, 0, 1, 9])) for frame in (P, Q))
    assert check_pair(p, q).layout.names[:2] == ("x=(0, 1]", "x=(1, 9]")


def test_float32_stays():
    frame = pa.table({"a": np.ones(3, np.float32), "b": np.zeros(3, np.float32)})
    assert check_table(frame, "X").values.dtype == np.float32
    assert check_table(frame.append_column("c", [[True, False, True]]), "X").values.dtype == np.float64


@pytest.fixture(scope="module")
def ratio():
    return vwkde.DensityRatio(guide="gaussian").fit(P, Q)


def test_new_rows_are_encoded_as_the_samples_were(ratio):
    expected = ratio.log_ratio(P)
    one_level = P[P["colour"] == "blue"]
    np.testing.assert_array_equal(ratio.log_ratio(one_level), expected[P["colour"] == "blue"])
    np.testing.assert_array_equal(ratio.log_ratio(pl.from_pandas(P[P.columns[::-1]])), expected)
    np.testing.assert_array_equal(ratio.log_ratio(P.to_numpy()), expected)
    np.testing.assert_array_equal(ratio.log_ratio(P.assign(flag=P["flag"].astype(float))), expected)
    assert (ratio.n_features_in_, list(ratio.feature_names_in_)) == (4, list(P.columns))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"colour": "mauve"}, r"Column 'colour' of the points .* 120 rows, such as 'mauve'"),
        ({"colour": None}, "Column 'colour' of the points must have no missing values"),
        ({"x": "a"}, "Column 'x' of the points must hold numbers, as in the rows that were fitted. Got .*string"),
        (
            {"flag": 5},
            "Column 'flag' of the points must hold true and false, or 1 and 0, .* Got 5 and such in 120 rows",
        ),
        ({"flag": 0.5}, "Column 'flag' of the points must hold true and false"),
        ({"colour": 1}, "Column 'colour' of the points must hold text or categories"),
        ({"more": 1}, r"not in the numerator: \['more'\]"),
    ],
)
def test_new_rows_that_cannot_be_encoded_are_refused(ratio, change, message):
    with pytest.raises(ValueError, match=message):
        ratio.log_ratio(P.assign(**change))


def test_columns_that_differ_are_named():
    with pytest.raises(ValueError, match=r"Missing: \['colour'\]; not in the numerator: \['hue'\]"):
        check_pair(P, Q.rename(columns={"colour": "hue"}))
    with pytest.raises(ValueError, match="unique"):
        check_pair(P.rename(columns={"colour": "x"}), Q)
    with pytest.raises(TypeError, match=r"call \.collect\(\)"):
        check_pair(pl.from_pandas(P).lazy(), Q)


def test_row_numbers_and_free_text_are_left_out():
    p, q = (frame.assign(id=range(len(frame)), note=[f"{place} " for place in frame["x"]]) for frame in (P, Q))
    with pytest.warns(vwkde.DegenerateDataWarning) as raised:
        pair = check_pair(p, q)
    words = " ".join(str(each.message) for each in raised)
    assert "'id' (row numbers)" in words
    assert "left out: 'note' (270 in 270 rows)" in words
    assert set(pair.layout.left_out) == {"id", "note"}
    np.testing.assert_array_equal(pair.numerator, check_pair(P, Q).numerator)
    np.testing.assert_array_equal(check_points(p, "points", pair.layout), check_points(P, "points", pair.layout))
    with pytest.raises(ValueError, match=r"few levels for their rows.*'note'"):
        check_pair(p[["note"]], q[["note"]])


def test_kinds_stay_known_where_nothing_is_encoded():
    layout = check_pair(P[["x", "flag"]], Q[["x", "flag"]]).layout
    assert [column.kind for column in layout.columns] == ["number", "boolean"]
    with pytest.raises(ValueError, match=r"^There are no rows to evaluate"):
        check_points(P[["x", "flag"]][:0], "points", layout)


def test_row_numbers_without_a_name_are_reported(tmp_path):
    path = tmp_path / "headless.csv"
    Q[["x", "count"]].to_csv(path, header=False)
    with pytest.warns(vwkde.DegenerateDataWarning, match=r"not what was measured: 0 \(row numbers\)"):
        assert check_table(path, "X").values.shape == (150, 3)


def test_empty_and_constant_columns(ratio):
    p, q = P.assign(nothing=None, same="a"), Q.assign(nothing=None, same="a")
    with pytest.raises(ValueError, match="Got 120 in column 'nothing'"):
        check_pair(p, q)
    with pytest.raises(ValueError, match="must vary in at least one column"):
        vwkde.kl_divergence(p[["same"]], q[["same"]])
    with pytest.warns(vwkde.DegenerateDataWarning, match=r"\['nothing is missing', 'same=a'\] are constant"):
        found = vwkde.kl_divergence(p, q, guide="gaussian", missing="indicator")
    assert found.value == pytest.approx(ratio.divergence("kl").value, rel=1e-9)


@given(st.data())
@settings(max_examples=30, deadline=None)
def test_any_table_is_the_same_in_pandas_polars_and_arrow(data):
    kinds = {
        "a": st.one_of(st.none(), st.floats(-5, 5)),
        "b": st.one_of(st.none(), st.integers(-3, 3)),
        "c": st.one_of(st.none(), st.booleans()),
        "d": st.one_of(st.none(), st.sampled_from(["u", "v", "w", "", "NA", "ü"])),
    }
    rows = st.fixed_dictionaries(kinds)
    tables = [pa.Table.from_pylist(data.draw(st.lists(rows, min_size=2, max_size=40)), _SCHEMA) for _ in range(2)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = check_pair(*tables, INDICATOR)
        for convert in (pl.from_arrow, lambda t: t.to_pandas(types_mapper=pd.ArrowDtype)):
            found = check_pair(*map(convert, tables), INDICATOR)
            np.testing.assert_array_equal(found.numerator, expected.numerator)
            np.testing.assert_array_equal(found.denominator, expected.denominator)
            assert found.layout == expected.layout
    assert np.isfinite(expected.numerator).all()


_SCHEMA = pa.schema([("a", pa.float64()), ("b", pa.int64()), ("c", pa.bool_()), ("d", pa.string())])


def test_a_sample_is_called_by_its_letter_alone():
    x = np.random.default_rng(0).normal(size=(30, 1))
    with pytest.raises(ValueError, match=r"^Y must be finite\. Got nan"):
        vwkde.mutual_information(x, np.full((30, 1), np.nan))
    with pytest.raises(ValueError, match=r"^Column 'a' of X must hold numbers"):
        vwkde.mutual_information(pd.DataFrame({"a": [b"x"] * 30}), x)


@pytest.mark.parametrize("method", [None, "kde", "kliep"])
def test_points_may_be_one_row_but_not_none(method):
    p, q = np.random.default_rng(0).normal(size=(2, 40, 2))
    ratio = vwkde.divergences.make_estimator(method, {}).fit(p, q)
    assert ratio.log_ratio(p[:1]).shape == (1,)
    with pytest.raises(ValueError, match=r"^There are no rows to evaluate\. Give at least one\.$"):
        ratio.log_ratio(p[:0])
