"""What our own scripts do with hostile strings: rows, finding, the inspector, editing in place, comments and uploads."""

from __future__ import annotations

from typing import Any

from tests.attacks.watch import Watch
from tests.attacks.world import World


def work(world: World, watch: Watch) -> None:
    page = watch.page
    _explore(world, watch, page)
    _upload(world, watch, page)


def _explore(world: World, watch: Watch, page: Any) -> None:
    """Opens nodes, finds a string, reads the inspector and the outline, and edits a node in place."""
    watch.open(f"/c/{world.chain.pk}/v/6/at/s1.h.m0")
    page.locator("[data-find] [type=search], form [type=search]").first.fill("pwned")
    page.locator("[data-hit]").first.wait_for()
    page.keyboard.press("Enter")
    watch.look()
    page.keyboard.press("Escape")
    for _ in range(4):
        page.keyboard.press("j")
        page.keyboard.press("Enter")
    watch.look()


def _upload(world: World, watch: Watch, page: Any) -> None:
    """Through the tray: names of files go through a script there."""
    watch.open("/")
    names = [each.replace("/", "").replace("\\0", "")[:100] for each in world.strings if each.isprintable()]
    files = [{"name": name, "mimeType": "application/json", "buffer": b"{" + name.encode()} for name in names[:12]]
    page.locator("input[type=file]").first.set_input_files(files)
    page.locator("#uploads > .tray-line").nth(len(files) - 1).wait_for(state="attached")
    page.wait_for_load_state("networkidle")
    watch.look()
