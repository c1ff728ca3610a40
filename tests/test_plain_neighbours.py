"""The plain nearest neighbours with which benchmarks/surfaces.py compares."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("safetensors")
pytest.importorskip("onnxruntime")

from support.onnx_file import network
from support.serving import as_seen, surface
from vwkde.inspection.data.layouts import Item
from vwkde.inspection.runs.evaluator import Evaluator

sys.path.append(str(Path(__file__).parent.parent / "benchmarks"))
plain_neighbours = importlib.import_module("plain_neighbours")
RANDOM = np.random.default_rng(8)


def test_kept_points_are_always_the_farthest():
    points = RANDOM.normal(size=(60, 3)).astype(np.float32)
    places = plain_neighbours.farthest(points, 12)
    for count in range(1, 12):
        away = np.linalg.norm(points[:, None] - points[places[:count]], axis=2).min(axis=1)
        assert places[count] == away.argmax()
    assert sorted(plain_neighbours.farthest(points, 100)) == list(range(60))


def test_distances_are_those_of_a_plain_search():
    patches, kept = (RANDOM.normal(size=(count, 4)).astype(np.float32) for count in (700, 90))
    plain = np.square(patches[:, None] - kept).sum(axis=2).min(axis=1)
    np.testing.assert_allclose(plain_neighbours.squares(patches, kept), plain, atol=1e-5)


def test_a_defect_has_the_highest_score_and_is_located(tmp_path):
    (tmp_path / "net.onnx").write_bytes(network())
    good = [(str(seed), as_seen(surface(seed))) for seed in range(8)]
    neighbours = plain_neighbours.PlainNeighbours(f"onnx:{tmp_path / 'net.onnx'}").fit(good[:6])
    defect = good[7][1].copy()
    defect[40:72, 40:72] = 1
    plain, found = neighbours.check(good[6][1], "good"), neighbours.check(defect, "bad")
    assert found.score > 1.5 * plain.score
    row, column = np.unravel_index(found.log_ratio.argmax(), found.log_ratio.shape)
    assert 36 <= row < 76
    assert 36 <= column < 76
    evaluator = Evaluator(0.05)
    for name, defective, result in (("good", False, plain), ("bad", True, found)):
        evaluator.add(Item(name, tmp_path / name, defective=defective), result, (defect == 1) if defective else None)
    assert evaluator.evaluate().values["voc_average_precision"] == 1
