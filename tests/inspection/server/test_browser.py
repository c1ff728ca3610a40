"""The page in a real browser, used as a person would use it."""

import csv
import re

import numpy as np
import pytest

for package in ("fastapi", "uvicorn", "python_multipart", "PIL", "safetensors"):
    pytest.importorskip(package)

from playwright.sync_api import expect  # noqa: E402

from support.chromium import chromium, complaints_of, drop, needs_chromium  # noqa: E402
from support.serving import GOOD, as_seen, file_of, fit_surfaces, served, surface  # noqa: E402
from vwkde.inspection import SurfaceInspector  # noqa: E402

pytestmark = needs_chromium

FINE = 1_001
NEXT_FRAME = "new Promise(requestAnimationFrame)"


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
    with chromium(tmp_path_factory.mktemp("browser")) as browser:
        yield browser


@pytest.fixture(scope="module")
def inspector():
    return fit_surfaces()


@pytest.fixture
def blank(browser):
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    yield page
    page.close()


@pytest.fixture
def complaints(blank):
    return complaints_of(blank)


@pytest.fixture
def page(blank, complaints, inspector, tmp_path):  # noqa: ARG001  complaints are heard from the start
    """Yield a new page with its own model."""
    inspector.save(tmp_path / "part.vwkde")
    with served(inspector, path=tmp_path / "part.vwkde") as site:
        visit(blank, site)
        yield blank
        blank.goto("about:blank")


def visit(page, site):
    page.goto(site.url)
    expect(page.locator("#rate")).not_to_be_empty()


def show(page, images, *names):
    page.locator("#files").set_input_files([images / name for name in names])
    wait_for_checks(page, len(names))


def wait_for_checks(page, count):
    expect(page.locator("#list li")).to_have_count(count)
    expect(page.locator("#progress")).to_be_hidden()


def badges(page):
    rows = page.locator("#list li").all()
    return {row.locator(".name").inner_text(): row.locator(".badge").inner_text() for row in rows}


def shown(page):
    return page.inner_text("#name")


def wait_for_picture(page, selector, width):
    expect(page.locator(selector)).to_have_js_property("naturalWidth", width)


def style_of(page, selector, name):
    return page.locator(selector).evaluate("(element, name) => getComputedStyle(element)[name]", name)


def slide(page, selector, value):
    page.locator(selector).fill(str(value))
    page.evaluate(NEXT_FRAME)


def test_complaints_are_heard(blank, complaints):
    policy = """<meta http-equiv="Content-Security-Policy" content="img-src 'none'">"""
    script = "<script>console.warn('a warning'); throw new Error('an error')</script>"
    blank.set_content(f"{policy}<img src='https://example.invalid/'>{script}")
    heard = " ".join(complaints)
    assert all(words in heard for words in ("a warning", "an error", "Content Security Policy"))


def test_an_empty_page_says_what_to_do(page, complaints):
    assert page.inner_text("#model") == f"part.vwkde · {GOOD} good images · 128 × 128 pixels · gradient features"
    assert "Drop images" in page.inner_text("#empty")
    assert "128 × 128 pixels" in page.inner_text("#empty")
    assert page.inner_text("#rate").startswith("≤ 4.3")
    assert complaints == []


def test_images_are_judged_worst_first_and_the_worst_is_shown(page, images, inspector, complaints):
    show(page, images, "fine.png", "bad.png", "worse.png")
    assert badges(page) == {"fine.png": "OK", "bad.png": "NG", "worse.png": "NG"}
    scores = {
        name: inspector.check(as_seen(surface(seed, defect))).score
        for name, seed, defect in [("fine.png", FINE, False), ("bad.png", 2_000, True), ("worse.png", 2_001, True)]
    }
    assert list(badges(page)) == sorted(scores, key=lambda name: -scores[name])
    worst = max(scores, key=lambda name: scores[name])
    assert shown(page) == worst
    assert page.inner_text("#score").endswith(" nats")
    assert float(page.inner_text("#score").split()[0]) == pytest.approx(scores[worst], rel=0.005)
    assert page.inner_text("#p-value") == f"{1 / (GOOD + 1):.3g}"
    assert page.inner_text("#nearest").startswith("good ")
    wait_for_picture(page, "#nearest-picture", 64)
    assert page.inner_text("#counts") == "3 checked: 2 NG, 1 OK"
    wait_for_picture(page, "#picture", 128)
    wait_for_picture(page, "#map", 128)
    assert page.locator("#boxes rect").count() >= 2
    assert complaints == []


def test_the_map_lies_on_the_defect(page, images):
    show(page, images, "bad.png")
    wait_for_picture(page, "#map", 128)
    page.evaluate(NEXT_FRAME)
    opaque = page.locator("#map").evaluate("""map => {
        const canvas = new OffscreenCanvas(128, 128), draw = canvas.getContext('2d');
        draw.drawImage(map, 0, 0);
        return [...draw.getImageData(0, 0, 128, 128).data].filter((_, index) => index % 4 === 3);
    }""")
    opaque = np.array(opaque).reshape(128, 128)
    assert opaque[70:106, 70:106].mean() > 200
    assert opaque[:40, :40].max() == 0
    picture, *others = (page.locator(selector).bounding_box() for selector in ("#picture", "#map", "#boxes"))
    assert others == [picture, picture]  # one lies exactly upon the other


def test_the_threshold_moves_verdicts_and_the_rate(page, images, inspector):
    show(page, images, "fine.png", "bad.png")
    scores = np.sort(inspector.calibration_.scores)
    slide(page, "#slider", 1000)
    assert badges(page) == {"fine.png": "OK", "bad.png": "OK"}
    assert page.inner_text("#rate").startswith(f"≤ {100 / (GOOD + 1):.2g}\u00a0%")
    slide(page, "#slider", 0)
    assert badges(page) == {"fine.png": "NG", "bad.png": "NG"}
    assert page.inner_text("#rate").startswith("≤ 100\u00a0%")
    assert page.inner_text("#rejected") == "2 of 2 in this batch are rejected."
    middle = (scores[14] + scores[15]) / 2  # seven good images lie above
    page.locator("#threshold").fill(str(middle))
    page.locator("#threshold").press("Enter")
    expect(page.locator("#rate")).to_contain_text("7 of the model")
    assert page.inner_text("#rate").startswith(f"≤ {100 * 8 / (GOOD + 1):.3g}\u00a0%")
    page.click("#reset")
    expect(page.locator("#reset")).to_be_disabled()
    assert badges(page) == {"fine.png": "OK", "bad.png": "NG"}
    assert float(page.input_value("#threshold")) == pytest.approx(inspector.calibration_.threshold, rel=1e-3)


def test_the_map_can_be_faded_and_hidden(page, images):
    show(page, images, "bad.png")
    assert float(style_of(page, "#map", "opacity")) == 0.65
    slide(page, "#opacity", 20)
    assert float(style_of(page, "#map", "opacity")) == 0.2
    page.keyboard.press("o")
    assert style_of(page, "#map", "visibility") == "hidden"
    page.keyboard.press("o")
    assert style_of(page, "#map", "visibility") == "visible"


def test_keys_walk_through_the_images(page, images):
    show(page, images, "fine.png", "bad.png", "worse.png", "scan.tif")
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
        page.keyboard.press(key)
        assert shown(page) == order[place]
        selected = page.get_attribute("[aria-selected=true]", "id")
        assert page.get_attribute("#list", "aria-activedescendant") == selected


def test_keys_belong_to_the_slider_and_to_the_help_while_these_are_in_use(page, images):
    show(page, images, "fine.png", "bad.png")
    first = shown(page)
    page.keyboard.press("t")
    before = int(page.input_value("#slider"))
    page.keyboard.press("ArrowDown")
    page.evaluate(NEXT_FRAME)
    assert int(page.input_value("#slider")) < before
    assert shown(page) == first
    page.keyboard.press("?")
    assert page.locator("#help").is_visible()
    page.keyboard.press("j")
    assert shown(page) == first
    page.keyboard.press("Enter")
    assert page.locator("#help").is_hidden()


def test_a_file_that_browsers_cannot_show_is_shown(page, images, complaints):
    show(page, images, "scan.tif")
    wait_for_picture(page, "#picture", 128)
    assert badges(page) == {"scan.tif": "OK"}
    assert complaints == []


def test_bad_files_are_reported_beside_the_others(page, images):
    show(page, images, "text.png", "fine.png")
    assert badges(page) == {"fine.png": "OK", "text.png": "Error"}
    assert "not an image of a known kind" in page.inner_text("#list li.failed .detail")
    assert page.inner_text("#counts") == "1 checked: 0 NG, 1 OK, 1 error"


def test_a_dropped_folder_gives_its_images(page, images):
    drop(page, images)
    wait_for_checks(page, 5)
    assert badges(page) == {
        f"{images.name}/{name}": badge
        for name, badge in [
            ("fine.png", "OK"), ("scan.tif", "OK"), ("bad.png", "NG"), ("worse.png", "NG"), ("text.png", "Error")
        ]
    }  # fmt: skip
    assert page.inner_text("#message") == "1 other file skipped."


def test_marking_as_good_needs_a_yes_and_is_saved(page, images, tmp_path, complaints):
    show(page, images, "fine.png", "bad.png")
    page.keyboard.press("g")
    page.click("#confirm button[value=no]")
    expect(page.locator("#confirm")).to_be_hidden()
    assert f"{GOOD} good images" in page.inner_text("#model")
    page.keyboard.press("g")
    page.keyboard.press("Enter")
    expect(page.locator("#model")).to_contain_text(f"{GOOD + 1} good images")
    assert badges(page)["bad.png"] == "OK"
    assert "Marked as good" in page.inner_text("#because")
    assert page.locator("#mark").is_disabled()
    assert f"bad.png was added: {GOOD + 1} good images" in page.inner_text("#message")
    assert SurfaceInspector.load(tmp_path / "part.vwkde").names_[-1] == "bad.png"
    assert page.inner_text("#again-text") == "The model has changed since an image was checked."
    page.click("#again")
    expect(page.locator("#again-notice")).to_be_hidden()
    expect(page.locator("#progress")).to_be_hidden()
    assert badges(page) == {"fine.png": "OK", "bad.png": "OK"}
    assert complaints == []


def test_the_table_is_downloaded(page, images):
    show(page, images, "fine.png", "bad.png", "text.png")
    with page.expect_download() as download:
        page.click("#download")
    assert download.value.suggested_filename == "scores.csv"
    rows = list(csv.DictReader(download.value.path().read_text().splitlines()))
    assert [(row["image"], row["verdict"]) for row in rows] == [
        ("bad.png", "NG"),
        ("fine.png", "OK"),
        ("text.png", "ERROR"),
    ]
    assert rows[0]["boxes"]
    assert rows[1]["boxes"] == ""
    assert float(rows[0]["score"]) > float(rows[0]["threshold"]) > float(rows[1]["score"])


def test_a_read_only_page_offers_no_marking(blank, inspector, images):
    with served(inspector, read_only=True) as site:
        visit(blank, site)
        expect(blank.locator("#model")).to_contain_text("read only")
        show(blank, images, "bad.png")
        blank.keyboard.press("g")
        assert blank.locator("#confirm").is_hidden()
        assert blank.locator("#mark").is_hidden()
        blank.goto("about:blank")


def test_what_could_not_be_sent_is_reported(blank, inspector, images):
    with served(inspector, most_bytes=12_000) as site:
        visit(blank, site)
        show(blank, images, "fine.png")
        assert re.search(
            r"The file has 1\d\sKiB, but at most 8\sKiB can be sent", blank.inner_text("#list li.failed .detail")
        )
    blank.click("#clear")
    expect(blank.locator("#list li")).to_have_count(0)
    show(blank, images, "text.png")
    assert blank.inner_text("#because") == "The server cannot be reached. Is it still running?"
    assert blank.inner_text("#again-text") == "1 image could not be sent."


@pytest.mark.parametrize(("width", "scheme"), [(1280, "dark"), (1000, "light"), (390, "dark")])
def test_nothing_runs_off_the_side(page, images, width, scheme):
    show(page, images, "bad.png")
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 800})
    page.evaluate(NEXT_FRAME)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    paper = [int(part) for part in re.findall(r"\d+", style_of(page, "body", "backgroundColor"))]
    assert (max(paper) < 60) == (scheme == "dark")


def test_the_link_with_the_token_opens_the_page_and_a_busy_server_is_asked_again(blank, inspector, images):
    token = "a-token-long-enough"
    with served(inspector, token=token, most_waiting=1) as site:
        assert blank.goto(site.url).status == 401
        blank.goto(f"{site.url}?token={token}")
        assert blank.url == site.url
        expect(blank.locator("#rate")).not_to_be_empty()
        show(blank, images, "fine.png", "bad.png", "worse.png")
        assert badges(blank) == {"fine.png": "OK", "bad.png": "NG", "worse.png": "NG"}
        blank.goto("about:blank")
