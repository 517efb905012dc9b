"""Screenshots of every page and state that a test examines for accessibility: `make shots` keeps them, with an index.

`CHAINVIZ_TEST_SHOTS` names the folder; without it nothing is taken.
"""

from __future__ import annotations

import html
import os
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

FOLDER = os.environ.get("CHAINVIZ_TEST_SHOTS", "")


def take(page: Any) -> None:
    if not FOLDER:
        return
    folder = Path(FOLDER)
    folder.mkdir(parents=True, exist_ok=True)
    path, query = urlsplit(page.url)[2:4]
    width = page.viewport_size["width"]
    scheme = "dark" if page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches") else "light"
    name = re.sub(r"[^\w.=-]+", "_", f"{path}{query and '?' + query}").strip("_") or "library"
    number = sum(each.name.startswith(f"{name}--{width}-{scheme}") for each in folder.iterdir())
    page.screenshot(path=folder / f"{name}--{width}-{scheme}-{number + 1}.png")


def write_index() -> None:
    """All pictures of the folder on one page, those of one address side by side."""
    folder = Path(FOLDER)
    pages: dict[str, list[str]] = {}
    for each in sorted(folder.glob("*.png")):
        pages.setdefault(each.stem.rpartition("--")[0], []).append(each.name)
    rows = (
        f"<h2>{html.escape(name)}</h2><p>"
        + "".join(f'<a href="{each}"><img src="{each}" alt="{each}" height="360" loading="lazy"></a> ' for each in pictures)
        for name, pictures in pages.items()
    )
    (folder / "index.html").write_text(f"<!doctype html><title>Pages of chainviz</title>{''.join(rows)}", encoding="utf-8")
