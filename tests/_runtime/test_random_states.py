import numpy as np
import pytest
from sklearn.utils import check_random_state

from vwkde._runtime.random_states import random_state_of


@pytest.mark.parametrize("seed", [0, np.int64(7), 2**32 - 1])
def test_a_number_seeds_the_generator_of_scikit_learn(seed):
    assert random_state_of(seed).randint(2**31) == check_random_state(seed).randint(2**31)


def test_a_generator_stays_itself_and_none_is_the_one_of_numpy():
    generator = np.random.RandomState(0)
    assert random_state_of(generator) is generator
    assert random_state_of(None) is check_random_state(None)
    assert random_state_of(np.random) is check_random_state(np.random)


@pytest.mark.parametrize("wrong", ["seed", 1.5, np.random.default_rng(0)])
def test_anything_else_is_refused(wrong):
    with pytest.raises(ValueError, match=r"The 'random_state' parameter must be .* Got .* instead"):
        random_state_of(wrong)
