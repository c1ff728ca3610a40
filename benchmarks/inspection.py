"""Time and memory of surface inspection: one comparison, one image against many good ones, and learning from them.

Run with `python benchmarks/inspection.py [--good 500] [--features gradient texture]`. The surfaces are
synthetic, with 512 × 512 pixels, which makes 900 patches. Each set of features is learnt in its own process, whose peak
memory is reported.
"""

import argparse
import resource
import subprocess
import sys
from collections.abc import Iterator
from time import perf_counter

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage
from scipy.spatial.distance import cdist

from vwkde.inspection import SurfaceInspector
from vwkde.inspection.model.learnt.library import make_library

_SLOW = 0.97
"""Seconds that one KL of 900 against 900 patches in 4-D takes on the machine to compare with."""
_SLOW_RATE = 0.05e9
"""Pairs per second of `cdist` and `exp` on that machine, for 20,000 against 20,000 points."""


def surfaces(count: int, first: int = 0) -> Iterator[NDArray[np.float32]]:
    for seed in range(first, first + count):
        noise = np.random.default_rng(seed).normal(size=(512, 512)).astype(np.float32)
        yield np.clip(0.5 + 0.4 * ndimage.gaussian_filter(noise, 1.2), 0, 1)


def best(work, repetitions: int = 5) -> float:
    times = []
    for _ in range(repetitions):
        start = perf_counter()
        work()
        times.append(perf_counter() - start)
    return min(times)


def compare() -> None:
    random = np.random.default_rng(0)
    one, other = (random.normal(size=(900, 4)).astype(np.float32) for _ in range(2))
    library = make_library(other[None], candidates=1, seed=0)
    library.log_ratio(one, 0)
    x, y = (random.normal(size=(20_000, 4)) for _ in range(2))
    rate = len(x) * len(y) / best(lambda: np.exp(-0.5 * cdist(x, y, "sqeuclidean")).sum(axis=1), 2)
    seconds = best(lambda: library.log_ratio(one, 0).mean(), 20)
    slow = _SLOW * _SLOW_RATE / rate
    print(f"cdist and exp on one core: {rate / 1e9:.3f}e9 pairs per second here, {_SLOW_RATE / 1e9:.3f}e9 there")
    print(
        f"one weighted KL, 900 against 900 patches, 4-D, one core: {1e3 * seconds:.1f} ms; {slow / seconds:.0f} times "
        f"as fast as {_SLOW} s there, which correspond to {slow:.2f} s here"
    )


def learn(features: str, good: int) -> None:
    start = perf_counter()
    inspector = SurfaceInspector(features=features).fit(surfaces(good))
    fit = perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
    images = list(surfaces(5, first=10**6))
    inspector.check(images[0])
    seconds = [best(lambda image=image: inspector.check(image), 2) for image in images]
    print(
        f"{features}: learning from {good} images {fit:.0f} s, peak memory {peak:.0f} MiB; one image against them "
        f"{np.median(seconds):.2f} s"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--good", type=int, default=500)
    parser.add_argument("--features", nargs="+", default=["gradient", "texture"])
    parser.add_argument("--alone", action="store_true", help="run the first set of features in this process")
    options = parser.parse_args()
    if options.alone:
        learn(options.features[0], options.good)
        return
    for features in options.features:
        arguments = ["--alone", "--good", str(options.good), "--features", features]
        subprocess.run([sys.executable, __file__, *arguments], check=True)
    compare()  # last: a new process starts with the peak memory of its parent


if __name__ == "__main__":
    main()
