"""The page, used as a person would, in a real browser."""

import csv
import re
import shutil
import time

import numpy as np
import pytest

for package in ("fastapi", "uvicorn", "python_multipart", "PIL", "safetensors"):
    pytest.importorskip(package)

from support.chromium import Browser, find_chromium  # noqa: E402
from support.serving import GOOD, as_seen, file_of, fit_surfaces, served, surface  # noqa: E402
from vwkde.inspection import SurfaceInspector  # noqa: E402

PROGRAM = find_chromium()
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="no Chromium; install it with: apt-get install chromium")

FINE = 1_001
DONE = "document.querySelectorAll('#list li').length === {} && document.getElementById('progress').hidden"


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    folder = tmp_path_factory.mktemp("images")
    for name, seed, defect in [("fine", FINE, False), ("bad", 2_000, True), ("worse", 2_001, True)]:
        (folder / f"{name}.png").write_bytes(file_of(surface(seed, defect)))
    (folder / "scan.tif").write_bytes(file_of(surface(1_002), "TIFF"))
    (folder / "text.png").write_text("no image")
    (folder / "notes.txt").write_text("no image either")
    return folder


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    folder = tmp_path_factory.mktemp("browser")
    browser = Browser(PROGRAM, folder)
    browser.downloads = folder
    yield browser
    browser.close()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def inspector():
    return fit_surfaces()


@pytest.fixture
def page(browser, inspector, tmp_path):
    """Give a fresh page before a model of its own."""
    inspector.save(tmp_path / "part.vwkde")
    with served(inspector, path=tmp_path / "part.vwkde") as site:
        browser.resize(1280, 900)
        browser.complaints.clear()
        browser.open(site.url)
        browser.wait("document.getElementById('rate').innerText")
        yield browser
        browser.open("about:blank")


def show(page, images, *names):
    page.give_files("#files", *(images / name for name in names))
    page.wait(DONE.format(len(names)))


def badges(page):
    return page.evaluate(
        "Object.fromEntries([...document.querySelectorAll('#list li')]"
        ".map(row => [row.querySelector('.name').innerText, row.querySelector('.badge').innerText]))"
    )


def shown(page):
    return page.text("#name")


def slide(page, selector, value):
    page.evaluate(
        f"(() => {{ const e = document.querySelector({selector!r}); e.value = {value}; "
        "e.dispatchEvent(new Event('input', {bubbles: true})); })()"
    )
    page.evaluate("new Promise(requestAnimationFrame)")


def test_an_empty_page_says_what_to_do(page):
    assert page.text("#model") == f"part.vwkde · {GOOD} good images · 128 × 128 pixels · gradient features"
    assert "Drop images" in page.text("#empty")
    assert "128 × 128 pixels" in page.text("#empty")
    assert page.text("#rate").startswith("≤ 4.3")
    assert page.complaints == []


def test_images_are_judged_worst_first_and_the_worst_is_shown(page, images, inspector):
    show(page, images, "fine.png", "bad.png", "worse.png")
    assert badges(page) == {"fine.png": "OK", "bad.png": "NG", "worse.png": "NG"}
    scores = {
        name: inspector.check(as_seen(surface(seed, defect))).score
        for name, seed, defect in [("fine.png", FINE, False), ("bad.png", 2_000, True), ("worse.png", 2_001, True)]
    }
    assert list(badges(page)) == sorted(scores, key=lambda name: -scores[name])
    worst = max(scores, key=lambda name: scores[name])
    assert shown(page) == worst
    assert page.text("#score").endswith(" nats")
    assert float(page.text("#score").split()[0]) == pytest.approx(scores[worst], rel=0.005)
    assert page.text("#p-value") == f"{1 / (GOOD + 1):.3g}"
    assert page.text("#nearest").startswith("good ")
    page.wait("document.getElementById('nearest-picture').naturalWidth === 64")
    assert page.text("#counts") == "3 checked: 2 NG, 1 OK"
    page.wait("document.getElementById('picture').naturalWidth === 128")
    page.wait("document.getElementById('map').naturalWidth === 128")
    assert page.evaluate("document.querySelectorAll('#boxes rect').length") >= 2
    assert page.complaints == []


def test_the_map_lies_on_the_defect(page, images):
    show(page, images, "bad.png")
    page.wait("document.getElementById('map').naturalWidth === 128")
    page.evaluate("new Promise(requestAnimationFrame)")
    opaque = page.evaluate("""(() => {
        const canvas = new OffscreenCanvas(128, 128), draw = canvas.getContext('2d');
        draw.drawImage(document.getElementById('map'), 0, 0);
        return [...draw.getImageData(0, 0, 128, 128).data].filter((_, index) => index % 4 === 3);
    })()""")
    opaque = np.array(opaque).reshape(128, 128)
    assert opaque[70:106, 70:106].mean() > 200
    assert opaque[:40, :40].max() == 0
    places = page.evaluate(
        "['picture', 'map', 'boxes'].map(id => JSON.stringify(document.getElementById(id).getBoundingClientRect()))"
    )
    assert len(set(places)) == 1  # one lies exactly upon the other


def test_the_threshold_moves_verdicts_and_the_rate(page, images, inspector):
    show(page, images, "fine.png", "bad.png")
    scores = np.sort(inspector.calibration_.scores)
    slide(page, "#slider", 1000)
    assert badges(page) == {"fine.png": "OK", "bad.png": "OK"}
    assert page.text("#rate").startswith(f"≤ {100 / (GOOD + 1):.2g}\u00a0%")
    slide(page, "#slider", 0)
    assert badges(page) == {"fine.png": "NG", "bad.png": "NG"}
    assert page.text("#rate").startswith("≤ 100\u00a0%")
    assert page.text("#rejected") == "In this batch it rejects 2 of 2."
    middle = (scores[14] + scores[15]) / 2  # seven good images lie above
    page.evaluate(
        f"(() => {{ const e = document.getElementById('threshold'); e.value = {middle}; "
        "e.dispatchEvent(new Event('change')); })()"
    )
    page.wait("document.getElementById('rate').innerText.includes('7 of the model')")
    assert page.text("#rate").startswith(f"≤ {100 * 8 / (GOOD + 1):.3g}\u00a0%")
    page.click("#reset")
    page.wait("document.getElementById('reset').disabled")
    assert badges(page) == {"fine.png": "OK", "bad.png": "NG"}
    assert float(page.evaluate("document.getElementById('threshold').value")) == pytest.approx(
        inspector.calibration_.threshold, rel=1e-3
    )


def test_opacity_and_keys(page, images):
    show(page, images, "fine.png", "bad.png", "worse.png", "scan.tif")
    opacity = "getComputedStyle(document.getElementById('map')).opacity"
    assert float(page.evaluate(opacity)) == 0.65
    slide(page, "#opacity", 20)
    assert float(page.evaluate(opacity)) == 0.2
    visible = "getComputedStyle(document.getElementById('map')).visibility"
    page.press("o")
    assert page.evaluate(visible) == "hidden"
    page.press("o")
    assert page.evaluate(visible) == "visible"
    order = list(badges(page))
    assert shown(page) == order[0]
    for key, place in [
        ("j", 1),
        ("ArrowDown", 2),
        ("k", 1),
        ("ArrowUp", 0),
        ("k", 0),
        ("End", 3),
        ("j", 3),
        ("Home", 0),
    ]:
        page.press(key)
        assert shown(page) == order[place]
        selected = page.evaluate("document.querySelector('[aria-selected=true]').id")
        assert page.evaluate("document.getElementById('list').getAttribute('aria-activedescendant')") == selected
    page.press("t")
    before = page.evaluate("Number(document.getElementById('slider').value)")
    page.press("ArrowDown")  # now a key of the slider
    page.evaluate("new Promise(requestAnimationFrame)")
    assert page.evaluate("Number(document.getElementById('slider').value)") < before
    assert shown(page) == order[0]
    page.press("?")
    assert page.evaluate("document.getElementById('help').open")
    page.press("j")
    assert shown(page) == order[0]
    page.press("Enter")
    assert not page.evaluate("document.getElementById('help').open")


def test_a_file_that_browsers_cannot_show_is_shown(page, images):
    show(page, images, "scan.tif")
    page.wait("document.getElementById('picture').naturalWidth === 128")
    assert badges(page) == {"scan.tif": "OK"}
    assert page.complaints == []


def test_bad_files_are_told_beside_the_others(page, images):
    show(page, images, "text.png", "fine.png")
    assert badges(page) == {"fine.png": "OK", "text.png": "Error"}
    assert "not an image of a known kind" in page.text("#list li.failed .detail")
    assert page.text("#counts") == "1 checked: 0 NG, 1 OK, 1 error"


def test_a_dropped_folder_gives_its_images(page, images):
    page.drop(images)
    page.wait(DONE.format(5))
    found = badges(page)
    assert found == {
        f"{images.name}/{name}": badge
        for name, badge in [
            ("fine.png", "OK"), ("scan.tif", "OK"), ("bad.png", "NG"), ("worse.png", "NG"), ("text.png", "Error")
        ]
    }  # fmt: skip
    assert page.text("#told") == "1 other file left out."


def test_marking_as_good_needs_a_yes_and_is_saved(page, images, tmp_path):
    show(page, images, "fine.png", "bad.png")
    page.press("g")
    page.wait("document.getElementById('confirm').open")
    page.click("#confirm button[value=no]")
    assert f"{GOOD} good images" in page.text("#model")
    page.press("g")
    page.press("Enter")
    page.wait(f"document.getElementById('model').innerText.includes('{GOOD + 1} good images')")
    assert badges(page)["bad.png"] == "OK"
    assert "Marked as good" in page.text("#because")
    assert page.evaluate("document.getElementById('mark').disabled")
    assert f"bad.png is added: {GOOD + 1} good images" in page.text("#told")
    assert SurfaceInspector.load(tmp_path / "part.vwkde").names_[-1] == "bad.png"
    assert page.text("#again-text") == "The model has changed since an image was checked."
    page.click("#again")
    page.wait("document.getElementById('again-notice').hidden && document.getElementById('progress').hidden")
    assert badges(page) == {"fine.png": "OK", "bad.png": "OK"}
    assert page.complaints == []


def test_the_table_is_downloaded(page, images):
    show(page, images, "fine.png", "bad.png", "text.png")
    path = page.downloads / "scores.csv"
    path.unlink(missing_ok=True)
    page.click("#download")
    end = time.monotonic() + 20
    while not path.exists() and time.monotonic() < end:
        time.sleep(0.02)
    rows = list(csv.DictReader(path.read_text().splitlines()))
    assert [(row["image"], row["verdict"]) for row in rows] == [
        ("bad.png", "NG"),
        ("fine.png", "OK"),
        ("text.png", "ERROR"),
    ]
    assert rows[0]["boxes"]
    assert rows[1]["boxes"] == ""
    assert float(rows[0]["score"]) > float(rows[0]["threshold"]) > float(rows[1]["score"])


def test_a_read_only_page_offers_no_marking(browser, inspector, images):
    with served(inspector, read_only=True) as site:
        browser.open(site.url)
        browser.wait("document.getElementById('model').innerText.includes('read only')")
        show(browser, images, "bad.png")
        browser.press("g")
        assert not browser.evaluate("document.getElementById('confirm').open")
        assert browser.evaluate("document.getElementById('mark').hidden")
        browser.open("about:blank")


def test_what_could_not_be_sent_is_told(browser, inspector, images):
    with served(inspector, most_bytes=12_000) as site:
        browser.open(site.url)
        browser.wait("document.getElementById('rate').innerText")
        show(browser, images, "fine.png")
        assert re.search(
            r"The file has 1\d\sKiB, and at most 8\sKiB can be sent", browser.text("#list li.failed .detail")
        )
    browser.click("#clear")
    browser.wait("!document.querySelector('#list li')")
    show(browser, images, "text.png")
    assert browser.text("#because") == "The server cannot be reached. Is it still running?"
    assert browser.text("#again-text") == "1 image could not be sent."
    browser.open("about:blank")


@pytest.mark.parametrize(("width", "scheme"), [(1280, "dark"), (1000, "light"), (390, "dark")])
def test_nothing_runs_off_the_side(page, images, width, scheme):
    show(page, images, "bad.png")
    page.prefer(scheme)
    page.resize(width, 800)
    page.evaluate("new Promise(requestAnimationFrame)")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
    assert (max(paper) < 60) == (scheme == "dark")
