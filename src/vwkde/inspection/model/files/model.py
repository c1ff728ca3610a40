"""A fitted inspector in one file: its parts and their names."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vwkde._runtime.file_lock import BusyFileError, locked
from vwkde.inspection.model.calibration import Calibration, calibrate
from vwkde.inspection.model.coordinates import Coordinates
from vwkde.inspection.model.features.registry import FeatureSet, as_features, by_neighbours, marking_of
from vwkde.inspection.model.files.colours import colour_parts, read_colours
from vwkde.inspection.model.files.container import (
    ModelFileError,
    read_container,
    stated_digest,
    stated_settings,
    write_container,
)
from vwkde.inspection.model.files.marks import marks_arrays, with_marks
from vwkde.inspection.model.files.soundness import check_sound
from vwkde.inspection.model.frames import read_frame
from vwkde.inspection.model.history import read_changes, read_making, standing
from vwkde.inspection.model.inspected_part import ignoring
from vwkde.inspection.model.learnt.base import Learnt
from vwkde.inspection.model.learnt.by_neighbours import NO_SUMS, LearntNearest
from vwkde.inspection.model.learnt.colours import LearntColours
from vwkde.inspection.model.learnt.combined import LearntCombined
from vwkde.inspection.model.learnt.library import Library
from vwkde.inspection.model.learnt.nearest import NearestPatches
from vwkde.inspection.model.pretrained.files import NetworkError
from vwkde.inspection.model.pretrained.networks import located_name, network_of, shown_name

_PATIENCE = 60.0
"""Seconds to wait while another program writes the file."""


@dataclass(frozen=True)
class Origin:
    """The file that a model was read from or last written to, and the digest of its content at that time."""

    path: str
    digest: str

    @classmethod
    def of(cls, path: Path, digest: str) -> "Origin":
        """Return the origin for this file; all links to a file are the same."""
        return cls(os.path.realpath(path), digest)

    def is_current(self) -> bool:
        """Return whether the file still has that content."""
        return stated_digest(Path(self.path)) == self.digest


def images_added(path: Path) -> int:
    """Return how many images a model file says were added after its fit; none if it is no model file, or damaged."""
    settings = stated_settings(path)
    try:
        additions = standing(read_changes(settings["changes"], settings["names"]))
    except (KeyError, TypeError, ValueError):
        return 0
    return sum(len(change.names) for change in additions)


@dataclass(frozen=True)
class SavedModel:
    """The parameters that an inspector was fitted with, and what it learnt. Features are stored by name."""

    features: str
    false_reject_rate: float
    candidates: int
    random_state: int
    learnt: Learnt
    origin: Origin | None = None
    ignored: NDArray[np.bool_] | None = None


@contextmanager
def locked_model(path: Path, patience: float = _PATIENCE) -> Iterator[None]:
    """Keep other programs from changing a model file; `ModelFileError` if one of them takes too long."""
    try:
        with locked(path, patience):
            yield
    except BusyFileError as error:
        raise ModelFileError(str(error)) from None


def write_model(path: Path, model: SavedModel, origin: Origin | None = None) -> Origin:
    """Write a model file, and return its origin from now on.

    If the model came from this very file, the file must still be as it was then.
    """
    with locked_model(path):
        if origin is not None and origin.path == os.path.realpath(path) and not origin.is_current():
            raise ModelFileError(
                f"{path}: another program has changed the model file since it was read; nothing was written. Load it "
                "again and repeat the change, or save under another name."
            )
        return Origin.of(path, write_container(path, *_parts(model)))


def _parts(model: SavedModel) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Return the arrays and the settings of a model file."""
    learnt = model.learnt
    if isinstance(learnt, LearntColours):
        scores = replace(learnt.planes[0].scores, bad=learnt.scores.bad)
        own = replace(learnt.planes[0], changes=learnt.changes, made=learnt.made, own_frame=learnt.own_frame)
        first = _parts(replace(model, learnt=replace(own, scores=scores)))
        more = colour_parts(learnt, lambda plane: _parts(replace(model, learnt=plane)))
        return first[0] | more[0], first[1] | more[1]
    settings = {
        "features": model.features,
        "false_reject_rate": model.false_reject_rate,
        "candidates": model.candidates,
        "random_state": model.random_state,
        "bandwidth": learnt.library.bandwidth,
        "image_shape": list(learnt.image_shape),
        "names": learnt.names,
        "fingerprints": learnt.fingerprints,
        "changes": [change.to_dict() for change in learnt.changes],
        "made": asdict(learnt.made),
        "any_size": learnt.frame.any_size,
        "colour": learnt.frame.colour,
    }
    if isinstance(learnt.library, Library):
        settings["length_scale"] = learnt.library.length_scale
    if (network := network_of(model.features)) is not None:
        settings["network"] = network.digest
    arrays: dict[str, NDArray[Any]] = {
        "patches": learnt.library.patches,
        "mean": learnt.coordinates.mean,
        "matrix": learnt.coordinates.matrix,
        "scores": learnt.scores.scores,
        "peaks": learnt.peaks.scores,
        "thumbnails": learnt.thumbnails,
        "bad": learnt.scores.bad,
    }
    if learnt.sums.size:
        arrays["sums"] = learnt.sums
    if learnt.frame.reference is not None:
        arrays["reference"] = learnt.frame.reference
    if model.ignored is not None:
        arrays["ignored"] = np.asarray(model.ignored, dtype=np.uint8)
    return arrays | marks_arrays(learnt), settings


def read_model(path: Path) -> SavedModel:
    """Return the contents of a model file; a missing part, or parts that do not fit together, are an error."""
    arrays, settings, digest = read_container(path)
    try:
        ignored = arrays["ignored"].astype(bool) if "ignored" in arrays else None
        if not isinstance(settings["features"], str):
            raise TypeError("features must be a name")
        name = located_name(settings["features"], path.parent)
        features = ignoring(as_features(name), ignored)
        _check_network(name, settings.get("network"))
        check_sound(arrays, settings, features)
        return SavedModel(
            name,
            settings["false_reject_rate"],
            settings["candidates"],
            settings["random_state"],
            _learnt(arrays, settings, features),
            Origin.of(path, digest),
            ignored,
        )
    except NetworkError as error:
        raise ModelFileError(f"{path}: {error}") from None
    except KeyError as error:
        raise ModelFileError(f"{path}: the part {error} is missing. Fit the model again, or restore a copy.") from None
    except (TypeError, ValueError, ArithmeticError, AttributeError, IndexError) as error:
        raise ModelFileError(
            f"{path}: the parts do not fit together ({error}). Fit the model again, or restore a copy."
        ) from None


def _check_network(features: str, digest: Any) -> None:
    """Raise an error if the network of the features is not the one that the model was fitted with."""
    network = network_of(features)
    if network is not None and network.digest != digest:
        raise NetworkError(
            f"it was fitted with another network than {shown_name(features)} is now. Restore that one, or fit again."
        )


def _learnt(arrays: dict[str, NDArray[Any]], settings: dict[str, Any], features: FeatureSet) -> Learnt:
    rate, names = settings["false_reject_rate"], list(settings["names"])
    learnt = Learnt(
        features,
        tuple(settings["image_shape"]),
        names,
        list(settings.get("fingerprints", [None] * len(names))),
        arrays["thumbnails"],
        Coordinates(arrays["mean"], arrays["matrix"], features.scaled),
        _library(arrays["patches"], settings, features),
        arrays.get("sums", NO_SUMS),
        calibrate(arrays["scores"], rate, arrays.get("bad")),
        Calibration(arrays["peaks"], rate),
        read_changes(settings.get("changes", ()), names),
        read_making(settings.get("made", {})),
        read_frame(
            settings["image_shape"],
            settings.get("any_size", False),
            settings.get("colour", False),
            arrays.get("reference"),
        ),
    )
    if (marking := marking_of(features)) is not None:
        learnt = with_marks(learnt, marking, arrays, LearntNearest if by_neighbours(features) else LearntCombined)
    coloured = read_colours(learnt, arrays, settings, lambda own, about: _read_plane(own, about, features))
    return replace(coloured, scores=replace(coloured.scores, bad=learnt.scores.bad))


def _read_plane(arrays: dict[str, NDArray[Any]], settings: dict[str, Any], features: FeatureSet) -> Learnt:
    check_sound(arrays, settings, features)
    return _learnt(arrays, settings, features)


def _library(patches: NDArray[Any], settings: dict[str, Any], features: FeatureSet) -> Library | NearestPatches:
    if by_neighbours(features):
        return NearestPatches(patches, settings["bandwidth"], features.worst or patches.shape[1])
    widths = settings["bandwidth"], settings["length_scale"]
    return Library(patches, *widths, settings["candidates"], features.worst, marking_of(features) is not None)
