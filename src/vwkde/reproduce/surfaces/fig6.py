"""Figure 6: where an unseen defect is, by the log ratio of the patches."""

import base64
from typing import TYPE_CHECKING

import numpy as np

from vwkde._display.style import RED, TEAL
from vwkde.inspection.data.images import decode_image, encode_png
from vwkde.inspection.metrics.detections import OVERLAP, mask_overlap
from vwkde.inspection.model.features.patches import PAPER_GRID
from vwkde.reproduce.core.digits import SIDE
from vwkde.reproduce.core.figure import Claim, Figure, Results, Scale, SurfaceImages
from vwkde.reproduce.core.tasks import Outcome, Task, values_of
from vwkde.reproduce.surfaces.deals import deal, images_digest, surfaces_of
from vwkde.reproduce.surfaces.detectors import Finding
from vwkde.reproduce.surfaces.readings import detected
from vwkde.reproduce.surfaces.study import METHODS

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas


def example(surfaces: SurfaceImages, name: str) -> Results:
    """Return the first image with a pasted digit, its log ratios, and where the digit is."""
    dealt = deal(surfaces, name, 0)
    shot = dealt.pasted[0]
    assert shot.digit is not None
    finding = METHODS["vwkde"](dealt)(shot)
    pixels = np.round(255 * shot.pixels()).astype(np.uint8)
    return {
        "class": name,
        "image": base64.b64encode(encode_png(pixels)).decode("ascii"),
        "digit": [shot.digit.top, shot.digit.left],
        "log_ratio": np.round(finding.values, 2).tolist(),
        "score": round(finding.score, 4),
        "overlap": round(mask_overlap(detected(finding, dealt.shape), shot.digit.mask(dealt.shape)), 4),
    }


def _task_name(surfaces: SurfaceImages) -> str:
    name = surfaces.classes[0]
    return f"example/{name}/{images_digest(surfaces, name)}"


def _tasks(scale: Scale) -> list[Task]:
    surfaces = surfaces_of(scale)
    return [Task(_task_name(surfaces), example, (surfaces, surfaces.classes[0]))]


def _collect(outcomes: dict[str, Outcome], scale: Scale) -> Results:
    results: Results = values_of(outcomes)[_task_name(surfaces_of(scale))]
    return results


def _claims(results: Results) -> list[Claim]:
    return [
        Claim(
            "The log ratio shows where the unseen defect is.",
            "§5.3, Figure 6",
            f"the detection overlaps the digit by {results['overlap']:.2f} of their union; the image scores "
            f"{results['score']:.2f} nats",
            results["overlap"] > OVERLAP,
        )
    ]


def _draw(results: Results, canvas: "Canvas") -> None:
    from matplotlib.patches import Rectangle

    image = decode_image(base64.b64decode(results["image"]), "image")
    values = np.array(results["log_ratio"])
    top, left = results["digit"]
    shape = (image.shape[0], image.shape[1])
    shown = np.log10(1 + np.maximum(PAPER_GRID.spread(values, shape), 0))
    detection = detected(Finding(results["score"], values), shape)
    axes = canvas.subplots(1, 3)
    for ax, title in zip(axes, ("Image", "Log ratio of the patches", "Detection"), strict=True):
        ax.set(title=title, xticks=[], yticks=[])
    axes[0].imshow(image, cmap="gray", vmin=0, vmax=1)
    drawn = axes[1].imshow(shown, cmap="viridis")
    bar = canvas.colorbar(drawn, ax=axes[1], shrink=0.8)
    nats = np.array([each for each in (0, 1, 10, 100, 1_000, 10_000) if np.log10(1 + each) <= shown.max()])
    bar.set_ticks(list(np.log10(1 + nats)), labels=[f"{each:,}" for each in nats])
    bar.set_label("nats")
    axes[2].imshow(image, cmap="gray", vmin=0, vmax=1)
    axes[2].contour(detection.astype(float), levels=[0.5], colors=RED, linewidths=1.5)
    axes[2].add_patch(Rectangle((left, top), SIDE, SIDE, fill=False, edgecolor=TEAL, lw=1.5))


FIGURE = Figure(
    "fig6",
    "Where an unseen defect is",
    "The first image of the first repetition that has the digit 3 pasted on it; it was not selected by its "
    "result. Red is the detection, all patches above 90 % of the largest log ratio; the square marks the digit. The "
    "image is from DAGM 2007 (CC BY 4.0).",
    _tasks,
    _collect,
    _claims,
    _draw,
    (12.0, 4.2),
    repetitions=1,
    journal="surfaces",
    on_images=True,
)
