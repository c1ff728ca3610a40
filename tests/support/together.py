"""Calls at the same time, each on its own thread. If one hangs, the stacks of all threads are shown."""

import faulthandler
from threading import Thread
from time import monotonic

PATIENCE = 300
"""Seconds after which a call that takes a few seconds alone is considered to hang; a busy machine must not reach it."""


def together(*calls, patience=PATIENCE):
    """Return the results of the calls, which start at the same time; the first error is raised."""
    results, errors = [None] * len(calls), []

    def run(place, call):
        try:
            results[place] = call()
        except BaseException as error:
            errors.append(error)

    threads = [Thread(target=run, args=each, daemon=True) for each in enumerate(calls)]
    for thread in threads:
        thread.start()
    end = monotonic() + patience
    for thread in threads:
        thread.join(max(0, end - monotonic()))
    hanging = sum(thread.is_alive() for thread in threads)
    if hanging:
        faulthandler.dump_traceback(all_threads=True)
    assert not hanging, f"{hanging} of {len(threads)} calls hang after {patience} s"
    if errors:
        raise errors[0]
    return results
