"""`vwkde inspect` on a Dask cluster gives the same results as without."""

import json
import sys

import numpy as np
import pytest

from vwkde.cli.main import main
from vwkde.inspection import make_surfaces
from vwkde.inspection.data.images import encode_png

distributed = pytest.importorskip("distributed", reason="vwkde[dask] is not installed")


@pytest.fixture
def address():
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0")
    with cluster:
        yield cluster.scheduler_address


@pytest.fixture
def run(tmp_path, capfd, monkeypatch):
    surfaces = make_surfaces("brushed", n_good=24, n_bad=2, size=96)
    pixels = np.rint(255 * surfaces.images).astype(np.uint8)
    for folder, chosen in (("good", pixels[:20]), ("new", pixels[20:])):
        (tmp_path / folder).mkdir()
        for place, image in enumerate(chosen):
            (tmp_path / folder / f"{place}.png").write_bytes(encode_png(image))
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["vwkde", "inspect", *arguments])
        with pytest.raises(SystemExit) as stop:
            main()
        return stop.value.code or 0, capfd.readouterr().out

    return run


def test_fit_and_check_on_workers_say_what_they_say_alone(run, address):
    scores = []
    for place in ([], ["--dask", address]):
        assert run("fit", "good", "-o", "part.vwkde", *place)[0] == 0
        _, out = run("check", "new", "-m", "part.vwkde", "--json", *place)
        scores.append({row["image"]: row["score"] for row in json.loads(out)["images"]})
    assert list(scores[0]) == list(scores[1])
    np.testing.assert_allclose(list(scores[0].values()), list(scores[1].values()), rtol=1e-9)
    assert len(scores[0]) == 6
