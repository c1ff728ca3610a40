import pickle
from dataclasses import dataclass, field, replace
from threading import Barrier, Thread

from vwkde._runtime.lazy import lazy


@dataclass(frozen=True)
class Square:
    side: float
    computed: list[float] = field(default_factory=list)

    @lazy
    def area(self) -> float:
        """The area."""
        self.computed.append(self.side)
        return self.side**2


def test_the_value_is_computed_once_for_each_instance():
    small, large = Square(2.0), Square(3.0)
    assert [small.area, small.area, large.area] == [4.0, 4.0, 9.0]
    assert (small.computed, large.computed) == ([2.0], [3.0])


def test_a_changed_copy_computes_its_own():
    square = Square(2.0)
    assert square.area == 4.0
    assert replace(square, side=5.0).area == 25.0


def test_the_value_travels_with_the_instance():
    square = Square(2.0)
    assert square.area == 4.0
    travelled = pickle.loads(pickle.dumps(square))
    assert travelled.area == 4.0
    assert travelled.computed == [2.0]


def test_the_class_shows_the_description():
    assert Square.area.__doc__ == "The area."
    assert isinstance(Square.area, lazy)


class Meeting:
    """Computing one instance's value waits until another's is being computed."""

    def __init__(self, barrier, value):
        self.barrier, self.value = barrier, value

    @lazy
    def met(self):
        self.barrier.wait(10)
        return [self.value]


def test_instances_do_not_wait_for_one_another():
    barrier = Barrier(2)
    meetings = [Meeting(barrier, value) for value in (1, 2)]
    threads = [Thread(target=lambda meeting=meeting: meeting.met) for meeting in meetings]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not barrier.broken
    assert [meeting.met for meeting in meetings] == [[1], [2]]


def test_threads_that_ask_at_once_get_one_value():
    meeting, found = Meeting(Barrier(3), 1), []
    threads = [Thread(target=lambda: found.append(meeting.met)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 3
    assert all(value is meeting.met for value in found)
