"""The result for one image: score, verdict, map, and the regions where the map is high."""

from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from vwkde._display import html, svg
from vwkde._display.style import RED, TEAL
from vwkde._display.tabular import Tabular
from vwkde.inspection.data.images import encode_png
from vwkde.inspection.model.map_colours import map_colours
from vwkde.inspection.model.regions import Box, Region, find_regions, near_peak, outlined_regions

Singles = NDArray[np.float32]
Verdict = Literal["OK", "NG"]

_PART_OF_PEAK = 0.5
"""Regions have pixels at this share of the largest value of the map, if no more than that is above its limit.

The paper uses 0.9. Of a large defect that covers only a small part, too little to count as found.
"""
_PART_OF_WAY = 0.45
"""Pixels at this share of the way from the median of the map to the largest value of their region are shown."""
_LARGEST_MAP = 256
"""Maximum length of a map's longer side in a notebook, in pixels."""


@dataclass(frozen=True, eq=False)
class Inspection(Tabular):
    """The result of inspecting one image.

    The verdict depends on the score alone. The map shows where the image differs from good ones, whatever the verdict.

    Attributes
    ----------
    name : str
        The name of the image.
    score : float
        How unlike good images the image is, in nats. With "texture" or "multiscale": the mean log ratio of its worst
        patches against the nearest good images. With "combined" or a network: how rare its worst patches, its strongest
        marks and the peak of its map would be in good images. With "gradient" or a function: the KL divergence from the
        nearest good image.
    p_value : float
        The share of good images that score at least as high, counting this image itself.
    threshold : float
        The score above which an image is rejected; infinite if there are too few good images for the stated rate.
    nearest : str
        The name of the nearest good image.
    log_ratio : ndarray of shape (height, width)
        The map: the log ratio of each patch, this image against good ones, in nats, averaged over the patches that
        cover a pixel. With "combined" or a network: how rare such a place is in good images, as minus the log of its
        share.
    map_threshold : float
        The value that the maps of good images rarely exceed anywhere; infinite if there are too few good images.
    milliseconds : float
        The time that the inspection took.

    Examples
    --------
    >>> from vwkde.inspection import SurfaceInspector, make_surfaces
    >>> surfaces = make_surfaces("woven", n_good=20, n_bad=1, size=96)
    >>> inspector = SurfaceInspector(features="texture").fit(surfaces.images[:20])
    >>> result = inspector.check(surfaces.images[20], name="part.png")
    >>> result.verdict, result.score > result.threshold, round(result.p_value, 3)
    ('NG', True, 0.048)
    >>> result.log_ratio.shape
    (96, 96)
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
        """Whether the image fails: its score is above the threshold, or is not a finite number."""
        return not (isfinite(self.score) and self.score <= self.threshold)

    @property
    def verdict(self) -> Verdict:
        """ "NG" if the image is rejected, else "OK"."""
        return "NG" if self.rejected else "OK"

    def regions(self, level: float | None = None) -> list[Region]:
        """Return the regions where the map reaches a level, highest peak first.

        The verdict plays no part: an image that passes can have regions, and a rejected image may have none.

        Parameters
        ----------
        level : float, default=None
            A value of the map, in nats. None means `map_threshold`.

        Returns
        -------
        list of Region
            Each with its `box`, its `mask` within that box, and its `peak`.

        Examples
        --------
        >>> from vwkde.inspection import SurfaceInspector, make_surfaces
        >>> surfaces = make_surfaces("woven", n_good=20, n_bad=1, size=96)
        >>> inspector = SurfaceInspector(features="texture").fit(surfaces.images[:20])
        >>> result = inspector.check(surfaces.images[20])
        >>> regions = result.regions()
        >>> regions[0].peak > result.map_threshold
        True
        """
        return find_regions(self.log_ratio, self.map_threshold if level is None else level)

    @property
    def outlines(self) -> list[Region]:
        """The regions above `map_threshold`, or the highest ones if none is.

        Of each, the pixels are shown that are at least 45 % of the way up from the median of the map to its peak.
        """
        level = min(self.map_threshold, near_peak(self.log_ratio, _PART_OF_PEAK))
        return outlined_regions(self.log_ratio, level, _PART_OF_WAY)

    @property
    def coloured_from(self) -> float:
        """The value of the map from which it is coloured: `map_threshold`.

        If an image is rejected although its map is nowhere so high, its highest places are coloured: something in it
        is rare, and they come closest.
        """
        if not self.rejected or self.log_ratio.max() > self.map_threshold:
            return self.map_threshold
        return near_peak(self.log_ratio, _PART_OF_PEAK)

    @property
    def boxes_if_rejected(self) -> list[Box]:
        """The boxes to show if the image is rejected, highest first. At least the map's highest place has one."""
        return [region.box for region in self.outlines]

    @property
    def shown_boxes(self) -> list[Box]:
        """The boxes that reports show: `boxes_if_rejected` for a rejected image, none for one that passes."""
        return self.boxes_if_rejected if self.rejected else []

    def _answers(self) -> dict[str, Any]:
        names = ["name", "verdict", "score", "threshold", "p_value", "nearest"]
        return {name: getattr(self, name) for name in names} | {"boxes": [asdict(box) for box in self.shown_boxes]}

    def _details(self) -> dict[str, Any]:
        return {"map_threshold": self.map_threshold, "milliseconds": self.milliseconds}

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the verdict, the score next to the threshold, and the map."""
        colour = RED if self.rejected else TEAL
        marks = [svg.Mark(self.threshold, "threshold"), svg.Mark(self.score, f"{self.score:.3g}", colour)]
        step = -(-max(self.log_ratio.shape) // _LARGEST_MAP)
        colours = map_colours(self.log_ratio[::step, ::step], self.coloured_from)
        boxes = ", ".join(f"rows {b.top} to {b.bottom}, columns {b.left} to {b.right}" for b in self.shown_boxes)
        return html.card(
            f"{self.name}: {self.verdict}, p = {self.p_value:.3g}",
            svg.on_a_line(marks),
            f"nearest good image: {self.nearest}; colour: the map is higher than in good images",
            html.picture(encode_png(colours), "map of log ratios"),
            details={
                "score": f"{self.score:.4g}",
                "threshold": f"{self.threshold:.4g}",
                "boxes": boxes or "none",
                "milliseconds": f"{self.milliseconds:.0f}",
            },
        )
