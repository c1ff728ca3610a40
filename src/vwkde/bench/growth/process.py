"""A measurement in a process of its own, which is ended at a limit of time or memory."""

import json
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from time import monotonic

from vwkde.bench.growth.measured import Limits, Run, Task

_LOOKS_EVERY = 0.05
"""Seconds between two looks at the memory of the process."""
_START = 120.0
"""Seconds for the start, the imports and the small first sample, which do not count."""
_WORKER = "vwkde.bench.growth.worker"


def run_apart(task: Task, limits: Limits, n_threads: int | None) -> Run:
    """Return what came of a task in a new process."""
    # -P: what is in the current folder is not imported.
    command = [sys.executable, "-P", "-m", _WORKER, json.dumps(task), json.dumps(n_threads)]
    with (
        TemporaryFile("w+") as printed,
        TemporaryFile("w+", errors="replace") as said,
    ):  # a pipe that is full would stop the process
        with subprocess.Popen(command, stdout=printed, stderr=said) as process:
            try:
                problem = _watched(process, limits)
            finally:
                process.kill()  # at a limit, and after Ctrl-C
        printed.seek(0)
        said.seek(0)
        if problem:
            return Run(task, problem=problem, over_limit=True)
        if process.returncode:
            return Run(task, problem=_last_words(process.returncode, said.read()))
        run = Run.from_dict(json.load(printed))
    return run if (run.seconds or 0) <= limits.seconds else Run(task, problem=_over_time(limits), over_limit=True)


def _over_time(limits: Limits) -> str:
    return f"over {limits.seconds:g} s"


def _watched(process: "subprocess.Popen[bytes]", limits: Limits) -> str | None:
    """Wait for the process; return the limit that it went over, if it did."""
    until = monotonic() + _START + limits.seconds
    while monotonic() < until:
        with suppress(subprocess.TimeoutExpired):
            process.wait(_LOOKS_EVERY)
            return None
        if _resident(process.pid) > limits.memory * 2**30:
            return f"over {limits.memory:g} GiB"
    return _over_time(limits)


def _resident(pid: int) -> float:
    """Return the memory of a process in bytes; zero where the system does not tell, so that only time is limited."""
    with suppress(OSError, StopIteration):
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        return 2**10 * next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))
    return 0.0


def _last_words(status: int, said: str) -> str:
    """Return why a process ended without a result."""
    lines = said.strip().splitlines()
    if status < 0:
        return f"the process was ended by signal {-status}"
    return lines[-1] if lines else f"the process ended with status {status}"
