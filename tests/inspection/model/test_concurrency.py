"""Checks of images of real size by several threads at once, and in processes started while threads check."""

from copy import copy
from functools import cache, partial
from threading import Event, Thread

import pytest

pytest.importorskip("safetensors")

from support.processes import METHODS, ignores_fork_warning, in_child
from support.serving import as_seen, surface
from support.together import PATIENCE, together
from support.work import score_of
from vwkde.inspection import SurfaceInspector

SIDE = 512
IMAGES = [as_seen(surface(100, side=SIDE)), as_seen(surface(101, defect=True, side=SIDE))]
CHECKS = {"gradient": 6, "texture": 1}
"""How often each thread checks each image."""


@cache
def fitted(features):
    inspector = SurfaceInspector(features=features, candidates=3, false_reject_rate=0.2, n_threads=2)
    return inspector.fit([as_seen(surface(seed, side=SIDE)) for seed in range(4)])


def scores(inspector, repetitions=1):
    return [inspector.check(image).score for _ in range(repetitions) for image in IMAGES]


@pytest.mark.parametrize("features", CHECKS)
def test_threads_that_check_at_once_get_what_each_gets_alone(features):
    inspector, repetitions = fitted(features), CHECKS[features]
    alone = scores(inspector)

    def add():
        grown = copy(inspector).add([as_seen(surface(200, side=SIDE))])
        return len(grown.names_), grown.check(IMAGES[0]).score

    first, *others = together(add, *[partial(scores, inspector, repetitions)] * 3)
    assert first == (5, pytest.approx(add()[1], rel=1e-9))
    for found in others:
        assert found == pytest.approx(alone * repetitions, rel=1e-9)


@ignores_fork_warning
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("features", CHECKS)
def test_a_child_started_while_threads_check_gets_what_its_parent_gets(tmp_path, features, method):
    inspector, path = fitted(features), tmp_path / "line.vwkde"
    inspector.save(path)
    expected, started, stop = inspector.check(IMAGES[0]).score, Event(), Event()

    def check():
        while not stop.is_set():
            inspector.check(IMAGES[1])
            started.set()

    checking = Thread(target=check, daemon=True)
    checking.start()
    started.wait(PATIENCE)
    try:
        assert in_child(score_of, path, IMAGES[0], method=method) == pytest.approx(expected, rel=1e-9)
    finally:
        stop.set()
    checking.join(PATIENCE)
    assert not checking.is_alive()
