"""An error of an API, pasted on a chain, into the library's search field or on the command line: one answer."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

import chainviz
from chainviz.chains.explorer import pasted_error
from chainviz.cli import main
from chainviz.core.chain.paths import parse_path
from chainviz.core.operations.repair import CHOICES, propose
from chainviz.web.templatetags.chainviz import place
from tests.chains.making import make_chain_of
from tests.core import test_errors_by_topic, test_errors_of_servers
from tests.core.error_classes import CASES, ErrorCase

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_pages_and_the_command_line_lead_to_the_same_place(case: ErrorCase, client: Client, tmp_path: Path, capsys: Any) -> None:
    chain = make_chain_of(case.content, "run.json")
    page = client.get(f"/c/{chain.pk}/v/1/problems", {"error": case.pasted}).content.decode()
    path = parse_path(case.path)
    assert re.search(rf"at/{re.escape(case.path)}#[^>]*>.*?Show {path.number}</a>", page)
    (tmp_path / "run.json").write_bytes(case.content)
    (tmp_path / "error.txt").write_text(case.pasted)
    words = ["check", str(tmp_path / "run.json"), "--format", case.format, "--error", str(tmp_path / "error.txt"), "--json"]
    code, told = main(words), json.loads(capsys.readouterr().out)
    assert (code, told["path"]) == (0, case.path)
    assert [fix for fix in told["fixes"] if f"kind={fix}" not in page] == [] and case.fix in told["fixes"]


FURTHER = {**test_errors_of_servers.FOUND, **test_errors_by_topic.FOUND}
FURTHER = {says: found for says, found in FURTHER.items() if found[2]}


@pytest.mark.parametrize("says", FURTHER)
def test_pages_lead_to_the_fix_of_an_error_that_no_rule_quotes(says: str, client: Client) -> None:
    document, path, fix = FURTHER[says]
    chain = make_chain_of(json.dumps(document).encode(), "run.json")
    page = client.get(f"/c/{chain.pk}/v/1/problems", {"error": says}).content.decode()
    assert f"at/{path}#" in page
    links = dict(re.findall(r'href="([^"]+[?;]kind=([a-z-]+)[^"]*)"', page))
    assert fix in links.values()
    for link, kind in links.items():
        made = {row.action for row in chainviz.load(json.dumps(document).encode())[0].apply("repair", only=(kind,)).report}
        offered = client.get(html.unescape(link)).content.decode().partition("<h1")[2]
        assert kind not in made or (html.escape(CHOICES[kind][0]) in offered and "Nothing to repair" not in offered), kind


def test_the_library_leads_to_the_same_page(client: Client) -> None:
    case = next(each for each in CASES if each.name == "O4")
    chain = make_chain_of(case.content, "run.json")
    page = client.get("/", {"q": case.pasted}).content.decode()
    assert f"/c/{chain.pk}/v/1/problems?" in page and "No+tool+call+found" in page
    found = client.get(f"/c/{chain.pk}/v/1/find", {"q": case.pasted}).content.decode()
    assert f"/c/{chain.pk}/v/1/problems?error=No+tool+call+found" in found


def call_without_result(id: str) -> bytes:
    items = [{"role": "user", "content": "hi"}, {"type": "function_call", "call_id": id, "name": "f", "arguments": "{}"}]
    return json.dumps({"model": "gpt-5", "input": [*items, {"role": "user", "content": "and?"}]}).encode()


def test_the_chain_that_has_the_id_is_the_only_answer(client: Client) -> None:
    chains = [make_chain_of(call_without_result(id), f"{id}.json") for id in ("call_one", "call_two", "call_three")]
    wanted = chains[1]
    error = '{"error": {"message": "No tool output found for function call call_two."}}'
    page = client.get("/", {"q": error}).content.decode()
    suspects = page[page.index("error-suspects") : page.index("</section>", page.index("error-suspects"))]
    assert [f"/c/{chain.pk}/v/1/problems?" in suspects for chain in chains] == [False, True, False]
    assert ">1.1</a>" in suspects
    opened = client.get("/", {"q": error}, headers={"HX-Request": "true"})
    assert opened.status_code == 204 and opened["HX-Redirect"].startswith(f"/c/{wanted.pk}/fix/?error=")


def test_an_id_decides_where_the_sentence_is_not_known(client: Client) -> None:
    make_chain_of(call_without_result("call_one"), "one.json")
    chain = make_chain_of(call_without_result("toolu_01Ab"), "two.json")
    opened = client.get("/", {"q": "Error 400: block toolu_01Ab is something new"}, headers={"HX-Request": "true"})
    assert opened["HX-Redirect"].startswith(f"/c/{chain.pk}/")
    page = client.get(f"/c/{chain.pk}/v/1/problems", {"error": "Error 400: block toolu_01Ab is something new"}).content.decode()
    assert "Show 1.1</a>" in page and "known sentences of APIs fits" in page


def test_the_library_says_that_no_chain_has_the_id(client: Client) -> None:
    chain = make_chain_of(call_without_result("call_one"), "one.json")
    page = client.get("/", {"q": "No tool output found for function call call_nine."}).content.decode()
    assert "No chain here has" in page and "call_nine" in page and f"/c/{chain.pk}/v/1/problems?" in page


def test_where_nothing_is_found_the_answer_says_what_was_tried(client: Client, tmp_path: Path, capsys: Any) -> None:
    chain = make_chain_of(call_without_result("call_one"), "one.json")
    (tmp_path / "one.json").write_bytes(call_without_result("call_one"))
    (tmp_path / "error.txt").write_text("No tool call found for function call output with call_id call_nine. input[99]")
    page = client.get(f"/c/{chain.pk}/v/1/problems", {"error": (tmp_path / "error.txt").read_text()}).content.decode()
    code = main(["check", str(tmp_path / "one.json"), "--error", str(tmp_path / "error.txt"), "--json"])
    tried = json.loads(capsys.readouterr().out)["tried"]
    assert code == 1 and len(tried) == 3
    for words in ("result-without-call", "“call_nine”, which the chain does not have", "number 99 of the request"):
        assert any(words in sentence for sentence in tried)
        assert words in page


def test_a_long_chain_gives_the_same_answer(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pasted_error, "READ_WHOLE", 0)
    chain = make_chain_of(call_without_result("call_one"), "one.json")
    page = client.get(f"/c/{chain.pk}/v/1/problems", {"error": "No tool output found for function call call_one."}).content.decode()
    assert "Show 1.1</a>" in page
    page = client.get(f"/c/{chain.pk}/v/1/problems", {"error": "Error: item call_one is something new, input[1]"}).content.decode()
    assert "Show 1.1</a>" in page


def test_an_id_decides_among_the_many_problems_of_a_long_chain(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pasted_error, "READ_WHOLE", 0)
    monkeypatch.setattr(pasted_error, "MOST", 2)
    turns = [turn for n in range(9) for turn in json.loads(call_without_result(f"call_{n}"))["input"]]
    content = json.dumps({"model": "gpt-5", "input": turns}).encode()
    chain, (loaded,) = make_chain_of(content, "run.json"), chainviz.load(content)
    error = "No tool output found for function call call_7."
    page = client.get(f"/c/{chain.pk}/v/1/problems", {"error": error}).content.decode()
    (path,) = (fix.path for fix in propose(loaded.core) if fix.id.endswith(":call_7"))
    assert re.findall(r"Show ([§\d.]+)</a>", page)[:1] == [place(path)]


def test_python_gives_the_same_answer() -> None:
    (chain,) = chainviz.load(call_without_result("call_one"))
    found = chain.locate_error("Error code: 400 - {'error': {'message': 'No tool output found for function call call_one.'}}")
    assert (str(found.path), found.fixes[:1]) == ("s1.p1.m0.c0", ("answer-call",))


@pytest.mark.parametrize("error", ["No tool output found for function call call_one.", "Error 400: item call_1 is something new"])
def test_other_search_fields_lead_to_the_answer(client: Client, error: str) -> None:
    chain = make_chain_of(call_without_result("call_1"), "one.json")
    assert f"/c/{chain.pk}/v/1/problems?error=" in client.get(f"/c/{chain.pk}/v/1/find", {"q": error}).content.decode()
    page = client.get("/help/", {"q": error}).content.decode()
    assert "This is an error of an API." in page and 'href="/?q=' in page
    assert "This is an error of an API." not in client.get("/help/", {"q": "where are the provider rules"}).content.decode()
