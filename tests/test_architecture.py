"""The shape of the house: imports go one way, and importing is cheap."""

import ast
import subprocess
import sys
from pathlib import Path

import vwkde

SOURCE = Path(vwkde.__file__).parent

PIPELINE = [
    "exceptions", "catalogue", "_compile", "_exp2", "_shared", "_torch_state", "_quiet", "_progress", "_blocks",
    "_extras", "_cluster", "engines", "resources", "_validation", "_files", "_versions", "_canvas", "_markup",
    "_sketches", "_html", "results", "tables",
    "geometry", "normal_scores", "sources", "streams", "samples", "holding", "functionals",
    "derivatives", "derivatives.gaussian", "derivatives.held_out", "derivatives.tied", "derivatives.mixture",
    "derivatives.kernel", "derivatives.select", "_networks", "derivatives.network", "datasets", "guides",
    "weights", "weights.uniform", "weights.residual", "weights.closed_form", "weights.on_device", "weights.expansion",
    "weights.streamed", "weights.network",
    "sums.reference", "sums.kernels", "sums.tiles", "sums.torch_engine", "sums.triton_kernels", "sums.triton_engine",
    "sums.batches", "sums",
    "bandwidth", "estimates", "guided", "pool", "directions", "subspace", "selection", "overlap", "posterior",
    "fitting", "diagnostics", "uncertainty", "ratio",
    "baselines.answer", "baselines.settings", "baselines.proportions", "baselines.kernel_density",
    "baselines.debiased", "baselines.ensemble", "baselines.von_mises",
    "baselines.nearest", "baselines.metric_learning", "baselines.risk", "baselines.direct", "baselines.dense",
    "baselines.mine", "baselines.log_odds", "baselines.posteriors", "baselines", "baselines.ratio",
    "divergences", "information", "classifier", "two_sample",
    "inspection", "inspection.extra", "inspection.images", "inspection.masks", "inspection.layouts",
    "inspection.pictures",
    "inspection.patches", "inspection.texture", "inspection.features", "inspection.coordinates", "inspection.library",
    "inspection.measuring", "inspection.calibration", "inspection.regions", "inspection.map_colours",
    "inspection.model_file", "inspection.inspector", "inspection.metrics", "inspection.metrics.images",
    "inspection.metrics.pixels", "inspection.metrics.detections", "inspection.metrics.bootstrap",
    "inspection.run_folder", "inspection.guards", "inspection.replies", "inspection.station", "inspection.server",
    "_grids", "_drawing", "displays", "demo", "plot",
    "inspection.evaluation", "inspection.trials",
    "inspection.report.gallery", "inspection.report.charts", "inspection.report.content",
    "inspection.report.measures", "inspection.report.cards", "inspection.report.page", "inspection.report",
    "inspection.runs", "surfaces", "inspection.demonstration",
    "reproduce.tasks", "reproduce.figure", "reproduce.digits", "reproduce.pages", "reproduce.sweep",
    "reproduce.repeats", "reproduce.fig1", "reproduce.fig2", "reproduce.fig3", "reproduce.fig4", "reproduce.fig5",
    "reproduce.pairs", "reproduce.detectors", "reproduce.deals", "reproduce.cnn", "reproduce.readings",
    "reproduce.surfaces", "reproduce.surface_rows", "reproduce.table1", "reproduce.table2", "reproduce.fig6",
    "reproduce.fig_a1", "reproduce.fig_a2", "reproduce",
    "bench.measurement", "bench.limits", "bench.peers", "bench.tasks", "bench", "bench.report",
    "_console", "inspection.summaries", "inspection.commands", "cli",
]  # fmt: skip


def module_names() -> dict[str, Path]:
    paths = {path: path.relative_to(SOURCE).with_suffix("").parts for path in SOURCE.rglob("*.py")}
    names = {".".join(part for part in parts if part != "__init__"): path for path, parts in paths.items()}
    return {name: path for name, path in names.items() if name}


def imported_modules(path: Path) -> set[str]:
    names = module_names()
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "vwkde":
            base = node.module.removeprefix("vwkde").removeprefix(".")
            inner = [f"{base}.{alias.name}".lstrip(".") for alias in node.names]
            found |= {name if name in names else base for name in inner}
    return found & set(names)


def test_every_module_has_its_place_in_the_pipeline():
    assert sorted(PIPELINE) == sorted(module_names())


def test_imports_only_go_forward():
    place = {name: index for index, name in enumerate(PIPELINE)}
    backward = [
        f"{name} imports {other}"
        for name, path in module_names().items()
        for other in imported_modules(path)
        if place[other] >= place[name]
    ]
    assert backward == []


def test_the_import_check_sees_imports():
    assert "sums" in imported_modules(SOURCE / "estimates.py")
    assert "_blocks" in imported_modules(SOURCE / "weights" / "expansion.py")


def test_importing_loads_nothing_heavy():
    code = "import sys, vwkde; print([m for m in ('torch', 'matplotlib', 'dask', 'pyarrow') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_estimating_loads_neither_torch_nor_matplotlib_nor_dask():
    code = (
        "import sys, numpy as np, vwkde; x = np.arange(9.0) ** 1.5; vwkde.kl_divergence(x, x + 0.1); "
        "print([m for m in ('torch', 'matplotlib', 'dask') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
