"""The results pages of the documentation follow from the numbers in their folders."""

import json
import re
from pathlib import Path

import pytest

from vwkde.reproduce import FIGURES
from vwkde.reproduce.core.figure import WHOLE
from vwkde.reproduce.core.pages import write_overview, write_page
from vwkde.reproduce.surfaces.study import METHODS

RESULTS = Path(__file__).parents[2] / "docs" / "results"
DONE = [name for name in FIGURES if (RESULTS / name / "results.json").exists()]


@pytest.fixture(params=DONE)
def figure(request):
    return FIGURES[request.param]


def test_every_figure_has_a_whole_run(figure):
    record = json.loads((RESULTS / figure.name / "results.json").read_text())
    if figure.on_images:
        assert 1 <= record["repetitions"] <= figure.repetitions
    else:
        assert record["repetitions"] == figure.repetitions == WHOLE.repetitions == 30
    assert not record["quick"]
    if figure.draw is not None:
        assert (RESULTS / figure.name / f"{figure.name}.png").stat().st_size > 10_000


def test_only_tables_on_images_may_be_missing():
    assert set(FIGURES) - set(DONE) <= {"table1", "table2"}


@pytest.mark.skipif("table1" not in DONE, reason="needs a whole run on DAGM's images")
def test_the_tables_are_of_all_classes_and_methods_on_all_images():
    for name in ("table1", "table2"):
        results = json.loads((RESULTS / name / "results.json").read_text())["results"]
        assert results["classes"] == [f"Class{number}" for number in range(1, 7)]
        assert set(results["images"]["Class1"].values()) == {500, 150, 75}
        assert list(results["methods"]) == list(METHODS)
        assert results["digits"] == "MNIST"


def test_the_claims_follow_from_the_numbers(figure):
    record = json.loads((RESULTS / figure.name / "results.json").read_text())
    assert [vars(claim) for claim in figure.claims(record["results"])] == record["claims"]


def test_no_method_failed():
    for name in ("fig4", "fig5"):
        for panel in json.loads((RESULTS / name / "results.json").read_text())["results"].values():
            for method, found in panel["methods"].items():
                assert found["failures"] == [], (name, method)
                assert all(len(values) == 30 for values in found["kl"])


def test_the_pages_are_those_of_the_numbers(tmp_path):
    for name in DONE:
        figure = FIGURES[name]
        (tmp_path / name).mkdir()
        (tmp_path / name / "results.json").write_text((RESULTS / name / "results.json").read_text())
        write_page(tmp_path / name, figure)
        assert (tmp_path / name / "README.md").read_text() == (RESULTS / name / "README.md").read_text()
    write_overview(tmp_path, list(FIGURES.values()))
    assert (tmp_path / "README.md").read_text() == (RESULTS / "README.md").read_text()


def test_links_lead_somewhere():
    for page in RESULTS.rglob("README.md"):
        targets = re.findall(r"\]\(([^)]+)\)", page.read_text())
        assert targets
        assert all((page.parent / target).exists() for target in targets)
