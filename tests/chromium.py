"""Finds a Chromium that works, or brings one: `python -m tests.chromium`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
"""The first one has no window at all: the tests take a third less processor time with it."""
PACKAGES = ("chromium-headless-shell", "chromium")
"""Of Debian; older releases have only the second."""
MAC = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def installed() -> str | None:
    """A browser of this machine; None leaves the choice to Playwright's own."""
    chosen = os.environ.get("CHAINVIZ_TEST_CHROMIUM")
    found = [chosen, *map(shutil.which, NAMES), MAC if Path(MAC).exists() else None]
    return next((path for path in found if path), None)


def launch_arguments() -> dict[str, Any]:
    path = installed()
    return {"args": QUIET, **({"executable_path": path} if path else {})}


def works() -> bool:
    from playwright.sync_api import Error, sync_playwright

    try:
        with sync_playwright() as playwright:
            playwright.chromium.launch(**launch_arguments()).close()
    except Error:
        return False
    return True


def ways_to_install() -> Iterator[list[str]]:
    yield [sys.executable, "-m", "playwright", "install", "chromium"]
    if shutil.which("apt-get"):
        allowed = [] if os.geteuid() == 0 else ["sudo", "-n"]
        for _ in range(3):  # a network fails by chance now and then
            yield [*allowed, "apt-get", "update", "-qq"]
            for package in PACKAGES:
                yield [*allowed, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-y", "-qq", package]


def main() -> int:
    if works():
        return 0
    for command in ways_to_install():
        print("The browser tests need Chromium; trying:", " ".join(command), flush=True)
        try:
            subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, timeout=600, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            print(f"  {error}")
        if works():
            return 0
    print("No Chromium could be found or installed. Install one, or name it with CHAINVIZ_TEST_CHROMIUM.", file=sys.stderr)
    return 1


if __name__ == "__main__":
    raise SystemExit(main())
