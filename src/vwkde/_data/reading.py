"""What to do with entries that are not plain numbers, as the user says."""

from dataclasses import dataclass

MISSING = ("refuse", "indicator")
"""Missing values raise an error, or get a 0/1 column of their own and a value in the middle of the others."""
DATES = ("refuse", "number", "drop")
"""Dates and times raise an error, become seconds since 1970, or are left out."""


@dataclass(frozen=True)
class Reading:
    """How a table is read."""

    missing: str = "refuse"
    dates: str = "refuse"

    def __post_init__(self) -> None:
        """Refuse unknown words."""
        for parameter, known in (("missing", MISSING), ("dates", DATES)):
            given = getattr(self, parameter)
            if given not in known:
                listed = " or ".join(map(repr, known))
                raise ValueError(f"The {parameter!r} parameter must be {listed}. Got {given!r} instead.")


PLAIN = Reading()
