"""What to do with entries that are not plain numbers, as the user says."""

from dataclasses import dataclass

MISSING = ("refuse", "indicator")
"""Missing values raise an error, or get a 0/1 column of their own and a value in the middle of the others."""
DATES = ("refuse", "number", "drop")
"""Dates and times raise an error, become seconds since 1970, or are left out."""

FEW_LEVELS, MANY_LEVELS = 20, 100
"""Levels of categories that have columns of their own: few where all pairs of columns are compared, and many for
ratios, whose guides need few rows for each."""


@dataclass(frozen=True)
class Reading:
    """How a table is read; all categories with more than a few levels share `most_levels` columns.

    `grouped` says that rows belong together, so that a level of many rows may be in one sample by chance.
    """

    missing: str = "refuse"
    dates: str = "refuse"
    most_levels: int = FEW_LEVELS
    grouped: bool = False

    def __post_init__(self) -> None:
        """Refuse unknown words."""
        for parameter, known in (("missing", MISSING), ("dates", DATES)):
            given = getattr(self, parameter)
            if given not in known:
                listed = " or ".join(map(repr, known))
                raise ValueError(f"The {parameter!r} parameter must be {listed}. Got {given!r} instead.")


PLAIN = Reading()
