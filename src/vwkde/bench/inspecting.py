"""Time and memory of inspection as on a line: good images learnt one by one, then single images checked.

Each size runs in a process of its own, whose peak memory is reported. Images are made while they are learnt, so that
they are not all in memory; the time that this takes is not counted.
"""

import json
import subprocess
import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from time import perf_counter, process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.table import Table
from scipy import ndimage

from vwkde._compute.parallel import at_most
from vwkde._runtime.progress import track
from vwkde.exceptions import FewImagesWarning
from vwkde.inspection import SurfaceInspector

SIZES = ((512, 200), (1024, 200))
"""Sides of images in pixels, and how many are learnt."""
QUICK_SIZES = ((128, 10),)
_FEATURES = "combined"
_CHECKED = 9
"""Number of images that are checked; the median of their times is reported."""


@dataclass(frozen=True)
class Inspected:
    """What one size took: seconds to learn all good images and to check one image, and the peak memory.

    The seconds of all processors together tell more than those of the clock if other programs run.
    """

    side: int
    good: int
    learning: float
    checking: float
    learning_processor: float
    checking_processor: float
    mebibytes: float

    def to_dict(self) -> dict[str, Any]:
        """Return the fields, ready for JSON."""
        return asdict(self)


class Surfaces:
    """Rough surfaces, made one after another; `seconds` and `processor` are how long that took."""

    def __init__(self, side: int, count: int, first: int = 0) -> None:
        self._side, self._seeds, self.seconds = side, range(first, first + count), 0.0
        self.processor = 0.0

    def __len__(self) -> int:
        """Return the number of surfaces."""
        return len(self._seeds)

    def __iter__(self) -> Iterator[NDArray[np.float32]]:
        """Yield each surface."""
        for seed in self._seeds:
            start, started = perf_counter(), process_time()
            noise = np.random.default_rng(seed).normal(size=(self._side, self._side)).astype(np.float32)
            image = np.clip(0.5 + 0.4 * ndimage.gaussian_filter(noise, 1.2), 0, 1)
            self.seconds += perf_counter() - start
            self.processor += process_time() - started
            yield image


def measure(side: int, good: int, n_threads: int | None) -> Inspected:
    """Return what one size takes in this process."""
    surfaces = Surfaces(side, good)
    with warnings.catch_warnings(), at_most(n_threads):
        warnings.simplefilter("ignore", FewImagesWarning)
        start, started = perf_counter(), process_time()
        inspector = SurfaceInspector(features=_FEATURES).fit(surfaces)
        learning = perf_counter() - start - surfaces.seconds, process_time() - started - surfaces.processor
        checking = _time_checks(inspector, side)
    seconds, processor = zip(learning, checking, strict=True)
    return Inspected(side, good, *seconds, *processor, _peak_mebibytes())


def _time_checks(inspector: SurfaceInspector, side: int) -> tuple[float, float]:
    """Return the median time of a check, by the clock and of all processors together."""
    times, processor = [], []
    for image in Surfaces(side, _CHECKED, first=10**6):
        start, started = perf_counter(), process_time()
        inspector.check(image)
        times.append(perf_counter() - start)
        processor.append(process_time() - started)
    return median(times), median(processor)


def measure_all(sizes: Sequence[tuple[int, int]], n_threads: int | None) -> list[Inspected]:
    """Return what each size takes, in a process of its own."""
    return [_in_own_process(side, good, n_threads) for side, good in track(sizes, "inspecting", len(sizes))]


def _in_own_process(side: int, good: int, n_threads: int | None) -> Inspected:
    arguments = [str(side), str(good), *([] if n_threads is None else [str(n_threads)])]
    done = subprocess.run(
        [sys.executable, "-m", "vwkde.bench.inspecting", *arguments], stdout=subprocess.PIPE, text=True, check=True
    )
    return Inspected(**json.loads(done.stdout))


def table(measured: Sequence[Inspected]) -> Table:
    """Return the measurements as a table."""
    shown = Table(title=f"Inspection with the features {_FEATURES}")
    for heading in ("images", "learnt", "learning, s", "processor, s", "one image, s", "processor, s", "MiB"):
        shown.add_column(heading, justify="right")
    for each in measured:
        learning = f"{each.learning:.1f}", f"{each.learning_processor:.1f}"
        checking = f"{each.checking:.3f}", f"{each.checking_processor:.3f}"
        shown.add_row(f"{each.side} × {each.side}", str(each.good), *learning, *checking, f"{each.mebibytes:,.0f}")
    return shown


def _peak_mebibytes() -> float:
    """Return the peak memory of this process; 0 on systems that do not tell."""
    try:
        import resource
    except ImportError:  # Windows
        return 0.0
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


if __name__ == "__main__":
    numbers = [int(argument) for argument in sys.argv[1:]]
    print(json.dumps(measure(numbers[0], numbers[1], numbers[2] if len(numbers) > 2 else None).to_dict()))
