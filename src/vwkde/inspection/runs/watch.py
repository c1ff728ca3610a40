"""A watched folder: images are judged as they arrive, and their results go into the folder of a run.

An image that cannot be read may be half written. It is tried again until nobody has written to it for a while, and only
then reported. An image whose file changes is judged again, and its new result replaces the old one.
"""

from collections.abc import Iterator
from math import isfinite

from vwkde._runtime.progress import track
from vwkde.inspection.data.colours import brightness
from vwkde.inspection.data.errors import ImageError, refuse
from vwkde.inspection.data.images import read_image_like
from vwkde.inspection.data.pictures import Failure
from vwkde.inspection.model.drift_of_good import drift_of_good
from vwkde.inspection.model.inspector import SurfaceInspector
from vwkde.inspection.runs.arrivals import Arrival, Arrivals
from vwkde.inspection.runs.folder import RunFolder
from vwkde.inspection.runs.gallery import Gallery
from vwkde.inspection.runs.overlays import draw_overlay
from vwkde.inspection.runs.records import FailureRecord, ImageRecord, RunRecord, State


class Watch:
    """The images that arrive in a folder, and their results so far."""

    def __init__(self, arrivals: Arrivals, run: RunFolder) -> None:
        self._arrivals, self._run = arrivals, run
        self._failures: dict[str, Failure] = {}
        self.gallery = Gallery()

    def look(self, inspector: SurfaceInspector) -> Iterator[ImageRecord | FailureRecord]:
        """Judge the images that arrived since the last look, and yield their results."""
        arrived = self._arrivals.look()
        for each in track(arrived, "checking images", len(arrived)):
            if (record := self._judged(each, inspector)) is not None:
                yield record

    def write(self, inspector: SurfaceInspector, state: State) -> RunRecord:
        """Write the results so far, and return their record."""
        drift = drift_of_good(inspector.calibration_, [each.score for each in self._run.images])
        return self._run.write(list(self._failures.values()), state, drift=drift)

    def _judged(self, arrival: Arrival, inspector: SurfaceInspector) -> ImageRecord | FailureRecord | None:
        """Return the result for an image; None if it may not be whole yet."""
        item = arrival.item
        self._failures.pop(item.name, None)
        try:
            image = read_image_like(item.path, inspector.accepted_shape, "the good ones", inspector.colour)
            if not self._arrivals.is_unchanged(arrival):  # written anew since it was looked at: it will be given again
                return None
            result = inspector.check(image, item.name)
            if not isfinite(result.score):
                refuse(item.path, "its score is not finite: not judged.")
        except ImageError as error:
            if not arrival.is_settled or not item.path.exists():  # half written, or taken away
                return None
            self._arrivals.done(arrival)
            self._failures[item.name] = Failure(item.name, str(error))
            return FailureRecord.of(self._failures[item.name])
        self._arrivals.done(arrival)
        gray = brightness(image)
        overlay = draw_overlay(gray, result)
        record = self._run.add(overlay, result)
        self.gallery.add(record, gray, overlay)
        return record
