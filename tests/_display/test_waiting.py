import io
import sys
import time
from types import FunctionType, SimpleNamespace

import pytest

import vwkde
from vwkde._display import waiting
from vwkde._runtime.progress import listening, track
from vwkde.inspection import SurfaceInspector


class Recorded:
    def __init__(self):
        self.drawn, self.cleared = [], False

    def draw(self, words, share):
        self.drawn.append((words, share))

    def clear(self):
        self.cleared = True


@pytest.fixture(autouse=True)
def _impatient(monkeypatch):
    monkeypatch.setattr(waiting, "PATIENCE", 0.05)
    monkeypatch.setattr(waiting, "_EVERY", 0.01)


def work(seconds=0.1):
    for _ in track(range(4), "stage", 4):
        time.sleep(seconds / 4)


def test_a_long_call_shows_its_stage_and_removes_the_bar():
    drawing = Recorded()
    with waiting.bar("function", drawing):
        work(0.4)
    assert drawing.cleared
    assert any(words.startswith("function: stage, ") and share == 0.25 for words, share in drawing.drawn)


def test_a_short_call_shows_nothing():
    drawing = Recorded()
    with waiting.bar("function", drawing):
        work(0.0)
    assert not drawing.drawn
    assert not drawing.cleared


def test_the_bar_is_removed_after_an_error():
    def fail():
        time.sleep(0.2)
        raise KeyError

    drawing = Recorded()
    with pytest.raises(KeyError), waiting.bar("function", drawing):
        fail()
    assert drawing.cleared


class Terminal(io.StringIO):
    def isatty(self):
        return True


def on_a_terminal(monkeypatch):
    """Return what replaces the error stream; a fixture could not, since pytest sets it again before the test."""
    for name in ("CI", "VWKDE_PROGRESS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", Terminal())
    return sys.stderr


def test_it_is_drawn_on_the_error_stream_of_a_terminal(capsys, monkeypatch):
    terminal = on_a_terminal(monkeypatch)
    waiting.shown_while_waiting(work)(0.4)
    assert "work: stage, 0 s" in terminal.getvalue()
    assert capsys.readouterr().out == ""


def test_a_method_is_named_after_the_class_of_its_object(monkeypatch):
    class Base:
        @waiting.shown_while_waiting
        def solve(self):
            work(0.4)

    class Solver(Base):
        pass

    terminal = on_a_terminal(monkeypatch)
    Solver().solve()
    assert "Solver.solve: stage, 0 s" in terminal.getvalue()


@pytest.mark.parametrize(
    "verb",
    [
        *(getattr(vwkde, name) for name in vwkde.__all__ if isinstance(getattr(vwkde, name), FunctionType)),
        *(getattr(vwkde.DensityRatio, name) for name in ("fit", "log_ratio", "ratio", "posterior", "weights")),
        vwkde.DensityRatio.divergence,
        vwkde.ImportanceWeights.discriminator,
        vwkde.RatioClassifier.fit,
        SurfaceInspector.fit,
        SurfaceInspector.add,
    ],
    ids=lambda verb: verb.__qualname__,
)
def test_every_verb_that_may_take_long_has_a_bar(verb):
    has_bar = verb.__code__ is waiting.shown_while_waiting(work).__code__  # all that it returns share their code
    assert has_bar or verb in (vwkde.methods, vwkde.weighted_scorer)  # these return at once


@pytest.mark.parametrize(("name", "value"), [("CI", "true"), ("VWKDE_PROGRESS", "0"), ("TERM", "dumb")])
def test_it_can_be_switched_off(monkeypatch, name, value):
    terminal = on_a_terminal(monkeypatch)
    monkeypatch.setenv(name, value)
    waiting.shown_while_waiting(work)()
    assert terminal.getvalue() == ""


def test_nothing_is_drawn_where_someone_listens(monkeypatch):
    terminal = on_a_terminal(monkeypatch)
    heard = []
    with listening(lambda *news: heard.append(news)):
        waiting.shown_while_waiting(work)()
    assert heard[-1] == ("stage", 4, 4)
    assert terminal.getvalue() == ""


def test_nothing_is_drawn_in_a_pipe(monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    waiting.shown_while_waiting(work)()
    assert sys.stderr.getvalue() == ""


def test_in_a_notebook_an_output_is_updated(monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    shown = []
    handle = SimpleNamespace(update=shown.append)
    display = SimpleNamespace(HTML=str, display=lambda text, **_: shown.append(text) or handle)
    shell = type("ZMQInteractiveShell", (), {})()
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    waiting.shown_while_waiting(work)(0.4)
    assert "<progress value=0.250 max=1></progress> work: stage, 0 s" in shown
    assert shown[-1] == ""
