"""Folds over files and Dask collections give the results of the same rows in memory, for any block size."""

import subprocess
import sys

import numpy as np
import pytest

from support.elsewhere import ROWS, samples, save_samples
from vwkde._compute.resources import Resources
from vwkde._coordinates.whitening import fit_whitening, whiten
from vwkde._data.in_memory import hold_some
from vwkde._data.moments import moments_of
from vwkde._data.sample import Rest, Sample
from vwkde._data.sources import ArrayRows, open_source
from vwkde._data.streams import Stream, open_pair
from vwkde._models.gaussian import fit_gaussian
from vwkde._models.weights.expansion import fit_expansion
from vwkde._models.weights.residual import bias_terms
from vwkde._models.weights.streamed import fit_expansion_to_all

PIECES = [2**13, 2**16, 2**28]
"""Memory budgets that make pieces of 5, 42 and all rows."""


@pytest.fixture
def files(tmp_path):
    return save_samples(tmp_path)


def weights(rows):
    weight = np.random.default_rng(5).gamma(2, size=rows)
    weight[::7] = 0
    return weight / weight.mean()


@pytest.mark.parametrize("budget", PIECES)
@pytest.mark.parametrize("weighted", [False, True])
def test_moments_are_those_of_all_rows_but_the_held(files, budget, weighted):
    p, _ = samples()
    weight = weights(ROWS) if weighted else None
    held = np.array([0, 1, 2, 3, 4, 5, 41, 42, 300, 699])
    stream = Stream(open_source(files[0], "numerator"), "numerator", Resources(memory_budget=budget), weight, held)
    kept = np.delete(np.arange(ROWS), held)
    own = np.ones(len(kept)) if weight is None else weight[kept]
    found = stream.moments(lambda x: x - 1.0)
    expected = moments_of(p[kept] - 1, own)
    np.testing.assert_allclose(found.mean, expected.mean, rtol=1e-13)
    np.testing.assert_allclose(found.scatter, expected.scatter, rtol=1e-12)
    assert len(stream) == len(kept)
    np.testing.assert_allclose([stream.total_weight, found.weight], own.sum(), rtol=1e-12)
    np.testing.assert_allclose(stream.total_squared_weight, (own**2).sum(), rtol=1e-12)


def test_moments_of_numbers_far_from_zero_keep_their_digits():
    x = 1e8 + np.random.default_rng(0).normal(size=(5_000, 2))
    stream = Stream(ArrayRows(x), "numerator", Resources(memory_budget=2**16))
    np.testing.assert_allclose(stream.moments(np.asarray).scatter / 4_999, np.cov(x.T), rtol=1e-7)


@pytest.mark.parametrize("budget", PIECES)
def test_whitening_of_streams_is_that_of_arrays(files, budget):
    p, q = samples()
    held = hold_some(*files, (None, weights(len(q))), 100, 0, Resources(memory_budget=budget))
    counted = weights(len(q)) > 0
    own = weights(len(q))[counted]
    expected = fit_whitening(p, q[counted], (np.ones(ROWS), own / own.mean()), None)
    found = whiten(held.clouds, None)
    np.testing.assert_allclose(found(p), expected(p), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("target", ["pooled", "kl"])
def test_the_weight_is_the_one_fitted_to_all_rows(target):
    p, q = ((x - 5) / 3 for x in samples())
    random = np.random.default_rng(1)
    basis = q[:40]
    models = fit_gaussian(p, np.ones(len(p))), fit_gaussian(q, np.ones(len(q)))
    held = [np.sort(random.choice(len(x), 100, replace=False)) for x in (p, q)]
    streams = [
        Stream(ArrayRows(x), "one", Resources(memory_budget=2**15), in_memory=h)
        for x, h in zip((p, q), held, strict=True)
    ]
    some = tuple(
        Sample(x[h], np.ones(100), np.arange(100), rest=Rest(stream, np.asarray))
        for x, h, stream in zip((p, q), held, streams, strict=True)
    )
    x, importance = p, np.ones(len(p))
    if target == "pooled":
        x = np.concatenate([p, q])
        importance = np.repeat([1 / len(p), 1 / len(q)], [len(p), len(q)])
    whole = fit_expansion(x, bias_terms(*models, x), importance / importance.mean(), basis, 1.3, 0.1)
    found = fit_expansion_to_all(some if target == "pooled" else some[:1], models, basis, 1.3, 0.1, Resources())
    np.testing.assert_allclose(found.coefficients, whole.coefficients, rtol=1e-8)
    assert np.abs(whole.coefficients).max() > 0.01


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the peak is read from /proc")
def test_memory_stays_small(tmp_path):
    """Two files of 64 MiB each add less than one of them to what the libraries take."""
    for seed, name in enumerate(("p.npy", "q.npy")):
        out = np.lib.format.open_memmap(tmp_path / name, "w+", np.float64, (2**18, 32))
        for rows in np.array_split(np.arange(len(out)), 16):
            out[rows] = np.random.default_rng(seed).normal(0.1 * seed, 1, (len(rows), 32))
        out.flush()
    code = """
import re, sys, numpy as np, vwkde
def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) / 1024
random = np.random.default_rng(0)
vwkde.kl_divergence(random.normal(size=(300, 32)), random.normal(size=(300, 32)), method="vwkde-mb")
before = peak()
p, q = (np.load(path, mmap_mode="r") for path in sys.argv[1:])
ratio = vwkde.DensityRatio(guide=None, derivatives="gaussian", max_held=100, max_basis=20, memory_budget=2**25)
ratio.fit(p, q).log_ratio(np.zeros((2, 32)))
print(peak() - before)
"""
    run = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "p.npy", tmp_path / "q.npy"], capture_output=True, text=True, check=True
    )
    assert float(run.stdout) < 60


def test_pairs_of_one_row_are_refused(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((1, 2)))
    with pytest.raises(ValueError, match="1 row"):
        open_pair(tmp_path / "x.npy", tmp_path / "x.npy", Resources())
