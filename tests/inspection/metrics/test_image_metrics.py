import numpy as np
import pytest
from scipy.stats import norm

from vwkde.inspection.metrics.images import image_auroc, image_average_precision, precision_recall_curve, roc_curve

LABELS = [False, False, True, True]
SCORES = [0.1, 0.4, 0.35, 0.8]


def test_images_by_hand():
    assert image_auroc(LABELS, SCORES) == 0.75
    assert image_average_precision(LABELS, SCORES) == pytest.approx(0.5 * 1 + 0.5 * 2 / 3)
    assert image_auroc(LABELS, [3, 3, 3, 3]) == 0.5
    assert image_auroc(LABELS, -np.array(SCORES)) == 0.25
    assert image_average_precision(LABELS, [1, 2, 3, 4]) == 1


def test_curves_of_images():
    roc = roc_curve(LABELS, SCORES)
    np.testing.assert_array_equal(roc.false_positive_rate, [0, 0, 0.5, 0.5, 1])
    np.testing.assert_array_equal(roc.true_positive_rate, [0, 0.5, 0.5, 1, 1])
    np.testing.assert_array_equal(roc.thresholds, [np.inf, 0.8, 0.4, 0.35, 0.1])
    curve = precision_recall_curve(LABELS, SCORES)
    np.testing.assert_allclose(curve.precision, [1 / 2, 2 / 3, 1 / 2, 1, 1])
    np.testing.assert_allclose(curve.recall, [1, 1, 0.5, 0.5, 0])


def test_auroc_of_two_normals():
    rng = np.random.default_rng(0)
    scores = np.concatenate([rng.standard_normal(20_000), rng.standard_normal(20_000) + 1])
    assert image_auroc(np.arange(40_000) >= 20_000, scores) == pytest.approx(norm.cdf(1 / np.sqrt(2)), abs=0.008)


@pytest.mark.parametrize("measure", [roc_curve, precision_recall_curve, image_auroc, image_average_precision])
@pytest.mark.parametrize(
    ("labels", "scores", "message"),
    [
        ([True, True], [1, 2], "All 2 images are defective"),
        ([0, 0, 0], [1, 2, 3], "All 3 images are good"),
        ([0, 1], [1, 2, 3], "one score per image"),
        ([[0, 1]], [[1, 2]], "one score per image"),
        ([0, 1], [1, np.nan], "finite"),
        ([0, 2], [1, 2], "true for defective"),
    ],
)
def test_images_that_tell_nothing(measure, labels, scores, message):
    with pytest.raises(ValueError, match=message):
        measure(labels, scores)
