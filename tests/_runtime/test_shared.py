from contextlib import contextmanager, nullcontext
from threading import Event, Thread

import pytest

from support.processes import forks, ignores_fork_warning, in_child
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


@forks
@ignores_fork_warning
def test_a_child_forked_while_another_thread_enters_can_enter():
    shared = Shared(nullcontext)

    def enter():
        with shared():
            return True

    with shared._lock:  # as another thread may hold it at that moment
        assert in_child(enter)


@contextmanager
def listed(states):
    states.append("changed")
    yield
    states.remove("changed")


@forks
@ignores_fork_warning
def test_a_child_forked_while_another_thread_holds_the_state_does_not_keep_it():
    states, entered, left = [], Event(), Event()
    shared = Shared(lambda: listed(states))

    def hold():
        with shared():
            entered.set()
            left.wait(60)

    def states_in_turn():
        first = list(states)
        with shared():
            return first, list(states)

    holder = Thread(target=hold)
    holder.start()
    entered.wait(60)
    assert in_child(states_in_turn) == ([], ["changed"])
    assert states == ["changed"]
    left.set()
    holder.join(60)
    assert states == []


@forks
@ignores_fork_warning
def test_a_child_forked_by_the_thread_that_holds_the_state_keeps_it():
    states = []
    shared = Shared(lambda: listed(states))

    with shared():
        assert in_child(states.copy) == ["changed"]
    assert states == []
