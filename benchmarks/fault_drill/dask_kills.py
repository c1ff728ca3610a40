"""Workers of a Dask cluster that are killed during an estimate: the answer must be that of an undisturbed run."""

import os
import signal
from contextlib import suppress
from threading import Thread
from time import perf_counter, sleep

import numpy as np

import vwkde


def workers(rounds: int) -> str:
    """Kill a worker in the middle of each of some estimates."""
    from dask import config
    from distributed import Client, LocalCluster

    random = np.random.default_rng(0)
    p, q = random.normal(0.3, 1, (6_000, 4)), random.normal(size=(6_000, 4))
    config.set({"distributed.admin.log-format": "", "logging.distributed": "critical"})
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        start = perf_counter()
        expected = _estimate(p, q)
        longest, agree, killed = perf_counter() - start, 0, 0
        for after in random.uniform(0.1, 0.8, rounds) * longest:
            client.wait_for_workers(1)
            killer = Thread(target=_kill_one, args=(client, after))
            killer.start()
            agree += abs(_estimate(p, q) - expected) < 1e-9 * abs(expected)
            killer.join()
            killed += 1
            with suppress(TimeoutError):  # a busy machine may need longer; the others go on
                client.wait_for_workers(2, timeout=60)
    return f"Dask workers: killed {killed}, answers as without: {agree} of {rounds}"


def _estimate(p: np.ndarray, q: np.ndarray) -> float:
    return vwkde.DensityRatio(guide=None, engine="dask").fit(p, q).divergence("kl").value


def _kill_one(client: "Client", after: float) -> None:  # noqa: F821  imported where it is used
    pid = next(iter(client.run(os.getpid).values()))
    sleep(after)
    os.kill(pid, signal.SIGKILL)
