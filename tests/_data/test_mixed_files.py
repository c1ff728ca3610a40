"""Files larger than memory with categories and gaps: encoded in pieces as the same table in memory is."""

import numpy as np
import pandas as pd
import pytest

import vwkde
from vwkde._compute.resources import Resources
from vwkde._data.in_memory import hold_some
from vwkde._data.intake import check_pair
from vwkde._data.reading import Reading

ROWS = 400


def make(seed, shift):
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "x": random.normal(shift, 1, ROWS),
            "colour": random.choice(["red", "green", "blue"], ROWS, p=[0.5, 0.3, 0.2]),
            "flag": random.random(ROWS) < 0.3,
        }
    )
    return frame.assign(x=frame["x"].where(random.random(ROWS) > 0.1))


P, Q = make(0, 0.4), make(1, 0.0)
READING = Reading(missing="indicator")


@pytest.fixture
def files(tmp_path):
    P.to_parquet(tmp_path / "p.parquet", row_group_size=70)
    Q[Q.columns[::-1]].to_parquet(tmp_path / "q.parquet", row_group_size=400)
    return tmp_path / "p.parquet", tmp_path / "q.parquet"


@pytest.mark.parametrize("in_file", [(True, True), (True, False)])
def test_pieces_are_encoded_as_the_whole_is(files, in_file):
    samples = [path if there else frame for path, frame, there in zip(files, (P, Q), in_file, strict=True)]
    held = hold_some(*samples, (None, None), 100, 0, Resources(), READING)
    pair = check_pair(P, Q, READING)
    assert held.names == pair.layout.names
    for stream, whole, rows, values in zip(
        held.streams, (pair.numerator, pair.denominator), held.rows, held.data, strict=True
    ):
        everything = stream.source.take(np.arange(ROWS))
        marked = whole[:, 1] == 1
        np.testing.assert_array_equal(np.delete(everything, 0, axis=1), np.delete(whole, 0, axis=1))
        np.testing.assert_array_equal(everything[~marked, 0], whole[~marked, 0])
        assert len(np.unique(everything[marked, 0])) == 1  # the middle of the pieces, which is near that of the whole
        np.testing.assert_array_equal(values, everything[rows])


def test_small_files_are_read_like_tables(files):
    expected = vwkde.DensityRatio(guide="gaussian", missing="indicator").fit(P, Q)
    found = vwkde.DensityRatio(guide="gaussian", missing="indicator").fit(*files)
    assert found.divergence("kl") == expected.divergence("kl")
    np.testing.assert_array_equal(found.log_ratio(files[0]), expected.log_ratio(P))


def test_large_files_answer_like_tables(files):
    ratio = vwkde.DensityRatio(guide="gaussian", missing="indicator", max_held=300).fit(*files)
    whole = vwkde.DensityRatio(guide="gaussian", missing="indicator").fit(P, Q)
    assert ratio.divergence("kl").value == pytest.approx(whole.divergence("kl").value, abs=0.05)
    assert list(ratio.feature_names_in_) == list(P.columns)
    assert np.corrcoef(ratio.log_ratio(P), whole.log_ratio(P))[0, 1] > 0.95


def test_other_sources_are_refused_by_name(files, tmp_path):
    np.save(tmp_path / "q.npy", np.zeros((500, 3)))
    with pytest.raises(ValueError, match=r"denominator must be a table in memory or a Parquet file .* Got PosixPath"):
        vwkde.kl_divergence(files[0], tmp_path / "q.npy", missing="indicator")


def test_gaps_in_a_file_are_refused_by_name(files):
    with pytest.raises(ValueError, match=r"The numerator must have no missing values. Got .* in column 'x'; give miss"):
        vwkde.kl_divergence(*files)
