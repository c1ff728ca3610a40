"""How well defects are found on data sets of surfaces, learnt from their good images alone.

Run with `python benchmarks/surfaces.py DIR… [--features texture combined] [--most 200] [--size 512]`. Each DIR has
the layout of MVTec, train/good, test/<defect> and ground_truth/<defect>, or another one that `vwkde inspect eval`
recognises. Good images beyond `--most` are tested, not learnt. `--size` scales all images to squares of this side, for
sets whose images differ in size. Features `plain:backbone` or `plain:onnx:FILE` are plain nearest neighbours on that
network, without a threshold; see plain_neighbours.py. Prints a row of a Markdown table per set and kind of features:
areas under the curves, the average precision of outlines, defective images found and good images rejected at the stated
rate, seconds to learn and to check one image, and peak memory so far.
"""

import argparse
import resource
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from plain_neighbours import PlainNeighbours
from vwkde.inspection import SurfaceInspector, read_image
from vwkde.inspection.data.layouts import Item, Layout
from vwkde.inspection.data.recognise import recognise
from vwkde.inspection.runs.evaluator import Evaluator

_HEADING = (
    "| set | features | image AUROC | pixel AUROC | AUPRO | AP | found | good rejected | fit s | check s | GiB |\n"
    "|---|---|---|---|---|---|---|---|---|---|---|"
)
_PLAIN = "plain:"
_MEASURES = "image_auroc", "pixel_auroc", "aupro", "voc_average_precision"


def scaled(pixels: NDArray[np.float32], size: int | None, resample: Image.Resampling) -> NDArray[np.float32]:
    """Return an image as a square of this side; None leaves it as it is."""
    return pixels if size is None else np.asarray(Image.fromarray(pixels).resize((size, size), resample))


def images(items: Sequence[Item], size: int | None) -> Iterator[tuple[str, NDArray[np.float32]]]:
    for item in items:
        yield item.name, np.clip(scaled(read_image(item.path), size, Image.Resampling.BILINEAR), 0, 1)


def mask_of(item: Item, size: int | None) -> NDArray[np.bool_] | None:
    if item.mask is None:
        return None
    drawn = item.mask.draw(read_image(item.path).shape).astype(np.float32)
    return scaled(drawn, size, Image.Resampling.NEAREST) > 0.5


def divided(layout: Layout, most: int, seed: int) -> Layout:
    """Return the layout with at most so many good images to learn; the others are tested."""
    order = np.random.default_rng(seed).permutation(len(layout.good))
    learnt, spare = ([layout.good[place] for place in sorted(part)] for part in (order[:most], order[most:]))
    known = {item.path for item in learnt}
    tested = [item for item in layout.test if item.path not in known]
    already = {item.path for item in tested}
    spare = [replace(item, defective=False) for item in spare if item.path not in already]
    return replace(layout, good=tuple(learnt), test=(*spare, *tested))


def inspector_of(features: str, rate: float) -> SurfaceInspector | PlainNeighbours:
    if features.startswith(_PLAIN):
        return PlainNeighbours(features.removeprefix(_PLAIN))
    return SurfaceInspector(features=features, false_reject_rate=rate)


def measure(layout: Layout, features: str, size: int | None, rate: float) -> str:
    start = perf_counter()
    inspector = inspector_of(features, rate).fit(images(layout.good, size))
    learning = perf_counter() - start
    evaluator, checking = Evaluator(rate), 0.0
    for item, (name, pixels) in zip(layout.test, images(layout.test, size), strict=True):
        result = inspector.check(pixels, name)
        checking += result.milliseconds / 1000
        evaluator.add(item, result, mask_of(item, size))
    found = evaluator.evaluate()
    areas = [f"{found.values[name]:.3f}" if name in found.values else "–" for name in _MEASURES]
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    shares = ["–"] * 2 if features.startswith(_PLAIN) else [str(found.found), str(found.false_rejects)]
    times = [f"{learning:.0f}", f"{checking / len(layout.test):.2f}", f"{memory:.1f}"]
    return " | ".join([features, *areas, *shares, *times])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, metavar="DIR")
    parser.add_argument("--features", nargs="+", default=["texture", "combined"])
    parser.add_argument("--most", type=int, default=200, help="good images to learn, at most")
    parser.add_argument("--size", type=int, help="scale all images to squares of this side")
    parser.add_argument("--rate", type=float, default=0.05, help="stated false-reject rate")
    parser.add_argument("--seed", type=int, default=0, help="which good images are learnt")
    settings = parser.parse_args()
    print(_HEADING)
    for folder in settings.folders:
        layout = divided(recognise(folder), settings.most, settings.seed)
        for features in settings.features:
            print(f"| {folder.name} | {measure(layout, features, settings.size, settings.rate)} |", flush=True)


if __name__ == "__main__":
    main()
