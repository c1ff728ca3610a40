import numpy as np
import pytest

from support.serving import as_seen, surface
from vwkde.inspection.model.marks.strengths import evened
from vwkde.inspection.model.trained import examples as module
from vwkde.inspection.model.trained.examples import examples, piece_shape


def good_images(count, shape=(64, 64)):
    return [as_seen(surface(seed, side=max(shape)))[: shape[0], : shape[1]] for seed in range(count)]


@pytest.mark.parametrize("shape", [(64, 64), (150, 70), (33, 200)])
def test_pieces_are_of_one_size_and_small_enough(shape):
    seen = examples(good_images(3, shape), 5, np.random.default_rng(0))
    expected = min(shape[0], 128), min(shape[1], 128)
    assert piece_shape(shape) == expected
    for part in (seen.images, seen.defective, seen.weight):
        assert part.shape == (5, *expected)
        assert part.dtype == np.float32
        assert np.isfinite(part).all()


def test_a_fifth_of_the_images_stay_good_and_small_defects_count_more():
    seen = examples(good_images(3), 200, np.random.default_rng(1))
    covered = seen.defective.mean(axis=(1, 2))
    assert 0.1 < np.mean(covered == 0) < 0.4
    assert (seen.weight[seen.defective == 0] == 1).all()
    assert seen.weight.max() <= 4
    weights = [
        weight[inside > 0].mean() for inside, weight in zip(seen.defective, seen.weight, strict=True) if inside.any()
    ]
    shares = covered[covered > 0]
    assert np.mean(np.array(weights)[shares < np.median(shares)]) > 2 * np.mean(
        np.array(weights)[shares > np.median(shares)]
    )


def test_pieces_are_evened_as_images_are_for_marks():
    image = good_images(1, (130, 97))[0]
    np.testing.assert_allclose(module._evened(image), evened(image), atol=1e-4)


def test_the_random_numbers_decide():
    one, again, other = (examples(good_images(2), 2, np.random.default_rng(seed)).images for seed in (3, 3, 4))
    np.testing.assert_array_equal(one, again)
    assert np.abs(one - other).max() > 0.1
