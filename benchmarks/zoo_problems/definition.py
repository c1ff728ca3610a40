"""What a problem is: samples with the log ratio at every row, and the truths about them."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zoo_problems.columns import Dressing
from zoo_problems.cores import Core, Reference, Rows, Sample, TableRows
from zoo_problems.densities import Floats
from zoo_problems.shapes import MOST_REFERENCE
from zoo_problems.truths import Truth, truth

_REFERENCE_PER_ROW = 40
"""Rows of the reference for each row of a sample, for a truth with an error of about a sixth of the floor."""


@dataclass(frozen=True)
class Problem:
    """Two densities with a known ratio, and the numbers of rows to draw from them.

    `base`, `change` and `columns_kind` say what the problem is made of, in words.
    """

    seed: int
    base: str
    change: str
    columns_kind: str
    rows: tuple[int, int]
    columns: int
    core: Core = field(repr=False)
    dressing: Dressing = field(repr=False)
    order: NDArray[np.intp] = field(repr=False)

    def with_rows(self, rows: int) -> "Problem":
        """Return the problem with so many rows of each sample, or as many as a table has that is used once.

        The truth comes from enough rows for the smaller floor.
        """
        if isinstance(self.core, TableRows):
            most = self.core.most_rows()
            return replace(self, rows=(min(rows, most[0]), min(rows, most[1])))
        enough = max(self.core.reference_rows, min(_REFERENCE_PER_ROW * rows, MOST_REFERENCE))
        return replace(self, rows=(rows, rows), core=replace(self.core, reference_rows=enough))

    def draw(self, repetition: int = 0, fresh: int = 0) -> Sample:
        """Return the samples of a repetition with their log ratios, and `fresh` more rows of each density."""
        drawn = self.core.sample(self.rows, fresh, np.random.default_rng([self.seed, 1, repetition]))
        random = np.random.default_rng([self.seed, 5, repetition])
        return Sample(*(Rows(self.dressing(rows.x, random)[:, self.order], rows.log_ratio) for rows in drawn))

    def sample(self, repetition: int = 0) -> tuple[Floats, Floats]:
        """Return the two samples of a repetition, without anything that tells the answer."""
        drawn = self.draw(repetition)
        return drawn.p.x, drawn.q.x

    @cached_property
    def references(self) -> list[Reference]:
        """Log ratios of many rows, from which the truths come."""
        return self.core.references()

    def truth(self, kind: str = "kl") -> Truth:
        """Return a divergence of P from Q with the floor of its error."""
        return truth(kind, self.references, self.rows)

    def describe(self) -> dict[str, Any]:
        """Return what the problem is made of, ready for JSON."""
        names = ("seed", "base", "change", "columns_kind", "rows", "columns")
        return {name: getattr(self, name) for name in names}
