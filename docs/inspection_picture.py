"""Draw the pictures of inspection.md, for light pages and dark ones: python docs/inspection_picture.py."""

from pathlib import Path

from matplotlib.figure import Figure

from vwkde.inspection import SURFACES, SurfaceInspector, make_surfaces
from vwkde.inspection.runs.overlays import draw_overlay

GOOD = 60
TARGET = Path(__file__).parent / "images" / "inspection.png"


def main() -> None:
    """Save a picture of one defect on every kind of surface."""
    figure = Figure(figsize=(12, 6.6), layout="constrained")
    for column, kind in enumerate(SURFACES):
        surfaces = make_surfaces(kind, n_good=GOOD, n_bad=3, seed=4)
        inspector = SurfaceInspector(features="combined").fit(surfaces.images[:GOOD])
        image, mask = surfaces.images[GOOD + column % 3], surfaces.masks[GOOD + column % 3]
        inspection = inspector.check(image)
        above, below = (figure.add_subplot(2, len(SURFACES), column + 1 + row * len(SURFACES)) for row in (0, 1))
        above.imshow(image, cmap="gray", vmin=0, vmax=1)
        above.set_title(f"{kind}: {surfaces.defects[GOOD + column % 3]}")
        below.imshow(draw_overlay(image, inspection))
        below.contour(mask, levels=[0.5], colors="deepskyblue", linewidths=1)
        title = f"{inspection.verdict}: {inspection.score:.0f} nats, limit {inspection.threshold:.0f}"
        below.set_title(title, fontsize="medium")
        for ax in (above, below):
            ax.set_axis_off()
    figure.savefig(TARGET, dpi=72)
    for ax in figure.axes:
        ax.title.set_color("white")
    figure.savefig(TARGET.with_stem(f"{TARGET.stem}-dark"), dpi=72, transparent=True)


if __name__ == "__main__":
    main()
