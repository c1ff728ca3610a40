"""Comparisons of whole tables: what is found, said, drawn and handed on."""

import json
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest

import vwkde
from vwkde.exceptions import DegenerateDataWarning


def table(rows, seed, joint=0.0):
    """Return a mixed table; `joint` is the correlation of speed and load, which changes neither of them."""
    random = np.random.default_rng(seed)
    speed, noise = random.normal(size=(2, rows))
    return pd.DataFrame(
        {
            "speed": speed,
            "load": np.exp(joint * speed + np.sqrt(1 - joint**2) * noise),
            "line": random.choice(["A", "B", "<b>C</b>"], size=rows, p=[0.5, 0.3, 0.2]),
            "ok": random.random(rows) < 0.7,
            "gauge": np.where(random.random(rows) < 0.1, np.nan, random.normal(size=rows)),
            "when": pd.date_range("2026-01-01", periods=rows, freq="h"),
        }
    )


@pytest.fixture(scope="module")
def joint():
    current = table(300, 2, joint=0.75)
    current.index = [f"part {k}" for k in range(300)]
    return vwkde.drift(table(400, 1), current)


def test_joint_drift_is_found_though_no_column_shows_it(joint):
    assert joint.has_drifted
    assert min(column.adjusted_p_value for column in joint.columns) > 0.05
    assert joint.pairs[0].columns == ("speed", "load")
    assert joint.pairs[0].adjusted_p_value <= 0.01 < joint.pairs[1].adjusted_p_value
    assert {column.name for column in joint.columns[:2]} == {"speed", "load"}
    assert sum(column.share for column in joint.columns[:2]) > 0.75
    assert sum(column.share for column in joint.columns) == pytest.approx(1)
    assert joint.left_out == ("when",)


def test_the_amount_covers_the_truth(joint):
    """The total variation of the two normal densities, by a sum over many points of one of them."""
    random = np.random.default_rng(0)
    a, b = random.normal(size=(2, 400_000))
    log_ratio = -0.5 * ((a**2 + b**2 - 1.5 * a * b) / (1 - 0.75**2) - a**2 - b**2) - 0.5 * np.log(1 - 0.75**2)
    truth = 0.5 * np.abs(np.expm1(log_ratio)).mean()
    low, high = joint.total_variation.interval
    assert low < truth < high < 0.75
    assert joint.total_variation.value == pytest.approx(truth, abs=0.05)


def test_rows_are_named_by_their_index(joint):
    assert all(row.index.startswith("part ") for row in joint.rows)
    ratios = [row.log_ratio for row in joint.rows]
    assert ratios == sorted(ratios, reverse=True)
    assert ratios[0] > 0.5


def test_the_page_is_one_safe_file(joint):
    page = joint.to_html()
    assert page.startswith("<!doctype html>")
    assert "speed and load" in page
    assert "prefers-color-scheme: dark" in page
    assert not re.search(r"https?://|<script|<link|url\(", page)
    assert "<b>C" not in page
    assert "<svg" in joint._repr_html_()


def test_everything_is_handed_on(joint):
    handed = json.loads(json.dumps(joint.to_dict(), allow_nan=False))
    assert handed["has_drifted"] is True
    assert handed["columns"][0]["name"] in ("speed", "load")
    assert handed["details"]["sizes"] == [400, 300]
    assert list(joint.to_frame()["name"]) == [column.name for column in joint.columns]
    lines = str(joint).splitlines()
    assert lines[0].startswith(f"drift found: p = {joint.p_value:.3g} at level 0.05")
    assert "  no single column shows it by itself" in lines


def test_no_drift_is_no_drift():
    result = vwkde.drift(table(200, 3), table(150, 4))
    assert not result.has_drifted
    assert result.rows == result.pictures == ()
    assert result.total_variation.interval[0] <= 0.02
    assert all(column.share is None for column in result.columns)
    assert "No drift found" in result.to_html()


def test_each_kind_of_change_is_named():
    reference, current = table(400, 5), table(400, 6)
    current["line"] = np.where(np.random.default_rng(0).random(400) < 0.3, "D", current["line"])
    current["gauge"] = current["gauge"].mask(np.random.default_rng(1).random(400) < 0.3)
    current["speed"] += 0.6
    result = vwkde.drift(reference, current, measure="never")
    found = {column.name: column.change for column in result.columns if column.adjusted_p_value <= 0.05}
    assert found.keys() == {"line", "gauge", "speed"}
    assert re.match(r"share of 'D' 0 % → \d\d %", found["line"])
    assert re.match(r"missing \d+(\.\d)? % → \d\d %", found["gauge"])
    assert found["speed"].startswith("median ")
    assert result.total_variation is None


def test_the_level_holds_on_a_mixed_table():
    """Of 100 splits of one table, a tenth may have p ≤ 0.1: 10 ± 3."""
    whole = table(120, 7)
    hits = 0
    for seed in range(100):
        halves = whole.sample(frac=1, random_state=seed, ignore_index=True).drop(columns="when")
        hits += vwkde.drift(halves[:60], halves[60:], measure="never", level=0.1, random_state=seed).has_drifted
    assert 2 <= hits <= 19


def test_groups_are_permuted_as_a_whole():
    random = np.random.default_rng(0)
    x, y = (np.repeat(random.normal(size=(20, 2)), 8, axis=0) + random.normal(0, 0.1, (160, 2)) for _ in range(2))
    labels = np.repeat(np.arange(20), 8)
    assert vwkde.drift(x, y, measure="never").p_value <= 0.01
    assert vwkde.drift(x, y, measure="never", groups=(labels, labels + 20)).p_value > 0.05
    with pytest.raises(ValueError, match="different labels in the two tables"):
        vwkde.drift(x, y, groups=(labels, labels))


def test_a_small_level_draws_more_permutations_only_if_they_are_needed():
    random = np.random.default_rng(0)
    x, y = random.normal(size=(2, 100, 2))
    assert vwkde.drift(x, y, level=0.001, measure="never").n_permutations == 499
    clear = vwkde.drift(x, y + 1, level=0.001, measure="never")
    assert (clear.n_permutations, clear.has_drifted) == (1999, True)


def test_odd_tables():
    random = np.random.default_rng(0)
    x = random.normal(size=(60, 2))
    same = vwkde.drift(np.ones((20, 2)), np.ones((30, 2)))
    assert (same.p_value, same.total_variation) == (1.0, None)
    assert vwkde.drift(np.ones((20, 2)), np.zeros((30, 2))).total_variation.value == 1
    assert vwkde.drift(x, x, measure="never").p_value == 1
    apart = vwkde.drift(x, np.column_stack([x, np.ones(60)])[:, [0, 2]])
    assert apart.columns[0].name == "1"
    assert apart.total_variation.interval[1] > 0.9
    few = vwkde.drift(x[:10, 0], x[10:20, 0])
    assert not few.has_drifted
    assert few.pairs == ()
    with pytest.warns(DegenerateDataWarning, match="rows of the reference table repeat others"):
        vwkde.drift(np.repeat(x, 5, axis=0), random.normal(size=(60, 2)), measure="never")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"level": 0}, "'level' parameter of drift must be a number from 0.0001 to 0.5. Got 0 instead"),
        ({"measure": "often"}, "'measure' parameter of drift must be 'always'"),
        ({"dates": "refuse"}, "Got dates or times in column 'when'"),
        ({"missing": "refuse"}, "The reference table must have no missing values"),
        ({"groups": 3}, "a pair: the labels of the reference table's rows and those of the current table's"),
        ({"groups": [range(4), None]}, "'groups' parameter of drift, for the reference table,"),
        ({"groups": [None, range(4)]}, "'groups' parameter of drift, for the current table,"),
    ],
)
def test_wrong_parameters_are_named(arguments, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        vwkde.drift(table(30, 0), table(30, 1), **arguments)


def test_other_columns_are_refused():
    with pytest.raises(ValueError, match=r"current table must have the same columns.* Missing: \['speed'\]"):
        vwkde.drift(table(30, 0), table(30, 1).drop(columns="speed"))


def test_a_text_that_is_left_out_of_columns_without_names_is_not_compared():
    def rows(shift, seed):
        numbers = np.random.default_rng(seed).normal([0, shift], 1, size=(60, 2))
        return np.array([[f"id {seed}-{k}", *row] for k, row in enumerate(numbers)], dtype=object)

    with pytest.warns(DegenerateDataWarning, match="left out: '0'"):
        result = vwkde.drift(rows(0.0, 1), rows(2.0, 2), measure="never")
    assert {column.name: column.kind for column in result.columns} == {"1": "number", "2": "number"}
    assert [column.name for column in result.columns if column.adjusted_p_value <= 0.05] == ["2"]


@pytest.mark.parametrize(
    "series",
    [lambda values, name: pd.Series(values, name=name), lambda values, name: pl.Series(name, values)],
    ids=["pandas", "polars"],
)
def test_a_series_keeps_its_name(series):
    values = np.random.default_rng(0).normal(size=60)
    one, other = series(values, "speed"), series(values + 1, "velocity")
    reference = vwkde.DriftReference.fit(one)
    assert [column.name for column in reference.check(other, measure="never").columns] == ["speed"]


def test_an_empty_text_can_be_seen_in_the_report():
    random = np.random.default_rng(0)
    tables = [pd.DataFrame({"note": random.choice(["", "late"], 200, p=[share, 1 - share])}) for share in (0.3, 0.8)]
    page = vwkde.drift(*tables).to_html()
    assert page.count(">(empty)<") == 11  # in the picture, and in each of the ten rows


def coded(seed, letter, unique=False):
    random = np.random.default_rng(seed)
    numbers = random.permutation(10**6)[:180] if unique else random.permutation(180) % 60
    return pd.DataFrame({"x": random.normal(size=180), "product": [f"{letter}{number}" for number in numbers]})


def test_codes_that_were_all_replaced_are_drift():
    result = vwkde.drift(coded(0, "A"), coded(1, "B"))
    assert result.has_drifted
    assert result.total_variation.value > 0.9
    assert result.columns[0].name == "product"
    assert re.match(r"share of '\(\d+ levels only in the .* table\)'", result.columns[0].change)


@pytest.mark.parametrize("unique", [True, False])
def test_ids_and_codes_of_one_population_are_no_drift(unique):
    found = 0
    for seed in range(12):
        with pytest.warns(DegenerateDataWarning, match="too many different texts"):
            result = vwkde.drift(coded(seed, "A", unique), coded(seed + 50, "A", unique), measure="never")
        found += result.has_drifted
        assert result.left_out == ("product",)
        assert "  not compared: product" in str(result).splitlines()
        assert "Not used: product." in result.to_html()
    assert found <= 3


def test_codes_of_groups_may_differ_without_drift():
    labels = np.arange(180) // 9
    with pytest.warns(DegenerateDataWarning, match="too many different texts"):
        result = vwkde.drift(coded(0, "A"), coded(1, "B"), groups=(labels, labels + 20), measure="never")
    assert not result.has_drifted
