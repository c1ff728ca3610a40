import numpy as np
import pytest
from scipy.special import logsumexp

from vwkde._compute.sums import log_kernel_sums
from vwkde._compute.sums.groups import log_sums_over_other_groups

RANDOM = np.random.default_rng(0)
BANDWIDTHS = np.array([0.3, 1.0])


def slow_sums(x, group, log_weight):
    squared = ((x[:, None] - x) ** 2).sum(axis=2)
    squared[group[:, None] == group] = np.inf
    return np.stack(
        [
            np.stack([logsumexp(column - squared / (2 * h**2), axis=1) for column in log_weight.T], axis=1)
            for h in BANDWIDTHS
        ]
    )


@pytest.mark.parametrize(
    "group",
    [
        np.arange(300) // 2,
        RANDOM.integers(5, size=300),
        np.where(np.arange(300) < 200, 0, np.arange(300)),
        np.arange(300) % 2,
    ],
    ids=["pairs", "few", "one large", "two"],
)
def test_sums_leave_out_whole_groups(group):
    x, log_weight = RANDOM.normal(size=(300, 3)), RANDOM.normal(size=(300, 2))
    x[1::2] = x[::2] + 1e-9  # a subtraction of the group's own part would lose all digits

    def log_sums(at, over):
        return log_kernel_sums(x[at], x[over], BANDWIDTHS, log_weight=log_weight[over])

    sums = log_sums_over_other_groups(x, x, group, BANDWIDTHS, log_weight, log_sums)
    np.testing.assert_allclose(sums, slow_sums(x, group, log_weight), rtol=1e-10)
