import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from support.serving import as_seen, surface
from vwkde._compute.parallel import at_most
from vwkde._runtime.progress import listening
from vwkde.inspection.model.marks.strengths import MARKS, evened
from vwkde.inspection.model.trained import training
from vwkde.inspection.model.trained.networks import log_odds
from vwkde.inspection.model.trained.training import Training, train_networks

IMAGES = [as_seen(surface(seed))[:64, :64] for seed in range(6)]


@pytest.fixture
def short(monkeypatch):
    """Make a training one of three steps."""
    monkeypatch.setattr(training, "PIXELS", 3 * 8 * 64 * 64)


@pytest.mark.usefixtures("short")
def test_the_seed_decides_and_threads_do_not():
    odds = []
    for seed, threads in ((1, 1), (1, 2), (2, 1)):
        with at_most(threads):
            odds.append(np.concatenate(train_networks(IMAGES, seed, "cpu")[1]))
    np.testing.assert_array_equal(odds[0], odds[1])
    assert np.abs(odds[0] - odds[2]).max() > 0.01


@pytest.mark.usefixtures("short")
def test_each_image_is_judged_by_the_network_that_has_not_seen_it(monkeypatch):
    seen = []
    make = Training.__init__

    def noted(self, images, seed, device):
        seen.append([id(image) for image in images])
        make(self, images, seed, device)

    monkeypatch.setattr(Training, "__init__", noted)
    networks, odds = train_networks(IMAGES, 0, "cpu")
    assert len(networks) == len(seen) == training._FOLDS
    for image, values in zip(IMAGES, odds, strict=True):
        unseen = [number for number, images in enumerate(seen) if id(image) not in images]
        assert len(unseen) == 1
        np.testing.assert_array_equal(networks.one(unseen[0])(image), values)


@pytest.mark.usefixtures("short")
def test_the_number_of_steps_does_not_depend_on_the_number_of_images():
    steps = []
    for images in (IMAGES, IMAGES[:3]):
        with listening(lambda stage, done, total: steps.append((stage, done, total))):
            train_networks(images, 0, "cpu")
    assert steps == 2 * [("training networks", step, 3) for step in (1, 2, 3)]


def test_a_trained_network_finds_a_defect(monkeypatch):
    monkeypatch.setattr(training, "PIXELS", 150 * 8 * 64 * 64)
    networks, _ = train_networks([as_seen(surface(seed))[:64, :64] for seed in range(12)], 0, "cpu")
    defective = as_seen(surface(20))[:64, :64].copy()
    defective[20:30, 36:46] = 1
    odds = networks(defective).reshape(MARKS.grids((64, 64))[0])
    row, column = np.unravel_index(odds.argmax(), odds.shape)
    assert 9 <= row <= 15
    assert 17 <= column <= 23
    assert odds.max() > 2 + networks(as_seen(surface(21))[:64, :64]).max()


def test_the_network_is_what_was_trained_with_its_last_means_and_variances():
    trained = Training(IMAGES, [0], "cpu")
    for _ in range(3):
        trained.step(1e-3)
    seen = torch.from_numpy(np.stack([evened(image) for image in IMAGES]))
    with torch.no_grad():
        for _ in range(100):  # as if all steps lately had seen these images
            expected = log_odds(seen, trained._apply)
    found = trained.network().mean_odds(seen)
    assert expected.std() > 0.3
    torch.testing.assert_close(found, expected, rtol=0, atol=0.05)  # variances of few values differ by one in a hundred
