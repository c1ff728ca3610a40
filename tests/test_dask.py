"""Dask arrays as samples, and folds as Dask tasks: on threads, on two processes, and when one of them is killed."""

import os
import signal
import threading
import time

import numpy as np
import pytest

import vwkde
from support.work import slow_the_first_time
from vwkde._compute.cluster import connected
from vwkde._compute.executors import DASK, THREADS
from vwkde._compute.resources import Resources
from vwkde._data.moments import WeightedMoments
from vwkde._data.sources import DaskRows, open_source
from vwkde._data.streams import Stream, open_pair
from vwkde.inspection import SurfaceInspector
from vwkde.reproduce.core.tasks import Task, run_tasks

da = pytest.importorskip("dask.array", reason="vwkde[dask] is not installed")
distributed = pytest.importorskip("distributed", reason="vwkde[dask] is not installed")

SETTINGS = {"method": "vwkde-mb", "max_held": 300, "max_basis": 100}


def samples():
    random = np.random.default_rng(0)
    return random.normal(size=(3_000, 3)), random.normal(0.4, 1.2, (3_500, 3))


@pytest.fixture(scope="module")
def client():
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0")
    with cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("samples")
    paths = folder / "p.npy", folder / "q.npy"
    for path, sample in zip(paths, samples(), strict=True):
        np.save(path, sample)
    return paths


@pytest.fixture(scope="module")
def here(files):
    """The estimate of one process."""
    return vwkde.kl_divergence(*files, **SETTINGS)


def test_dask_arrays_without_a_client_run_on_threads(here):
    p, q = (da.from_array(x, chunks=(700, 2)) for x in samples())
    found = vwkde.kl_divergence(p, q, **SETTINGS)
    np.testing.assert_allclose([found.value, found.standard_error], [here.value, here.standard_error], rtol=1e-10)


def test_rows_of_a_dask_array_are_those_of_its_chunks():
    p, _ = samples()
    source = open_source(da.from_array(p, chunks=(700, 2)), "numerator")
    assert isinstance(source, DaskRows)
    assert [part.stop - part.start for part in source.parts(10)] == [700, 700, 700, 700, 200]
    np.testing.assert_array_equal(np.concatenate(list(source.pieces(slice(700, 1_400), 99))), p[700:1_400])
    np.testing.assert_array_equal(source.take(np.array([1, 699, 700, 2_999])), p[[1, 699, 700, 2_999]])


def test_a_dask_frame_keeps_its_names():
    dd = pytest.importorskip("dask.dataframe")
    pd = pytest.importorskip("pandas")
    p, q = samples()
    one = dd.from_pandas(pd.DataFrame(p, columns=list("abc")), npartitions=3)
    other = dd.from_pandas(pd.DataFrame(q[:, ::-1], columns=list("cba")), npartitions=2)
    streams = open_pair(one, other, Resources())
    np.testing.assert_array_equal(streams[1].source.take(np.array([0, 3_499])), q[[0, 3_499]])
    ratio = vwkde.DensityRatio(guide=None, weighting="uniform", max_held=200).fit(one, other)
    assert list(ratio.feature_names_in_) == ["a", "b", "c"]
    assert ratio.diagnostics_["engine"] == "dask"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda x: x[x[:, 0] > 0], "compute_chunk_sizes"),
        (lambda x: x[:, :, None], "3 dimensions"),
        (lambda x: x[:0], "empty"),
        (lambda x: x.astype(complex), "complex"),
        (lambda x: x.astype(object), "numbers only"),
    ],
)
def test_dask_arrays_of_the_wrong_kind_are_refused(make, message):
    x = da.from_array(samples()[0], chunks=700)
    with pytest.raises(ValueError, match=message):
        vwkde.kl_divergence(make(x), x)


def test_other_dask_collections_are_refused():
    dask = pytest.importorskip("dask")
    with pytest.raises(ValueError, match=r"must be a Dask array or DataFrame\. Got Delayed"):
        vwkde.kl_divergence(dask.delayed(samples)(), samples()[1])


def test_an_entry_that_is_not_finite_is_told_with_its_row():
    p, q = samples()
    p[2_950, 2] = np.nan
    with pytest.raises(ValueError, match="row 2950, column 2, and 1 such"):
        vwkde.kl_divergence(da.from_array(p, chunks=700), q, max_held=300)


def test_points_may_be_a_dask_array():
    p, q = samples()
    ratio = vwkde.DensityRatio(guide=None, weighting="uniform", bandwidth=0.5).fit(p[:300], q[:300])
    np.testing.assert_array_equal(ratio.log_ratio(da.from_array(p[:50], chunks=20)), ratio.log_ratio(p[:50]))


def test_two_processes_give_the_answer_of_one(client, files, here):
    kinds = {
        "dask arrays": (tuple(da.from_array(x, chunks=(800, 3)) for x in samples()), {}),
        "files": (files, {"engine": "dask"}),
        "arrays": (samples(), {"engine": "dask"}),
    }
    for kind, (pair, settings) in kinds.items():
        found = vwkde.kl_divergence(*pair, **SETTINGS, **settings)
        np.testing.assert_allclose(found.value, here.value, rtol=1e-10, err_msg=kind)
        np.testing.assert_allclose(found.standard_error, here.standard_error, rtol=1e-8, err_msg=kind)
    assert len(client.scheduler_info()["workers"]) == 2


def test_the_default_runs_on_two_processes(client, files):
    del client
    settings = {"max_held": 250, "subspace": False}
    found = vwkde.kl_divergence(*files, engine="dask", **settings)
    np.testing.assert_allclose(found.value, vwkde.kl_divergence(*files, **settings).value, rtol=1e-10)


def test_a_fold_of_files_on_a_cluster_is_that_of_one_process(client, files):
    del client
    source = open_source(files[0], "numerator")
    sums = [
        Stream(source, "numerator", Resources(executor=executor, memory_budget=2**17)).moments(lambda x: 2 * x)
        for executor in (THREADS, DASK)
    ]
    assert isinstance(sums[0], WeightedMoments)
    for one, other in zip(*sums, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_good_images_are_compared_by_workers_as_here(client):
    del client
    random = np.random.default_rng(0)
    images = [random.uniform(size=(128, 128)).astype(np.float32) for _ in range(12)]
    alone, spread = (
        SurfaceInspector(features="gradient", false_reject_rate=0.2, engine=engine).fit(images[:10])
        for engine in ("auto", "dask")
    )
    np.testing.assert_allclose(spread._learnt.sums, alone._learnt.sums, rtol=1e-12)
    np.testing.assert_allclose(spread.calibration_.scores, alone.calibration_.scores, rtol=1e-9)
    spread.add([images[10]])
    np.testing.assert_allclose(spread._learnt.sums, alone.add([images[10]])._learnt.sums, rtol=1e-12)
    named = [(f"image {k}", image) for k, image in enumerate(images)]
    found = list(spread.check_all(iter(named)))
    assert [each.name for each in found] == [name for name, _ in named]
    expected = [alone.check(image).score for image in images]
    np.testing.assert_allclose([each.score for each in found], expected, rtol=1e-9)
    assert np.ptp(expected) > 0


def test_tasks_of_a_reproduction_are_done_by_workers(client, tmp_path):
    tasks = [Task(f"{base}", pow, (base, 2)) for base in range(7)] + [Task("wrong", pow, ("x", 2))]
    found = run_tasks(tasks, tmp_path / "journal.jsonl", "squares", cluster=client.scheduler.address)
    assert [found[f"{base}"].value for base in range(7)] == [base**2 for base in range(7)]
    assert "TypeError" in found["wrong"].error
    again = run_tasks(tasks[:7], tmp_path / "journal.jsonl", "squares", cluster="tcp://127.0.0.1:1")
    assert again == {name: outcome for name, outcome in found.items() if name != "wrong"}


def test_a_cluster_that_is_not_there_is_told(monkeypatch):
    monkeypatch.setattr("vwkde._compute.cluster._PATIENCE", 0.5)
    with pytest.raises(ValueError, match="No Dask scheduler answers"), connected("tcp://127.0.0.1:1"):
        pass


def test_a_killed_worker_changes_nothing(client, tmp_path, here):
    """The process that works on the second chunk dies in the middle of it; another one takes over."""
    p, q = samples()
    p = da.from_array(p, chunks=(800, 3)).map_blocks(slow_the_first_time, dtype=float, folder=str(tmp_path))
    before = set(client.run(os.getpid).values())
    found = []
    run = threading.Thread(target=lambda: found.append(vwkde.kl_divergence(p, q, **SETTINGS)))
    run.start()
    note = tmp_path / "1"
    deadline = time.monotonic() + 30
    while not (note.exists() and note.read_text()) and time.monotonic() < deadline:
        time.sleep(0.01)
    killed = int(note.read_text())
    os.kill(killed, signal.SIGKILL)
    run.join()
    np.testing.assert_allclose(found[0].value, here.value, rtol=1e-10)
    assert killed in before
