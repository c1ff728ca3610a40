"""A server under load: how long clients wait, how many images are checked a second, and whether memory stays flat.

Run with `python benchmarks/load.py [--seconds 300] [--clients 4] [--features gradient] [--good 25]`. A server process
checks synthetic images of 512 × 512 pixels for clients that each send the next image when they have the last reply.
With `--adds` one more client adds a good image every minute. Linux only: memory is read from /proc.
"""

import argparse
import http.client
import io
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from time import monotonic, sleep

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy import ndimage

from vwkde.inspection import SurfaceInspector

_SIDE = 512
_IMAGES = 20
"""Different images that are sent."""
_PATIENCE = 60
"""Seconds without a reply after which a request is taken to hang."""
_BOUNDARY = "boundary"
_HEADERS = {"Content-Type": f"multipart/form-data; boundary={_BOUNDARY}"}


@dataclass
class Log:
    """What clients saw: the seconds that replies took, requests refused, and requests that hung."""

    waits: list[float] = field(default_factory=list)
    refused: list[int] = field(default_factory=list)
    hung: int = 0


def surface(seed: int) -> NDArray[np.uint8]:
    noise = np.random.default_rng(seed).normal(size=(_SIDE, _SIDE))
    return np.clip(128 + 100 * ndimage.gaussian_filter(noise, 1.2), 0, 255).astype(np.uint8)


def form(pixels: NDArray[np.uint8]) -> bytes:
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    return form_of(file.getvalue())


def form_of(data: bytes) -> bytes:
    head = f'--{_BOUNDARY}\r\nContent-Disposition: form-data; name="image"; filename="image.png"\r\n\r\n'
    return head.encode() + data + f"\r\n--{_BOUNDARY}--\r\n".encode()


def learn(features: str, good: int, path: Path) -> None:
    images = ((f"good {seed}", surface(seed).astype(np.float32) / 255) for seed in range(good))
    SurfaceInspector(features=features).fit(images).save(path)


@contextmanager
def serve(path: Path) -> Iterator[tuple[int, int]]:
    """Serve a model for the length of a `with` statement; give the port and the number of the process."""
    command = [sys.executable, "-m", "vwkde.cli", "inspect", "serve", "-m", str(path), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            line = process.stdout.readline() if process.stdout else ""
            port = re.search(r":(\d+)/", line)
            if port is None:
                raise SystemExit(f"the server did not start: {line}")
            yield int(port[1]), process.pid
        finally:
            process.kill()


def post(port: int, path: str, body: bytes, log: Log) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_PATIENCE)
    start = monotonic()
    try:
        connection.request("POST", path, body, _HEADERS)
        reply = connection.getresponse()
        reply.read()
        if reply.status == 200:
            log.waits.append(monotonic() - start)
        else:
            log.refused.append(reply.status)
    except TimeoutError:
        log.hung += 1
    finally:
        connection.close()


def check_until(end: float, port: int, bodies: list[bytes], log: Log) -> None:
    while monotonic() < end:
        for body in bodies:
            if monotonic() < end:
                post(port, "/api/check", body, log)


def add_until(end: float, port: int, log: Log) -> None:
    seed = 10**6
    while monotonic() + 60 < end:
        sleep(60)
        post(port, "/api/add", form(surface(seed)), log)
        seed += 1


def memory_of(pid: int) -> int:
    """Return the memory of a process and of all that it has started, in MiB; shared pages are divided among them."""
    total = 0
    for each in (pid, *_started_by(pid)):
        with suppress(OSError):  # it may have ended
            total += sum(
                map(int, re.findall(r"^Pss:\s+(\d+) kB", Path(f"/proc/{each}/smaps_rollup").read_text(), re.M))
            )
    return total // 1024


def _started_by(pid: int) -> list[int]:
    children = []
    for tasks in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            children += [int(child) for child in tasks.read_text().split()]
    return [*children, *(each for child in children for each in _started_by(child))]


def processor_seconds(pid: int) -> float:
    """Return the processor time of a process and of all that it has started and that still run."""
    ticks = 0
    for each in (pid, *_started_by(pid)):
        with suppress(OSError):
            ticks += sum(map(int, Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")


def watch_until(end: float, pid: int) -> list[int]:
    """Return the memory of a process now, after each minute, and in the end."""
    memory = [memory_of(pid)]
    while (left := end - monotonic()) > 0:
        sleep(min(60, left))
        memory.append(memory_of(pid))
    return memory


def measure(features: str, options: argparse.Namespace) -> None:
    bodies = [form(surface(10**5 + seed)) for seed in range(_IMAGES)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.vwkde"
        learn(features, options.good, path)
        with serve(path) as (port, pid):
            post(port, "/api/check", bodies[0], Log())  # imports and compiled code are loaded by the first
            checks, adds, end = Log(), Log(), monotonic() + options.seconds
            before = processor_seconds(pid)
            clients = [
                Thread(target=check_until, args=(end, port, [*bodies[turn:], *bodies[:turn]], checks))
                for turn in range(options.clients)
            ]
            if options.adds:
                clients.append(Thread(target=add_until, args=(end, port, adds)))
            for client in clients:
                client.start()
            memory = watch_until(end, pid)
            for client in clients:
                client.join()
            used = processor_seconds(pid) - before
    report(features, options, checks, adds, memory)
    print(f"  processor time of the server: {used / max(1, len(checks.waits)):.2f} s for each image checked")


def report(features: str, options: argparse.Namespace, checks: Log, adds: Log, memory: list[int]) -> None:
    median, high, most = np.quantile(checks.waits, [0.5, 0.95, 1]) if checks.waits else [np.nan] * 3
    print(f"{features}, {options.good} good images, {options.clients} clients, {options.seconds} s:")
    print(f"  {len(checks.waits)} images, {len(checks.waits) / options.seconds:.1f} a second")
    print(f"  waits: median {median:.2f} s, 95 % within {high:.2f} s, longest {most:.2f} s")
    print(f"  refused {len(checks.refused) + len(adds.refused)}, hung {checks.hung + adds.hung}")
    print(f"  server memory at the start, after each minute and in the end: {', '.join(map(str, memory))} MiB")
    if options.adds:
        print(f"  images added: {len(adds.waits)}, longest wait {max(adds.waits, default=np.nan):.2f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=300)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--good", type=int, default=25)
    parser.add_argument("--features", nargs="+", default=["gradient"])
    parser.add_argument("--adds", action="store_true", help="add a good image every minute")
    options = parser.parse_args()
    for features in options.features:
        measure(features, options)


if __name__ == "__main__":
    main()
