"""What is told about a sample without a density where the other one has one."""

import numpy as np
import pandas as pd
import pytest

import vwkde

RANDOM = np.random.default_rng(0)
ROWS = RANDOM.normal(size=(150, 2))
FLAT = np.column_stack([ROWS[:, 0], np.full(150, 0.5)])
FOLLOWS = np.column_stack([ROWS[:, 0], 2 * ROWS[:, 0] + 1])


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize(
    ("flat", "message"),
    [
        (FLAT, "Column 'y' is constant in the {} but not in the {}, so the ratio may be infinite"),
        (np.full((150, 2), 0.5), r"Columns \['x', 'y'\] are constant in the {} but not in the {}"),
        (ROWS[:2], "The {} has 2 different rows for 2 columns: .* Give more rows"),
        (FOLLOWS, "The {} does not vary in 1 of 2 directions in which the {} does: .* columns that follow from others"),
    ],
    ids=["a column", "all columns", "two rows", "a combination"],
)
def test_the_sample_and_the_reason_are_named(flat, message, swapped):
    samples = [pd.DataFrame(x, columns=["x", "y"]) for x in (flat, RANDOM.normal(size=(160, 2)))]
    names = ["numerator", "denominator"]
    if swapped:
        samples.reverse()
        names.reverse()
    with pytest.warns(vwkde.DegenerateDataWarning, match=message.format(*names)) as told:
        assert np.isfinite(vwkde.kl_divergence(*samples).value)
    assert len(told) == 1


def test_columns_without_names_are_numbered():
    with pytest.warns(vwkde.DegenerateDataWarning, match="Column 1 is constant in the numerator but not in the denom"):
        vwkde.kl_divergence(FLAT, ROWS)


def test_a_sample_that_varies_is_not_called_flat():
    """Two rows of P that are 10⁸ apart make 150 rows of Q look thin: those are no reason to drop columns."""
    far = np.array([[1e3, -1e3], [-1e8, 1e8]])
    with pytest.warns(vwkde.DegenerateDataWarning) as told:
        vwkde.kl_divergence(far, ROWS)
    words = [str(each.message) for each in told]
    assert any(word.startswith("The numerator has 2 different rows for 2 columns") for word in words)
    assert any("denominator varies less than a millionth as much as the numerator in 1 of 2" in word for word in words)
    assert not any("constant" in word or "rop" in word for word in words)
