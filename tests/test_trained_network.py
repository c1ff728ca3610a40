"""The network trained on made-up defects with which benchmarks/surfaces.py compares."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("safetensors")
pytest.importorskip("torch")

from support.serving import as_seen, surface

sys.path.append(str(Path(__file__).parent.parent / "benchmarks"))
drawn_defects = importlib.import_module("drawn_defects")
trained_network = importlib.import_module("trained_network")


def good_images(count, size=64):
    return [as_seen(surface(seed))[:size, :size] for seed in range(count)]


def test_defects_are_drawn_where_the_mask_is_and_count_alike():
    images = good_images(3)
    covered = []
    for seed in range(60):
        made = drawn_defects.drawn(images[0], np.random.default_rng(seed), images)
        assert made.image.dtype == np.float32
        assert made.image.min() >= 0
        assert made.image.max() <= 1
        assert (made.weight[~made.mask] == 1).all()
        assert made.weight.max() <= 4
        covered.append(made.mask.mean())
    assert 0.05 < np.mean(np.array(covered) == 0) < 0.5  # a fifth of the images stay good
    assert max(covered) > 20 * np.median(covered)  # thin lines and large blobs


def test_a_defect_changes_the_image_at_its_place():
    image = good_images(1)[0]
    changes = []
    for seed in range(40):
        made = drawn_defects.drawn(image, np.random.default_rng(seed), [image])
        kept = drawn_defects._photographed_again(image, np.random.default_rng(seed))
        if made.mask.any():
            difference = np.abs(made.image - np.clip(kept, 0, 1))
            changes.append(difference[made.mask].mean() / (difference[~made.mask].mean() + 1e-6))
    assert np.median(changes) > 10


def test_a_defect_has_the_highest_score_and_is_located():
    good = [(str(seed), image) for seed, image in enumerate(good_images(22))]
    network = trained_network.TrainedNetwork(0.2, pixels=2 * 10**6).fit(good[:20])
    defect = good[21][1].copy()
    defect[20:30, 36:46] = 1
    plain, found = network.check(good[20][1], "good"), network.check(defect, "bad")
    assert found.score > plain.score
    assert found.rejected
    row, column = np.unravel_index(found.log_ratio.argmax(), found.log_ratio.shape)
    assert 16 <= row < 34
    assert 32 <= column < 50


def test_the_seed_decides_and_the_threshold_is_that_of_images_not_trained_on():
    good = [(str(seed), image) for seed, image in enumerate(good_images(10))]
    networks = [trained_network.TrainedNetwork(0.25, pixels=10**5, seed=seed).fit(good) for seed in (1, 1, 2)]
    first, again, other = (network.check(good[0][1], "good").score for network in networks)
    assert first == again != other
    held = np.random.default_rng(1).permutation(10)[7:]
    assert networks[0]._threshold == max(networks[0].check(good[place][1], "good").score for place in held)
