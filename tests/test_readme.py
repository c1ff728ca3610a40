"""What the README and its neighbours show is run here."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
CHOOSING = (ROOT / "docs" / "choosing.md").read_text()


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


def test_shell_commands_run(tmp_path):
    commands = [line for block in blocks("console") for line in block.splitlines() if line.startswith("vwkde ")]
    assert len(commands) == 2
    random = np.random.default_rng(0)
    for name in ("today", "reference", "new"):
        np.savetxt(tmp_path / f"{name}.csv", random.normal(size=(60, 2)), delimiter=",", header="a,b", comments="")
    for command in commands:
        program, *arguments = shlex.split(command)
        subprocess.run([f"{sys.prefix}/bin/{program}", *arguments], cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "ratios.csv").stat().st_size > 0


def test_make_targets_exist():
    targets = re.findall(r"^make (\w+)", "\n".join(blocks("console")), flags=re.MULTILINE)
    makefile = (ROOT / "Makefile").read_text()
    assert targets == ["demo", "test"]
    assert all(re.search(rf"^{target}:", makefile, flags=re.MULTILINE) for target in [*targets, "lint", "bench"])


@pytest.mark.parametrize(
    "target",
    [
        folder / target
        for folder, page in ((ROOT, README), (ROOT / "docs", CHOOSING))
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
