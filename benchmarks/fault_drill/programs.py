"""Programs that are started, killed at a random moment, or given little room on the disk; and images for them."""

import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import numpy as np
from PIL import Image
from scipy import ndimage

COMMAND = [sys.executable, "-m", "vwkde.cli"]


def write_images(folder: Path, count: int, first: int = 0, side: int = 128) -> None:
    """Write rough surfaces as PNG."""
    folder.mkdir(parents=True, exist_ok=True)
    for seed in range(first, first + count):
        noise = np.random.default_rng(seed).normal(size=(side, side))
        pixels = np.clip(128 + 100 * ndimage.gaussian_filter(noise, 1.2), 0, 255).astype(np.uint8)
        Image.fromarray(pixels).save(folder / f"{seed}.png")


def run(*arguments: str | Path, room: int | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command to its end; with `room`, no file may become larger, as on a full disk."""
    limit: Callable[[], None] | None = None
    if room is not None:
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))  # noqa: E731
    return subprocess.run(
        [*COMMAND, *map(str, arguments)], capture_output=True, text=True, preexec_fn=limit, check=False
    )


def seconds_of(*arguments: str | Path) -> float:
    """Return how long a command takes."""
    start = perf_counter()
    run(*arguments)
    return perf_counter() - start


def killed(after: float, *arguments: str | Path) -> bool:
    """Kill a command after some seconds; return whether it was still running."""
    with subprocess.Popen(
        [*COMMAND, *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            process.wait(after)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            return True
        return False
