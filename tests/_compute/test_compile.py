import os
import subprocess
import sys
from threading import Event, Thread
from time import sleep

from numba.core.compiler_lock import global_compiler_lock

from support.processes import forks, ignores_fork_warning, in_child
from support.together import PATIENCE
from vwkde._compute.compile import compiled


@compiled()
def twice(x):
    return 2 * x


@forks
@ignores_fork_warning
def test_a_child_forked_while_another_thread_compiles_can_compile():
    def compile_something():
        with global_compiler_lock:
            compiling.set()
            sleep(0.5)

    compiling = Event()
    compiler = Thread(target=compile_something)
    compiler.start()
    compiling.wait(PATIENCE)
    assert in_child(twice, 2.0) == 4.0
    compiler.join(PATIENCE)


COUNT = """
import numpy as np, vwkde
from numba.core.event import install_recorder
p, q = np.random.default_rng(0).normal(size=(2, 1_100, 2))
with install_recorder("numba:compile") as compilations:
    vwkde.kl_divergence(p, q, method="vwkde-mb")
    for dtype in (np.float64, np.float32):  # blocks of rows of another shape are of the same type
        vwkde.kl_divergence(p.astype(dtype)[:1_050], q.astype(dtype), guide="gaussian", n_threads=2)
print(len(compilations.buffer))
"""


def test_a_second_process_compiles_nothing(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", COUNT]
    runs = [subprocess.run(command, env=environment, capture_output=True, text=True, check=True) for _ in range(2)]
    first, second = (int(run.stdout) for run in runs)
    assert first > 0
    assert second == 0
