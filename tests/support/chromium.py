"""The Chromium of this machine, headless, driven by Playwright; none is downloaded."""

import os
import shutil
from contextlib import contextmanager

import pytest
from playwright.sync_api import expect, sync_playwright

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PROGRAM = next(filter(None, map(shutil.which, NAMES)), None)

needs_chromium = pytest.mark.skipif(PROGRAM is None, reason="no Chromium; install it with: apt-get install chromium")

expect.set_options(timeout=30_000)


@contextmanager
def chromium(folder):
    """Give a browser for the length of a `with` statement; it keeps its settings in the folder."""
    home = {name: str(folder) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=PROGRAM, args=FLAGS, env=os.environ | home)
        try:
            yield browser
        finally:
            browser.close()


def complaints_of(page):
    """Return a list to which the page's console warnings, errors and exceptions are added from now on."""
    complaints = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "console",
        lambda message: complaints.append(message.text) if message.type in ("error", "warning", "assert") else None,
    )
    return complaints


def drop(page, *paths):
    """Drag files or folders from outside over the middle of the page, and drop them.

    Playwright has no such gesture, since a script cannot make the entries of a folder; the browser's own protocol can.
    """
    session = page.context.new_cdp_session(page)
    data = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver", "drop"):
        session.send("Input.dispatchDragEvent", {"type": kind, "x": 400, "y": 300, "data": data})
    session.detach()
