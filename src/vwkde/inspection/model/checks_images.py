"""The part of an inspector that judges images."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from vwkde._compute.parallel import at_most, single_threaded_blas
from vwkde.inspection.data.arrays import as_image
from vwkde.inspection.data.colours import brightness
from vwkde.inspection.model.changes_with_images import ChangesWithImages
from vwkde.inspection.model.features import boxed_share
from vwkde.inspection.model.inspection import Inspection
from vwkde.inspection.model.on_device.judging import judge_on_device

Singles = NDArray[np.float32]


class ChecksImages(ChangesWithImages):
    """An inspector that judges images by what it has learnt."""

    def check(self, image: Singles, name: str = "image") -> Inspection:
        """Judge one image.

        Parameters
        ----------
        image : ndarray of shape (height, width), or (height, width, 3) with colours
            An image of the same shape as the good ones, or of any if there is a `size`, with values as for `fit`.
        name : str, default="image"
            The name of the image in the result and in errors.

        Returns
        -------
        Inspection
            The score, p-value, verdict and map.

        Raises
        ------
        ImageError
            If the image cannot be used, or has another shape than the good ones.
        NotFittedError
            If `fit` has not been called.

        Examples
        --------
        >>> from vwkde.inspection import SurfaceInspector, make_surfaces
        >>> surfaces = make_surfaces("woven", n_good=20, n_bad=1, size=96)
        >>> inspector = SurfaceInspector(features="texture").fit(surfaces.images[:20])
        >>> inspector.check(surfaces.images[20]).rejected
        True
        """
        return self._check_batch([(name, image)])[0]

    def check_all(self, images: Iterable[tuple[str, Singles]]) -> Iterator[Inspection]:
        """Judge images one by one, in batches on a GPU, or on the Dask workers, and yield the results in order.

        Parameters
        ----------
        images : iterable of pairs (name, ndarray)
            As for `check`.

        Returns
        -------
        iterator of Inspection

        Examples
        --------
        >>> from vwkde.inspection import SurfaceInspector, make_surfaces
        >>> surfaces = make_surfaces("woven", n_good=20, n_bad=1, size=96)
        >>> inspector = SurfaceInspector(features="texture").fit(surfaces.images[:20])
        >>> new = [("first", surfaces.images[0]), ("last", surfaces.images[20])]
        >>> [(result.name, result.verdict) for result in inspector.check_all(new)]
        [('first', 'OK'), ('last', 'NG')]
        """
        learnt = self._fitted  # refuse an unfitted inspector here, not at the first image
        if (judge := judge_on_device(learnt, self.device)) is not None:
            stream, size = iter(images), judge.batch
            batches = iter(lambda: list(islice(stream, size)), [])
            return (result for batch in batches for result in self._check_batch(batch))
        return self._resources.executor.spread(_check, self, images)

    def _check_batch(self, named: Sequence[tuple[str, Singles]]) -> list[Inspection]:
        """Judge images together on the device, or one by one on the CPU."""
        learnt = self._fitted
        start = perf_counter()
        frame = learnt.frame
        framed = [frame.bring(as_image(image, name, frame.colour), name) for name, image in named]
        images = [each.image if learnt.coloured else brightness(each.image) for each in framed]
        judge = judge_on_device(learnt, self.device)
        with at_most(self.n_threads), single_threaded_blas():  # products of patches are small
            found = judge(images) if judge else [learnt.judge(image, self._resources) for image in images]
        milliseconds = 1000 * (perf_counter() - start) / len(named)
        return [
            Inspection(
                name,
                each.score,
                learnt.scores.p_value(each.score),
                learnt.scores.threshold,
                learnt.names[each.nearest],
                frame.take_back(each.log_ratio, before),
                learnt.peaks.threshold,
                milliseconds,
                boxed_share(learnt.features),
            )
            for (name, _), before, each in zip(named, framed, found, strict=True)
        ]


def _check(inspector: ChecksImages, named: tuple[str, Singles]) -> Inspection:
    name, image = named
    return inspector.check(image, name)
