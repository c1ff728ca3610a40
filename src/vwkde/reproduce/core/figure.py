"""A figure or table of the paper, as code: tasks, their numbers, the claims these test, and a picture or rows."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vwkde.reproduce.core.tasks import Outcome, Task

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

Results = dict[str, Any]
"""Numbers, ready for JSON."""


def six_digits(values: Any) -> Any:
    """Return a number, or a list of numbers, rounded to six significant digits, ready for JSON."""
    return [float(f"{value:.6g}") for value in values] if np.ndim(values) else float(f"{values:.6g}")


@dataclass(frozen=True)
class SurfaceImages:
    """Images of surfaces: the folder, the classes in it, the number of images of each kind, and MNIST's file."""

    folder: Path
    classes: tuple[str, ...]
    images: int | None = None
    digits: Path | None = None


@dataclass(frozen=True)
class Scale:
    """How much to run: everything, with as many repetitions as the paper, or a quick part; and on which images."""

    repetitions: int = 30
    quick: bool = False
    surfaces: SurfaceImages | None = None


WHOLE = Scale()
QUICK = Scale(repetitions=2, quick=True)


@dataclass(frozen=True)
class Claim:
    """A statement of the paper, where it is made, what was measured, and whether the measurement supports it."""

    text: str
    where: str
    measured: str
    holds: bool


@dataclass(frozen=True)
class Figure:
    """A figure or table of the paper, and how it is reproduced.

    Figures with the same `journal` share their tasks, which are run once. Figures `on_images` need `Scale.surfaces`.
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
    """Lines of Markdown for the page: a table instead of a picture."""
    repetitions: int = WHOLE.repetitions
    journal: str | None = None
    on_images: bool = False
