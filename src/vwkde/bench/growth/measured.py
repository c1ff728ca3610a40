"""One measurement: what is asked for, and what came of it."""

from dataclasses import asdict, dataclass
from typing import Any, NamedTuple


class Task(NamedTuple):
    """One estimate to be made."""

    kind: str
    method: str
    rows: int
    seed: int


@dataclass(frozen=True)
class Limits:
    """The longest time of an estimate in seconds, and the most memory of its process in GiB."""

    seconds: float = 300.0
    memory: float = 4.0


LIMITS = Limits()
"""The usual limits."""


@dataclass(frozen=True)
class Run:
    """What came of a task.

    `memory` is how far the process grew over what it had before the estimate, and `process_memory` its peak, both in
    MiB; None where this system does not tell. An interval without an upper end has `high` None. `problem` says why
    there is no value, and `over_limit` whether that is a limit of time or memory.
    """

    task: Task
    seconds: float | None = None
    memory: float | None = None
    process_memory: float | None = None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    warnings: tuple[str, ...] = ()
    problem: str | None = None
    over_limit: bool = False

    def covers(self, truth: float) -> bool:
        """Return whether the interval contains a number."""
        return self.low is not None and self.low <= truth and (self.high is None or truth <= self.high)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields, ready for JSON."""
        fields = asdict(self) | {"warnings": list(self.warnings)}
        fields.pop("task")
        return self.task._asdict() | fields

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> "Run":
        """Return the run that `to_dict` describes."""
        rest = {name: value for name, value in fields.items() if name not in Task._fields}
        task = Task(*(fields[name] for name in Task._fields))
        return cls(task, **rest | {"warnings": tuple(rest["warnings"])})
