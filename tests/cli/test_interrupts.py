"""Ctrl-C and SIGTERM at any moment of a command, and imports that would swallow them."""

import os
import signal
import subprocess
import sys
import time

import pytest

from support.commands import runner
from vwkde.cli import interrupts

SWALLOWING = """
import time
try:
    print("importing", flush=True)
    end = time.monotonic() + {seconds}
    while time.monotonic() < end:
        time.sleep(0.01)
except BaseException:
    pass
print("imported", flush=True)
"""
COMMAND = """
import ctypes, signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
from vwkde.cli import main
def load():
    import swallowing
    time.sleep(60)
def call():
    function = ctypes.CFUNCTYPE(None)(lambda: (print("called", flush=True), time.sleep(5)) and None)
    function()
    time.sleep(60)
main.app.command("load")(load)
main.app.command("call")(call)
from vwkde.cli.entry import main
main()
"""


@pytest.fixture
def start(tmp_path):
    """Return a function that starts a command, and waits until it is where interrupts get lost."""

    def start(command, seconds=0):
        (tmp_path / "swallowing.py").write_text(SWALLOWING.format(seconds=seconds))
        paths = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])
        process = subprocess.Popen(
            [sys.executable, "-c", COMMAND, command],
            env={**os.environ, "PYTHONPATH": paths},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdout.readline() in ("importing\n", "called\n")
        return process

    return start


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_during_an_import_comes_after_it(start, number, status):
    process = start("load", 0.3)
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (status, "imported\n", "")


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_during_a_call_from_compiled_code_comes_after_it(start, number, status):
    """The compiler of loops calls Python like this."""
    process = start("call")
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (status, "", "")


def test_a_second_ctrl_c_does_not_wait_for_an_import(start):
    process = start("load", 60)
    for _ in range(20):  # two that come within a moment may count as one
        process.send_signal(signal.SIGINT)
        time.sleep(0.005)
        if process.poll() is not None:
            break
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (-signal.SIGINT, "", "")


def test_outside_of_an_import_the_interrupt_comes_at_once():
    handler = interrupts.Interrupt()
    with pytest.raises(KeyboardInterrupt):
        handler(signal.SIGINT, sys._getframe())
    assert handler.has_come


def test_what_compiled_code_makes_of_an_interrupt_is_no_error(capfd, monkeypatch, tmp_path):
    def compiled(*_, **__):
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as interrupt:
            raise SystemError("returned a result with an exception set") from interrupt

    (tmp_path / "p.csv").write_text("a\n1\n2\n3\n")
    monkeypatch.setattr("vwkde.divergences.divergence", compiled)
    assert runner(capfd, monkeypatch)("kl", tmp_path / "p.csv", tmp_path / "p.csv") == (130, "", "")
