"""What is learnt about categories: which levels stay apart, which count as one, and what is said about it."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import rel_entr

import vwkde
from vwkde._data.intake import check_pair, check_points, check_table
from vwkde._data.reading import Reading

RANDOM = np.random.default_rng(0)


def column(levels):
    return pd.DataFrame({"c": pd.Series(list(levels), dtype="str"), "x": np.arange(len(levels)) % 7})


def category(p, q):
    return check_pair(column(p), column(q)).layout.columns[0]


def test_levels_are_ordered_by_their_rows_then_by_name():
    found = category(["b"] * 60 + ["c"] * 20 + ["a"] * 20, ["b"] * 80 + ["c"] * 20 + ["a"] * 20)
    assert found.levels == ("b", "a", "c")
    assert found.names == ("c=a", "c=c")


def test_a_level_that_a_sample_may_lack_by_chance_counts_as_the_most_frequent_one():
    p, q = ["a"] * 195 + ["b"] * 100 + ["z"] * 5, ["a"] * 100 + ["b"] * 200
    found = category(p, q)
    assert (found.levels, found.joined) == (("b", "a"), ("z",))
    layout = check_pair(column(p), column(q)).layout
    points = check_points(column("zab"), "points", layout)
    assert points[:, 0].tolist() == [0.0, 1.0, 0.0]


def test_many_rare_levels_are_one_which_new_levels_join():
    rare = [f"r{place}" for place in range(12)]
    p, q = ["a"] * 200 + ["b"] * 190 + rare, ["a"] * 200 + ["b"] * 190 + rare
    pair = check_pair(column(p), column(q))
    assert pair.layout.names == ("c=b", "c=(other)", "x")
    assert pair.numerator[:, 1].sum() == 12
    assert check_points(column(["never seen"]), "points", pair.layout)[0, :2].tolist() == [0.0, 1.0]
    assert not pair.layout.is_coarse  # they are 3 % of the rows


def test_levels_beyond_the_first_ones_are_joined_and_divergences_are_then_lower_limits():
    names = [f"level {place:02}" for place in range(40)]
    p, q = (pd.DataFrame({"c": np.resize(names, 600), "x": RANDOM.normal(size=600)}) for _ in range(2))
    with pytest.warns(vwkde.DegenerateDataWarning, match="Column 'c' has so many levels that 20 of them, with 50% of"):
        found = vwkde.kl_divergence(p, q, guide="logistic")
    assert found.open_above
    assert found.interval[1] == np.inf
    with pytest.warns(vwkde.DegenerateDataWarning, match="lower limits"):
        bounded = vwkde.divergence(p, q, "total-variation", guide="logistic")
    assert bounded.interval[1] == 1.0
    with pytest.warns(vwkde.DegenerateDataWarning, match="lower limits"):
        assert vwkde.kl_divergence(p, q, method="classifier").open_above


def test_levels_with_many_rows_have_columns_of_their_own_in_a_ratio():
    """With 20 columns and the rest joined, about a fifth was missed."""
    random = np.random.default_rng(0)
    shares = np.exp(0.6 * random.normal(size=(2, 40)))
    shares /= shares.sum(axis=1, keepdims=True)
    truth = rel_entr(*shares).sum()
    p, q = (pd.DataFrame({"c": random.choice(40, 2_500, p=each).astype(str)}) for each in shares)
    p["x"], q["x"] = random.normal(size=(2, 2_500))
    found = vwkde.kl_divergence(p, q, guide="logistic")
    assert not found.open_above
    assert found.interval[0] < truth < found.interval[1]
    assert found.value == pytest.approx(truth, rel=0.15)


def test_wide_categories_share_their_columns():
    codes = np.resize(np.arange(80), 4_000)
    table = pd.DataFrame({"c": codes.astype(str), "d": np.roll(codes, 7).astype(str)})
    with pytest.warns(vwkde.DegenerateDataWarning, match="30 of them"):
        layout = check_pair(table, table, Reading(most_levels=100)).layout
    assert len(layout.names) == 2 * 50
    with pytest.warns(vwkde.DegenerateDataWarning, match="60 of them"):
        assert len(check_pair(table, table).layout.names) == 2 * 20


def test_a_level_in_one_sample_only_is_named():
    p, q = ["a"] * 100 + ["b"] * 60 + ["new"] * 40, ["a"] * 100 + ["b"] * 100
    with pytest.warns(vwkde.OverlapWarning, match="'c' has levels that do not occur in the denominator: 'new'"):
        found = category(p, q)
    assert "new" in found.levels


def test_small_samples_keep_their_levels():
    assert category("aaaaaaab", "aaaabbbb").levels == ("a", "b")


def test_a_single_table_keeps_all_levels_apart():
    names = np.array([f"level {place:02}" for place in range(40)])
    values = check_table(pd.DataFrame({"c": np.repeat(names, 10)}), "X").values
    assert values.shape == (400, 1)
    assert len(np.unique(values)) == 40


def test_ids_and_free_text_are_seen_in_any_number():
    many = pd.DataFrame({"id": [f"id {place}" for place in range(100_000)], "x": RANDOM.normal(size=100_000)})
    with pytest.warns(vwkde.DegenerateDataWarning, match=r"'id' \(200000 in 200000 rows\)"):
        assert check_pair(many, many).layout.names == ("x",)
    twice = [f"name {place // 2}" for place in range(400)]
    with pytest.warns(vwkde.DegenerateDataWarning, match=r"left out: 'c' \(200 in 800 rows\)"):
        assert check_pair(column(twice), column(twice)).layout.names == ("x",)


def codes(letter, seed, rows=180):
    """Return 60 codes, three rows of each."""
    return [f"{letter}{code}" for code in np.random.default_rng(seed).permutation(rows) % 60]


@pytest.mark.filterwarnings("ignore:.*levels that do not occur in the numerator")
def test_codes_that_repeat_are_compared_though_each_is_rare():
    """60 codes in one sample and 60 others in the other were left out, as names and ids are."""
    p, q = column(codes("A", 0)), column(codes("B", 1))
    with pytest.warns(vwkde.OverlapWarning, match=r"'\(\d+ levels only in the numerator\)'"):
        pair = check_pair(p, q)
    found = pair.layout.columns[0]
    assert found.levels[0].endswith("levels only in the denominator)")
    points = check_points(pd.concat([p, q]), "points", pair.layout)
    np.testing.assert_array_equal(points[:180], pair.numerator)
    np.testing.assert_array_equal(points[180:], pair.denominator)
    assert np.abs(pair.numerator[:, :-1].mean(axis=0) - pair.denominator[:, :-1].mean(axis=0)).max() > 0.9


@pytest.mark.parametrize("name", ["c", "customer_id"])
def test_codes_of_one_population_ids_and_groups_are_left_out(name):
    for seed in range(10):
        same = [column(codes("A", 2 * seed + k)).rename(columns={"c": name}) for k in range(2)]
        with pytest.warns(
            vwkde.DegenerateDataWarning, match=rf"too many different texts .*: '{name}' \(60 in 360 rows"
        ):
            assert check_pair(*same).layout.names == ("x",)
    other = [column(codes(letter, 0)).rename(columns={"c": name}) for letter in "AB"]
    with pytest.warns(vwkde.DegenerateDataWarning, match="too many different texts"):
        assert check_pair(*other, Reading(grouped=True)).layout.names == ("x",)
    if name == "customer_id":
        with pytest.warns(vwkde.DegenerateDataWarning, match="too many different texts"):
            assert check_pair(*other).layout.names == ("x",)
