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


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


def test_python_snippets_run(capsys):
    snippets = blocks("python")
    assert len(snippets) == 1
    for snippet in snippets:
        exec(snippet, {})
    assert capsys.readouterr().out.startswith("kl = ")


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


@pytest.mark.parametrize("target", [t for t in re.findall(r"\]\(([^)]+)\)", README) if "://" not in t])
def test_links_lead_somewhere(target):
    assert (ROOT / target).exists()


def test_citation_names_the_paper():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["preferred-citation"]["title"] == "Variational Weighting for Kernel Density Ratios"
    assert len(citation["preferred-citation"]["authors"]) == 5
