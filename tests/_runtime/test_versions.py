import vwkde
from vwkde._runtime.versions import own_version, versions_here


def test_the_installed_version_is_that_of_the_package():
    assert own_version() == vwkde.__version__
    assert versions_here("numpy", "no-such-package").keys() == {"vwkde", "python", "numpy"}
