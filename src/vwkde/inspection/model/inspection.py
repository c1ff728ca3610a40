"""What was found about one image: the score and the verdict, the map, and where the map is high."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from vwkde._display import html, svg
from vwkde._display.style import RED, TEAL
from vwkde.inspection.data.images import encode_png
from vwkde.inspection.model.map_colours import map_colours
from vwkde.inspection.model.regions import Box, Region, find_regions, near_peak

Singles = NDArray[np.float32]
Verdict = Literal["OK", "NG"]

_AT_LEAST_SHOWN = 0.9
"""What reaches this share of the map's largest value is shown, even if none reaches the threshold of maps."""
_LARGEST_MAP = 256
"""Pixels of the longer side of a map in a notebook, at most."""


@dataclass(frozen=True, eq=False)
class Inspection:
    """What was found about one image.

    The verdict goes by the score alone; the map tells where an image differs from good ones, whatever the verdict.

    Attributes
    ----------
    name : str
        What the image is called.
    score : float
        The divergence from the nearest good image, or how unlike the nearest good ones its worst patches are, in nats;
        the features determine which.
    p_value : float
        The share of good images that score as high.
    threshold : float
        The score above which an image is rejected; infinite if there are too few good images for the stated rate.
    nearest : str
        The name of the nearest good image.
    log_ratio : ndarray of shape (height, width)
        The map: how much more likely each patch is in this image than in good ones, in nats, spread to pixels.
    map_threshold : float
        The value of the map that hardly any good image reaches anywhere.
    milliseconds : float
        The time it took.
    """

    name: str
    score: float
    p_value: float
    threshold: float
    nearest: str
    log_ratio: Singles
    map_threshold: float
    milliseconds: float

    @property
    def rejected(self) -> bool:
        """Whether the image fails: its score is above the threshold."""
        return self.score > self.threshold

    @property
    def verdict(self) -> Verdict:
        """OK or NG."""
        return "NG" if self.rejected else "OK"

    def regions(self, level: float | None = None) -> list[Region]:
        """Return the regions where the map reaches a level, the highest first; the verdict has no part in it.

        Parameters
        ----------
        level : float or None
            In nats. By default `map_threshold`: an image that passes may have such regions, and one that is rejected
            need not.
        """
        return find_regions(self.log_ratio, self.map_threshold if level is None else level)

    @property
    def boxes_if_rejected(self) -> list[Box]:
        """The boxes that are shown if the image is rejected, highest first: at the least, where the map is highest."""
        level = min(self.map_threshold, near_peak(self.log_ratio, _AT_LEAST_SHOWN))
        return [region.box for region in self.regions(level)]

    @property
    def shown_boxes(self) -> list[Box]:
        """The boxes that reports show: `boxes_if_rejected` of an image that is rejected, none of one that passes."""
        return self.boxes_if_rejected if self.rejected else []

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the verdict, where the score lies, and the map."""
        colour = RED if self.rejected else TEAL
        marks = [svg.Mark(self.threshold, "threshold"), svg.Mark(self.score, f"{self.score:.3g}", colour)]
        step = -(-max(self.log_ratio.shape) // _LARGEST_MAP)
        colours = map_colours(self.log_ratio[::step, ::step], self.map_threshold)
        boxes = ", ".join(f"rows {b.top} to {b.bottom}, columns {b.left} to {b.right}" for b in self.shown_boxes)
        return html.card(
            f"{self.name}: {self.verdict}, p = {self.p_value:.3g}",
            svg.on_a_line(marks),
            f"most like {self.nearest}; coloured where the map exceeds what good images reach",
            html.picture(encode_png(colours), "map of log ratios"),
            details={
                "score": f"{self.score:.4g}",
                "threshold": f"{self.threshold:.4g}",
                "boxes": boxes or "none",
                "milliseconds": f"{self.milliseconds:.0f}",
            },
        )
