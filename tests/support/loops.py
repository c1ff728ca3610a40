"""Which inner loops run, whatever the size of the problem."""

import sys

import pytest

from vwkde._compute import startup

LOOPS = ("compiled", "NumPy")


def take_loops(monkeypatch: pytest.MonkeyPatch, loops: str) -> None:
    """Make every problem one for compiled loops, or for NumPy."""
    monkeypatch.setattr(startup, "_FEW_PAIRS", {"compiled": 0, "NumPy": sys.maxsize}[loops])
