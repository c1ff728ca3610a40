"""One holder at a time, whoever it is and however it ends."""

import os
import signal
import subprocess
import sys
from threading import Thread

import pytest

from vwkde._runtime.file_lock import BusyFileError, lock_path, locked

HOLDER = """
import sys, time
from pathlib import Path
from vwkde._runtime.file_lock import locked
with locked(Path(sys.argv[1]), 5):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_lock_that_another_process_holds_is_waited_for_and_ends_with_it(tmp_path):
    path = tmp_path / "part.vwkde"
    with subprocess.Popen([sys.executable, "-c", HOLDER, path], stdout=subprocess.PIPE) as holder:
        holder.stdout.readline()
        with pytest.raises(BusyFileError, match=r"part\.vwkde: another program is changing"), locked(path, 0.1):
            pass
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        with locked(path, 5):
            assert lock_path(path).exists()
    assert not lock_path(path).exists()


def test_links_to_a_file_share_its_lock_and_a_thread_may_take_it_twice(tmp_path):
    path, link = tmp_path / "part.vwkde", tmp_path / "link.vwkde"
    os.symlink(path, link)
    refused = []

    def take():
        try:
            with locked(link, 0.05):
                pass
        except BusyFileError:
            refused.append(link)

    with locked(path, 0), locked(link, 0):
        thread = Thread(target=take)
        thread.start()
        thread.join()
    assert refused == [link]
    take()
    assert len(refused) == 1


def test_many_threads_take_turns(tmp_path):
    """Each removes the lock file while others wait for it: none may hold a lock file that is no longer there."""
    path, counter = tmp_path / "part.vwkde", tmp_path / "counter"
    counter.write_text("0")

    def count():
        for _ in range(20):
            with locked(path, 30):
                counter.write_text(str(int(counter.read_text()) + 1))

    threads = [Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counter.read_text() == "80"
