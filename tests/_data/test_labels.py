"""Columns that say which row it is are left out and reported; measurements stay."""

import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.base import clone

import vwkde
from vwkde._data.frames import Frame
from vwkde._data.labels import find_labels

RNG = np.random.default_rng(7)
NOISE = RNG.normal(size=(300, 2))
SPLIT = RNG.permutation(300)


def labels(name, p, q):
    """Return what the column of this name looks like, beside one of noise."""
    p, q = np.asarray(p, dtype=float), np.asarray(q, dtype=float)
    samples = [np.column_stack([x, NOISE[: len(x), 0]]) for x in (p, q)]
    return find_labels(samples, (name, "noise") if name is not None else None).get(0)


def some(low, high, rows=100):
    return RNG.integers(low, high, rows)


def stamps(rows, start=1.7e9):
    return start + np.cumsum(RNG.exponential(60, rows))


@pytest.mark.parametrize(
    ("name", "p", "q", "what"),
    [
        ("", some(0, 10**6), some(0, 10**6), "an index"),
        ("#", some(0, 10**6), some(0, 10**6), "an index"),
        ("Unnamed: 0", np.arange(100), np.arange(50), "row numbers"),
        ("Unnamed: 0.1", some(0, 10**6), some(0, 10**6), "an index"),
        ("index", some(0, 10**6), some(0, 10**6), "an index"),
        ("__index_level_0__", some(0, 10**6), some(0, 10**6), "an index"),
        ("customer_id", some(0, 10**6), some(0, 10**6), "an id"),
        ("customerId", some(0, 10**6), some(0, 10**6), "an id"),
        ("patient id", np.concatenate([np.repeat(some(0, 10**6, 40), 2), some(0, 10**6, 20)]), some(0, 10**6), "an id"),
        ("timestamp", stamps(100), stamps(80), "a time stamp"),
        ("created_time", RNG.permutation(1e3 * stamps(100)), RNG.permutation(1e3 * stamps(80)), "a time stamp"),
        ("date", np.cumsum(RNG.uniform(1, 2, 60)), np.cumsum(RNG.uniform(1, 2, 60)), "a time stamp"),
        ("n", np.arange(5, 60), np.arange(200, 300), "row numbers"),
        ("n", SPLIT[:100], SPLIT[100:], "row numbers"),
        (None, np.arange(60), np.arange(90), "row numbers"),
    ],
)
def test_labels_are_seen(name, p, q, what):
    assert labels(name, p, q) == what


@pytest.mark.parametrize(
    ("name", "p", "q"),
    [
        ("age", some(18, 90), some(18, 90)),
        ("refractive_index", RNG.normal(1.5, 0.1, 100), RNG.normal(1.5, 0.1, 100)),
        ("body_mass_index", some(150, 350), some(150, 350)),
        ("site_id", some(0, 5), some(0, 5)),
        ("width", some(0, 10**6), some(0, 10**6)),
        ("reaction_time", RNG.gamma(2, 1, 100), RNG.gamma(2, 1, 100)),
        ("id", RNG.normal(size=100), RNG.normal(size=100)),
        ("n", np.arange(10), np.arange(10)),
        ("sorted", np.sort(some(0, 10**6)), np.sort(some(0, 10**6))),
        ("n", np.arange(100), some(0, 100)),
        (None, some(0, 10**6), some(0, 10**6)),
        ("年収", some(0, 10**6), some(0, 10**6)),
        ("paid", some(0, 10**6), some(0, 10**6)),
    ],
)
def test_measurements_stay(name, p, q):
    assert labels(name, p, q) is None


def test_a_column_alone_was_asked_for():
    assert find_labels((np.arange(50.0)[:, None], np.arange(70.0)[:, None]), ("index",)) == {}


@pytest.mark.parametrize(
    ("name", "values", "what"),
    [
        ("n", np.arange(100), "row numbers"),
        ("index", SPLIT, "an index"),
        ("customer_id", some(0, 10**6), "an id"),
        ("timestamp", stamps(100), "a time stamp"),
        ("rank", SPLIT, None),  # ranks, in one table
        ("site_id", some(0, 5), None),
        ("age", some(18, 90), None),
    ],
)
def test_one_table_has_labels_too(name, values, what):
    sample = np.column_stack([np.asarray(values, dtype=float), RNG.normal(size=len(values))])
    assert find_labels((sample,), (name, "noise")).get(0) == what


def frames():
    """Return random parts of one table, each with its own index as a column."""
    parts = NOISE[:100], NOISE[100:]
    return [pd.DataFrame(part, columns=["a", "b"]).reset_index() for part in parts]


def left_out():
    return pytest.warns(vwkde.DegenerateDataWarning, match=r"were left out: 'index' \(row numbers\).*--columns")


@pytest.mark.parametrize("method", ["kde", "nn"])
def test_a_divergence_is_that_of_the_other_columns(method):
    p, q = frames()
    expected = vwkde.kl_divergence(p[["a", "b"]], q[["a", "b"]], method=method)
    with left_out():
        assert vwkde.kl_divergence(p, q, method=method) == expected


def test_a_test_is_that_of_the_other_columns():
    p, q = frames()
    with left_out():
        result = vwkde.two_sample_test(p, q[["b", "index", "a"]], n_permutations=19)
    assert result == vwkde.two_sample_test(p[["a", "b"]], q[["a", "b"]], n_permutations=19)


@pytest.mark.parametrize("method", ["kde", "kliep"])
def test_points_may_have_the_column_or_not(method):
    p, q = frames()
    with left_out():
        ratio = vwkde.divergences.make_estimator(method, {}).fit(p, q)
    expected = ratio.log_ratio(p[["a", "b"]])
    np.testing.assert_array_equal(ratio.log_ratio(p), expected)
    np.testing.assert_array_equal(ratio.log_ratio(p[["a", "b"]].to_numpy()), expected)
    with pytest.raises(ValueError, match=r"not in the (numerator|samples): \['c'\]"):
        ratio.log_ratio(p.assign(c=1.0))


def test_information_is_that_of_the_other_columns():
    x, y = pd.DataFrame(NOISE, columns=["a", "b"]), pd.DataFrame(NOISE + RNG.normal(size=(300, 2)), columns=["c", "d"])
    expected = vwkde.mutual_information(x, y, guide="gaussian")
    with left_out():
        assert vwkde.mutual_information(x.reset_index(), y, guide="gaussian") == expected
    with left_out():
        assert vwkde.mutual_information(x, y.reset_index(), guide="gaussian") == expected
    with pytest.warns(vwkde.DegenerateDataWarning, match=r"which row it is, not what was measured: 0 \(row numbers\)"):
        kept = vwkde.mutual_information(x.reset_index().to_numpy(), y, guide="gaussian")
    assert kept != expected


def test_a_classifier_uses_the_other_columns():
    x, y = pd.DataFrame(NOISE, columns=["a", "b"]), np.repeat(["p", "q"], 150)
    classifier = vwkde.RatioClassifier(ratio=vwkde.DensityRatio(guide="gaussian"))
    expected = classifier.fit(x, y).predict_proba(x)
    with left_out():
        fitted = clone(classifier).fit(x.reset_index(), y)
    np.testing.assert_array_equal(fitted.predict_proba(x.reset_index()), expected)
    np.testing.assert_array_equal(fitted.predict_proba(x), expected)
    assert list(fitted.feature_names_in_) == ["a", "b"]
    assert fitted.n_features_in_ == 2
    with pytest.warns(vwkde.DegenerateDataWarning, match=r"which row it is, not what was measured: 0 \(row numbers\)"):
        kept = clone(classifier).fit(x.reset_index().to_numpy(), y)
    assert kept.n_features_in_ == 3
    assert kept.score(x.reset_index().to_numpy(), y) > 0.9  # the numbers of the rows give the class away


def test_what_is_asked_for_is_used():
    p, q = frames()
    with pytest.warns(vwkde.DegenerateDataWarning, match=r"which row it is, not what was measured: 0 \(row numbers\)"):
        expected = vwkde.kl_divergence(p.to_numpy(), q.to_numpy(), method="kde")
    tables = [Frame(pa.Table.from_pandas(x, preserve_index=False), tuple(x.columns), chosen=True) for x in (p, q)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert vwkde.kl_divergence(*tables, method="kde") == expected
    assert expected.value > 0.3  # twice as many rows: log 2 more


def test_files_read_in_parts_lose_the_index_that_pandas_saved(tmp_path):
    whole = pd.DataFrame(NOISE, columns=["a", "b"])
    p, q = whole.iloc[SPLIT[:100]], whole.iloc[SPLIT[100:]].reset_index(drop=True)
    for name, part in (("p", p), ("q", q)):
        part.to_parquet(tmp_path / f"{name}.parquet")
    with pytest.warns(vwkde.DegenerateDataWarning, match=r"'__index_level_0__' \(a saved index\)"):
        found = vwkde.kl_divergence(tmp_path / "p.parquet", tmp_path / "q.parquet", guide=None, max_held=100)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        paths = [tmp_path / f"{name}.npy" for name in "pq"]
        for path, part in zip(paths, (p, q), strict=True):
            np.save(path, part.to_numpy())
        assert found.value == pytest.approx(vwkde.kl_divergence(*paths, guide=None, max_held=100).value)


def test_small_files_are_treated_like_frames(tmp_path):
    for name, part in zip("pq", frames(), strict=True):
        part.to_parquet(tmp_path / f"{name}.parquet")
    with left_out():
        found = vwkde.kl_divergence(tmp_path / "p.parquet", tmp_path / "q.parquet", method="kde")
    with left_out():
        assert found == vwkde.kl_divergence(*frames(), method="kde")


def indexed(folder, name, seed, first=0, index=True):
    table = pd.DataFrame(np.random.default_rng(seed).normal(size=(40, 2)), columns=["a", "b"])
    table.index += first
    table.to_csv(folder / f"{name}.csv", index=index)
    return folder / f"{name}.csv"


@pytest.mark.parametrize("which", [(True, False), (False, True)])
def test_a_saved_index_that_one_file_has_is_left_out(tmp_path, which):
    p, q = (indexed(tmp_path, f"{index}", index + 1, index=index) for index in which)
    expected = vwkde.kl_divergence(*(pd.read_csv(path)[["a", "b"]] for path in (p, q)), method="kde")
    with pytest.warns(vwkde.DegenerateDataWarning, match=r"were left out: a column without a name \(a saved index\)"):
        assert vwkde.kl_divergence(p, q, method="kde") == expected


def test_new_rows_may_have_a_saved_index(tmp_path):
    p, q = (indexed(tmp_path, f"{seed}", seed, index=False) for seed in (1, 2))
    ratio = vwkde.DensityRatio(guide="gaussian").fit(p, q)
    with pytest.warns(vwkde.DegenerateDataWarning, match="a saved index"):
        found = ratio.log_ratio(indexed(tmp_path, "new", 3))
    np.testing.assert_array_equal(found, ratio.log_ratio(indexed(tmp_path, "new", 3, index=False)))


def test_another_column_without_a_name_is_told_as_such(tmp_path):
    p, q = indexed(tmp_path, "p", 1, first=3), indexed(tmp_path, "q", 2, index=False)
    words = "Missing: a column without a name; not in the numerator: none. A column without a name is an index"
    with pytest.raises(ValueError, match=words):
        vwkde.kl_divergence(p, q)


def test_a_delimiter_at_the_end_of_each_line_makes_no_column(tmp_path):
    p, q = (indexed(tmp_path, f"{seed}", seed, index=False) for seed in (1, 2))
    expected = vwkde.kl_divergence(p, q, method="kde")
    p.write_text(p.read_text().replace("\n", ",\n"))
    assert vwkde.kl_divergence(p, q, method="kde") == expected
