"""The report of a run: complete, escaped, self-contained, limited in size, and working in a real browser."""

import base64
import re
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser
from urllib.parse import unquote

import numpy as np
import pytest

pytest.importorskip("safetensors")
pytest.importorskip("PIL")

from PIL import Image
from playwright.sync_api import expect

from support.chromium import chromium, complaints_of, needs_chromium
from vwkde.exceptions import FewImagesWarning
from vwkde.inspection import SurfaceInspector, make_surfaces
from vwkde.inspection.data.layouts import Item
from vwkde.inspection.data.pictures import Pictures
from vwkde.inspection.report import _reading, write_report
from vwkde.inspection.report.cards import pictured_section, table_section
from vwkde.inspection.report.charts import Group, curve, histogram
from vwkde.inspection.report.content import Report
from vwkde.inspection.runs.evaluation import Evaluation, Share
from vwkde.inspection.runs.gallery import MOST_MISSED, MOST_PASSED, MOST_REJECTED, Gallery, Pair
from vwkde.inspection.runs.records import FailureRecord, ImageRecord
from vwkde.inspection.runs.run import run_images

SIZE = 128
HOSTILE = "<script>alert('x')&\"\u202e.png"


class Page(HTMLParser):
    """The elements of a page, each with its attributes, and its text."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.words = [], []
        self._raw = ""
        self.raw = {"script": "", "style": ""}
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self._raw = tag

    def handle_endtag(self, _):
        self._raw = ""

    def handle_data(self, data):
        if self._raw in self.raw:
            self.raw[self._raw] += data
        else:
            self.words.append(data)

    def all(self, tag):
        return [attributes for each, attributes in self.elements if each == tag]


def write_images(folder, images, names):
    folder.mkdir()
    for image, name in zip(images, names, strict=True):
        Image.fromarray(np.rint(255 * image).astype(np.uint8)).save(folder / name)
    return tuple(Item(folder / name, name) for name in names)


def run_and_report(inspector, pictures, folder, source, model):
    found = run_images(inspector, pictures, folder, source, model)
    write_report(folder, Report(found.record, inspector, found.pictures))
    return found.record


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Return the folder of a run over two defective images, one good one and an empty file."""
    folder = tmp_path_factory.mktemp("report")
    surfaces = make_surfaces("woven", 21, 2, SIZE)
    good = (("<b>good</b> " + str(place), image) for place, image in enumerate(surfaces.images[:20]))
    inspector = SurfaceInspector(features="gradient").fit(good)
    items = write_images(folder / "images", surfaces.images[20:], ["fine.png", HOSTILE, "bad # 2?.png"])
    (folder / "images" / "empty.png").touch()
    items += (Item(folder / "images" / "empty.png", "empty.png"),)
    pictures = Pictures(items, inspector.image_shape)
    record = run_and_report(inspector, pictures, folder / "run", "images <i>", "part & co.vwkde")
    assert record.counts.to_json() == {"OK": 1, "NG": 2, "ERROR": 1}
    return folder / "run", record, inspector


@pytest.fixture(scope="module")
def page(run):
    return Page((run[0] / "report.html").read_text(encoding="utf-8"))


def test_a_page_needs_nothing_from_elsewhere(page):
    assert all(each["src"].startswith("data:image/jpeg;base64,") for each in page.all("img"))
    assert page.all("link") == []
    assert len(page.all("script")) == 1
    assert "src" not in page.all("script")[0]
    assert not re.search(r"url\(|@import|https?:", page.raw["style"] + page.raw["script"])
    digest = base64.b64encode(sha256(page.raw["script"].encode()).digest()).decode()
    (policy,) = (each["content"] for each in page.all("meta") if "http-equiv" in each)
    assert policy.startswith("default-src 'none'")
    assert f"script-src 'sha256-{digest}'" in policy


def test_a_page_tells_verdict_counts_errors_and_threshold(run, page):
    words = " ".join(page.words)
    assert "2 of 3 images rejected" in words
    assert "1 file could not be used" in words
    assert "the file is empty" in words
    assert f"{run[2].calibration_.threshold:#.3g} nats" in words
    assert "part & co.vwkde" in words
    assert "images <i>" in words


def test_without_a_threshold_there_is_no_verdict(run, tmp_path):
    folder, _, inspector = run
    with pytest.warns(FewImagesWarning):
        few = SurfaceInspector().fit(list(make_surfaces("woven", 4, 0, SIZE).images))
    items = (Item(folder.parent / "images" / "fine.png", "fine.png"),)
    run_and_report(few, Pictures(items, inspector.image_shape), tmp_path, "images", "part.vwkde")
    words = " ".join(Page((tmp_path / "report.html").read_text(encoding="utf-8")).words)
    assert "No verdict on 1 image: too few good images were learnt" in words
    assert "There is no threshold" in words
    assert "pass" not in words.partition("Images checked")[0]


def test_hostile_names_are_text(page):
    words = "".join(page.words)
    assert HOSTILE.replace("\u202e", "\\u202e") in words
    assert "<b>good</b> " in words
    assert page.all("i") == []
    assert page.all("b") == []


def test_the_worst_come_first_with_map_and_closest_good_image(run, page):
    images = run[1].images
    scores = [image.score for image in images]
    assert scores == sorted(scores, reverse=True)
    assert [each["data-name"] for each in page.all("article")] == [image.image.lower() for image in images]
    assert len(page.all("img")) == 9
    decoded = [base64.b64decode(each["src"].partition(",")[2]) for each in page.all("img")]
    assert all(data.startswith(b"\xff\xd8") for data in decoded)


def test_links_lead_to_the_maps(run, page):
    links = [unquote(each["href"]) for each in page.all("a")]
    assert len(links) == 3
    assert all((run[0] / link).is_file() for link in links)


def test_a_histogram_counts_everything_on_the_right_side():
    good = np.array([1.0, 1.5, 2.0, 2.0])
    batch = np.array([0.9, 2.0, 2.0000001, 2.4, 1e6])
    drawn = Page(histogram([Group("good", good), Group("batch <x>", batch)], 2.0))
    kinds = [each["class"] for each in drawn.all("rect")]
    counts = [int(word.split()[0]) for word in drawn.words if re.fullmatch(r"\d+ (from|above) .+", word)]
    assert sum(counts) == 9
    assert sum(count for count, kind in zip(counts, kinds, strict=True) if kind == "bar fail") == 3
    assert counts[-1] == 1
    assert "batch <x> (5)" in "".join(drawn.words)


def test_a_histogram_without_threshold_or_spread():
    drawn = Page(histogram([Group("good", np.ones(3)), Group("batch", np.ones(1))], np.inf))
    assert [each["class"] for each in drawn.all("rect")] == ["bar pass", "bar pass"]
    Page(histogram([Group("good", np.ones(3)), Group("batch", np.array([5.0]))], 1.0))


def test_a_curve_goes_from_corner_to_corner():
    drawn = Page(curve(np.array([0, 0, 1.0]), np.array([0, 1.0, 1.0]), ("x", "y"), "ROC", (0.0, 1.0)))
    (path,) = (each["d"] for each in drawn.all("path"))
    start, corner, end = (tuple(map(float, place.split(","))) for place in re.findall(r"[\d.]+,[\d.]+", path))
    (dot,) = drawn.all("circle")
    assert (float(dot["cx"]), float(dot["cy"])) == corner
    assert start[0] == corner[0]
    assert start[1] > corner[1]
    assert end[0] > corner[0]
    assert end[1] == corner[1]


def test_pictures_are_bounded_in_number_and_size():
    random = np.random.default_rng(0)
    noise = random.random((256, 256)).astype(np.float32)
    colour = np.rint(255 * random.random((256, 256, 3))).astype(np.uint8)
    gallery = Gallery()
    scores = random.permutation(400)
    for place, score in enumerate(scores):
        found = image_record(f"{score}", "NG" if score >= 250 else "OK", "defective" if score < 60 else None)
        small = noise[:8, :8] if place % 20 else noise
        gallery.add(replace(found, score=float(score)), small, colour[:8, :8] if place % 20 else colour)
    wanted = [*range(MOST_MISSED), *range(250 - MOST_PASSED, 250), *range(400 - MOST_REJECTED, 400)]
    assert sorted(map(int, gallery.pictures)) == wanted
    largest = max(len(pair.image) + len(pair.overlay) for pair in gallery.pictures.values())
    assert largest * len(wanted) < 25e6  # pure noise in colour, which no camera gives; surfaces take a tenth


@pytest.mark.parametrize(
    ("features", "words"),
    [
        ("gradient", "how much an image differs from the most similar good image, in nats"),
        ("texture", "how much the most unusual patches of an image differ from the most similar good images"),
    ],
)
def test_the_score_is_explained_as_the_features_make_it(run, features, words):
    report = Report(run[1], SurfaceInspector(features=features), {})
    assert words in " ".join(Page(_reading(report)).words)


def image_record(name, verdict, label=None):
    return ImageRecord(name, verdict, 1.5, 0.25, 1.0, "good <1>", (), 1.0, f"overlays/{name} #1.png", label)


def test_images_without_a_picture_are_in_a_table(run):
    images = image_record("<a>", "NG"), image_record("b", "OK")
    record = replace(run[1], images=images, failures=(FailureRecord("c", "why"),))
    drawn = Page(table_section(Report(record, run[2], {})))
    assert "The other 2 images" in drawn.words
    assert "<a>" in drawn.words
    assert "c" not in drawn.words
    assert "Label" not in drawn.words
    assert [unquote(each["href"]) for each in drawn.all("a")] == ["overlays/<a> #1.png", "overlays/b #1.png"]
    assert [each["class"] for each in drawn.all("span")] == ["badge ng", "badge ok"]
    assert table_section(Report(replace(record, images=()), run[2], {})) is None
    one = replace(record, images=images[:1])
    assert table_section(Report(one, run[2], {"<a>": Pair(b"1", b"2")})) is None


def test_labels_and_wrong_verdicts_are_shown(run):
    cases = (("a", "NG", "good"), ("b", "OK", "defective"), ("c", "NG", "defective"))
    images = tuple(image_record(*case) for case in cases)
    evaluation = Evaluation((), Share(1, 2), Share(1, 1), {}, 0.05, 0, None, None)
    record = replace(run[1], images=images, evaluation=evaluation)
    drawn = Page(table_section(Report(record, run[2], {})))
    assert "Label" in drawn.words
    assert drawn.words.count("defective") == 2
    assert f"up to {MOST_MISSED} missed defects" in " ".join(drawn.words)
    pictures = {name: Pair(b"1", b"2") for name in "abc"}
    cards = Page(pictured_section(Report(record, run[2], pictures)))
    assert ["data-wrong" in each for each in cards.all("article")] == [True, True, False]
    assert "good, but rejected" in cards.words
    assert "defect missed" in cards.words
    assert "wrongly judged" in cards.words
    assert len(cards.all("img")) == 6  # the closest good image is not among those learnt


@needs_chromium
def test_a_browser_shows_it_without_complaint(run, tmp_path):
    with chromium(tmp_path) as browser:
        page = browser.new_page()
        complaints = complaints_of(page)
        page.goto((run[0] / "report.html").as_uri())
        shown = page.locator("article:visible")
        expect(shown).to_have_count(3)
        for image in page.locator("img").all():
            image.scroll_into_view_if_needed()
            expect(image).to_have_js_property("complete", True)
            assert image.evaluate("image => image.naturalWidth") > 50
        page.locator(".tools select").select_option("NG")
        expect(shown).to_have_count(2)
        page.locator(".tools input[type=search]").fill("bad #")
        expect(shown).to_have_count(1)
        assert page.inner_text(".tools output") == "1 of 3"
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        page.set_viewport_size({"width": 400, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth <= 400")
        paper = "getComputedStyle(document.body).backgroundColor"
        page.emulate_media(color_scheme="light")
        light = page.evaluate(paper)
        page.emulate_media(color_scheme="dark")
        assert page.evaluate(paper) != light
        assert complaints == []
