"""A chain and a change of it have the same figures on every page, in the library, in the APIs and on the command line."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import pytest
from django.test import Client
from django.utils import timezone

import chainviz
from chainviz.chains.models import Chain
from chainviz.cli import main
from chainviz.core.diff.rows import ShapeRows
from chainviz.drafts.models import Draft
from chainviz.jobs.worker import run_waiting_jobs
from chainviz.web.formatting import byte_text
from tests.chains.files import page_text
from tests.chains.making import ai, human, make_chain_of, result
from tests.drafts.pages import fields_of, send_form

pytestmark = pytest.mark.django_db


def turn(number: int) -> list[dict[str, Any]]:
    results = [{"role": "tool", "tool_call_id": f"{name}{number}", "content": "gulls " * 60} for name in "ab"]
    calls = (f"a{number}", "look", '{"at":"sea"}'), (f"b{number}", "look", '{"at":"pier"}')
    return [human(f"Where are they, №{number}?"), ai(None, *calls), *results, ai("North.")]


OPEN = [human("And now?"), ai(None, ("z", "look", "{}")), human("Well?"), human("Well?!"), ai("South.")]
MESSAGES = [{"role": "system", "content": "Be brief."}, *(each for number in range(4) for each in turn(number)), *OPEN]
CONTENT = json.dumps({"model": "gpt-4o", "messages": MESSAGES}).encode()


class Counts(NamedTuple):
    messages: int
    pairs: int
    size: int


def of_python(chain: chainviz.Chain) -> Counts:
    return Counts(len(chain), sum(len(section.body) for section in chain.tree.sections), chain.tree.size)


def counts_on_pages(chain: Chain, counts: Counts) -> None:
    """The rows and pages of the newest version name these counts."""
    chain.refresh_from_db()
    assert (chain.messages, chain.pairs, chain.size) == counts
    told = Client().get(f"/api/v1/chains/{chain.pk}").json()
    assert (told["messages"], told["pairs"], told["size"]) == counts
    page = page_text(f"/c/{chain.pk}/")
    assert f"{counts.messages} messages" in page
    facts = f"Bytes {byte_text(counts.size)} Tokens .* Messages {counts.messages} Pairs {counts.pairs} "
    assert re.search(facts, page)
    Client().post("/columns/", {"column": ["size", "messages", "pairs"]})
    row = page_text("/")
    assert f" {counts.pairs} {counts.messages} {byte_text(counts.size)} " in row
    assert byte_text(counts.size) in page_text(f"/c/{chain.pk}/versions/")


STRATEGY = {"type": "message_limit", "max_messages": 12}
OPTIONS: dict[str, dict[str, Any]] = {"repair": {}, "redact": {}, "compact": {"max_messages": 12}}


def begin_draft(operation: str, chain: Chain) -> str:
    """Runs the operation as its page does, and returns the address of the preview."""
    address = f"/c/{chain.pk}/{'repair' if operation == 'repair' else f'do/{operation}'}/?v=1"
    if operation == "compact":
        page = Client().post(address, {"act": "read", "json": json.dumps(STRATEGY)}).content.decode()
        answer = Client().post(address, {**fields_of(page), "act": "apply"})
    else:
        answer = send_form(Client(), address, act="preview" if operation == "repair" else "apply")
    assert answer.status_code == 303
    return f"/c/{chain.pk}/d/{Draft.objects.latest('pk').pk}/"


def of_command(shown: dict[str, Any]) -> Counts:
    return Counts(shown["messages"], sum(len(section["body"]) for section in shown["sections"]), shown["size"])


def shown_by(capsys: Any, *command: str) -> Any:
    capsys.readouterr()
    main([*command, "--json"])
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("operation", OPTIONS)
def test_every_door_tells_the_same_counts(operation: str, tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "chain.json"
    path.write_bytes(CONTENT)
    (loaded,) = chainviz.load(path)
    before = of_python(loaded)
    chain = make_chain_of(CONTENT, "chain.json")
    counts_on_pages(chain, before)
    assert of_command(shown_by(capsys, "show", str(path))) == before

    made = loaded.apply(operation, **OPTIONS[operation])
    after = of_python(made.chain)
    assert of_python(chainviz.load(made.chain.to_bytes())[0]) == after, "what is written has the same counts"
    assert sum(row.bytes_after - row.bytes_before for row in made.report) == after.size - before.size
    options = (text for name, value in OPTIONS[operation].items() for text in ("--set", f"{name}={value}"))
    applied = shown_by(capsys, "apply", operation, str(path), *options)
    assert (of_command(applied["before"]), of_command(applied["after"])) == (before, after)

    draft = begin_draft(operation, chain)
    preview = page_text(draft)
    assert f"Bytes {byte_text(before.size)} {byte_text(after.size)}" in preview
    assert f"Messages {before.messages} {after.messages}" in preview
    change = after.size - before.size
    assert f"{'+' if change > 0 else ''}{byte_text(change)}" in preview, "the step"
    saved = Client().post(f"{draft}save", fields_of(Client().get(draft).content.decode()))
    assert saved.status_code == 303
    counts_on_pages(chain, after)
    compared = page_text(f"/c/{chain.pk}/diff/1..2/")
    assert f"Bytes {byte_text(before.size)} {byte_text(after.size)}" in compared
    assert f"Messages {before.messages} {after.messages}" in compared
    runs = page_text(f"/compare/{chain.pk}.1/{chain.pk}.2/")
    for name, old, new in (("Messages", before.messages, after.messages), ("Pairs", before.pairs, after.pairs)):
        assert f"{name}{'' if old == new else ' , differs'} {old} {new}" in runs

    Chain.objects.update(trashed_at=timezone.now())  # the library shows the two as one group
    in_bulk = make_chain_of(CONTENT.replace(b"Be brief.", b"Be quick."), "bulk.json")
    act = {"act": operation, "chain": [in_bulk.pk]}
    run = Client().post("/bulk/", act)["Location"]
    assert send_form(Client(), run, do="start", **OPTIONS[operation]).status_code == 303
    run_waiting_jobs()
    judged = {"goal": loaded.provider} if operation == "repair" else OPTIONS[operation]  # many chains are repaired for their APIs
    counts_on_pages(in_bulk, of_python(loaded.apply(operation, **judged).chain))


def test_a_compaction_counts_each_removed_node_once() -> None:
    """The page counts stored messages, which the system message is not; the preview counts nodes and what is in them."""
    chain = make_chain_of(CONTENT, "chain.json")
    made = chainviz.load(CONTENT)[0].apply("compact", **OPTIONS["compact"])
    removed = len(MESSAGES) - len(made.chain)
    page = page_text(f"/c/{chain.pk}/do/compact/?v=1")
    preview = page_text(begin_draft("compact", chain))
    nodes = ShapeRows(chainviz.load(CONTENT)[0].messages).rows(1, 1 + removed)
    assert f"Messages {len(MESSAGES)} {len(made.chain)} −{removed}" in preview
    assert f"{len(nodes)} nodes changed {len(nodes)} removed" in preview and f"{removed} messages removed" in preview
    assert "1 system message at the start never compacted" in page


def test_a_simulation_counts_what_compact_removes() -> None:
    """The rows of a strategy count what the chosen request lacks; the lane beside the chart adds up all turns."""
    (loaded,) = chainviz.load(CONTENT)
    chain = make_chain_of(CONTENT, "chain.json")
    _, line = loaded.simulate({"A": STRATEGY}, ()).lines
    assert len(line.firings) > 1, "the last one comes behind the last request"
    whole = sum(firing.removed for firing in line.firings)
    lost = whole - line.firings[-1].removed
    assert len(loaded.apply("compact", **OPTIONS["compact"]).chain) == len(MESSAGES) - whole
    page = page_text(f"/c/{chain.pk}/do/compact/simulate/?a={quote(json.dumps(STRATEGY))}&b=&shown=1")
    assert f"−{whole} messages in all" in page
    assert re.search(rf"Turns removed by turn \d+ Strategy A \d+ {lost} messages", page)


def test_a_summary_names_how_many_of_its_pairs_are_not_listed() -> None:
    """A list of 18 pairs does not end with a number of messages."""
    pairs = ([ai(None, (f"c{number}", "look", "{}")), result(f"c{number}", "gulls " * 9)] for number in range(18))
    turns = [human("Look."), *(message for pair in pairs for message in pair)]
    content = json.dumps({"messages": [*turns, human("Thanks."), ai("You are welcome.")]}).encode()
    summarized = chainviz.load(content)[0].apply("summarize").chain
    sides = make_chain_of(content, "before.json"), make_chain_of(summarized.to_bytes(), "after.json")
    compared = page_text(f"/compare/{sides[0].pk}.1/{sides[1].pk}.1/")
    assert "18 pairs" in compared and "and 6 more" in compared


@pytest.mark.parametrize("operation", ["repair", "redact", "summarize"])
def test_a_report_adds_up_to_the_change(operation: str) -> None:
    (loaded,) = chainviz.load(CONTENT)
    made = loaded.apply(operation)
    assert sum(row.bytes_after - row.bytes_before for row in made.report) == made.chain.tree.size - loaded.tree.size
