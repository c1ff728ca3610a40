from importlib.metadata import version

import vwkde
from vwkde._runtime.versions import VERSION, versions_here


def test_the_package_its_builds_and_its_results_have_one_version():
    assert version("vwkde") == vwkde.__version__ == VERSION
    assert versions_here("numpy", "no-such-package").keys() == {"vwkde", "python", "numpy"}
    assert versions_here()["vwkde"] == VERSION
