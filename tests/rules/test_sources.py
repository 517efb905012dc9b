"""Rules that hold for every file of the project."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest

from tests import ROOT

FORBIDDEN_NAMES = set(
    "utils util helpers helper manager managers handler handlers data info process signals common misc".split()  # noqa: SIM905
)
TEXT = {".py", ".html", ".css", ".js", ".md", ".toml", ".txt", ".svg", ""}


def sources() -> list[Path]:
    """What git tracks or would track; in an unpacked archive, everything outside hidden and data folders."""
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode == 0:
        paths = [ROOT / line for line in listed.stdout.splitlines()]
    else:
        paths = [path for path in ROOT.rglob("*") if not {".venv", "data"} & set(path.parts)]
    return [path for path in paths if path.is_file()]


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.suffix in TEXT else ""


def test_no_file_names_a_path_of_one_machine() -> None:
    checkout_parent = str(ROOT.parent)
    places = re.compile(r"(?<![\w.~])/(?:home|Users|root)/\w+")
    named = [
        str(path.relative_to(ROOT))
        for path in sources()
        if path.parts[-2] not in {"samples", "cases"}
        and (places.search(text := text_of(path)) or (len(ROOT.parent.parts) > 1 and f"{checkout_parent}/" in text))
    ]
    assert named == []


def test_no_registry_address_in_locked_requirements() -> None:
    for path in (ROOT / ".requirements").glob("*.txt"):
        text = path.read_text()
        assert "--hash=sha256:" in text
        assert not re.search(r"https?://|--index-url|--find-links|file:/", text), path.name


def test_no_module_has_a_name_that_says_nothing() -> None:
    modules = [path for path in sources() if path.suffix == ".py" and path.is_relative_to(ROOT / "chainviz")]
    assert [str(path) for path in modules if {path.stem, path.parent.name} & FORBIDDEN_NAMES] == []


def test_templates_never_mark_content_as_safe_and_hold_no_inline_script_or_style() -> None:
    wrong = re.compile(r"\|\s*safe\b|{%\s*autoescape off|\sstyle=|<style\b|\son\w+=|hx-on|hx-vals=['\"]js:|<script>")
    assert [str(path) for path in (ROOT / "templates").rglob("*.html") if wrong.search(path.read_text())] == []


def test_only_settings_read_the_environment() -> None:
    """`locations` looks up the per-user folder of the system, which is no setting of ours; `push` the token of the person
    who pushes, which is none of the server; `machine` where agents keep their sessions."""
    reads = re.compile(r"os\.environ\.get|os\.getenv|os\.environ\[[^]]+\](?! =)|BaseSettings\)")
    modules = [path for path in sources() if path.suffix == ".py" and path.is_relative_to(ROOT / "chainviz")]
    readers = {str(path.relative_to(ROOT)) for path in modules if reads.search(path.read_text())}
    own = {"chainviz/settings.py", "chainviz/locations.py", "chainviz/commands/server/push.py"}
    assert readers == {*own, "chainviz/core/sources/machine.py"}


def test_the_button_of_a_file_field_is_styled_in_one_place() -> None:
    styled = [path.name for path in sources() if path.suffix == ".css" and "::file-selector-button" in path.read_text()]
    assert styled == ["components.css"]


@pytest.mark.parametrize("pattern", ["templates/**/*.html", "static/**/*.css", "static/**/*.js"])
def test_no_line_is_longer_than_a_reader_sees(pattern: str) -> None:
    lines = [(path, n, line) for path in ROOT.glob(pattern) for n, line in enumerate(path.read_text().splitlines(), 1)]
    assert lines
    assert [f"{path.relative_to(ROOT)}:{number}" for path, number, line in lines if len(line) > 140] == []


def test_reading_orders_name_modules_that_exist() -> None:
    missing = []
    for package in sorted((ROOT / "chainviz").rglob("__init__.py")):
        paragraphs = (ast.get_docstring(ast.parse(package.read_text())) or "").split("\n\n")
        orders = [text for text in paragraphs if re.search(r"reading order|[Rr]ead in this order", text)]
        modules = {path.stem for path in package.parent.iterdir()}
        missing += [f"{package.parent.name}: {name}" for text in orders for name in re.findall(r"`([a-z_]+)`", text) if name not in modules]
    assert missing == []
