import multiprocessing
import os
from contextlib import contextmanager, nullcontext

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


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_child_forked_while_another_thread_enters_can_enter():
    shared = Shared(nullcontext)

    def enter():
        with shared():
            pass

    child = multiprocessing.get_context("fork").Process(target=enter, daemon=True)
    with shared._lock:  # as another thread may hold it at that moment
        child.start()
    child.join(30)
    assert child.exitcode == 0
