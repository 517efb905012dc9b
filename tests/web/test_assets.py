"""Every icon and static file that a template or script names is there, so that no page breaks on a hashed name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from django.contrib.staticfiles.finders import find

from chainviz.core.operations import OPERATIONS
from tests import ROOT


def named_in(files: Iterator[Path], pattern: str) -> set[tuple[str, str]]:
    return {(file.name, name) for file in files for name in re.findall(pattern, file.read_text())}


def test_every_named_icon_exists() -> None:
    drawn = set(re.findall(r'<symbol id="(\w+)"', (ROOT / "static/icons/icons.svg").read_text()))
    named = named_in((ROOT / "templates").rglob("*.html"), r"""{% icon ["'](\w+)["']""")
    assert named
    assert {(file, name) for file, name in named if name not in drawn} == set()


def test_every_operation_has_an_icon_and_a_colour() -> None:
    drawn = re.findall(r'<symbol id="([\w-]+)"', (ROOT / "static/icons/icons.svg").read_text())
    styled = re.findall(r'\[data-state="(\w+)"\]', (ROOT / "static/css/tokens.css").read_text())
    badges = {operation.name: operation.badge for operation in OPERATIONS}
    assert {name for name, badge in badges.items() if badge.icon not in drawn or badge.state not in styled} == set()


def test_every_named_static_file_exists() -> None:
    named = named_in((ROOT / "templates").rglob("*.html"), r"""{% static ["']([^"']+)["']""")
    assert named
    assert {(file, name) for file, name in named if not find(name)} == set()


def test_every_imported_script_exists() -> None:
    scripts = list((ROOT / "static/js").rglob("*.js"))
    pattern = re.compile(r"""(?:\bfrom|\bimport)\s*\(?["'](\.[^"']+)["']""")
    imported = [(script, name) for script in scripts for name in pattern.findall(script.read_text())]
    assert imported
    assert [f"{script.name}: {name}" for script, name in imported if not (script.parent / name).is_file()] == []
