"""An error of an API, pasted on a chain, into the library's search field or on the command line: one answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from chainviz.cli import main
from tests.chains.making import make_chain_of
from tests.core.error_classes import CASES, ErrorCase

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_pages_and_the_command_line_lead_to_the_same_place(case: ErrorCase, client: Client, tmp_path: Path, capsys: Any) -> None:
    chain = make_chain_of(case.content, "run.json")
    page = client.get(f"/c/{chain.pk}/v/1/problems", {"error": case.pasted}).content.decode()
    assert f"Show {case.path}</a>" in page
    (tmp_path / "run.json").write_bytes(case.content)
    (tmp_path / "error.txt").write_text(case.pasted)
    words = ["check", str(tmp_path / "run.json"), "--format", case.format, "--error", str(tmp_path / "error.txt"), "--json"]
    code, told = main(words), json.loads(capsys.readouterr().out)
    assert (code, told["path"]) == (0, case.path)
    assert [fix for fix in told["fixes"] if f"kind={fix}" not in page] == [] and case.fix in told["fixes"]


def test_the_library_leads_to_the_same_page(client: Client) -> None:
    case = next(each for each in CASES if each.name == "O4")
    chain = make_chain_of(case.content, "run.json")
    page = client.get("/", {"q": case.pasted}).content.decode()
    assert f"/c/{chain.pk}/v/1/problems?" in page and "No+tool+call+found" in page
    found = client.get(f"/c/{chain.pk}/v/1/find", {"q": case.pasted}).content.decode()
    assert f"/c/{chain.pk}/v/1/problems?error=No+tool+call+found" in found
