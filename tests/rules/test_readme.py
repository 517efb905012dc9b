"""README.md and the other documents at the top: short, with files that exist and pictures that are small."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests import ROOT

TEXT = (ROOT / "README.md").read_text()
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "chainviz/help").glob("*.md"), *(ROOT / "packaging").glob("*.md")])


def test_readme_has_at_most_200_lines() -> None:
    assert len(TEXT.splitlines()) <= 200


def test_readme_has_two_small_pictures() -> None:
    pictures = re.findall(r"!\[.+?\]\((.+?)\)", TEXT)
    assert len(pictures) == 2
    for name in pictures:
        picture = (ROOT / name).read_bytes()
        assert picture.startswith(b"\x89PNG")
        assert len(picture) < 300_000


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_files_and_links_of_a_document_exist(document: Path) -> None:
    text = document.read_text()
    named = re.findall(r"`((?:chainviz|tests|static|templates|packaging|\.ci|\.deploy)/[\w./-]+)`", text)
    assert [name for name in named if not (ROOT / name).exists()] == []
    links = [link.partition("#")[0] for link in re.findall(r"\]\((?!https?:)([^)]+)\)", text)]
    assert [link for link in links if link and not (document.parent / link).exists()] == []


def test_package_page_shows_everywhere() -> None:
    """A package page has no files beside it: no relative picture and no relative link."""
    page = (ROOT / "packaging/package-page.md").read_text()
    assert not re.search(r"\]\((?!https://)", page)
