"""A data set in a folder: which images are good, which are to be tested, and where their defects are."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from vwkde.inspection.data.errors import ImageError
from vwkde.inspection.data.masks import MaskSource

KNOWN_LAYOUTS = {
    "flat": "images directly in the folder",
    "folders": "good/ and folders of defective images",
    "mvtec": "train/good/, test/<defect>/, ground_truth/<defect>/",
    "visa": "Data/Images/Normal/, Data/Images/Anomaly/, Data/Masks/Anomaly/",
    "kolektor": "folders of images, each with a mask <image>_label next to it",
    "kolektor-2": "train/ and test/ of images, each with a mask <image>_GT next to it",
    "dagm": "<class>/ next to <class>_def/ with labels.txt",
    "dagm-2": "Train/ and Test/ with Label/",
}
"""The kinds of layout, each with a short description."""

_NAMES_SHOWN = 3
"""Number of names that a description gives as examples."""


class LayoutError(ImageError):
    """It is not clear which images of a folder are good or defective. The message is one line."""


class UnknownLayoutError(LayoutError):
    """A folder has none of the known layouts."""


@dataclass(frozen=True)
class Item:
    """One image: its file, its name in reports, whether it is defective (None: not known), and its mask, if any.

    The name is the path below the folder that was recognised, with slashes. DAGM's first release has two folders next
    to each other; there, it is the path below the folder that contains both.
    """

    path: Path
    name: str
    defective: bool | None = None
    mask: MaskSource | None = None


@dataclass(frozen=True)
class Layout:
    """The images of a folder: those to fit on, all good, and those to test; and masks that are named like no image."""

    kind: str
    good: tuple[Item, ...]
    test: tuple[Item, ...]
    lone_masks: tuple[str, ...] = ()

    @property
    def labelled(self) -> bool:
        """Whether each image to be tested is known to be good or defective."""
        return bool(self.test) and all(item.defective is not None for item in self.test)

    @property
    def without_mask(self) -> tuple[Item, ...]:
        """The defective images that have no mask."""
        return tuple(item for item in self.test if item.defective and item.mask is None)

    def tested_on_others(self) -> "Layout":
        """Return a layout without the images to be tested that are fitted on, which a flat folder has."""
        good = {item.path for item in self.good}
        return replace(self, test=tuple(item for item in self.test if item.path not in good))

    def divided(self, share: float, seed: int) -> "Layout":
        """Return a layout with a random share of the good images moved from fitting to testing."""
        count = round(share * len(self.good)) if 0 < share < 1 else 0
        if not 0 < count < len(self.good):
            raise LayoutError(
                f"A share of {share:g} of {len(self.good)} good images cannot be set aside for testing: "
                "at least one image must be tested, and at least one must remain to fit on."
            )
        chosen = set(np.random.default_rng(seed).permutation(len(self.good))[:count].tolist())
        moved = (replace(item, defective=False) for index, item in enumerate(self.good) if index in chosen)
        return replace(
            self,
            good=tuple(item for index, item in enumerate(self.good) if index not in chosen),
            test=(*moved, *self.tested_on_others().test),
        )


def unlike_names(layout: Layout) -> str | None:
    """Say that masks and images have unlike names, if some but not all of them do."""
    if not layout.lone_masks:
        return None
    lone, without = layout.lone_masks, [item.name for item in layout.without_mask]
    words = f"{len(lone)} masks are named like no image ({some(list(lone))}), and do not count."
    if without:
        words += f" {len(without)} defective images have no mask ({some(without)})."
    return f"{words} A mask is named like its image, or with _mask after it."


def describe(layout: Layout) -> str:
    """Return a short description of what was recognised; an image to fit on is not tested, too."""
    layout = layout.tested_on_others()
    lines = [f"layout   {layout.kind} ({KNOWN_LAYOUTS[layout.kind]})", f"to fit   {_count(layout.good)}"]
    states = [item.defective for item in layout.test]
    kinds = {"good": states.count(False), "defective": states.count(True), "without label": states.count(None)}
    kinds["with mask"] = sum(item.mask is not None for item in layout.test)
    parts = ", ".join(f"{count} {kind}" for kind, count in kinds.items() if count)
    lines.append(f"to test  {_count(layout.test)}")
    if parts:
        lines.append(f"         {parts}")
    if layout.without_mask:
        lines.append(f"no mask  {_count(layout.without_mask)}")
    if layout.lone_masks:
        lines.append(f"no image {len(layout.lone_masks):,} masks: {some(list(layout.lone_masks))}")
    return "\n".join(lines)


def _count(items: tuple[Item, ...]) -> str:
    if not items:
        return "no images"
    return f"{len(items):,} image{'s' * (len(items) > 1)}: {some([item.name for item in items])}"


def some(names: list[str]) -> str:
    """Return a few of the names in words."""
    return ", ".join([*names[:_NAMES_SHOWN], "…"] if len(names) > _NAMES_SHOWN else names)
