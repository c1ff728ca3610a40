"""What a figure of the paper is here: tasks, the numbers they give, the claims these bear on, and a picture."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vwkde.reproduce.tasks import Outcome, Task

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

Results = dict[str, Any]
"""Numbers as JSON holds them."""


@dataclass(frozen=True)
class Scale:
    """How much to do: the whole, with as many repetitions as the paper has, or a quick part of it."""

    repetitions: int = 30
    quick: bool = False


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
    """A figure of the paper and how it is made again."""

    name: str
    title: str
    about: str
    tasks: Callable[[Scale], list[Task]]
    collect: Callable[[dict[str, Outcome], Scale], Results]
    claims: Callable[[Results], list[Claim]]
    draw: Callable[[Results, "Canvas"], None]
    size: tuple[float, float] = (12.0, 4.0)
