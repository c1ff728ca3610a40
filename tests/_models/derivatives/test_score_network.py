import subprocess
import sys

import numpy as np
import pytest

from support.known import BANANA, THREE_MODES, relative_error, score_error
from vwkde._models.gaussian import fit_gaussian
from vwkde.exceptions import DegenerateDataWarning

torch = pytest.importorskip("torch")

from vwkde._models import networks  # noqa: E402
from vwkde._models.derivatives.network import NetworkDerivatives, fit_network  # noqa: E402


def random_network(inputs, outputs, seed=0):
    network = networks.make_network(inputs, outputs, torch.Generator().manual_seed(seed), "cpu")
    torch.nn.init.normal_(network.last, generator=torch.Generator().manual_seed(seed + 1))
    return network.double()


@pytest.fixture(scope="module")
def modes():
    x = THREE_MODES.sample(600, np.random.default_rng(0))
    return x, fit_network(x, np.ones(600))


def test_slopes_and_traces_are_those_of_automatic_differentiation():
    network = random_network(5, 5)
    x, direction = torch.randn(2, 7, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(3))
    jacobians = torch.stack(
        [torch.autograd.functional.jacobian(lambda y: network.values(y[None])[0], row) for row in x]
    )
    values, slopes = network.values_and_slopes(x, direction)
    torch.testing.assert_close(slopes, torch.einsum("nij,nj->ni", jacobians, direction))
    same, traces = network.values_and_traces(x)
    torch.testing.assert_close(traces, jacobians.diagonal(dim1=1, dim2=2).sum(dim=1))
    torch.testing.assert_close(values, network.values(x))
    torch.testing.assert_close(same, values)
    assert values.abs().min() > 1e-3


def test_the_laplacian_agrees_with_finite_differences_of_the_score(modes):
    x, model = modes
    assert model.networks
    points, step = x[:30], 1e-4
    shifts = step * np.eye(x.shape[1])
    divergence = sum(
        (model.score(points + shift) - model.score(points - shift))[:, i] for i, shift in enumerate(shifts)
    ) / (2 * step)
    expected = divergence + (model.score(points) ** 2).sum(axis=1)
    assert relative_error(model.laplacian_over_density(points), expected) < 1e-7


def test_the_score_is_nearer_to_the_truth_than_a_gaussian_one(modes):
    x, model = modes
    gaussian = fit_gaussian(x, np.ones(len(x)))
    assert score_error(model, THREE_MODES) < 0.4 * score_error(gaussian, THREE_MODES)
    banana = BANANA.sample(500, np.random.default_rng(1))
    curved, straight = fit_network(banana, np.ones(500)), fit_gaussian(banana, np.ones(500))
    assert score_error(curved, BANANA) < 0.6 * score_error(straight, BANANA)


def test_the_laplacian_is_near_the_exact_one(modes):
    x, model = modes
    exact = THREE_MODES.derivatives.laplacian_over_density(x)
    gaussian = fit_gaussian(x, np.ones(len(x))).laplacian_over_density(x)
    assert relative_error(model.laplacian_over_density(x), exact) < 0.6 * relative_error(gaussian, exact)


def test_gaussian_data_keep_the_gaussian():
    kept = 0
    for seed in range(10):
        x = np.random.default_rng(seed).normal(size=(200, 4))
        model = fit_network(x, np.ones(200), random_state=seed)
        kept += not model.networks
        if not model.networks:
            np.testing.assert_array_equal(model.score(x), fit_gaussian(x, np.ones(200)).score(x))
    assert kept >= 8


def test_equal_seeds_give_equal_networks_and_others_do_not(modes):
    x, model = modes
    np.testing.assert_array_equal(fit_network(x, np.ones(len(x))).score(x), model.score(x))
    other = fit_network(x, np.ones(len(x)), random_state=1).score(x)
    assert 0.001 < relative_error(other, model.score(x)) < 0.5


def test_rows_of_weight_zero_do_not_count():
    x = THREE_MODES.sample(200, np.random.default_rng(0))
    both = np.concatenate([x, x[:50] + 20])
    weight = np.repeat([1.25, 0.0], [200, 50])
    model = fit_network(both, weight)
    assert model.networks
    assert score_error(model, THREE_MODES) < 0.6 * score_error(fit_gaussian(x, np.ones(200)), THREE_MODES)


def test_few_rows_and_flat_samples_are_left_to_the_gaussian():
    random = np.random.default_rng(0)
    assert fit_network(random.normal(size=(12, 3)), np.ones(12)).networks == ()
    with pytest.warns(DegenerateDataWarning, match="numerator"):
        fit_network(random.normal(size=(40, 2)) * [1, 0], np.ones(40), "numerator")


def test_large_samples_are_taught_in_batches(monkeypatch):
    monkeypatch.setattr(networks, "_BATCH", 100)
    x = THREE_MODES.sample(600, np.random.default_rng(0))
    model = fit_network(x, np.ones(600))
    assert score_error(model, THREE_MODES) < 0.5 * score_error(fit_gaussian(x, np.ones(600)), THREE_MODES)


def test_members_are_averaged():
    base = fit_gaussian(np.random.default_rng(0).normal(size=(50, 3)), np.ones(50))
    one, other = random_network(3, 3, 0), random_network(3, 3, 5)
    x = np.random.default_rng(1).normal(size=(4, 3))
    both = NetworkDerivatives(base, (one, other)).score(x)
    mean = (NetworkDerivatives(base, (one,)).score(x) + NetworkDerivatives(base, (other,)).score(x)) / 2
    np.testing.assert_allclose(both, mean, rtol=1e-12)


def test_without_torch_the_command_that_installs_it_is_told():
    code = (
        "import sys, numpy as np, vwkde\n"
        "class Without:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'torch': raise ImportError(name)\n"
        "sys.meta_path.insert(0, Without())\n"
        "x = np.random.default_rng(0).normal(size=(50, 2))\n"
        "vwkde.kl_divergence(x, x + 0.1)\n"
        "try: vwkde.kl_divergence(x, x + 0.1, method='vwkde-mf')\n"
        "except ImportError as error: print(error)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out == "Networks need torch; install it with: pip install 'vwkde[torch]'\n"


@pytest.mark.parametrize("device", ["abacus", "cuda:99"])
def test_a_device_that_is_not_there_is_told(device):
    with pytest.raises(ValueError, match=f"The device '{device}' cannot be used: .*device='cpu'"):
        fit_network(np.random.default_rng(0).normal(size=(50, 2)), np.ones(50), device=device)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_a_gpu_gives_the_same_within_rounding():
    x = THREE_MODES.sample(600, np.random.default_rng(0))
    on_cpu, on_gpu = (fit_network(x, np.ones(600), device=device) for device in ("cpu", "cuda"))
    assert score_error(on_gpu, THREE_MODES) == pytest.approx(score_error(on_cpu, THREE_MODES), rel=0.2)
