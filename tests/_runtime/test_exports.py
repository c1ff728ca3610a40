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


def test_names_load_from_their_modules():
    get, names = lazy_names("vwkde._runtime", {"lazy_names": "exports"})
    assert get("lazy_names") is lazy_names
    assert names() == ["lazy_names"]
    with pytest.raises(AttributeError, match=r"'vwkde._runtime' has no attribute 'other'"):
        get("other")
