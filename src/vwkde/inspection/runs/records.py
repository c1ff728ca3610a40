"""The results of a run, image by image, and their form in `results.json`."""

from dataclasses import asdict, astuple, dataclass
from enum import StrEnum
from math import isfinite
from typing import Any, Literal

from vwkde.inspection.data.names import plain
from vwkde.inspection.data.pictures import Failure
from vwkde.inspection.model.drift_of_good import Drift
from vwkde.inspection.model.inspection import Inspection, Verdict
from vwkde.inspection.model.inspector import SurfaceInspector
from vwkde.inspection.runs.evaluation import Evaluation
from vwkde.inspection.runs.scores import BoxCorners, ScoreRow

FORMAT = "vwkde-inspection-run"
"""Marks a `results.json` as written by a run."""

Label = Literal["good", "defective"]


class State(StrEnum):
    """How far a run got: all images were checked; it was stopped after some; or it is running, or was killed."""

    COMPLETE = "complete"
    STOPPED = "stopped"
    RUNNING = "running"


@dataclass(frozen=True)
class ImageRecord:
    """The result for one image; `overlay` is its picture, below the folder of the run."""

    image: str
    verdict: Verdict
    score: float
    p_value: float
    threshold: float
    nearest_good: str
    boxes: tuple[BoxCorners, ...]
    milliseconds: float
    overlay: str
    label: Label | None = None

    @classmethod
    def of(cls, result: Inspection, overlay: str, label: Label | None = None) -> "ImageRecord":
        """Return the record of an inspection."""
        return cls(
            image=plain(result.name),
            verdict=result.verdict,
            score=result.score,
            p_value=result.p_value,
            threshold=result.threshold,
            nearest_good=plain(result.nearest),
            boxes=tuple(astuple(box) for box in result.shown_boxes),
            milliseconds=result.milliseconds,
            overlay=overlay,
            label=label,
        )

    @property
    def rejected(self) -> bool:
        """Whether the image fails."""
        return self.verdict == "NG"

    @property
    def is_missed(self) -> bool:
        """Whether the image passes although it is labelled as defective."""
        return not self.rejected and self.label == "defective"

    @property
    def is_false_reject(self) -> bool:
        """Whether the image fails although it is labelled as good."""
        return self.rejected and self.label == "good"

    def to_json(self) -> dict[str, Any]:
        """Return the entry as in `results.json`."""
        values = {name: finite(value) if isinstance(value, float) else value for name, value in vars(self).items()}
        if self.label is None:
            del values["label"]
        return values

    def to_row(self) -> ScoreRow:
        """Return the entry as in the table of scores."""
        values = dict(vars(self))
        del values["overlay"]
        return ScoreRow(**values)


@dataclass(frozen=True)
class FailureRecord:
    """An image that could not be used, and why."""

    image: str
    error: str

    @classmethod
    def of(cls, failure: Failure) -> "FailureRecord":
        """Return the record of a failure."""
        return cls(plain(failure.name), plain(failure.reason))

    def to_json(self) -> dict[str, Any]:
        """Return the entry as in `results.json`."""
        return {"image": self.image, "verdict": "ERROR", "error": self.error}

    def to_row(self) -> ScoreRow:
        """Return the entry as in the table of scores."""
        return ScoreRow(self.image, "ERROR", error=self.error)


@dataclass(frozen=True)
class ModelInfo:
    """The model that a run used; a threshold is None if there are too few good images for the rate."""

    file: str
    good_images: int
    features: str
    false_reject_rate: float
    threshold: float | None
    map_threshold: float | None
    known_bad_images: int = 0

    @classmethod
    def of(cls, inspector: SurfaceInspector, file: str) -> "ModelInfo":
        """Return the information about an inspector that was loaded from this file."""
        return cls(
            file=plain(file),
            good_images=len(inspector.names_),
            features=inspector.features_name,
            false_reject_rate=inspector.false_reject_rate,
            threshold=finite(inspector.calibration_.threshold),
            map_threshold=finite(inspector.map_calibration_.threshold),
            known_bad_images=len(inspector.calibration_.bad),
        )


@dataclass(frozen=True)
class Counts:
    """The numbers of images that pass, fail, and could not be used."""

    passed: int
    rejected: int
    failed: int

    @property
    def checked(self) -> int:
        """The number of images that were judged."""
        return self.passed + self.rejected

    def to_json(self) -> dict[str, int]:
        """Return the entry as in `results.json`."""
        return {"OK": self.passed, "NG": self.rejected, "ERROR": self.failed}


@dataclass(frozen=True)
class RunRecord:
    """A run: its source, how far it got, and its results, worst images first.

    `overlays` are the pictures that it planned to write, below its folder. `finished` is None while it is running.
    """

    state: State
    expected_images: int
    vwkde: str
    source: str
    model: ModelInfo
    overlays: tuple[str, ...]
    finished: str | None = None
    images: tuple[ImageRecord, ...] = ()
    failures: tuple[FailureRecord, ...] = ()
    evaluation: Evaluation | None = None
    drift: Drift | None = None

    @property
    def stopped(self) -> bool:
        """Whether some images were not checked."""
        return self.state is not State.COMPLETE

    @property
    def entries(self) -> "tuple[ImageRecord | FailureRecord, ...]":
        """All images: first those that were judged, then those that could not be used."""
        return (*self.images, *self.failures)

    @property
    def counts(self) -> Counts:
        """The numbers of images that pass, fail, and could not be used."""
        rejected = sum(image.rejected for image in self.images)
        return Counts(len(self.images) - rejected, rejected, len(self.failures))

    def to_json(self) -> dict[str, Any]:
        """Return the contents of `results.json`."""
        record: dict[str, Any] = {
            "format": FORMAT,
            "state": self.state,
            "expected_images": self.expected_images,
            "vwkde": self.vwkde,
            "source": self.source,
            "model": asdict(self.model),
        }
        if self.finished is not None:
            record |= {"finished": self.finished, "counts": self.counts.to_json()}
        if self.evaluation is not None:
            record["metrics"] = self.evaluation.to_dict()
        if self.drift is not None:
            record["drift"] = asdict(self.drift) | {"warning": self.drift.words}
        if self.stopped:  # the last picture may have been written without its row
            record["overlays"] = self.overlays
        return record | {"images": [each.to_json() for each in self.entries]}


def finite(value: float) -> float | None:
    """Return a number for JSON: None for an infinite threshold."""
    return value if isfinite(value) else None
