"""The benchmark: what it times, and what it writes."""

import json
from io import StringIO

import numpy as np
import pytest
from rich.console import Console
from threadpoolctl import threadpool_info, threadpool_limits
from typer.testing import CliRunner

import vwkde
from vwkde import bench
from vwkde._compute.engines import engines_here
from vwkde._compute.parallel import thread_count
from vwkde._compute.sums import log_kernel_sums
from vwkde.bench import Sizes, measurement, run_bench, tasks
from vwkde.bench.limits import Limits, measure_limits
from vwkde.bench.measurement import Measurement, best_time, growing
from vwkde.bench.peers import peers_of_kl, peers_of_sums
from vwkde.bench.report import save_bench, tables
from vwkde.cli.main import app
from vwkde.datasets import isotropic

TINY = Sizes(sums=(60, 120), fit=(60,), kl=(60,), inspection=(4,))


@pytest.fixture
def hurry(monkeypatch):
    monkeypatch.setattr(measurement, "ENOUGH", 0.0)
    monkeypatch.setattr(tasks, "_SIDE", 96)


def test_the_best_of_several_runs_counts_and_the_first_does_not(monkeypatch):
    clock = iter([0.0, 9.0, 10.0, 10.3, 20.0, 20.1, 30.0, 31.0])
    monkeypatch.setattr(measurement, "perf_counter", lambda: next(clock))
    monkeypatch.setattr(measurement, "ENOUGH", 10.0)
    assert best_time(lambda: None) == pytest.approx(0.1)


def test_sizes_end_where_the_next_would_take_too_long(monkeypatch):
    monkeypatch.setattr(measurement, "PATIENCE", 10.0)
    run = {100: 0.5, 200: 2.0, 400: 8.0, 800: 32.0}
    assert list(growing([400, 100, 200, 800], 4.0, run.__getitem__)) == [(100, 0.5), (200, 2.0), (400, 8.0)]


def test_the_limit_is_that_of_operations_and_exponentials_together():
    limits = Limits("cpu", "float64", operations=8.0, exponentials=0.5)
    assert limits.pairs(4) == pytest.approx(1 / 3)
    found = measure_limits("float32")
    assert 1e7 < found.exponentials < 1e12
    assert 1e8 < found.operations < 1e15


def test_rates_and_shares_follow_from_the_times():
    each = Measurement("sums", "one", 100, "", seconds=0.5, work=1e4, limit=4e4)
    assert each.to_dict()["rate"] == 2e4
    assert each.share_of_limit == 0.5


@pytest.mark.usefixtures("hurry")
@pytest.mark.parametrize("name", tasks.TASKS)
def test_every_task_is_timed(name):
    limits, found = run_bench([name], None, TINY, n_threads=1)
    assert {each.dtype for each in limits} == {"float64", "float32"}
    assert {each.task for each in found} == {name}
    assert {each.rows for each in found} == set(getattr(TINY, name))
    assert all(each.seconds > 0 for each in found)
    assert any("numba" in each.contender or "vwkde" in each.contender or "gradient" in each.contender for each in found)


def test_peers_do_the_same_sums():
    random = np.random.default_rng(0)
    x, y, weight = random.normal(size=(40, 3)), random.normal(size=(50, 3)), random.exponential(size=50)
    expected = log_kernel_sums(x, y, 0.7, log_weight=np.log(weight))
    work = dict(peers_of_sums())
    volume = 3 * np.log(np.sqrt(2 * np.pi) * 0.7) + np.log(weight.sum())
    found = work["scikit-learn KernelDensity"](x, y, 0.7, weight)()
    np.testing.assert_allclose(found + volume, expected, rtol=1e-6)
    if "PyTorch, tiled" in work:
        np.testing.assert_allclose(work["PyTorch, tiled"](x, y, 0.7, weight)().numpy(), expected, rtol=1e-9)


@pytest.mark.filterwarnings("ignore")
def test_peers_estimate_the_divergence():
    pair = isotropic(2)
    p, q = pair.sample(250)
    for name, estimate in peers_of_kl():
        assert 0.3 * pair.kl < estimate(p, q) < 2 * pair.kl, name


def test_unknown_tasks_and_engines_are_refused():
    with pytest.raises(ValueError, match=r"no task 'speed'.*sums, fit, kl, inspection"):
        run_bench(["speed"], None, TINY)
    with pytest.raises(ValueError, match=r"engine 'abacus' cannot be timed here.*numba"):
        run_bench(["sums"], ["abacus"], TINY)


@pytest.mark.usefixtures("hurry")
def test_every_engine_takes_part():
    engines = {f"vwkde {name}" for name in engines_here()}
    assert "vwkde numba" in engines
    _, found = run_bench(["fit"], None, TINY, n_threads=1)
    assert {each.contender for each in found} == engines | {"rank-k update and Cholesky"}


@pytest.mark.usefixtures("hurry")
def test_the_command_leaves_numbers_and_a_picture(tmp_path, monkeypatch):
    monkeypatch.setattr(bench, "QUICK", TINY)
    result = CliRunner().invoke(app, ["bench", "sums", "kl", "--quick", "-o", str(tmp_path / "out"), "--threads", "1"])
    assert result.exit_code == 0, result.output
    assert "Weighted log kernel sums" in result.output
    assert "Limits of the cpu in float32" in result.output
    numbers = json.loads((tmp_path / "out" / "bench.json").read_text())
    assert {each["task"] for each in numbers["measurements"]} == {"sums", "kl"}
    assert numbers["versions"]["numpy"] == np.__version__
    assert numbers["versions"]["vwkde"] == vwkde.__version__
    assert (tmp_path / "out" / "bench.png").read_bytes().startswith(b"\x89PNG")
    again = CliRunner().invoke(app, ["bench", "kl", "--quick", "--json", "-o", str(tmp_path / "out")])
    assert json.loads(again.stdout)["measurements"][0]["task"] == "kl"


def test_a_table_names_sizes_that_were_not_tried(tmp_path):
    found = [
        Measurement("sums", "vwkde numba", 100, "4 columns, float32", 0.5, 1e4, 4e4),
        Measurement("sums", "vwkde numba", 200, "4 columns, float32", 2.0, 4e4, 4e4),
        Measurement("sums", "slow", 100, "4 columns, float32", 5.0, 1e4, 4e4),
    ]
    (table,) = tables(found)
    columns = {column.header: list(column.cells) for column in table.columns}
    assert columns["200"] == ["2", "–"]
    assert columns["of limit"] == ["50%", "5%"]
    save_bench(tmp_path / "bench.png", found)
    assert (tmp_path / "bench.png").stat().st_size > 10_000


def test_tables_fit_a_terminal():
    sizes = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000)
    found = [
        Measurement("sums", "scikit-learn KernelDensity", size, "16 columns, float64", 1.23e-9 * size**2, size**2, 1e9)
        for size in sizes
    ]
    console = Console(width=80, file=StringIO())
    console.print(*tables(found))
    shown = console.file.getvalue()
    assert "…" not in shown
    assert all(f"{size:,}" in shown for size in (1_000, 5_000, 20_000, 100_000))
    assert "0.0012" in shown


@pytest.mark.usefixtures("hurry")
def test_limits_are_those_of_the_threads_asked_for(tmp_path, monkeypatch):
    seen = []

    def measure(dtype, device):
        seen.append({pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"})
        return Limits(device, dtype, 1e9 * thread_count(), 1e9)

    monkeypatch.setattr(bench, "measure_limits", measure)
    monkeypatch.setattr(bench, "QUICK", TINY)
    with threadpool_limits(1):
        done = CliRunner().invoke(app, ["bench", "kl", "--quick", "--threads", "3", "-o", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert seen
    assert all(threads == {3} for threads in seen)
    assert json.loads((tmp_path / "bench.json").read_text())["machine"]["threads"] == 3
