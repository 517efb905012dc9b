"""The table of keys: scripts bind what it says, pages load the scripts that it names, and no page has one key for two things."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from chainviz.locations import ASSETS
from chainviz.web.keyboard_shortcuts import EVERYWHERE, PAGES, SCRIPTS, shortcuts_of

JS, TEMPLATES = ASSETS / "static/js", ASSETS / "templates"
ELSEWHERE = {"chain/shortcuts.js": ("threads.js",)}
"""Scripts whose keys a page's own script takes over where both are loaded: threads.js then leaves n and p to it."""


def bound_keys(script: Path) -> list[str]:
    text = script.read_text(encoding="utf-8")
    keys = re.findall(r'onKey\(\s*"([^"]+)"', text)
    for several in re.findall(r"for \(const key of \[([^\]]+)\]\)\s*\{?\s*onKey\(key", text):
        keys += re.findall(r'"([^"]+)"', several)
    return keys


def modules_of(script: Path) -> set[Path]:
    """A script and everything that it imports."""
    found, left = set(), [script]
    while left:
        each = left.pop().resolve()
        if each not in found:
            found.add(each)
            names = re.findall(r'^import (?:[^"]* from )?"([^"]+)"', each.read_text(encoding="utf-8"), re.MULTILINE)
            left += [each.parent / name for name in names]
    return found


def scripts_of(template: str) -> set[str]:
    """The scripts with keys that a page loads, with those of the page that it extends."""
    text = (TEMPLATES / template).read_text(encoding="utf-8")
    base = re.search(r'{% extends "([^"]+)" %}', text)
    own = {module for name in re.findall(r"static 'js/([^']+)'", text) for module in modules_of(JS / name)}
    inherits = base is not None and ("block scripts" not in text or "block.super" in text)
    named = {str(module.relative_to(JS.resolve())) for module in own}
    return (named & SCRIPTS.keys()) | (scripts_of(base[1]) if base is not None and inherits else set())


def test_scripts_bind_the_keys_of_the_table() -> None:
    bound = {str(script.relative_to(JS)): sorted(bound_keys(script)) for script in JS.rglob("*.js") if script.name != "keys.js"}
    listed = {name: sorted(key for each in rows if not each.is_in_field for key in each.keys) for name, rows in SCRIPTS.items()}
    assert {name: keys for name, keys in bound.items() if keys} == {name: keys for name, keys in listed.items() if keys}


@pytest.mark.parametrize("template", [str(path.relative_to(TEMPLATES)) for path in TEMPLATES.rglob("*.html")])
def test_a_page_lists_the_keys_of_its_scripts(template: str) -> None:
    loaded = scripts_of(template) - set(EVERYWHERE)
    if template in PAGES:
        assert loaded == set(PAGES[template])
        assert f'key_list "{template}"' in (TEMPLATES / template).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES)
def test_no_key_means_two_things_on_a_page(page: str) -> None:
    scripts = (*PAGES[page], *EVERYWHERE)
    left_out = {other for script in scripts for other in ELSEWHERE.get(script, ())}
    rows = [each for script in scripts for each in SCRIPTS[script] if not each.is_in_field]
    keys = Counter(key for each in rows for key in each.keys if each not in taken_over(left_out))
    assert [key for key, times in keys.items() if times > 1] == []
    firsts = {key.split()[0] for key in keys if " " in key}
    assert not firsts & keys.keys(), "the first of two keys would already do something"


def taken_over(scripts: set[str]) -> list[object]:
    return [each for script in scripts for each in SCRIPTS[script] if each.needs == "threads"]


def test_what_a_page_cannot_do_is_not_listed() -> None:
    def listed(*features: str) -> set[str]:
        return {key for each in shortcuts_of("chains/explorer/explorer.html", features) for key in each.keys}

    assert {"j", "z", "e", "Home", "#", "Ctrl k"} <= listed("edit", "undo", "search")
    assert not {"z", "e", "c", "/", "g i"} & listed()
