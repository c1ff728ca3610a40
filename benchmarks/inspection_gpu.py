"""Inspection on a GPU: whether scores are those of the CPU, and how many images a second are learnt and judged.

Run with `python benchmarks/inspection_gpu.py [--features combined] [--device cuda] [--good 200] [--images 512]
[--size 512] [--compared 16]`. The surfaces are synthetic, and are in memory before the clock starts. A third of the
tested ones has a defect. Maps are back in the host's memory when the clock stops. The exit status is 1 if a score
differs by more than 1e-4 of its size, or of one nat.
"""

import argparse
import sys
from time import perf_counter

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from vwkde.inspection import SurfaceInspector

_TOLERANCE = 1e-4


def surface(seed: int, size: int) -> NDArray[np.float32]:
    noise = np.random.default_rng(seed).normal(size=(size, size)).astype(np.float32)
    image = np.clip(0.5 + 0.4 * ndimage.gaussian_filter(noise, 1.2), 0, 1)
    if seed % 3 == 2:
        image[size // 3 :][:24, size // 4 :][:, :8] *= 0.1
    return (np.round(255 * image) / 255).astype(np.float32)


def named(count: int, size: int) -> list[tuple[str, NDArray[np.float32]]]:
    return [(str(seed), surface(seed, size)) for seed in range(10**6, 10**6 + count)]


def compared(inspector: SurfaceInspector, images: list[tuple[str, NDArray[np.float32]]]) -> float:
    """Print and return the largest difference of scores between CPU and device, as a share of the score or one nat."""
    device = inspector.device
    on_device = list(inspector.check_all(images))
    inspector.device = None
    on_cpu = [inspector.check(image, name) for name, image in images]
    inspector.device = device
    pairs = list(zip(on_device, on_cpu, strict=True))
    largest = max(abs(one.score - other.score) / max(1.0, abs(other.score)) for one, other in pairs)
    maps = max(float(np.abs(one.log_ratio - other.log_ratio).max()) for one, other in pairs)
    verdicts = sum(one.verdict != other.verdict for one, other in pairs)
    print(
        f"{len(pairs)} images on CPU and {device}: scores differ by at most {largest:.1e}, maps by {maps:.1e} nats, "
        f"{verdicts} verdicts differ; {sum(other.rejected for other in on_cpu)} rejected"
    )
    return largest


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda", help="torch device; cpu:0 is torch on the CPU")
    parser.add_argument("--features", default="combined", choices=["combined", "texture"])
    parser.add_argument("--good", type=int, default=200)
    parser.add_argument("--images", type=int, default=512)
    parser.add_argument("--size", type=int, default=512)
    parser.add_argument("--compared", type=int, default=16)
    options = parser.parse_args()
    good = [surface(3 * seed, options.size) for seed in range(options.good)]
    images = named(options.images, options.size)
    inspector = SurfaceInspector(features=options.features, device=options.device)
    start = perf_counter()
    inspector.fit(good)
    print(f"{options.good} images of {options.size} × {options.size} learnt in {perf_counter() - start:.1f} s")
    difference = compared(inspector, images[: options.compared])
    start = perf_counter()
    count = sum(1 for _ in inspector.check_all(images))
    seconds = perf_counter() - start
    print(f"{count} images judged in {seconds:.2f} s: {count / seconds:.0f} images a second on {options.device}")
    sys.exit(difference > _TOLERANCE)


if __name__ == "__main__":
    main()
