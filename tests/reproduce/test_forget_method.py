"""A record can be prepared for running one method again."""

import json
import runpy
from pathlib import Path

import pytest

from vwkde.reproduce.core.figure import WHOLE
from vwkde.reproduce.figures import fig4, fig5

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize("figure", [fig4.FIGURE, fig5.FIGURE], ids=lambda figure: figure.name)
def test_only_the_tasks_of_the_method_are_left(figure):
    record = json.loads((ROOT / "docs" / "results" / figure.name / "results.json").read_text(encoding="utf-8"))
    entries = list(runpy.run_path(str(ROOT / "tools" / "forget_method.py"))["entries"](record, "default"))
    done = {entry["task"] for entry in entries if "task" in entry}
    left = {task.name for task in figure.tasks(WHOLE)} - done
    assert left == {task.name for task in figure.tasks(WHOLE) if task.name.endswith("/default")}
    assert all("versions" in entry for entry in entries[: len(record["versions"])])
