import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from support.serving import as_seen, surface
from vwkde.inspection.model.marks.strengths import MARKS, evened
from vwkde.inspection.model.trained.networks import Networks, layers, log_odds


def random_networks(count):
    random = np.random.default_rng(0)
    weights, biases = {}, {}
    for name, layer in layers().items():
        shape = count, layer.outputs, layer.inputs, layer.side, layer.side
        weights[name] = (random.standard_normal(shape) / np.sqrt(np.prod(shape[2:]))).astype(np.float32)
        biases[name] = random.standard_normal((count, layer.outputs)).astype(np.float32)
    return Networks(weights, biases)


@pytest.mark.parametrize("shape", [(64, 64), (33, 32), (97, 150)])
def test_there_is_a_value_for_each_cell_of_the_largest_copy_of_marks(shape):
    image = np.random.default_rng(1).random(shape, dtype=np.float32)
    odds = random_networks(2)(image)
    assert odds.shape == (MARKS.cells(shape)[0].stop,)
    assert odds.dtype == np.float32
    assert np.ptp(odds) > 0


def test_several_networks_have_the_mean_of_their_log_odds():
    networks, image = random_networks(3), as_seen(surface(1))
    assert len(networks) == 3
    alone = [networks.one(number)(image) for number in range(3)]
    np.testing.assert_allclose(networks(image), np.mean(alone, axis=0), rtol=1e-4, atol=1e-5)


def test_batches_in_double_precision_have_the_values_of_single_images():
    networks, images = random_networks(2), [as_seen(surface(seed))[:70, :91] for seed in range(3)]
    batch = torch.from_numpy(np.stack([evened(image) for image in images])).double()
    together = networks.mean_odds(batch).flatten(start_dim=1).numpy()
    np.testing.assert_allclose(together, [networks(image) for image in images], rtol=1e-4, atol=1e-4)


def test_the_way_up_sees_far_and_near():
    """A change of one pixel reaches cells that are far away, through the coarse layers."""
    networks = random_networks(1)
    images = torch.zeros(2, 128, 128)
    images[1, 64, 64] = 5.0
    apply = networks._applied(0, images)
    difference = np.abs(np.subtract(*log_odds(images, apply).numpy()))
    assert difference[32, 32] > 0
    assert difference[32, 32 + 10] > 0
