import gc

import pytest

from vwkde._runtime.exports import garbage_left, lazy_names


@pytest.fixture(params=[True, False], ids=["enabled", "disabled"])
def collector(request):
    """Enable or disable the collector for a test."""
    before = gc.isenabled()
    (gc.enable if request.param else gc.disable)()
    yield request.param
    (gc.enable if before else gc.disable)()


def test_the_collector_rests_and_is_left_as_it_was(collector):
    with garbage_left():
        assert not gc.isenabled()
    assert gc.isenabled() == collector


def test_the_collector_is_left_as_it_was_after_an_error(collector):
    get, _ = lazy_names("vwkde", {"nothing": "no_such_module"})
    with pytest.raises(ModuleNotFoundError):
        get("nothing")
    assert gc.isenabled() == collector


def test_what_is_made_meanwhile_is_old_and_nothing_stays_frozen():
    with garbage_left():
        made = [[] for _ in range(10)]
    assert any(each is made for each in gc.get_objects(generation=2))
    assert gc.get_freeze_count() == 0


def test_what_others_have_frozen_stays_frozen():
    gc.freeze()
    try:
        frozen = gc.get_freeze_count()
        with garbage_left():
            pass
        assert gc.get_freeze_count() >= 0.9 * frozen > 0
    finally:
        gc.unfreeze()


def test_names_load_from_their_modules():
    get, names = lazy_names("vwkde._runtime", {"lazy_names": "exports"})
    assert get("lazy_names") is lazy_names
    assert names() == ["lazy_names"]
    with pytest.raises(AttributeError, match=r"'vwkde._runtime' has no attribute 'other'"):
        get("other")
