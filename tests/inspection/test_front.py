"""The public names of inspection, loaded on first use; and layers that import downward only."""

import ast
import doctest
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from vwkde import exceptions, inspection

ROOMS = ("data", "model", "metrics", "runs", "report", "server")
"""From the lowest to the highest."""
SOURCE = Path(inspection.__file__).parent


def imported(path):
    """Return the modules that a file imports, in any form."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def test_the_names_are_exactly_those_meant():
    assert set(inspection.__all__) == set(dir(inspection))
    assert {"Inspection", "SurfaceInspector", "make_surfaces", "PAPER_GRID"} <= set(inspection.__all__)
    assert inspection.FewImagesWarning is exceptions.FewImagesWarning
    for name in inspection.__all__:
        assert getattr(inspection, name) is not None
    with pytest.raises(AttributeError, match=r"module 'vwkde\.inspection' has no attribute 'nothing'"):
        inspection.nothing  # noqa: B018


def test_importing_loads_nothing_heavy():
    heavy = ("numpy", "scipy", "sklearn", "numba", "PIL", "safetensors", "fastapi")
    code = f"import sys, vwkde.inspection; print([name for name in {heavy} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_arrays_are_inspected_without_pillow_and_heavy_packages():
    code = """
import sys
sys.modules["PIL"] = None
from vwkde.inspection import SurfaceInspector, make_surfaces
surfaces = make_surfaces("woven", n_good=19, n_bad=1, size=96)
for features in ("gradient", "texture", "combined"):
    inspector = SurfaceInspector(features=features).fit(surfaces.images[:19])
    print(inspector.check(surfaces.images[19]).verdict)
print([name for name in ("pandas", "scipy.stats", "sklearn", "torch") if name in sys.modules])
try:
    inspector.fit(make_surfaces("woven", n_good=3, n_bad=0, size=600).images)
except ImportError as error:
    print(error)
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (ended.stdout, ended.returncode) == (
        "NG\nNG\nNG\n[]\nImages of this size need Pillow; install it with: pip install 'vwkde[inspect]'\n",
        0,
    )


@pytest.mark.parametrize("room", ROOMS)
def test_rooms_import_from_lower_rooms_only(room):
    above = [f"vwkde.inspection.{each}" for each in ROOMS[ROOMS.index(room) + 1 :]] + ["vwkde.cli"]
    wrong = [
        f"{path.name} imports {module}"
        for path in (SOURCE / room).rglob("*.py")
        for module in imported(path)
        if any(f"{module}.".startswith(f"{each}.") for each in above)
    ]
    assert wrong == []


@pytest.mark.parametrize(
    "name", ["ImageError", "Inspection", "ModelFileError", "SurfaceInspector", "make_surfaces", "read_image"]
)
def test_the_examples_run(name):
    module = import_module(getattr(inspection, name).__module__)
    outcome = doctest.testmod(module)
    assert outcome.attempted > 0
    assert outcome.failed == 0
