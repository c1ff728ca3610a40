import numpy as np
import pytest

from vwkde.inspection.model.files.networks import network_arrays, read_networks
from vwkde.inspection.model.trained.networks import Networks, layers


def networks(count=2):
    random = np.random.default_rng(0)
    shapes = {name: (layer.outputs, layer.inputs, layer.side, layer.side) for name, layer in layers().items()}
    return Networks(
        {name: random.standard_normal((count, *shape)).astype(np.float32) for name, shape in shapes.items()},
        {name: random.standard_normal((count, shape[0])).astype(np.float32) for name, shape in shapes.items()},
    )


def test_networks_are_read_as_they_were_written():
    written = networks()
    read = read_networks(network_arrays(written))
    assert len(read) == 2
    for name in layers():
        np.testing.assert_array_equal(read.weights[name], written.weights[name])
        np.testing.assert_array_equal(read.biases[name], written.biases[name])


@pytest.mark.parametrize(
    ("name", "spoil", "words"),
    [
        ("network_up_1_weight", lambda values: values[:, 1:], "network_up_1_weight must be finite numbers of shape"),
        ("network_up_1_bias", lambda values: values * np.inf, "network_up_1_bias must be finite"),
        ("network_entry_weight", lambda values: values.astype(np.float64), "network_entry_weight must be"),
        ("network_entry_bias", lambda values: 1e9 * values, "at most 1e"),
        ("network_odds_bias", lambda values: values[:0], "there must be 1 to 16 networks"),
        ("network_odds_bias", lambda values: values[:1], "must be finite numbers of shape"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(name, spoil, words):
    arrays = network_arrays(networks())
    with pytest.raises(ValueError, match=words):
        read_networks(arrays | {name: spoil(arrays[name])})


def test_a_missing_array_is_told():
    arrays = network_arrays(networks())
    del arrays["network_side_0_bias"]
    with pytest.raises(KeyError, match="network_side_0_bias"):
        read_networks(arrays)
