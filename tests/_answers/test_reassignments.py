import numpy as np
import pytest

from vwkde._answers.reassignments import Flipped, Permuted, are_alike, effective_groups, reassigned

RANDOM = np.random.default_rng(0)
GROUP = RANDOM.permutation(np.concatenate([np.repeat(np.arange(6), 5), 6 + np.arange(20)]))
FIRST = GROUP < 6


def test_groups_alike_in_size_change_places_and_others_do_not():
    same = np.where(FIRST, GROUP, 6 + GROUP % 4)
    assert isinstance(reassigned(FIRST, same, 9, RANDOM), Permuted)
    assert isinstance(reassigned(FIRST, GROUP, 9, RANDOM), Flipped)
    assert are_alike(FIRST, same)
    assert not are_alike(FIRST, GROUP)
    assert not are_alike(~FIRST, GROUP)


def test_sizes_that_differ_by_chance_are_alike():
    sizes = np.array([1, 2, 9, 3, 12, 1]), np.array([2, 1, 8, 1, 5, 3])
    group = np.repeat(np.arange(12), np.concatenate(sizes))
    assert are_alike(group < 6, group)
    group = np.repeat(np.arange(12), np.concatenate([sizes[0] + 12, sizes[1]]))
    assert not are_alike(group < 6, group)


@pytest.mark.parametrize("rows", [np.arange(50), np.arange(3, 50, 2)], ids=["all", "some"])
def test_the_first_contrast_is_that_in_fact_and_all_sum_to_zero(rows):
    fact = np.where(FIRST[rows], 1 / FIRST[rows].sum(), -1 / (~FIRST[rows]).sum())
    for samples in (reassigned(FIRST, GROUP, 99, RANDOM), Permuted(np.column_stack([FIRST, ~FIRST]))):
        contrast = samples.at(rows).contrast()
        np.testing.assert_allclose(contrast[:, 0], fact)
        np.testing.assert_allclose(contrast.sum(axis=0), 0, atol=1e-12)
        np.testing.assert_allclose(samples.at(rows).contrast(slice(1, 2)), contrast[:, 1:2])
        assert samples.count == contrast.shape[1]


def test_flipped_contributions_are_distances_from_the_centre():
    """Each sample counts in the centre by its number of groups: six and twenty."""
    x = RANDOM.normal(size=50)
    flipped = reassigned(FIRST, GROUP, 9, RANDOM)
    centre = (6 * x[FIRST].mean() + 20 * x[~FIRST].mean()) / 26
    weight = np.where(FIRST, 1 / 30 * np.sqrt(6 / 5), -1 / 20 * np.sqrt(20 / 19))
    expected = (flipped.signs[flipped.group] * (weight * (x - centre))[:, None]).sum(axis=0)
    np.testing.assert_allclose(x @ flipped.contrast()[:, 1:], expected[1:])


def test_signs_do_not_depend_on_the_labels_of_groups():
    renamed = RANDOM.permutation(100)[GROUP]
    one, other = (reassigned(FIRST, each, 9, np.random.default_rng(1)).contrast() for each in (GROUP, renamed))
    np.testing.assert_array_equal(one, other)


def test_effective_groups():
    assert effective_groups(np.repeat(np.arange(7), 3)) == pytest.approx(7)
    assert effective_groups(np.array([0] * 98 + [1, 2])) == pytest.approx(100**2 / (98**2 + 2))
