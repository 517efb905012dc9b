"""The numbers of problems, fixes and changes are equal on every page and in the terminal."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone

import chainviz
from chainviz.chains.models import Chain
from chainviz.chains.samples import SAMPLES
from tests.chains.making import ai, human, make_chain, make_chain_of, result
from tests.drafts.pages import fields_of, send_form
from tests.shared_folder import FOLDER
from tests.shared_folder import SAMPLES as FILES

pytestmark = pytest.mark.django_db
LARGEST = 150_000
"""Bytes of a file that is tried here."""
MOST = 30
"""Real transcripts."""


def text_of(page: str) -> str:
    """Return the visible text in the main part of a page."""
    main = re.sub(r"<(svg|script)\b.*?</\1>", " ", page[page.index("<main") :], flags=re.S)
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", main))).replace(",", "")


def number(pattern: str, text: str) -> int:
    """The number that a pattern finds, 0 where it finds none."""
    found = re.search(pattern, text)
    return int(found[1]) if found else 0


def look(client: Client, content: bytes, name: str) -> dict[str, list[int]]:
    """Return the numbers that the pages, the API and the terminal show, by noun."""
    chain = make_chain_of(content, name)
    home = f"/c/{chain.pk}/"
    explorer, problems, repair = (text_of(client.get(home + each).content.decode()) for each in ("v/1/", "v/1/problems", "repair/?v=1"))
    client.post("/columns/", {"column": ["problems"]})
    row = text_of(client.get("/").content.decode())
    answer = client.get(f"/api/v1/chains/{chain.pk}").json()
    counted = [
        number(r"Structure: (\d+) problems?", explorer),
        number(r"Structure (\d+) problems?", problems),
        number(r"(\d+) structure problems?\b", row),
        answer["errors"] + answer["warnings"],
    ]
    page = client.get(f"{home}repair/?v=1").content.decode()
    if "Nothing to repair" in repair or 'class="fix"' not in page:
        return {"problems": counted}
    kinds = [int(each) for each in re.findall(r"· ([\d,]+) places?</label>", page.replace(",", ""))]
    offered = sum(kinds) or page.count('<li class="fix">')
    found = {"problems": [*counted, number(r"(\d+) structure problems? \d+ fix", repair)]}
    found["fixes"] = [number(r"problems? (\d+) fix(?:es)?\.", repair), offered]
    ticked = fields_of(page).get("fix", [])
    if ticked and not kinds:
        preview = client.get(send_form(client, f"{home}repair/?v=1")["Location"]).content.decode()
        read = text_of(preview)
        found["problems"] += map(int, re.findall(r"Problems (\d+)", read))
        found["steps"] = [number(r"(\d+) fixes", read) or 1, len(ticked)]
        changes = number(r"(\d+) changes?\b", read) or number(r"(\d+) nodes? changed\b", read)
        found["changes"] = [changes, len(re.findall('class="diff-group"', preview))]
    return found


def differing(counts: dict[str, list[int]]) -> dict[str, list[int]]:
    return {noun: numbers for noun, numbers in counts.items() if len(set(numbers)) > 1}


def broken_files() -> list[Path]:
    real = sorted((FOLDER / "transcripts").rglob("*.json*")) if (FOLDER / "transcripts").exists() else []
    files = [*sorted(FILES.rglob("broken*.json*")), *real]
    found: list[Path] = []
    for path in files:
        if path.stat().st_size > LARGEST or len(found) >= MOST:
            continue
        try:
            chain = chainviz.load(path)[0]
        except Exception:  # some are no transcripts; other tests are about those
            continue
        if any(problem.is_counted for problem in chain.problems()):
            found.append(path)
    return found


def test_the_broken_sample(client: Client) -> None:
    sample = SAMPLES[0]
    found = look(client, sample.build(), sample.file_name)
    assert {noun: numbers[0] for noun, numbers in found.items()} == {"problems": 6, "fixes": 5, "steps": 5, "changes": 6}
    assert differing(found) == {}


def test_files_with_problems(client: Client) -> None:
    files = broken_files()
    assert len(files) >= 3
    wrong = {}
    for path in files:
        found = look(client, path.read_bytes(), path.name)
        in_python = sum(problem.is_counted for problem in chainviz.load(path)[0].problems())
        found["problems"].append(in_python)
        Chain.objects.all().update(trashed_at=timezone.now())  # the library shows one chain at a time
        if differing(found):
            wrong[path.name] = differing(found)
    assert wrong == {}


def test_redactions(client: Client) -> None:
    """Two of the three results are in one pair, so three redactions change two nodes."""
    calls = [("c1", "read", {"path": "a"}), ("c2", "read", {"path": "b"})]
    results = [result(name, "line\n" * 40) for name in ("c1", "c2", "c3")]
    chain = make_chain([human("Hi"), ai(None, *calls), *results[:2], ai(None, ("c3", "read", {})), results[2], ai("Done")])
    address = f"/c/{chain.pk}/do/redact/?v=1"
    assert "3 redactions in 1 group" in text_of(client.get(address).content.decode())
    draft = send_form(client, address, act="apply")["Location"]
    preview = text_of(client.get(draft).content.decode())
    strip = text_of(client.get(f"{draft}explore/").content.decode())
    for page in (preview, strip):
        assert set(re.findall(r"\d+ redactions?|\d+ nodes? changed", page)) == {"3 redactions", "2 nodes changed"}
