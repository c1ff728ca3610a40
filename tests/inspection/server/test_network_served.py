"""A model with the features of a network is served by the workers, within their limits."""

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("onnxruntime")

from support.onnx_file import network
from support.serving import as_seen, file_of, served, surface
from vwkde.inspection import SurfaceInspector


def test_workers_load_the_network_of_a_model(tmp_path):
    (tmp_path / "net.onnx").write_bytes(network())
    inspector = SurfaceInspector(features=f"onnx:{tmp_path / 'net.onnx'}")
    inspector.fit([(f"good {seed}.png", as_seen(surface(seed))) for seed in range(20)])
    defect = surface(100)
    defect[40:72, 40:72] = 255
    expected = inspector.check(as_seen(defect))
    with served(inspector) as site:
        status, found = site.send("/api/check", file_of(defect))
        assert status == 200, found
        assert (found["verdict"], found["score"]) == ("NG", pytest.approx(expected.score, rel=1e-5))
        assert site.model()["features"] == "onnx:net.onnx"
        assert site.send("/api/add", file_of(surface(300)), "new.png")[0] == 200
        assert site.model()["good_images"] == 21
