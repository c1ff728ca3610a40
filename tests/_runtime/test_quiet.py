import warnings
from concurrent.futures import ThreadPoolExecutor
from time import sleep

import pytest
from sklearn.exceptions import ConvergenceWarning

from vwkde._runtime.quiet import without_convergence_warnings


def test_only_convergence_warnings_are_held_back():
    with without_convergence_warnings():
        warnings.warn("stopped early", ConvergenceWarning, stacklevel=1)
        with pytest.raises(UserWarning, match="else"):
            warnings.warn("something else", UserWarning, stacklevel=1)


def test_filters_are_restored_whatever_threads_do():
    before = list(warnings.filters)

    def work(seconds):
        with without_convergence_warnings():
            sleep(seconds)
            warnings.warn("stopped early", ConvergenceWarning, stacklevel=1)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, [0.02, 0.001, 0.03, 0.002, 0.01, 0.02]))
    assert list(warnings.filters) == before
