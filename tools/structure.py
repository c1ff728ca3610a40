"""Measure the structure of the package: modules at the top, import levels, modules touched and calls back by one call.

Run with `python tools/structure.py`, or with `--source OTHER/src` to measure another checkout; it needs `vwkde[test]`.

A call goes back when a module calls a function of a module, or of a room, that is built on it: one that imports it,
directly or through others. Modules that run the work handed to them (threads, Dask, passes over files, progress) do so
by design, so their calls are listed separately. Compiled functions are not traced.
"""

import argparse
import inspect
import sys
import threading
import tomllib
import warnings
from collections import Counter
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any

import grimp
import numpy as np

PACKAGE = "vwkde"
EXECUTORS = {"_runtime", "cluster", "executors", "parallel", "clouds", "streams"}
EXECUTORS |= {"_blocks", "_cluster", "_progress", "_shared"}  # of older checkouts
"""Parts of the names of modules whose job is to run what others hand them, on threads, workers or passes over rows."""
INSPECTOR = ("inspection", "inspection.model.inspector", "inspection.inspector")
"""Where newer and older checkouts have `SurfaceInspector`."""


@dataclass
class Trace:
    """Functions of the package that ran: their modules, and how often a module called which other."""

    touched: set[str] = field(default_factory=set)
    called: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, frame: FrameType) -> None:
        """Note the call that made a frame."""
        callee, flags = module_of(frame), frame.f_code.co_flags
        if callee is None or not flags & inspect.CO_OPTIMIZED:  # the body of a module or of a class
            return
        self.touched.add(callee)
        caller = calling_module(frame)
        if caller is not None and not flags & inspect.CO_GENERATOR:  # a generator is resumed, not called
            self.called[caller, callee] += 1


class Recorder:
    """Traces calls on all threads that are started from now on: pools keep theirs from one call to the next."""

    def __init__(self) -> None:
        self._trace: Trace | None = None
        threading.setprofile(self._on_event)

    def record(self, run: Callable[[], object]) -> Trace:
        """Return the trace of a second call, when everything is imported and compiled."""
        run()
        self._trace = trace = Trace()
        sys.setprofile(self._on_event)
        run()
        sys.setprofile(None)
        self._trace = None
        return trace

    def _on_event(self, frame: FrameType, event: str, _: object) -> None:
        if event == "call" and self._trace is not None:
            self._trace.add(frame)


def module_of(frame: FrameType) -> str | None:
    """Return the name of the package's module that a frame belongs to, or None."""
    name = frame.f_globals.get("__name__") or ""
    return name if name.startswith(f"{PACKAGE}.") else None


def calling_module(frame: FrameType) -> str | None:
    """Return the module of the nearest caller in the package; there may be calls of libraries in between."""
    caller = frame.f_back
    while caller is not None and module_of(caller) is None:
        caller = caller.f_back
    return None if caller is None else module_of(caller)


@dataclass(frozen=True)
class Imports:
    """Imports between modules, and between rooms: the modules and folders directly in the package."""

    modules: grimp.ImportGraph
    rooms: grimp.ImportGraph
    importers_of_root: int

    def go_back(self, caller: str, callee: str) -> bool:
        """Return whether a call goes to a module or room that is built on the caller's."""
        return _is_above(self.modules, callee, caller) or _is_above(self.rooms, room_of(callee), room_of(caller))

    def back(self, trace: Trace, by_executors: bool) -> Counter[tuple[str, str]]:
        """Return the calls that go back, of executors or of all others."""
        return Counter(
            {
                pair: count
                for pair, count in trace.called.items()
                if self.go_back(*pair) and bool(EXECUTORS & set(pair[0].split("."))) == by_executors
            }
        )


def read_imports() -> Imports:
    """Return the imports of the package, without those of its root and by its root."""
    modules = grimp.build_graph(PACKAGE, cache_dir=None)
    importers = modules.find_modules_that_directly_import(PACKAGE)
    for module in importers:
        modules.remove_import(importer=module, imported=PACKAGE)
    for module in modules.find_modules_directly_imported_by(PACKAGE):
        modules.remove_import(importer=PACKAGE, imported=module)
    rooms = deepcopy(modules)
    for child in rooms.find_children(PACKAGE):
        rooms.squash_module(child)
    return Imports(modules, rooms, len(importers))


def room_of(module: str) -> str:
    """Return the room of a module."""
    return ".".join(module.split(".")[:2])


def _is_above(graph: grimp.ImportGraph, upper: str, lower: str) -> bool:
    return upper != lower and graph.chain_exists(upper, lower) and not graph.chain_exists(lower, upper)


def longest_chain(graph: grimp.ImportGraph) -> str:
    """Return how many members the longest chain of imports has, or a cycle, which has no end."""
    imported = {name: graph.find_modules_directly_imported_by(name) - {name} for name in sorted(graph.modules)}
    level: dict[str, int] = {}
    try:
        for name in TopologicalSorter(imported).static_order():
            level[name] = 1 + max((level[other] for other in imported[name]), default=0)
    except CycleError as error:
        return "cycle: " + " → ".join(short(name) for name in error.args[1])
    return str(max(level.values()))


def layers_in_contract(pyproject: Path) -> str:
    """Return the number of layers of rooms that import-linter checks."""
    linter = tomllib.loads(pyproject.read_text())["tool"].get("importlinter", {"contracts": []})
    layers = [contract["layers"] for contract in linter["contracts"] if contract.get("containers") == [PACKAGE]]
    return str(len(layers[0])) if layers else "none"


def estimation() -> Callable[[], object]:
    """Return one estimate of a divergence, between samples that differ along one direction of six."""
    random = np.random.default_rng(0)
    p, q = random.normal(size=(400, 6)), random.normal(size=(400, 6))
    p[:, 0] = 0.4 * p[:, 0] + random.choice([-1.0, 1.0], 400)
    return lambda: import_module(PACKAGE).kl_divergence(p, q)


def inspection() -> Callable[[], object]:
    """Return the check of one image, by an inspector fitted on good ones."""
    images = np.random.default_rng(0).random((8, 64, 64))
    inspector = inspector_class()().fit(images[:-1])
    return lambda: inspector.check(images[-1])


def inspector_class() -> Any:
    """Return `SurfaceInspector`, from the first place that has it."""
    for name in INSPECTOR:
        try:
            return import_module(f"{PACKAGE}.{name}").SurfaceInspector
        except (ModuleNotFoundError, AttributeError):
            continue
    raise SystemExit(f"There is no SurfaceInspector in any of {', '.join(INSPECTOR)}.")


def table(source: Path, imports: Imports, traces: dict[str, Trace]) -> dict[str, object]:
    """Return the figures under their names."""
    names = [path.stem for path in (source / PACKAGE).glob("*.py") if path.stem != "__init__"]
    private = sum(name.startswith("_") for name in names)
    figures: dict[str, object] = {
        "modules directly in the package": f"{len(names)} ({private} private)",
        "folders directly in the package": len(list((source / PACKAGE).glob("*/__init__.py"))),
        "import levels, of modules": longest_chain(imports.modules),
        "import levels, of rooms": longest_chain(imports.rooms),
        "layers in the contract": layers_in_contract(source.parent / "pyproject.toml"),
        "modules that import the root": imports.importers_of_root,
    }
    for name, trace in traces.items():
        figures[f"{name}: modules touched"] = len(trace.touched)
        figures[f"{name}: rooms touched"] = len({room_of(module) for module in trace.touched})
        figures[f"{name}: calls back"] = imports.back(trace, by_executors=False).total()
        figures[f"{name}: calls of work by executors"] = imports.back(trace, by_executors=True).total()
    return figures


def short(module: str) -> str:
    """Return a module's name without that of the package."""
    return module.removeprefix(f"{PACKAGE}.")


def print_pairs(title: str, pairs: Counter[tuple[str, str]]) -> None:
    """Print how often one module called another, most frequent first."""
    print(f"\n{title}: {'' if pairs else 'none'}")
    for (caller, callee), count in pairs.most_common():
        print(f"{count:7,}  {short(caller)} → {short(callee)}")


def main() -> None:
    """Print the table, and below it the calls that go back."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=Path, default=Path(__file__).parents[1] / "src", help="the folder with vwkde")
    source = parser.parse_args().source.absolute()
    sys.path.insert(0, str(source))
    warnings.simplefilter("ignore")
    recorder, imports = Recorder(), read_imports()
    runs = {"kl_divergence": estimation(), "SurfaceInspector.check": inspection()}
    traces = {name: recorder.record(run) for name, run in runs.items()}
    for name, figure in table(source, imports, traces).items():
        print(f"| {name} | {figure} |")
    for name, trace in traces.items():
        print_pairs(f"{name}: calls back", imports.back(trace, by_executors=False))
        print_pairs(f"{name}: calls of work by executors", imports.back(trace, by_executors=True))


if __name__ == "__main__":
    main()
