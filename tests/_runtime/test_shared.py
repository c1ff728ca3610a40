from contextlib import contextmanager

import pytest

from vwkde._runtime.shared import Shared


def test_the_first_enters_and_the_last_leaves():
    told = []

    @contextmanager
    def state():
        told.append("in")
        yield
        told.append("out")

    shared = Shared(state)
    with shared():
        with shared():
            assert told == ["in"]
        assert told == ["in"]
    assert told == ["in", "out"]


def test_a_state_that_could_not_be_entered_is_tried_again():
    tries = []

    @contextmanager
    def state():
        tries.append(None)
        if len(tries) == 1:
            raise ZeroDivisionError
        yield

    shared = Shared(state)
    with pytest.raises(ZeroDivisionError), shared():
        pass
    with shared():
        assert len(tries) == 2
