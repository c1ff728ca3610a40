"""Evaluations of several data sets side by side."""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import mean
from typing import Any

from vwkde.inspection.data.names import plain
from vwkde.inspection.runs.evaluation import Evaluation
from vwkde.inspection.runs.records import FORMAT, RunRecord, State

_DIGITS = 6
"""Digits after the point of means."""


@dataclass(frozen=True)
class Summary:
    """The runs over several data sets, by data set name."""

    runs: Mapping[str, RunRecord]

    @property
    def evaluations(self) -> dict[str, Evaluation]:
        """The evaluation of each data set that has one."""
        return {name: run.evaluation for name, run in self.runs.items() if run.evaluation is not None}

    @property
    def titles(self) -> dict[str, str]:
        """The titles of all measures, by name."""
        return {each.name: each.title for evaluation in self.evaluations.values() for each in evaluation.measures}

    @property
    def means(self) -> dict[str, float]:
        """The mean of each measure over the data sets that have it."""
        values = [evaluation.values for evaluation in self.evaluations.values()]
        return {name: round(mean(each[name] for each in values if name in each), _DIGITS) for name in self.titles}

    def to_json(self) -> dict[str, Any]:
        """Return the contents of `results.json`."""
        entries = {plain(name): run.to_json() for name, run in self.runs.items()}
        kept = {
            name: {key: entry.get(key) for key in ("model", "counts", "metrics")} for name, entry in entries.items()
        }
        return {"format": FORMAT, "state": State.COMPLETE, "mean": self.means, "data_sets": kept}
