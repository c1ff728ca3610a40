"""What the page on scale shows of a cluster is run here; the rest of it runs with the other pages."""

import re
from pathlib import Path

import numpy as np
import pytest

PAGE = (Path(__file__).parent.parent / "docs" / "scale.md").read_text()
*_, CLUSTER = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)


@pytest.fixture
def _samples(tmp_path, monkeypatch):
    random = np.random.default_rng(0)
    np.save(tmp_path / "p.npy", random.normal(size=(400, 2)))
    np.save(tmp_path / "q.npy", random.normal(0.5, 1, (400, 2)))
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("_samples")
@pytest.mark.filterwarnings("ignore:Port")
def test_the_snippet_on_a_cluster_runs(capsys):
    pytest.importorskip("distributed", reason="vwkde[dask] is not installed")
    exec(CLUSTER, {"__name__": "__main__"})
    first, second = re.findall(r"^kl = (\S+)", capsys.readouterr().out, flags=re.MULTILINE)
    assert first == second
