"""What a figure or table of the paper is here: tasks, their numbers, the claims these bear on, a picture or rows."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vwkde.reproduce.core.tasks import Outcome, Task

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

Results = dict[str, Any]
"""Numbers as JSON holds them."""


def six_digits(values: Any) -> Any:
    """Return a number, or a list of numbers, with six digits, ready for JSON."""
    return [float(f"{value:.6g}") for value in values] if np.ndim(values) else float(f"{values:.6g}")


@dataclass(frozen=True)
class SurfaceImages:
    """Images of surfaces: the folder of the classes, which of these, how many images of a kind, and MNIST's file."""

    folder: Path
    classes: tuple[str, ...]
    images: int | None = None
    digits: Path | None = None


@dataclass(frozen=True)
class Scale:
    """How much to do: the whole, with as many repetitions as the paper has, or a quick part of it; on which images."""

    repetitions: int = 30
    quick: bool = False
    surfaces: SurfaceImages | None = None


WHOLE = Scale()
QUICK = Scale(repetitions=2, quick=True)


@dataclass(frozen=True)
class Claim:
    """Something the paper says, where it says it, what was measured, and whether that bears it out."""

    text: str
    where: str
    measured: str
    holds: bool


@dataclass(frozen=True)
class Figure:
    """A figure or table of the paper and how it is made again.

    Those with a `journal` of one name share their tasks, which are done once. What is on images needs `Scale.surfaces`.
    """

    name: str
    title: str
    about: str
    tasks: Callable[[Scale], list[Task]]
    collect: Callable[[dict[str, Outcome], Scale], Results]
    claims: Callable[[Results], list[Claim]]
    draw: Callable[[Results, "Canvas"], None] | None
    size: tuple[float, float] = (12.0, 4.0)
    rows: Callable[[Results], list[str]] | None = None
    """Lines of Markdown that stand in the page, for a table in place of a picture."""
    repetitions: int = WHOLE.repetitions
    journal: str | None = None
    on_images: bool = False
