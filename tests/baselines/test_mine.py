import subprocess
import sys

import numpy as np
import pytest

from vwkde.datasets import isotropic, mean_difference

torch = pytest.importorskip("torch")

from vwkde.baselines.dense import dense_network, draw_batch, to_tensor  # noqa: E402
from vwkde.baselines.mine import _CorrectedBound, mine  # noqa: E402

P, Q = isotropic(2).sample(300, 200)
NEW = np.array([[0.0, 0.0], [0.7, 0.3], [1.4, -0.4]])


@pytest.fixture(scope="module")
def large():
    return mine(*isotropic(2).sample(5_000), 0)


def test_recovers_the_divergence_in_two_dimensions(large):
    assert large.kl == pytest.approx(1, abs=0.1)
    np.testing.assert_allclose(large.log_ratio(NEW), isotropic(2).log_ratio(NEW), atol=0.3)


def test_sizes_may_differ():
    answer = mine(*mean_difference(2, 1.0).sample(2_000, 600), 0, steps=500)
    assert answer.kl == pytest.approx(0.5, abs=0.15)
    answer = mine(*mean_difference(2, 1.0).sample(600, 2_000), 0, steps=500)
    assert answer.kl == pytest.approx(0.5, abs=0.15)


def test_the_value_is_the_bound_at_the_rows_of_the_training():
    answer = mine(P, Q, 0, steps=200)
    at_p, at_q = answer.log_ratio(P), answer.log_ratio(Q)
    assert np.exp(at_q).mean() == pytest.approx(1, rel=1e-6)
    assert answer.kl == pytest.approx(at_p.mean(), rel=1e-6)
    np.testing.assert_allclose(answer.at_numerator, at_p)
    np.testing.assert_allclose(answer.at_denominator, at_q)
    assert answer.chosen == {"steps": 200}


def test_the_bound_at_its_own_rows_grows_with_the_steps_and_the_held_out_one_does_not():
    p, q = mean_difference(20, 0.0).sample(200)
    few, many = (mine(p, q, 0, steps=steps).kl for steps in (100, 800))
    assert many > few + 0.5
    assert abs(mine(p, q, 0, steps=800, held_out=0.3).kl) < 0.25


def test_held_out_rows_stop_the_training_and_give_the_value():
    pair = isotropic(2)
    answer = mine(*pair.sample(2_000), 0, held_out=0.4, steps=1_000)
    assert answer.kl == pytest.approx(1, abs=0.2)
    assert 0 < answer.chosen["steps"] <= 1_000
    np.testing.assert_allclose(answer.log_ratio(NEW), pair.log_ratio(NEW), atol=0.4)


def test_the_gradient_divides_by_the_moving_average():
    generator = torch.Generator().manual_seed(0)
    network = dense_network((2, 8, 1), generator, "cpu")
    p, q = (to_tensor(x, "cpu") for x in isotropic(2).sample(1_000))
    loss = _CorrectedBound(network, p, q, generator)
    averages = []
    for _ in range(5):
        value = loss()
        averages.append(float(loss._log_average.exp()))
    network.zero_grad()
    value.backward()
    found = [part.grad.clone() for part in network.parameters()]

    state = torch.Generator().manual_seed(0)
    dense_network((2, 8, 1), state, "cpu")
    average = None
    for step in range(5):
        p_batch, q_batch = (draw_batch(x, 256, state) for x in (p, q))
        mean = network(q_batch).exp().mean()
        now = mean.item()
        average = now if average is None else 0.99 * average + 0.01 * now
        assert averages[step] == pytest.approx(average, rel=1e-5)
    network.zero_grad()
    (mean / average - network(p_batch).mean()).backward()
    for part, expected in zip(network.parameters(), found, strict=True):
        torch.testing.assert_close(part.grad, expected, rtol=1e-4, atol=1e-6)


def test_the_seed_decides_and_nothing_else():
    first = mine(P, Q, 1, steps=50)
    torch.manual_seed(99)
    before = torch.get_rng_state()
    again, other = mine(P, Q, 1, steps=50), mine(P, Q, 2, steps=50)
    assert again.kl == first.kl
    assert other.kl != first.kl
    assert torch.equal(torch.get_rng_state(), before)


def test_scale_and_place_do_not_matter():
    moved = mine(1000 * P - 500, 1000 * Q - 500, 0, steps=200)
    assert moved.kl == pytest.approx(mine(P, Q, 0, steps=200).kl, abs=1e-3)


def test_a_constant_column_and_equal_rows_are_taken():
    constant = [np.concatenate([np.round(x), np.full((len(x), 1), 0.1)], axis=1) for x in (P, Q)]
    for p, q in (constant, (P[:2], Q[:2])):
        for held_out in (0.0, 0.5):
            answer = mine(p, q, 0, steps=20, held_out=held_out)
            assert np.isfinite([answer.kl, *answer.log_ratio(p)]).all()
    assert answer.log_ratio(np.zeros((0, 2))).shape == (0,)


@pytest.mark.parametrize("setting", [{"steps": 0}, {"width": 0}, {"held_out": 1.0}, {"held_out": -0.1}])
def test_wrong_settings_are_refused(setting):
    with pytest.raises(ValueError, match=f"The '{next(iter(setting))}' parameter must be .*at least"):
        mine(P, Q, 0, **setting)


def test_a_device_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match="cannot be used"):
        mine(P, Q, 0, device="mps" if not torch.backends.mps.is_available() else "cuda")


def test_importing_loads_no_torch():
    code = "import sys, vwkde.baselines.mine, vwkde.baselines.posteriors; print('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
