"""Honest clients of a server while others attack it: how long they wait, and how much memory the server takes."""

import io
import json
import socket
import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path
from threading import Thread
from time import monotonic, sleep

import numpy as np
from PIL import Image

from load import Log, form_of, learn, memory_of, post, serve, surface

_PATIENCE = 60.0
_SIDE = 512


def jpeg_of_many_scans(scans: int) -> bytes:
    """Return a progressive JPEG of the right size whose last scan is repeated."""
    file = io.BytesIO()
    Image.fromarray(np.zeros((_SIDE, _SIDE), np.uint8)).save(file, "JPEG", progressive=True)
    data = file.getvalue()
    last, end = data.rfind(b"\xff\xda"), data.rfind(b"\xff\xd9")
    return data[:end] + data[last:end] * scans + data[end:]


def png_of_size(width: int, height: int) -> bytes:
    """Return a small file with a large image."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0))
    rows = zlib.compress(bytes(height * (width // 8 + 1)), 9)
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def png_of_many_chunks() -> bytes:
    """Return a valid PNG that begins with as many empty chunks as an upload may have bytes for."""
    file = io.BytesIO()
    Image.fromarray(surface(1)).save(file, "PNG")
    data, empty = file.getvalue(), struct.pack(">I", 0) + b"teSt" + struct.pack(">I", zlib.crc32(b"teSt"))
    return data[:33] + empty * 2_000_000 + data[33:]


def attacks() -> dict[str, Callable[[int, float], None]]:
    """Return what hostile clients do, by name: functions of the port and of the time when they end."""
    row = {"image": "a", "verdict": "NG", "score": 1, "boxes": [[1, 2, 3, 4]] * 10_000}
    small, large = (json.dumps([row] * count).encode() for count in (58, 150))
    files = {
        "many scans": form_of(jpeg_of_many_scans(20_000)),
        "large image": form_of(png_of_size(8, 8_000_000)),
        "many chunks": form_of(png_of_many_chunks()),
    }
    attacks: dict[str, Callable[[int, float], None]] = {
        name: lambda port, end, body=body: _again(port, end, "/api/check", body) for name, body in files.items()
    }
    attacks["large tables"] = lambda port, end: _tables(port, end, small, large)
    attacks["idle sockets"] = _idle
    attacks["slow uploads"] = _slow
    return attacks


def _again(port: int, end: float, path: str, body: bytes) -> None:
    while monotonic() < end:
        with suppress(OSError, HTTPException):
            post(port, path, body, Log())


def _tables(port: int, end: float, *bodies: bytes) -> None:
    while monotonic() < end:
        for body in bodies:
            head = f"POST /api/scores.csv HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), _PATIENCE) as line:
                line.sendall(head.encode() + body)
                line.recv(1_000)


def _idle(port: int, end: float) -> None:
    lines: list[socket.socket] = []
    while monotonic() < end:
        with suppress(OSError):
            lines.append(socket.create_connection(("127.0.0.1", port), 5))
        if len(lines) > 400:
            lines.pop(0).close()
        sleep(0.01)
    for line in lines:
        line.close()


def _slow(port: int, end: float) -> None:
    head = b"POST /api/check HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=x\r\n"
    lines: list[socket.socket] = []
    while monotonic() < end:
        with suppress(OSError):
            line = socket.create_connection(("127.0.0.1", port), 5)
            line.sendall(head + b"Content-Length: 1000000\r\n\r\n--x\r\n")
            lines.append(line)
        for line in lines[-100:]:
            with suppress(OSError):
                line.sendall(b".")
        if len(lines) > 200:
            lines.pop(0).close()
        sleep(0.05)
    for line in lines:
        line.close()


def under_attack(folder: Path, seconds: float, honest: int) -> Iterator[str]:
    """Let honest clients check images, first alone, then during each attack, then during all at once."""
    learn("gradient", 25, folder / "part.vwkde")
    bodies = [form_of(_png(surface(10_000 + seed))) for seed in range(8)]
    everything = attacks()
    turns: dict[str, list[Callable[[int, float], None]]] = {"nobody attacks": []}
    turns |= {name: [attack] * 2 for name, attack in everything.items()}
    turns["all of them"] = list(everything.values())
    with serve(folder / "part.vwkde") as (port, pid):
        post(port, "/api/check", bodies[0], Log())
        for name, attackers in turns.items():
            yield f"{name}: {_turn(port, pid, seconds, honest, bodies, attackers)}"


def _turn(port: int, pid: int, seconds: float, honest: int, bodies: list[bytes], attackers: list) -> str:
    log, end = Log(), monotonic() + seconds
    threads = [Thread(target=attack, args=(port, end)) for attack in attackers]
    threads += [Thread(target=_check, args=(port, end, bodies, log)) for _ in range(honest)]
    for thread in threads:
        thread.start()
    most = 0
    while monotonic() < end:
        most = max(most, memory_of(pid))
        sleep(0.5)
    for thread in threads:
        thread.join()
    if not log.waits:
        return f"no reply; refused {len(log.refused)}, hung {log.hung}"
    high, longest = np.quantile(log.waits, [0.95, 1])
    return (
        f"{len(log.waits)} images, 95 % within {high:.2f} s, longest {longest:.2f} s, refused {len(log.refused)}, "
        f"hung {log.hung}, memory at most {most} MiB"
    )


def _check(port: int, end: float, bodies: list[bytes], log: Log) -> None:
    """Check one image after the other, a short pause between; a reply of 503 is tried again."""
    while monotonic() < end:
        for body in bodies:
            if monotonic() < end:
                with suppress(OSError, HTTPException):
                    post(port, "/api/check", body, log)
                sleep(0.1)


def _png(pixels: np.ndarray) -> bytes:
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    return file.getvalue()
