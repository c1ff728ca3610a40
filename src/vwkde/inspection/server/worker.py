"""A process that decodes images and judges them, apart from the server: it can be ended, and the server goes on.

What comes from a client is decoded and measured only here. The server sends a task and its arguments, waits for the
reply, and ends the process if it takes too long. The system refuses it more memory than it may have.
"""

import pickle
import signal
import warnings
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Literal

from vwkde.inspection.model.inspector import SurfaceInspector
from vwkde.inspection.server.largest import most_pixels

Task = Callable[..., Any]
"""A function of the inspector, of a function to call when the image is decoded, and of what the client sent."""
MEGAPIXEL = 1_000_000
Kind = Literal["ready", "decoded", "done", "failed"]


def work(server: Connection, most_memory: int, decode_seconds: float) -> None:
    """Do tasks until the server is gone. A message is a new inspector, or a task with its arguments."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server
    warnings.simplefilter("ignore")
    inspector: SurfaceInspector | None = None
    with suppress(EOFError, OSError):
        _reply(server, "ready")
        while True:
            message = server.recv()
            if isinstance(message, SurfaceInspector):
                inspector = message
                inspector.warm_up()
                limit_memory(most_memory)
                _reply(server, "ready")
            else:
                _do(server, inspector, decode_seconds, *message)


def _do(
    server: Connection,
    inspector: SurfaceInspector | None,
    decode_seconds: float,
    task: Task,
    arguments: tuple[Any, ...],
) -> None:
    def decoded() -> None:
        limit_processor_time(0)
        _reply(server, "decoded")

    pixels = most_pixels(inspector) if inspector is not None else 0
    limit_processor_time(decode_seconds * max(1.0, pixels / MEGAPIXEL))
    try:
        result = task(inspector, decoded, *arguments)
    except MemoryError:
        _reply(server, "failed", ValueError("This takes more memory than the server allows; send less."))
    except Exception as error:
        _reply(server, "failed", error if _can_travel(error) else RuntimeError(str(error)))
    else:
        _reply(server, "done", result)
    finally:
        limit_processor_time(0)


def _reply(server: Connection, kind: Kind, value: Any = None) -> None:
    server.send((kind, value))


def _can_travel(error: Exception) -> bool:
    """Return whether an error can be sent: some cannot be made again from what is sent."""
    try:
        return isinstance(pickle.loads(pickle.dumps(error)), type(error))
    except Exception:
        return False


def limit_processor_time(seconds: float) -> None:
    """Let the system end this process after so much processor time from now; 0 is no limit. Not on Windows."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, seconds)


def limit_memory(most: int) -> None:
    """Let this process use so much more memory than now; only Linux can tell and limit it."""
    used = _data_in_use()
    if used is None:
        return
    import resource

    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    wanted = used + most
    resource.setrlimit(resource.RLIMIT_DATA, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))


def _data_in_use() -> int | None:
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return None
    sizes = [line.split()[1] for line in status.splitlines() if line.startswith("VmData:")]
    return 1024 * int(sizes[0]) if sizes else None
