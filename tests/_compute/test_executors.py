"""Folds and shared work: the same results in this process and with Dask, which needs no client for folds."""

import operator
import pickle
from dataclasses import dataclass

import pytest

from vwkde._compute.executors import DASK, THREADS
from vwkde._runtime import progress


@dataclass(frozen=True)
class Spelling:
    """A fold whose result depends on the order: pieces of a text, or of the text that is sent with the part."""

    text: str | None
    combine = staticmethod(operator.add)

    def results(self, part, values):
        return iter(values if self.text is None else self.text[part])


PARTS = [slice(start, start + 3) for start in range(0, 60, 3)]
TEXT = "the quick brown fox jumps over the lazy dog, who sleeps on.."


@pytest.fixture(params=[THREADS, DASK], ids=lambda executor: executor.name)
def executor(request):
    if request.param is DASK:
        pytest.importorskip("distributed", reason="vwkde[dask] is not installed")
    return request.param


def test_a_fold_combines_in_order(executor):
    executor.require()
    assert executor.fold(Spelling(TEXT), [(part, None) for part in PARTS], "spelling", 60) == TEXT
    assert executor.fold(Spelling(None), [(part, TEXT[part]) for part in PARTS], "spelling", 60) == TEXT


@pytest.mark.parametrize("count", [1, 5, 64, 200])
def test_every_number_is_dealt_once(executor, count):
    assert sorted(number for part in executor.deal(count) for number in part) == list(range(count))


def test_executors_travel(executor):
    assert pickle.loads(pickle.dumps(executor)) == executor


def test_items_are_done_here_one_after_the_other():
    done = []
    results = THREADS.spread(lambda shared, item: done.append(item) or shared * item, 3, iter([1, 2]))
    assert done == []
    assert next(results) == 3
    assert done == [1]
    assert list(results) == [6]


def test_a_fold_here_reports_every_piece():
    heard = []
    with progress.listening(lambda *news: heard.append(news)):
        THREADS.fold(Spelling(TEXT), [(part, None) for part in PARTS[:2]], "spelling", 6)
    assert heard == [("spelling", done, 6) for done in range(1, 7)]
