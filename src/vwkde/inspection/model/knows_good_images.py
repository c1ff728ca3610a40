"""What can be read from a fitted inspector: its good images, its thresholds and its history."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vwkde.inspection.model.calibration import Calibration
from vwkde.inspection.model.history import Change, Making
from vwkde.inspection.model.learnt.base import Learnt
from vwkde.inspection.model.learnt.card import learnt_card
from vwkde.inspection.model.pretrained.networks import shown_name


class KnowsGoodImages:
    """The part of an inspector that only reads what it has learnt."""

    features: Any
    false_reject_rate: float
    _learnt: Learnt

    @property
    def features_name(self) -> str:
        """The name of the features; for a function, the name of the function."""
        if isinstance(self.features, str):
            return shown_name(self.features)
        return getattr(self.features, "__name__", "given")

    @property
    def image_shape(self) -> tuple[int, ...]:
        """The shape at which images are compared, (height, width): that of all images, or the `size`."""
        return self._fitted.image_shape

    @property
    def accepted_shape(self) -> tuple[int, ...] | None:
        """The shape that images must have; None if they may have any."""
        return None if self._fitted.frame.any_size else self.image_shape

    @property
    def names_(self) -> list[str]:
        """The names of the good images."""
        return self._fitted.names

    @property
    def fingerprints_(self) -> list[str | None]:
        """A hash of the pixels of each good image; None for images from an old model file."""
        return self._fitted.fingerprints

    @property
    def thumbnails_(self) -> NDArray[np.uint8]:
        """Small gray pictures of the good images, of shape (images, height, width)."""
        return self._fitted.thumbnails

    @property
    def calibration_(self) -> Calibration:
        """The scores of the good images, each judged by the others, and the threshold of scores."""
        return self._fitted.scores

    @property
    def unlike_others_(self) -> list[str]:
        """The names of good images with scores far above those of the others, highest first; for a look at them.

        Features whose scores have no common scale ("texture", "multiscale", "gradient" or a function) have none.
        """
        learnt = self._fitted
        return [learnt.names[number] for number in learnt.unlike]

    @property
    def map_calibration_(self) -> Calibration:
        """The largest values of the good images' maps, and the threshold of maps."""
        return self._fitted.peaks

    @property
    def changes_(self) -> list[Change]:
        """The changes since the fit, oldest first: images that were added or taken back, by whom and when."""
        return list(self._fitted.changes)

    @property
    def made_(self) -> Making:
        """Who fitted the model, when, with which version, and the note about it."""
        return self._fitted.made

    @property
    def n_networks_(self) -> int:
        """The number of networks that were trained on the good images with made-up defects, 0 for most features."""
        return self._fitted.n_networks

    def thumbnail(self, name: str) -> NDArray[np.uint8]:
        """Return a small gray picture of a good image.

        Parameters
        ----------
        name : str
            One of `names_`.

        Returns
        -------
        ndarray of uint8
            At most 96 pixels on the longer side.
        """
        return self.thumbnails_[self.names_.index(name)]

    @property
    def _fitted(self) -> Learnt:
        if not hasattr(self, "_learnt"):
            from sklearn.exceptions import NotFittedError  # only now: it takes longer to load than a check takes

            raise NotFittedError("This SurfaceInspector is not fitted yet. Call 'fit' with good images first.")
        return self._learnt

    def _repr_html_(self) -> str:
        """Return what a notebook shows: a summary of what was learnt, and the scores of good images."""
        title = f"SurfaceInspector: {self.features_name} features, false-reject rate {self.false_reject_rate:g}"
        return learnt_card(title, getattr(self, "_learnt", None))
