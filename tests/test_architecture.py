"""The structure of the package: imports go one way, and importing is cheap."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import vwkde

SOURCE = Path(vwkde.__file__).parent
CONTRACTS = Path(__file__).parents[1] / "pyproject.toml"


def broken_imports(source: Path, contract: str = "") -> str:
    """Return what import-linter reports on the package in that folder, or nothing if every contract is kept."""
    command = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    options = ["--config", str(CONTRACTS), "--no-cache", "--no-logo", *(["--contract", contract] if contract else [])]
    run = subprocess.run([sys.executable, "-c", command, *options], cwd=source, capture_output=True, text=True)
    return "" if run.returncode == 0 else run.stdout + run.stderr


def test_imports_keep_the_contracts():
    report = broken_imports(SOURCE.parent)
    assert not report, report


UPWARD = {
    "plain": "import vwkde.ratio",
    "from_module": "from vwkde.ratio import DensityRatio",
    "from_root": "from vwkde import ratio",
    "relative": "from ..ratio import DensityRatio",
    "in_function": "def late():\n    from vwkde.ratio import DensityRatio\n    return DensityRatio",
    "for_types": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from vwkde.ratio import DensityRatio",
}
"""Every form of import; each goes up when it is in a module of `_compute`."""


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """The folder of a copy of the package, to break contracts in."""
    return shutil.copytree(SOURCE, tmp_path / "vwkde", ignore=shutil.ignore_patterns("__pycache__"))


def test_upward_imports_are_seen_in_every_form(copied: Path):
    for name, text in UPWARD.items():
        (copied / "_compute" / f"{name}.py").write_text(f"{text}\n")
    report = broken_imports(copied.parent, "rooms")
    assert [name for name in UPWARD if f"vwkde._compute.{name} -> vwkde.ratio" not in report] == []


def test_an_import_of_the_root_is_seen(copied: Path):
    (copied / "_fit" / "curious.py").write_text("import vwkde\n")
    assert "vwkde._fit.curious -> vwkde " in broken_imports(copied.parent, "root")


def test_a_module_without_a_layer_is_seen(copied: Path):
    (copied / "homeless.py").touch()
    assert "vwkde.homeless" in broken_imports(copied.parent, "rooms")


def test_importing_loads_nothing_heavy():
    code = "import sys, vwkde; print([m for m in ('torch', 'matplotlib', 'dask', 'pyarrow') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


HEAVY = "dask", "joblib", "matplotlib", "numba", "pandas", "pyarrow", "scipy.stats", "sklearn", "torch"


@pytest.mark.parametrize(
    ("call", "loaded"),
    [
        ("kl_divergence(x, y)", []),
        ("two_sample_test(x, y, n_permutations=99)", []),
        ("mutual_information(x[:99], y[:99])", ["numba"]),  # all pairs of rows are many
    ],
)
def test_an_answer_from_few_rows_loads_no_heavy_package(call, loaded):
    code = f"""
import sys, numpy as np, vwkde
x, y = np.random.default_rng(0).normal(size=(2, 500, 3))
vwkde.{call}
print([name for name in {(*HEAVY, "vwkde.baselines")} if name in sys.modules])
"""
    environment = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert run.stdout == f"{loaded}\n"


def test_the_estimator_is_loaded_when_it_is_asked_for():
    code = (
        "import sys; from vwkde.ratio import DensityRatio; print('sklearn' in sys.modules, DensityRatio().get_params)"
    )
    run = subprocess.run([sys.executable, "-c", f"import sys; {code}"], capture_output=True, text=True, check=True)
    assert run.stdout.startswith("True <bound method BaseEstimator.get_params")


def test_an_estimate_of_many_rows_loads_the_compiler():
    code = (
        "import sys, numpy as np, vwkde; p, q = np.random.default_rng(0).normal(size=(2, 1_100, 3)); "
        "vwkde.kl_divergence(p, q, guide='gaussian'); print('numba' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "True\n"
