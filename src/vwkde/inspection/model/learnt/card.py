"""What a notebook shows of an inspector."""

import numpy as np

from vwkde._display import html, svg
from vwkde._display.style import RED
from vwkde.inspection.model.learnt.base import Learnt


def learnt_card(title: str, learnt: Learnt | None) -> str:
    """Return a card with the number and size of the good images, and a histogram of their scores."""
    if learnt is None:
        return html.card(title, "not fitted yet")
    threshold = learnt.scores.threshold
    height, width = learnt.image_shape
    return html.card(
        title,
        f"{len(learnt.names):,} good images of {width} × {height} pixels",
        svg.histograms(
            {"scores of good images, each judged by the others": learnt.scores.scores},
            [svg.Mark(threshold, f"threshold {threshold:.3g}", RED)],
        ),
        None if np.isfinite(threshold) else html.note("too few good images for this rate: no image is rejected"),
    )
