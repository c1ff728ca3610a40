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
