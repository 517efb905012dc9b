"""Takes the pictures of README.md anew from the sample chains: `python -m tests.readme_pictures`."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from playwright.sync_api import sync_playwright

from tests import ROOT, chromium
from tests.commands.test_serve import Server

FOLDER = ROOT / ".images"
BROKEN, SLOW = "Depot plan, broken in five ways", "Why is the nightly import slow?"


def open_sample(page: Any, site: str, title: str) -> None:
    page.goto(site)
    samples = page.get_by_role("button", name="Open the samples")
    if samples.count():  # an empty library
        samples.first.click()
    page.get_by_role("link", name=title, exact=True).click()
    page.locator("[data-frame]:not([height='0'])").wait_for(state="attached")


def explorer(page: Any, site: str) -> None:
    open_sample(page, site, BROKEN)
    page.keyboard.press("]")
    page.locator(".inspector .facts").wait_for()
    page.mouse.move(700, 500)
    page.mouse.wheel(0, -230)  # the line of the node, too
    page.mouse.move(0, 0)
    page.wait_for_timeout(6000)  # what was announced fades


def changes(page: Any, site: str) -> None:
    open_sample(page, site, BROKEN)
    page.get_by_role("link", name="Fix").first.click()
    page.get_by_role("button", name="Preview the fixes").click()
    page.locator(".diff").wait_for()


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        server = Server([sys.executable, "-m", "chainviz"], Path(folder) / "data")
        site = f"http://127.0.0.1:{server.port}/"
        browser = playwright.chromium.launch(**chromium.launch_arguments())
        for name, scheme, show in (("explorer", "light", explorer), ("changes", "dark", changes)):
            page = browser.new_page(viewport={"width": 1440, "height": 900}, color_scheme=scheme, reduced_motion="reduce")
            show(page, site)
            page.wait_for_timeout(800)
            page.screenshot(path=FOLDER / f"{name}.png")
        browser.close()
        server.stop()


if __name__ == "__main__":
    main()
