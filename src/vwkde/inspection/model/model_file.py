"""A fitted inspector in one file: its parts and their names."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from vwkde.inspection.model.calibration import Calibration, calibrate
from vwkde.inspection.model.container import ModelFileError, read_container, write_container
from vwkde.inspection.model.coordinates import Coordinates
from vwkde.inspection.model.features import as_features
from vwkde.inspection.model.learnt import Learnt
from vwkde.inspection.model.library import Library


@dataclass(frozen=True)
class SavedModel:
    """The parameters that an inspector was fitted with, and what it learnt. Features are stored by name."""

    features: str
    false_reject_rate: float
    candidates: int
    random_state: int
    learnt: Learnt


def write_model(path: Path, model: SavedModel) -> None:
    """Write a model file."""
    learnt = model.learnt
    settings = {
        "features": model.features,
        "false_reject_rate": model.false_reject_rate,
        "candidates": model.candidates,
        "random_state": model.random_state,
        "bandwidth": learnt.library.bandwidth,
        "length_scale": learnt.library.length_scale,
        "image_shape": list(learnt.image_shape),
        "names": learnt.names,
        "fingerprints": learnt.fingerprints,
    }
    arrays: dict[str, NDArray[Any]] = {
        "patches": learnt.library.patches,
        "mean": learnt.coordinates.mean,
        "matrix": learnt.coordinates.matrix,
        "sums": learnt.sums,
        "scores": learnt.scores.scores,
        "peaks": learnt.peaks.scores,
        "thumbnails": learnt.thumbnails,
    }
    write_container(path, arrays, settings)


def read_model(path: Path) -> SavedModel:
    """Return the contents of a model file; a missing part is an error."""
    arrays, settings = read_container(path)
    try:
        return SavedModel(
            settings["features"],
            settings["false_reject_rate"],
            settings["candidates"],
            settings["random_state"],
            _learnt(arrays, settings),
        )
    except KeyError as error:
        raise ModelFileError(f"{path}: the part {error} is missing. Fit the model again, or restore a copy.") from None


def _learnt(arrays: dict[str, NDArray[Any]], settings: dict[str, Any]) -> Learnt:
    features = as_features(settings["features"])
    rate, names = settings["false_reject_rate"], list(settings["names"])
    widths = settings["bandwidth"], settings["length_scale"]
    return Learnt(
        features,
        tuple(settings["image_shape"]),
        names,
        list(settings.get("fingerprints", [None] * len(names))),
        arrays["thumbnails"],
        Coordinates(arrays["mean"], arrays["matrix"], features.scaled),
        Library(arrays["patches"], *widths, settings["candidates"], features.worst),
        arrays["sums"],
        calibrate(arrays["scores"], rate),
        Calibration(arrays["peaks"], rate),
    )
