"""Evaluations: which images are tested, the figures, and that labels affect only the figures."""

import csv
import json
import os
from dataclasses import replace
from io import StringIO

import numpy as np
import pytest
from rich.console import Console
from sklearn.metrics import roc_auc_score
from typer.testing import CliRunner

pytest.importorskip("safetensors")
pytest.importorskip("PIL")

from PIL import Image

from vwkde.cli import inspect_summaries, inspect_work
from vwkde.cli.main import app
from vwkde.inspection import Inspection, make_surfaces
from vwkde.inspection.data.layouts import Item, Layout, LayoutError
from vwkde.inspection.data.trials import with_model, without_model
from vwkde.inspection.report import write_overview
from vwkde.inspection.runs import evaluator as evaluator_module
from vwkde.inspection.runs.evaluation import Evaluation, Measure, Share
from vwkde.inspection.runs.evaluator import Evaluator
from vwkde.inspection.runs.inputs import images_to_check
from vwkde.inspection.runs.records import ModelInfo, RunRecord, State
from vwkde.inspection.runs.summary import Summary

SIZE = 128


def save(path, pixels):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.rint(255 * np.asarray(pixels, float)).astype(np.uint8)).save(path)


def write_set(folder, kind, fitted=20, tested=6, defective=6):
    """Write a data set in MVTec's layout."""
    surfaces = make_surfaces(kind, fitted + tested, defective, SIZE)
    for place, (image, mask, defect) in enumerate(zip(surfaces.images, surfaces.masks, surfaces.defects, strict=True)):
        if defect:
            save(folder / "test" / defect / f"{place}.png", image)
            save(folder / "ground_truth" / defect / f"{place}_mask.png", mask)
        else:
            save(folder / ("train" if place < fitted else "test") / "good" / f"{place}.png", image)


def run(*arguments):
    return CliRunner().invoke(app, ["inspect", *map(str, arguments)])


def read(folder):
    record = json.loads((folder / "results.json").read_text())
    return record, list(csv.DictReader((folder / "scores.csv").read_text().splitlines()))


@pytest.fixture(scope="module", autouse=True)
def _few_draws():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluator_module, "_REPETITIONS", 40)
        yield


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    write_set(folder / "woven", "woven")
    return folder / "woven"


@pytest.fixture(scope="module")
def evaluated(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("evaluated") / "run"
    done = run("eval", data, "-o", folder)
    assert done.exit_code == 0, done.output
    return folder, done.output


def items(*names, defective=False):
    return tuple(Item(None, name, defective) for name in names)


def test_without_a_model_test_images_are_those_of_the_data_set():
    layout = Layout("mvtec", items("train/1", "train/2"), (*items("test/good/1"), *items("x", defective=True)))
    assert without_model(layout, None, 0) == layout


def test_without_a_model_and_good_tests_half_are_held_out():
    paths = [Item(f"path {place}", f"Class1/{place}.png") for place in range(10)]
    layout = Layout("dagm", tuple(paths), items("Class1_def/1.png", defective=True))
    divided = without_model(layout, None, 0)
    tested = [item.name for item in divided.test if not item.defective]
    assert len(tested) == len(divided.good) == 5
    assert {item.name for item in divided.good} | set(tested) == {item.name for item in paths}
    assert len(without_model(layout, 0.2, 0).good) == 8


def test_a_model_is_tested_on_good_images_that_it_did_not_learn():
    bad = items("bad/1.png", defective=True)
    layout = Layout("folders", items("good/1.png", "good/2.png", "good/3.png"), bad)
    for learnt in (["good/1.png", "good/3.png"], ["1.png", "3.png"], ["x/good/1.png", "y/good/3.png"]):
        tested = with_model(layout, dict.fromkeys(learnt), None, 0).test
        assert [(item.name, item.defective) for item in tested] == [("good/2.png", False), ("bad/1.png", True)]
    with pytest.raises(LayoutError, match="none is left to test"):
        with_model(layout, dict.fromkeys(["1.png", "2.png", "3.png"]), None, 0)


def test_a_model_is_not_tested_on_what_it_learnt_by_another_seed():
    layout = Layout("folders", tuple(Item(f"{place}", f"good/{place}.png") for place in range(8)), ())
    learnt = [item.name for item in layout.divided(0.5, 0).good]
    assert len(with_model(layout, dict.fromkeys(learnt), 0.5, 0).test) == 4
    for names in (learnt, [name.removeprefix("good/") for name in learnt]):
        with pytest.raises(LayoutError, match="were learnt"):
            with_model(layout, dict.fromkeys(names), 0.5, 1)


def test_images_that_were_learnt_are_known_by_their_pixels(tmp_path):
    for place, image in enumerate(make_surfaces("woven", 12, 1, SIZE).images):
        save(tmp_path / "data" / ("good" if place < 12 else "bad") / f"{place}.png", image)
    model = tmp_path / "part.vwkde"
    for place in range(6):
        path = tmp_path / "data" / "good" / f"{place}.png"
        path.parent.with_name("learnt").mkdir(exist_ok=True)
        (path.parent.with_name("learnt") / f"other name {place}.png").write_bytes(path.read_bytes())
    assert run("fit", tmp_path / "data" / "learnt", "-o", model, "--rate", 0.2, "--features", "texture").exit_code == 0
    (tmp_path / "data" / "learnt").rename(tmp_path / "learnt")
    done = run("eval", tmp_path / "data", "-m", model, "-o", tmp_path / "run")
    assert done.exit_code == 0, done.exception
    tested = {row["image"] for row in read(tmp_path / "run")[1] if row["label"] == "good"}
    assert tested == {f"good/{place}.png" for place in range(6, 12)}
    done = run("eval", tmp_path / "data", "-m", model, "-o", tmp_path / "other", "--hold-out", 0.5)
    assert "of the good images to test were learnt" in str(done.exception)
    assert not (tmp_path / "other").exists()


def test_images_of_one_name_may_be_learnt_and_tested(data, tmp_path):
    (tmp_path / "data").mkdir()
    for name in ("train", "test"):
        for place, path in enumerate(sorted((data / name / "good").iterdir())):
            save(tmp_path / "data" / name / "good" / f"{place}.png", np.asarray(Image.open(path)) / 255)
    assert (
        run(
            "fit", tmp_path / "data" / "train" / "good", "-o", tmp_path / "part.vwkde", "--features", "texture"
        ).exit_code
        == 0
    )
    done = run("eval", tmp_path / "data", "-m", tmp_path / "part.vwkde", "-o", tmp_path / "run")
    assert done.exit_code == 0, done.exception
    assert len(read(tmp_path / "run")[1]) == 6


def test_an_evaluation_needs_labels():
    layout = Layout("dagm-2", items("1"), (*items("2"), *items("3", defective=None)))
    with pytest.raises(LayoutError, match="not known which images are defective"):
        without_model(layout, None, 0)


def inspection(score, ratio_map):
    """An image that is rejected if its score is above 1."""
    return Inspection("image", score, 0.5, 1.0, "good", ratio_map, 2.0, 1.0)


def evaluated_run(evaluation):
    """The record of a run over nothing, with an evaluation."""
    model = ModelInfo("part.vwkde", 20, "gradient", 0.05, 1.0, 2.0)
    return RunRecord(State.COMPLETE, 0, "0", "data", model, (), "2024-01-01T00:00:00", evaluation=evaluation)


def test_figures_by_hand():
    mask = np.zeros((40, 40), bool)
    mask[10:20, 10:20] = True
    right, wrong = 1.0 * mask, 1.0 * np.roll(mask, 15, 1)
    evaluator = Evaluator(0.1)
    cases = [
        ("test/scratch/1", True, 3.0, 5 * right, mask),
        ("test/spot/2", True, 0.5, 0.1 * wrong, mask),
        ("test/spot/3", True, 4.0, wrong, None),
        ("test/good/4", False, 0.7, 0.2 * right, None),
        ("test/good/5", False, 2.0, 0.3 * right, None),
    ]
    for name, defective, score, ratio_map, its_mask in cases:
        evaluator.add(Item(None, name, defective), inspection(score, ratio_map.astype(np.float32)), its_mask)
    found = evaluator.evaluate()
    values = {each.name: each.value for each in found.measures}
    assert values["image_auroc"] == pytest.approx(4 / 6, abs=1e-6)
    assert values["image_average_precision"] == pytest.approx((1 + 1 + 3 / 5) / 3, abs=1e-6)
    # One of two defects is found by the surest of four detections; the third case has no mask and does not count.
    assert values["voc_average_precision"] == pytest.approx(0.5)
    assert 0.6 < values["pixel_auroc"] < 0.8
    assert found.without_mask == 1
    assert found.confusion == {
        "defective_rejected": 2,
        "defective_passed": 1,
        "good_rejected": 1,
        "good_passed": 1,
    }
    assert found.by_kind == {"scratch": Share(1, 1), "spot": Share(1, 2)}
    assert all(each.low <= each.value <= each.high for each in found.measures)
    assert np.isfinite(json.loads(json.dumps(found.to_dict()))["false_rejects"]["rate"])


def test_the_interval_of_a_share_is_the_exact_one():
    assert Share(0, 20).interval == pytest.approx((0, 1 - 0.025 ** (1 / 20)))
    assert Share(20, 20).interval == pytest.approx((0.025 ** (1 / 20), 1))


def test_only_good_images_give_the_rate_of_false_rejects_alone():
    evaluator = Evaluator(0.1)
    for score in (2.0, 1.0, 1.0, 1.0):
        evaluator.add(Item(None, "good/1", False), inspection(score, np.ones((9, 9), np.float32)), None)
    found = evaluator.evaluate()
    assert found.measures == ()
    assert found.found is None
    assert found.false_rejects == Share(1, 4)
    assert found.roc is None


def test_an_evaluation_tells_what_its_table_holds(evaluated):
    folder, output = evaluated
    record, rows = read(folder)
    assert len(rows) == 12
    defective = [row["label"] == "defective" for row in rows]
    assert sum(defective) == 6
    auroc = roc_auc_score(defective, [float(row["score"]) for row in rows])
    assert record["metrics"]["measures"]["image_auroc"]["value"] == pytest.approx(auroc, abs=1e-5)
    assert auroc > 0.8
    assert record["metrics"]["measures"]["pixel_auroc"]["value"] > 0.8
    rejected = [row["verdict"] == "NG" for row in rows]
    assert record["metrics"]["found"]["count"] == sum(np.logical_and(rejected, defective))
    assert set(record["metrics"]["found_by_kind"]) == {"missing-thread", "spot", "stain"}
    assert f"{auroc:.3f}" in output
    page = (folder / "report.html").read_text()
    for words in ("ROC curve", "Precision and recall", "AUPRO", "Labels were not used", "stated rate is 5 %"):
        assert words in page


def test_a_saved_model_gives_the_same_figures(data, evaluated, tmp_path):
    done = run("eval", data, "-m", evaluated[0] / "model.vwkde", "-o", tmp_path / "run", "--json")
    assert done.exit_code == 0, done.output
    printed = json.loads(done.stdout)
    first, _ = read(evaluated[0])
    assert printed["metrics"] == first["metrics"]
    assert printed == read(tmp_path / "run")[0]
    assert not (tmp_path / "run" / "model.vwkde").exists()


def test_labels_have_no_part_in_scores_and_threshold(data, evaluated, tmp_path):
    folders = {"good": "bad", "missing-thread": "good"}
    for path in (data / "test").rglob("*.png"):
        to = tmp_path / "data" / "test" / folders.get(path.parent.name, "bad") / path.name
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_bytes(path.read_bytes())
    (tmp_path / "data" / "train").symlink_to(data / "train")
    done = run("eval", tmp_path / "data", "-o", tmp_path / "run")
    assert done.exit_code == 0, done.output

    def judged(folder):
        return {
            row["image"].split("/")[-1]: (row["score"], row["threshold"], row["verdict"]) for row in read(folder)[1]
        }

    assert judged(tmp_path / "run") == judged(evaluated[0])
    measures = [read(folder)[0]["metrics"]["measures"] for folder in (tmp_path / "run", evaluated[0])]
    assert measures[0]["image_auroc"] != measures[1]["image_auroc"]


def test_a_bad_mask_is_told_and_the_rest_is_scored(data, evaluated, tmp_path):
    for path in data.rglob("*.png"):
        to = tmp_path / "data" / path.relative_to(data)
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_bytes(path.read_bytes())
    mask = next((tmp_path / "data" / "ground_truth").rglob("*.png"))
    Image.new("L", (9, 9)).save(mask)
    done = run("eval", tmp_path / "data", "-m", evaluated[0] / "model.vwkde", "-o", tmp_path / "run")
    assert done.exit_code == 2
    assert "the mask has 9×9 pixels" in done.stderr.replace("\n", " ")
    record, rows = read(tmp_path / "run")
    assert record["counts"]["ERROR"] == 1
    assert sum(row["verdict"] != "ERROR" for row in rows) == 11
    assert record["metrics"]["found"]["of"] == 5


def test_several_data_sets_of_the_older_layout(tmp_path):
    for name in ("Class1", "Class2"):
        surfaces = make_surfaces("granular", 12, 3, SIZE)
        for place, image in enumerate(surfaces.images):
            folder = name if place < 12 else f"{name}_def"
            save(tmp_path / "data" / folder / f"{place:03}.png", image)
        lines = (f"{place}\t20\t10\t0.5\t60\t60" for place in range(12, 15))
        (tmp_path / "data" / f"{name}_def" / "labels.txt").write_text("\n".join(lines))
    done = run("eval", tmp_path / "data", "-o", tmp_path / "run", "--rate", 0.2, "--features", "texture")
    assert done.exit_code == 0, done.output
    record = json.loads((tmp_path / "run" / "results.json").read_text())
    assert set(record["data_sets"]) == {"Class1", "Class2"}
    values = [each["metrics"]["measures"]["image_auroc"]["value"] for each in record["data_sets"].values()]
    assert record["mean"]["image_auroc"] == pytest.approx(np.mean(values), abs=1e-5)
    assert all(each["metrics"]["false_rejects"]["of"] == 6 for each in record["data_sets"].values())
    assert "Class1/report.html" in (tmp_path / "run" / "report.html").read_text()
    for name in ("Class1", "Class2"):
        assert (tmp_path / "run" / name / "report.html").is_file()

    # A model that learnt part of a class is tested on the other part, and on no image that it learnt.
    model, root = tmp_path / "part.vwkde", tmp_path / "data" / "Class1"
    assert (
        run("fit", root, "-o", model, "--hold-out", 0.25, "--seed", 3, "--rate", 0.2, "--features", "texture").exit_code
        == 0
    )
    assert run("eval", root, "-m", model, "-o", tmp_path / "one").exit_code == 0
    with_seed = run("eval", root, "-m", model, "-o", tmp_path / "two", "--hold-out", 0.25, "--seed", 3)
    assert with_seed.exit_code == 0
    tested = [{row["image"] for row in read(tmp_path / folder)[1]} for folder in ("one", "two")]
    assert tested[0] == tested[1]
    assert len(tested[0]) == 3 + 3


def test_a_dry_run_tells_what_would_be_tested(data, tmp_path):
    done = run("eval", data, "--dry-run", "-o", tmp_path / "run")
    assert done.exit_code == 0
    assert "6 good, 6 defective, 6 with mask" in done.stdout
    assert not (tmp_path / "run").exists()


def test_masks_of_a_data_set_are_not_checked(data, evaluated, tmp_path):
    done = run("check", data, "-m", evaluated[0] / "model.vwkde", "-o", tmp_path / "run")
    assert done.exit_code == 1, done.output
    names = [row["image"] for row in read(tmp_path / "run")[1]]
    assert len(names) == 12
    again = run("check", data, "-m", evaluated[0] / "model.vwkde", "-o", tmp_path / "run", "--json")
    assert json.loads(again.stdout) == read(tmp_path / "run")[0]
    assert all(name.startswith("test/") for name in names)
    assert "label" not in read(tmp_path / "run")[1][0]


def test_a_flat_folder_can_show_its_rate_of_false_rejects():
    layout = Layout("flat", items("a", "b"), items("a", "b", defective=None))
    layout = replace(layout, good=tuple(replace(item, path=item.name) for item in layout.good))
    layout = replace(layout, test=tuple(replace(item, path=item.name) for item in layout.test))
    divided = without_model(layout, None, 0)
    assert [item.defective for item in divided.test] == [False]
    assert len(divided.good) == 1


@pytest.mark.parametrize("setting", [("--features", "pretty"), ("--rate", "2")])
def test_a_setting_that_cannot_be_costs_no_earlier_results(data, tmp_path, setting):
    (tmp_path / "overlays").mkdir()
    (tmp_path / "overlays" / "1.png").write_bytes(b"a picture")
    record = {"format": "vwkde-inspection-run", "state": "complete", "images": [{"overlay": "overlays/1.png"}]}
    for name, text in (("results.json", json.dumps(record)), ("scores.csv", "image"), ("report.html", "<p>")):
        (tmp_path / name).write_text(text)
    done = run("eval", data, "-o", tmp_path, *setting)
    assert "parameter must" in str(done.exception)
    assert json.loads((tmp_path / "results.json").read_text()) == record
    assert sum(path.is_file() for path in tmp_path.rglob("*")) == 4


def test_results_of_before_do_not_stand_for_an_evaluation_that_failed(data, tmp_path, monkeypatch):
    record = {"format": "vwkde-inspection-run", "state": "complete", "images": []}
    (tmp_path / "results.json").write_text(json.dumps(record))
    seen = []

    def fail(*_):
        seen.append(json.loads((tmp_path / "results.json").read_text())["state"])
        raise RuntimeError("no more memory")

    monkeypatch.setattr(inspect_work, "fit", fail)
    assert str(run("eval", data, "-o", tmp_path).exception) == "no more memory"
    assert seen == ["running"]
    assert json.loads((tmp_path / "results.json").read_text())["state"] == "stopped"


def test_a_data_set_may_be_called_anything(tmp_path):
    judged = evaluated_run(Evaluation((), Share(1, 2), None, {}, 0.05, 0, None, None))
    summary = Summary(dict.fromkeys(("part[/old]", os.fsdecode(b"caf\xe9 [red]")), judged))
    with inspect_summaries.screen.capture() as printed:
        inspect_summaries.print_overview(summary)
    assert "part[/old]" in printed.get()
    assert "[red]" in printed.get()
    assert set(json.loads(json.dumps(summary.to_json()))["data_sets"]) == {"part[/old]", "caf\\udce9 [red]"}
    write_overview(tmp_path, summary.evaluations)
    page = (tmp_path / "report.html").read_text()
    assert 'href="part%5B/old%5D/report.html"' in page
    assert 'href="caf%E9%20%5Bred%5D/report.html"' in page


def test_the_overview_fits_a_terminal(monkeypatch):
    titles = ("Image AUROC", "Image AP", "Pixel AUROC", "AUPRO", "VOC AP")
    measures = tuple(Measure(title, title, 0.9, 0.8, 1.0) for title in titles)
    judged = Evaluation(measures, Share(14, 18), Share(10, 20), {}, 0.05, 0, None, None)
    monkeypatch.setattr(inspect_summaries, "screen", Console(width=80, file=StringIO()))
    inspect_summaries.print_overview(Summary({"granular": evaluated_run(judged)}))
    printed = inspect_summaries.screen.file.getvalue()
    assert "…" not in printed
    assert all(words in printed for words in ("granular", "14 of 18", "10 of 20", "rejected", "0.900"))


def test_a_data_set_that_is_slightly_broken_is_not_checked_as_loose_images(tmp_path):
    for name in ("Train/1.png", "Test/1.png", "Test/Label/2_label.PNG"):
        save(tmp_path / name, np.zeros((40, 40)))
    with pytest.raises(LayoutError, match="there is no image for this label"):
        images_to_check(tmp_path)
