import numpy as np
import pandas as pd
import pytest

from vwkde._data.groups import check_group_pair, check_groups, number_groups


def test_labels_of_any_kind_become_numbers():
    labels = ["a", "b", ("c", 1), 4, 2.5, "a"]
    np.testing.assert_array_equal(check_groups(labels, 6, "f"), [0, 1, 2, 3, 4, 0])
    np.testing.assert_array_equal(check_groups(pd.Series(list("edcbaa")), 6, "f"), [0, 1, 2, 3, 4, 4])
    days = np.arange("2026-01-01", "2026-01-06", dtype="datetime64[D]")
    np.testing.assert_array_equal(check_groups(days, 5, "f"), np.arange(5))
    assert check_groups(None, 5, "f") is None


def test_a_label_in_both_samples_is_one_group():
    p, q = check_group_pair((list("abcde"), list("exyza")), (np.ones(5), np.ones(5)), "f")
    assert p[0] == q[4]
    assert p[4] == q[0]
    assert len(np.union1d(p, q)) == 8
    assert check_group_pair((list("abcde"), None), (np.ones(5), np.ones(9)), "f")[1] is None


def test_groups_in_both_samples_are_numbered_first_and_alike():
    p, q = number_groups(np.array([7, 3, 3, 9, 8]), np.array([2, 9, 3, 2, 1, 1]))
    np.testing.assert_array_equal(p, [2, 0, 0, 1, 3])
    np.testing.assert_array_equal(q, [2, 1, 0, 2, 3, 3])
    np.testing.assert_array_equal(number_groups(np.array([5, 1, 5]), None)[0], [0, 1, 0])


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (np.arange(6), "must be a pair.*Got ndarray instead"),
        ((range(5), range(6)), "for the numerator, must have one label for each of 6 rows. Got 5 labels"),
        ((None, [0, 0, 1, 1, 2, 2]), "for the denominator, must have at least 5 different labels. Got 3"),
        (([0, 1, 2, 3, 4, np.nan], None), "Got nan instead"),
        (([0, 1, 2, 3, 4, [5]], None), r"Got \[5\] instead"),
        (("abcdef", None), "one-dimensional array of labels. Got str"),
        ((np.ones((6, 2)), None), "labels such as numbers or strings"),
    ],
)
def test_bad_groups_are_refused(groups, message):
    with pytest.raises(ValueError, match=message):
        check_group_pair(groups, (np.ones(6), np.ones(6)), "fit")


def test_groups_without_weight_do_not_count():
    labels = list("aabbccddeeff")
    weight = np.where(np.isin(labels, ["a", "f"]), 0.0, 1.0)
    message = "must have at least 5 different labels in rows of positive weight. Got 4 instead"
    with pytest.raises(ValueError, match=f"for the numerator, {message}"):
        check_group_pair((labels, None), (weight, np.ones(3)), "fit")
    weight[0] = 1.0
    assert check_group_pair((labels, None), (weight, np.ones(3)), "fit")[0].max() == 5
