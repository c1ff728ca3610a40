"""A reference that is saved once and compared with many times. The file is a Parquet table: no code, no pickle."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from vwkde._data.frames import Frame
from vwkde._data.groups import check_groups
from vwkde._data.intake import check_table
from vwkde._data.reading import Reading
from vwkde._data.validation import check_two_rows
from vwkde._runtime.files import whole_file
from vwkde._runtime.random_states import random_state_of
from vwkde.monitoring._drift import MOST_ROWS, drift
from vwkde.monitoring._result import DriftResult
from vwkde.monitoring._tables import NAMES, read_frame

if TYPE_CHECKING:
    import pyarrow as pa

_FORMAT, _VERSION = "vwkde-drift", 1
"""The version is increased whenever older versions of vwkde would misread the file."""
_KEY = _FORMAT.encode()
_GROUPS = "vwkde: groups"
"""The column of the file that holds the number of each row's group."""


@dataclass(frozen=True)
class DriftReference:
    """A reference to compare tables with, which can be saved.

    Parameters
    ----------
    frame : Frame
        The rows.
    groups : array or None
        The number of each row's group.
    rows : int
        The number of rows that were given; if there were very many, some were drawn.
    missing : {"refuse", "indicator"}
        What missing values do, as in `drift`.
    dates : {"refuse", "number", "drop"}
        What columns of dates or times do, as in `drift`.

    Examples
    --------
    >>> import numpy as np
    >>> from vwkde.monitoring import DriftReference
    >>> rng = np.random.default_rng(0)
    >>> reference = DriftReference.fit(rng.normal(size=(400, 2)))
    >>> reference.check(rng.normal(1, 1, size=(100, 2))).has_drifted
    True
    """

    frame: Frame
    groups: Any = None
    rows: int = 0
    missing: Literal["refuse", "indicator"] = "indicator"
    dates: Literal["refuse", "number", "drop"] = "drop"

    @classmethod
    def fit(
        cls,
        reference: Any,
        *,
        groups: Any = None,
        missing: Literal["refuse", "indicator"] = "indicator",
        dates: Literal["refuse", "number", "drop"] = "drop",
        random_state: Any = 0,
    ) -> "DriftReference":
        """Keep a table as reference.

        Parameters
        ----------
        reference : array-like, DataFrame, Arrow table or path
            The table. Of more than 20,000 rows, that many are drawn.
        groups : array-like, optional
            Which rows belong together, as in `drift`.
        missing : {"refuse", "indicator"}, default="indicator"
            What missing values do, as in `drift`.
        dates : {"refuse", "number", "drop"}, default="drop"
            What columns of dates or times do, as in `drift`.
        random_state : int, RandomState or None, default=0
            Seeds the drawing of rows.

        Returns
        -------
        DriftReference
            The reference.

        Raises
        ------
        ValueError
            If the table cannot be used, or has fewer than two rows.
        """
        frame = read_frame(reference, NAMES[0])
        check_two_rows(len(check_table(frame, NAMES[0], Reading(missing, dates)).values), NAMES[0])
        numbers = check_groups(groups, frame.table.num_rows, "DriftReference.fit")
        rows = frame.table.num_rows
        if rows > MOST_ROWS:
            random = np.random.default_rng(random_state_of(random_state).randint(2**31))
            some = np.sort(random.permutation(rows)[:MOST_ROWS])
            frame = Frame(frame.table.take(some), frame.columns, frame.chosen)
            numbers = None if numbers is None else numbers[some]
        return cls(frame, numbers, rows, missing, dates)

    def check(
        self,
        current: Any,
        *,
        level: float = 0.05,
        groups: Any = None,
        measure: Literal["always", "if-drift", "never"] = "if-drift",
        random_state: Any = 0,
    ) -> DriftResult:
        """Compare a table with the reference.

        Parameters
        ----------
        current : array-like, DataFrame, Arrow table or path
            The table in question, with the columns of the reference.
        level : float, default=0.05
            The level of the test, as in `drift`.
        groups : array-like, optional
            Which rows of this table belong together. None of them is a group of the reference.
        measure : {"always", "if-drift", "never"}, default="if-drift"
            When to measure how much changed, as in `drift`.
        random_state : int, RandomState or None, default=0
            Seeds every random choice.

        Returns
        -------
        DriftResult
            The answers.

        Raises
        ------
        ValueError
            If a parameter is invalid, or the table does not go with the reference.
        """
        pair = None
        if self.groups is not None or groups is not None:
            own = None if self.groups is None else [("reference", number) for number in self.groups]
            pair = own, None if groups is None else [("current", label) for label in groups]
        return drift(
            self.frame,
            current,
            level=level,
            groups=pair,
            measure=measure,
            missing=self.missing,
            dates=self.dates,
            random_state=random_state,
        )

    def save(self, path: str | Path) -> None:
        """Write the reference to a file; a reader never sees a partly written one.

        Parameters
        ----------
        path : str or Path
            The file, for example ref.model.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        settings = {"version": _VERSION, "rows": self.rows, "missing": self.missing, "dates": self.dates}
        settings |= {"named": self.frame.columns is not None, "chosen": self.frame.chosen}
        table = self.frame.table
        if self.groups is not None:
            table = table.append_column(_GROUPS, pa.array(self.groups))
        table = table.replace_schema_metadata({**(table.schema.metadata or {}), _KEY: json.dumps(settings).encode()})
        with whole_file(Path(path)) as file:
            pq.write_table(table, file, write_page_checksum=True)

    @classmethod
    def load(cls, path: str | Path) -> "DriftReference":
        """Read a reference from a file.

        Parameters
        ----------
        path : str or Path
            The file.

        Returns
        -------
        DriftReference
            The reference.

        Raises
        ------
        ValueError
            If the file is missing, damaged, or not a reference.
        """
        table, settings = _read(Path(path))
        groups = None
        if _GROUPS in table.column_names:
            groups = np.asarray(table.column(_GROUPS), dtype=np.intp)
            table = table.drop_columns([_GROUPS])
        columns = tuple(table.column_names) if settings["named"] else None
        frame = Frame(table, columns, settings["chosen"])
        return cls(frame, groups, settings["rows"], settings["missing"], settings["dates"])


def is_reference(path: Path) -> bool:
    """Return whether a file is a reference, as far as its beginning and end tell."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return path.is_file() and _KEY in (pq.read_schema(path).metadata or {})
    except (OSError, pa.ArrowInvalid):
        return False


def _read(path: Path) -> tuple["pa.Table", dict[str, Any]]:
    """Return the table of a file and its settings."""
    import pyarrow.parquet as pq

    if not path.is_file():
        raise ValueError(f"{path}: there is no such file. Check the name, or write it with `vwkde drift fit`.")
    with _told_as_damage(path):
        table = pq.read_table(path, page_checksum_verification=True)
        written = (table.schema.metadata or {}).get(_KEY)
    if written is None:
        raise ValueError(f"{path}: a table, but not a reference. Write one with `vwkde drift fit`.")
    with _told_as_damage(path):
        settings = json.loads(written)
        missing = [name for name in ("rows", "missing", "dates", "named", "chosen") if name not in settings]
    if settings.get("version", 0) > _VERSION:
        raise ValueError(f"{path}: written by a newer vwkde. Upgrade with: pip install -U vwkde")
    if missing:
        raise ValueError(f"{path}: damaged: {missing[0]!r} is missing. Fit the reference again, or restore a copy.")
    return table, settings


@contextmanager
def _told_as_damage(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError, TypeError):  # Arrow's and JSON's errors are among them
        raise ValueError(
            f"{path}: not a reference, or damaged. Write one with `vwkde drift fit`, or restore a copy."
        ) from None
