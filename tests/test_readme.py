"""What the README and its neighbours show is run here."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml

from vwkde.surfaces import make_surfaces

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
CHOOSING = (ROOT / "docs" / "choosing.md").read_text()
INSPECTION = (ROOT / "docs" / "inspection.md").read_text()


def blocks(language, page=README):
    return re.findall(rf"```{language}\n(.*?)```", page, flags=re.DOTALL)


def test_python_snippets_run(capsys):
    (snippet,) = blocks("python")
    exec(snippet, {})
    assert capsys.readouterr().out.startswith("kl = ")


def test_the_calls_of_the_guide_to_variants_run():
    pytest.importorskip("torch")
    (snippet,) = blocks("python", CHOOSING)
    calls = [line for line in snippet.splitlines() if line.startswith("vwkde.")]
    assert len(calls) == 8
    setup = {}
    exec(snippet.split(calls[0])[0], setup)
    for call in calls:
        assert 0 < eval(call, setup).value < 4, call


def commands(page):
    """Return the commands that a page shows, without their comments."""
    lines = [line for block in blocks("console", page) for line in block.splitlines() if line.startswith("vwkde ")]
    return [shlex.split(line, comments=True) for line in lines]


def run(command, folder):
    program, *arguments = command
    return subprocess.run([f"{sys.prefix}/bin/{program}", *arguments], cwd=folder, capture_output=True, text=True)


def test_shell_commands_run(tmp_path):
    shown = [command for command in commands(README) if command[1] != "inspect"]
    assert len(shown) == 2
    random = np.random.default_rng(0)
    for name in ("today", "reference", "new"):
        np.savetxt(tmp_path / f"{name}.csv", random.normal(size=(60, 2)), delimiter=",", header="a,b", comments="")
    for command in shown:
        assert run(command, tmp_path).returncode == 0
    assert (tmp_path / "ratios.csv").stat().st_size > 0


@pytest.mark.parametrize("page", [README, INSPECTION], ids=["README", "inspection"])
def test_commands_of_inspection_run(page, tmp_path):
    """All but the demonstration, which has a test of its own."""
    from vwkde.inspection.images import encode_png

    shown = [command for command in commands(page) if command[1:3] != ["inspect", "demo"] and command[1] == "inspect"]
    surfaces = make_surfaces("brushed", n_good=28, n_bad=1, size=128)
    pixels = np.rint(255 * surfaces.images).astype(np.uint8)
    for folder, chosen in (("good", pixels[:22]), ("more-good", pixels[22:26]), ("new", pixels[26:])):
        (tmp_path / folder).mkdir()
        for place, image in enumerate(chosen):
            (tmp_path / folder / f"{place}.png").write_bytes(encode_png(image))
    statuses = {command[2]: run(command, tmp_path).returncode for command in shown}
    assert statuses.pop("check") == 1  # there is a defect
    assert set(statuses.values()) == {0}
    assert (tmp_path / "run" / "report.html").stat().st_size > 0


def test_the_snippet_of_inspection_runs(capsys):
    (snippet,) = blocks("python", INSPECTION)
    exec(snippet, {})
    assert capsys.readouterr().out.startswith("NG ")


def test_make_targets_exist():
    targets = re.findall(r"^make (\w+)", "\n".join(blocks("console")), flags=re.MULTILINE)
    makefile = (ROOT / "Makefile").read_text()
    assert targets == ["demo", "test"]
    assert all(re.search(rf"^{target}:", makefile, flags=re.MULTILINE) for target in [*targets, "lint", "bench"])


@pytest.mark.parametrize(
    "target",
    [
        folder / target
        for folder, page in ((ROOT, README), (ROOT / "docs", CHOOSING), (ROOT / "docs", INSPECTION))
        for target in re.findall(r"\]\(([^)]+)\)", page)
        if "://" not in target
    ],
)
def test_links_lead_somewhere(target):
    assert target.exists()


def test_citation_names_the_paper():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["preferred-citation"]["title"] == "Variational Weighting for Kernel Density Ratios"
    assert len(citation["preferred-citation"]["authors"]) == 5
