"""New good images are rejected at the requested rate."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("safetensors")

from scipy.stats import betabinom

from vwkde.inspection import SURFACES, SurfaceInspector, make_surfaces, read_image
from vwkde.inspection.data.files import find_images
from vwkde.inspection.model.trained import training

DAGM = Path(__file__).parents[4] / "shared" / "data" / "dagm-mini"


def plausible(count, tested, learnt, rate):
    """Whether this many rejections are plausible: a new score is equally likely to take any rank."""
    above = int(np.floor(rate * (learnt + 1) + 1e-9))
    rejected = betabinom(tested, above, learnt + 1 - above)
    return rejected.cdf(count) > 5e-4 and rejected.sf(count - 1) > 5e-4


def rejections(images, learnt, features, rate):
    inspector = SurfaceInspector(features=features, false_reject_rate=rate).fit(images[:learnt])
    return sum(inspector.check(image).rejected for image in images[learnt:])


def test_what_is_plausible_depends_on_how_much_was_learnt():
    assert plausible(8, 40, 29, 0.2)
    assert not plausible(40, 40, 29, 0.2)
    assert not plausible(0, 400, 399, 0.2)


@pytest.mark.parametrize("features", ["gradient", "texture", "combined", "trained"])
@pytest.mark.parametrize("kind", SURFACES)
def test_synthetic_surfaces(kind, features, monkeypatch):
    if features == "trained":
        pytest.importorskip("torch")
        monkeypatch.setattr(training, "PIXELS", 10**6)  # some seconds; enough to know the images that were seen
    images = make_surfaces(kind, n_good=69, n_bad=0, size=96, seed=3).images
    assert plausible(rejections(images, 29, features, 0.2), 40, 29, 0.2)


@cache
def dagm_images(number):
    images = [read_image(path)[:192, :192] for path in find_images(DAGM / f"Class{number}")]
    return [images[i] for i in np.random.default_rng(number).permutation(len(images))]


@pytest.mark.skipif(not DAGM.exists(), reason="the images of DAGM are not beside the project")
@pytest.mark.parametrize("features", ["gradient", "texture"])
@pytest.mark.parametrize("number", range(1, 7))
def test_dagm(number, features):
    images = dagm_images(number)
    assert plausible(rejections(images, 19, features, 0.2), len(images) - 19, 19, 0.2)
