import warnings

import pytest

from vwkde._runtime.filters import ignoring

without_dull = ignoring(message="dull")
without_user = ignoring(category=UserWarning)


def test_only_the_warnings_chosen_are_suppressed():
    with without_dull():
        warnings.warn("dull", UserWarning, stacklevel=1)
        with pytest.raises(UserWarning, match="bright"):
            warnings.warn("bright", UserWarning, stacklevel=1)
    with pytest.raises(UserWarning, match="dull"):
        warnings.warn("dull", UserWarning, stacklevel=1)


def test_contexts_left_in_the_order_of_entering_leave_the_filters_as_they_were():
    """As two threads may leave them; nested contexts are left in the opposite order."""
    before = list(warnings.filters)
    one, other = without_dull(), without_user()
    one.__enter__()
    other.__enter__()
    one.__exit__(None, None, None)
    warnings.warn("bright", UserWarning, stacklevel=1)
    other.__exit__(None, None, None)
    assert list(warnings.filters) == before


def test_a_context_entered_again_while_another_lasts_suppresses_again():
    with without_user():
        for _ in range(2):
            with without_dull():
                warnings.warn("dull", FutureWarning, stacklevel=1)
