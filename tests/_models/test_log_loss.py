import numpy as np
import pytest

from vwkde._data.sample import make_sample
from vwkde._models.log_loss import fall_of_log_loss, log_loss

RANDOM = np.random.default_rng(0)


def test_the_fall_of_the_log_loss_is_that_of_its_means():
    samples = [make_sample(RANDOM.normal(size=(n, 1)), np.ones(n)) for n in (80, 50)]
    before, after = ([RANDOM.normal(size=len(s)) for s in samples] for _ in range(2))
    fall, error = fall_of_log_loss(before, after, samples)
    assert fall == pytest.approx(log_loss(before, samples) - log_loss(after, samples))
    terms = [
        np.logaddexp(0, -sign * then) - np.logaddexp(0, -sign * now)
        for sign, then, now in zip((1, -1), before, after, strict=True)
    ]
    assert error == pytest.approx(0.5 * np.sqrt(sum(t.var(ddof=1) / len(t) for t in terms)))
    assert fall_of_log_loss(before, before, samples) == (0.0, 0.0)
