"""The pages in a browser: no errors, nothing fetched, nothing wider than a telephone."""

from __future__ import annotations

import shutil
from dataclasses import replace

import pytest

from discrim.gallery import build, lectures

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SHOWN = {"C2", "C18", "N6", "L15", "L17", "O7", "O15", "R10"}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    chosen = tuple(replace(one, items=tuple(i for i in one.items if i.id in SHOWN)) for one in lectures())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("discrim.gallery.building.lectures", lambda: chosen)
        return build(tmp_path_factory.mktemp("gallery") / "site").folder


@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api", reason="needs the package playwright")
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.skip("needs a browser: none of chromium, chromium-browser, google-chrome is on the path")
    with sync_api.sync_playwright() as player:
        started = player.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.mark.parametrize("width", [390, 1280])
def test_pages_show_without_errors_requests_or_scrolling_sideways(site, browser, width):
    page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme="dark")
    said, fetched = [], []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: fetched.append(request.url))
    for path in sorted(site.glob("*.html")):
        page.goto(path.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path.name
        # Long lines of code are wrapped, so that nothing of them is cut off.
        assert page.evaluate(
            "[...document.querySelectorAll('pre.code')].every(p => p.scrollWidth <= p.clientWidth + 1)"
        )
        assert page.evaluate("[...document.querySelectorAll('svg')].every(s => s.getBoundingClientRect().width > 100)")
    assert said == []
    assert all(url.startswith(("file:", "data:")) for url in fetched)
    page.close()
