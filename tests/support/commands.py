"""Commands run as they are typed, in this process."""

import sys

import pytest

from vwkde.cli import main


def runner(capfd, monkeypatch, *verb):
    """Return a function that runs `vwkde`, with a verb if one is given, and returns status, output and errors."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["vwkde", *verb, *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main.main()
        return stop.value.code or 0, *capfd.readouterr()

    return run
