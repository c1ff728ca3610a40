"""The part of an inspector that changes what it has learnt: good images are added or taken back."""

from dataclasses import replace
from typing import Literal, Self

from vwkde._compute.choice import choose_resources
from vwkde._compute.parallel import at_most
from vwkde._compute.resources import Resources
from vwkde._display.waiting import shown_while_waiting
from vwkde.inspection.model.calibration import warn_about_raised, warn_about_unlike
from vwkde.inspection.model.features.registry import FeatureSet
from vwkde.inspection.model.history import make_change, standing
from vwkde.inspection.model.knows_good_images import KnowsGoodImages
from vwkde.inspection.model.measuring import Images, Measure, measure_all
from vwkde.inspection.model.on_device.measuring import on_device


class ChangesWithImages(KnowsGoodImages):
    """An inspector that further images change."""

    n_threads: int | None
    engine: Literal["auto", "dask"]
    device: str | None

    @shown_while_waiting
    def add(self, images: Images, *, by: str | None = None) -> Self:
        """Add good images and update the threshold; coordinates and bandwidths do not change.

        Adding an image again changes nothing: images are known by their pixels, whatever their names.

        Parameters
        ----------
        images : iterable of ndarray, or of pairs (name, ndarray)
            As for `fit`. A name that another good image already has gets a number.
        by : str, default=None
            Who adds them, for `changes_`. None means the user of this process.

        Returns
        -------
        self : SurfaceInspector

        Raises
        ------
        ImageError
            If an image cannot be used, or has another shape than the good ones; then nothing is added.

        Warns
        -----
        RepeatedImagesWarning
            If images are already known.
        UnlikeImagesWarning
            If the threshold is now set by images that are unlike the others, or if images were added that the model
            clearly rejected, and raise the threshold. `undo` takes them back.

        Examples
        --------
        >>> from vwkde.inspection import SurfaceInspector, make_surfaces
        >>> surfaces = make_surfaces("woven", n_good=20, n_bad=1, size=96)
        >>> inspector = SurfaceInspector(features="texture").fit(surfaces.images[:19])
        >>> inspector.add([("late.png", surfaces.images[19])]).names_[-1]
        'late.png'
        """
        learnt = self._fitted
        with at_most(self.n_threads):
            known = learnt.frame, learnt.names, learnt.fingerprints
            seen = measure_all(images, learnt.features, *known, self._measure_on_device(learnt.features))
            if seen.names:
                grown = learnt.more(seen, self.false_reject_rate, self._resources)
                self._learnt = replace(grown, changes=(*learnt.changes, make_change("add", seen.names, by)))
                if not warn_about_raised(learnt.scores, grown.scores, grown.names):
                    warn_about_unlike(grown.scores, grown.unlike, grown.names)
        return self

    def undo(self, *, by: str | None = None) -> Self:
        """Take back the last `add` that was not yet taken back; the threshold is again what it was before.

        Parameters
        ----------
        by : str, default=None
            Who takes it back, for `changes_`. None means the user of this process.

        Returns
        -------
        self : SurfaceInspector

        Raises
        ------
        ValueError
            If nothing was added since the fit.

        Examples
        --------
        >>> from vwkde.inspection import SurfaceInspector, make_surfaces
        >>> surfaces = make_surfaces("woven", n_good=20, n_bad=1, size=96)
        >>> inspector = SurfaceInspector(features="texture").fit(surfaces.images[:19])
        >>> len(inspector.add(surfaces.images[19:]).names_), len(inspector.undo().names_)
        (21, 19)
        >>> [(change.kind, change.names) for change in inspector.changes_]
        [('add', ('good 19', 'good 20')), ('undo', ('good 19', 'good 20'))]
        """
        learnt = self._fitted
        additions = standing(learnt.changes)
        if not additions:
            raise ValueError("There is nothing to undo: no good images were added since the fit.")
        names = additions[-1].names
        with at_most(self.n_threads):
            fewer = learnt.fewer(len(learnt.names) - len(names), self.false_reject_rate, self._resources)
        self._learnt = replace(fewer, changes=(*learnt.changes, make_change("undo", names, by)))
        return self

    def _measure_on_device(self, features: FeatureSet) -> Measure | None:
        """Return how the device measures images; None if the CPU does."""
        images = on_device(features, self.device)
        return None if images is None else images.measure

    @property
    def _resources(self) -> Resources:
        return choose_resources(self.engine, self.device)
