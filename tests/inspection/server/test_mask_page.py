"""A mask of what is not inspected, drawn on the page and sent by programs."""

import numpy as np
import pytest

for package in ("fastapi", "uvicorn", "python_multipart", "PIL", "safetensors"):
    pytest.importorskip(package)

from playwright.sync_api import expect  # noqa: E402

from support.chromium import chromium, complaints_of, needs_chromium  # noqa: E402
from support.serving import SIDE, file_of, fit_surfaces, served, surface  # noqa: E402
from vwkde.cli.inspect_work import ignored  # noqa: E402
from vwkde.inspection import SurfaceInspector, read_image  # noqa: E402

DRAWN = np.zeros((SIDE, SIDE), dtype=np.uint8)
DRAWN[10:40, 20:70] = 255


@pytest.fixture
def model(tmp_path):
    fit_surfaces().save(tmp_path / "part.vwkde")
    return tmp_path / "part.vwkde"


def test_a_mask_is_saved_next_to_the_model_for_the_next_fit(model):
    inspector = SurfaceInspector.load(model)
    with served(inspector, path=model) as site:
        assert site.ask("GET", "/api/mask")[0] == 204
        status, found = site.send("/api/mask", file_of(DRAWN), "../../etc/mask.png")
        assert (status, found["file"]) == (200, "part.ignore.png")
        assert found["ignored_share"] == pytest.approx(DRAWN.mean() / 255)
        status, headers, png = site.ask("GET", "/api/mask")
        assert (status, headers["content-type"]) == (200, "image/png")
    assert (model.parent / "part.ignore.png").read_bytes() == png
    mask = ignored(model.parent / "part.ignore.png", None)
    np.testing.assert_array_equal(mask, DRAWN > 0)
    assert {path.name for path in model.parent.iterdir()} <= {"part.vwkde", "part.ignore.png", "part.vwkde.lock"}


@pytest.mark.parametrize(
    ("pixels", "words"),
    [(DRAWN[:50], "must have 128 × 128"), (np.full_like(DRAWN, 255), "everything is ignored")],
)
def test_a_mask_that_cannot_be_used_is_refused(model, pixels, words):
    with served(SurfaceInspector.load(model), path=model) as site:
        status, found = site.send("/api/mask", file_of(pixels))
        assert status == 422
        assert words in found["detail"]
    assert not (model.parent / "part.ignore.png").exists()


def test_no_mask_is_saved_where_nothing_may_be_written(model):
    inspector = SurfaceInspector.load(model)
    with served(inspector, path=model, read_only=True) as site:
        assert site.send("/api/mask", file_of(DRAWN))[0] == 403
    with served(inspector) as site:
        assert site.send("/api/mask", file_of(DRAWN))[0] == 409


def test_the_mask_of_the_model_is_shown_first():
    inspector = fit_surfaces()
    inspector.ignore = DRAWN > 0
    with served(inspector) as site:
        assert site.ask("GET", "/api/mask")[2] == file_of(DRAWN)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with chromium(tmp_path_factory.mktemp("browser")) as browser:
        yield browser


@pytest.fixture
def page(browser, model, tmp_path):
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    complaints = complaints_of(page)
    (tmp_path / "fine.png").write_bytes(file_of(surface(1_001)))
    with served(SurfaceInspector.load(model), path=model) as site:
        page.goto(site.url)
        expect(page.locator("#rate")).not_to_be_empty()
        page.locator("#files").set_input_files([tmp_path / "fine.png"])
        expect(page.locator("#score")).not_to_be_empty()
        page.keyboard.press("m")
        expect(page.locator("#mask-share")).to_have_text("0.0 % ignored")
        yield page
        page.close()
    assert complaints == []


def saved(page, model):
    with page.expect_response("**/api/mask") as reply:
        page.locator("#mask-save").click()
    assert reply.value.ok
    expect(page.locator("#message")).to_contain_text("part.ignore.png was saved")
    return read_image(model.parent / "part.ignore.png") > 0


def drag(page, *places):
    box = page.locator("#mask").bounding_box()
    for number, (x, y) in enumerate(places):
        page.mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"])
        if number == 0:
            page.mouse.down()
    page.mouse.up()


@needs_chromium
def test_a_rectangle_is_drawn_with_the_mouse_and_taken_back(page, model):
    drag(page, (0.25, 0.5), (0.4, 0.6), (0.75, 1.0))
    expect(page.locator("#mask-share")).to_have_text("25.0 % ignored")
    mask = saved(page, model)
    assert mask[64:, 32:96].mean() > 0.98
    assert mask.mean() == pytest.approx(0.25, abs=0.01)
    page.locator("#mask-invert").click()
    np.testing.assert_array_equal(saved(page, model), ~mask)
    page.locator("#mask-undo").click()
    page.locator("#mask-undo").click()
    expect(page.locator("#mask-share")).to_have_text("0.0 % ignored")
    expect(page.locator("#mask-undo")).to_be_disabled()


@needs_chromium
def test_a_rectangle_is_drawn_with_keys_alone(page, model):
    expect(page.locator("#mask-box")).to_be_visible()
    for key in ["ArrowLeft"] * 40 + ["ArrowUp"] * 40 + ["Shift+ArrowLeft"] * 4:
        page.keyboard.press(key)
    page.keyboard.press("Enter")
    mask = saved(page, model)
    assert mask[:64, : 64 - 4 * 3].all()
    assert mask.sum() == 64 * (64 - 4 * 3)
    page.locator("#mask").focus()
    page.keyboard.press("Delete")
    expect(page.locator("#mask-share")).to_have_text("0.0 % ignored")


@needs_chromium
def test_a_brush_draws_and_erases_and_the_saved_mask_comes_back(page, model):
    page.locator("#mask-tool").select_option("brush")
    drag(page, (0.1, 0.5), (0.5, 0.5), (0.9, 0.5))
    mask = saved(page, model)
    assert mask[64, 20:108].all()
    assert 0.02 < mask.mean() < 0.06
    page.locator("#mask-erase").check()
    drag(page, (0.5, 0.3), (0.5, 0.7))
    assert not saved(page, model)[64, 64]
    page.reload()
    expect(page.locator("#rate")).not_to_be_empty()
    page.locator("#files").set_input_files([model.parent / "fine.png"])
    expect(page.locator("#score")).not_to_be_empty()
    page.locator("#mask-on").check()
    expect(page.locator("#mask-share")).not_to_have_text("0.0 % ignored")
    page.locator("#mask-clear").click()
    expect(page.locator("#mask-share")).to_have_text("0.0 % ignored")


@needs_chromium
def test_nothing_can_be_drawn_before_the_saved_mask_has_arrived(page, model):
    drag(page, (0.25, 0.5), (0.75, 1.0))
    saved(page, model)
    page.reload()
    expect(page.locator("#rate")).not_to_be_empty()
    page.locator("#files").set_input_files([model.parent / "fine.png"])
    expect(page.locator("#score")).not_to_be_empty()
    hidden = []

    def look_and_go_on(route):
        hidden.append(page.locator("#mask-tools").is_hidden())
        route.continue_()

    page.route("**/api/mask", look_and_go_on)
    page.locator("#mask-on").check()
    expect(page.locator("#mask-share")).to_have_text("25.0 % ignored")
    expect(page.locator("#mask-tools")).to_be_visible()
    assert hidden == [True]
