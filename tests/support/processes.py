"""Work in another process, which may hang."""

import multiprocessing
import os

import pytest

from support.together import PATIENCE

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
METHODS = [method for method in multiprocessing.get_all_start_methods() if method != "forkserver"]
"""How a process may be started here: forked, spawned or both."""
ignores_fork_warning = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")


def in_child(work, *arguments, method="fork"):
    """Return what the work returns in a child process; a spawned one must be able to import the work."""
    context = multiprocessing.get_context(method)
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_send, args=(sender, work, *arguments), daemon=True)
    child.start()
    sender.close()
    try:
        assert receiver.poll(PATIENCE), "the child hangs"
        return receiver.recv()
    finally:
        child.kill()
        child.join()


def _send(sender, work, *arguments):
    sender.send(work(*arguments))
