"""The table of actions makes the menus, the next step and the palette; places are named as APIs and people name them."""

from __future__ import annotations

import html
import json
import re
from typing import Any

import pytest
from django.test import Client

from chainviz.chains.explorer.place_views import NoSuchPlace, find_place, message_number
from chainviz.chains.models import Chain
from chainviz.core.operations import OPERATIONS
from chainviz.store.content import message_reader
from chainviz.store.content.chain import StoredChain
from chainviz.store.content.codec import pack
from chainviz.store.content.message_reader import StoredMessage
from chainviz.store.content.spans import first_ordinal, unpack_spans
from chainviz.store.models import Version
from tests.chains.making import ai, human, make_chain, make_chain_of, result
from tests.cli.fix.sessions import COMPACTED, SHARED, Lines, called, said, told

FRAGMENT = {"HX-Request": "true"}
MENDED = [human("List it"), ai(None, ("call_1", "ls", {})), result("call_1", "a b"), ai("Two files.")]


@pytest.mark.parametrize(
    ("words", "number"),
    [
        ("13", 13), ("1,300", 1300), ("messages.13", 13), ("messages[13].content[0]", 13), ("message 7", 7), ("s2.p4", None),
        ("call_1", None),
    ],
)  # fmt: skip
def test_numbers_are_read_as_apis_write_them(words: str, number: int | None) -> None:
    assert message_number(words) == number


@pytest.mark.django_db
def test_places_of_a_chain() -> None:
    chain = make_chain(MENDED)
    stored = StoredChain(Version.objects.get(history=chain.history).snapshot)
    found = {words: str(find_place(stored, words).path) for words in ("0", "3", "s1.p1", "call_1", "first", "last")}
    assert found == {"0": "s1.h.m0", "3": "s1.p2.m0", "s1.p1": "s1.p1", "call_1": "s1.p1.m0", "first": "s1.h.m0", "last": "s1.p2.m0"}
    for words, sentence in (("4", "the last one is 3"), ("nothing", "has no “nothing”"), ("", "Enter the number")):
        with pytest.raises(NoSuchPlace, match=sentence):
            find_place(stored, words)


@pytest.mark.django_db
def test_a_number_is_found_without_reading_the_rows_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A long chain is counted by one column of its rows, since a palette asks at every key."""
    made = []
    monkeypatch.setattr(message_reader, "StoredMessage", lambda *row: made.append(row) or StoredMessage(*row))
    chain = make_chain([human("Go") if number % 2 == 0 else ai("Gone") for number in range(400)])
    stored = StoredChain(Version.objects.get(history=chain.history).snapshot)
    made.clear()
    assert str(find_place(stored, "399").path) == "s200.p1.m0"
    assert len(made) < 10


@pytest.mark.parametrize("spans", [[], [[7, 0, 40, 9]], [[-3, 1, -1, 9], [8, 0, 40, 9]], [[7, 0, 40, 9, [1, 2]]], [[7, 0, 40, 9]] * 300])
def test_the_first_unit_of_a_message_is_read_from_packed_spans(spans: list[Any]) -> None:
    packed = pack(spans)
    assert first_ordinal(packed) == next((span.ordinal for span in unpack_spans(packed)), None)


def page_of(client: Client, chain: Chain, where: str = "") -> str:
    return client.get(f"/c/{chain.pk}/{where}").content.decode()


@pytest.mark.django_db
def test_the_next_step_follows_the_state(client: Client) -> None:
    broken = make_chain([human("List it"), ai(None, ("call_1", "ls", {})), human("And?")])
    assert "Fix 1 problem<" in page_of(client, broken)
    assert "Export</a>" in page_of(client, make_chain(MENDED))


@pytest.mark.django_db
def test_every_operation_is_in_a_menu_and_in_the_palette(client: Client) -> None:
    chain = make_chain(MENDED)
    page = page_of(client, chain)
    palette = client.get(f"/c/{chain.pk}/v/1/palette", headers=FRAGMENT).content.decode()
    for operation in OPERATIONS:
        if operation.name not in ("edit", "observations"):  # these begin at a node, and on the page of tool results
            address = f"/c/{chain.pk}/do/{operation.name}/?v=1"
            assert address in page and address in palette, operation.name


@pytest.mark.django_db
def test_every_link_of_the_chain_answers_without_a_script(client: Client) -> None:
    chain = make_chain(MENDED)
    links = {html.unescape(link) for link in re.findall(rf'href="(/c/{chain.pk}/[^"#]*)', page_of(client, chain))}
    assert {link for link in links if client.get(link).status_code >= 400} == set()


@pytest.mark.django_db
def test_the_palette_narrows_by_words_and_by_scope(client: Client) -> None:
    chain, other = make_chain(MENDED), make_chain([human("Rebuild the importer"), ai("Done.")])
    Chain.objects.filter(pk=other.pk).update(title="Rebuild the importer")

    def found(query: str) -> str:
        return client.get(f"/c/{chain.pk}/v/1/palette", {"q": query}, headers=FRAGMENT).content.decode()

    assert "Go to message 3" in found("3") and "Go to call call_1" in found("call_1")
    assert "Mask secrets" in found("mask") and "Redact tool results" not in found("mask")
    assert "Rebuild the importer" in found("@importer") and "Mask secrets" not in found("@importer")
    assert "Nothing fits" in found("zzzz")


@pytest.mark.django_db
def test_the_palette_has_the_pages_beside_the_library_in_their_words(client: Client) -> None:
    make_chain(MENDED)
    side = client.get("/").content.decode().split('id="library-side"')[1].split("</nav>")[0]
    palette = client.get("/palette/").content.decode().split("group-chains")[0]
    beside = re.findall(r'href="([^"?]+)"[^>]*>\s*<svg.*?</svg><span>([^<]+)</span>', side, re.DOTALL)
    named = re.findall(r'<li><a href="([^"?]+)"><svg.*?</svg>([^<]+?) <small>', palette, re.DOTALL)
    assert len(beside) >= 7 and set(beside) <= set(named)


@pytest.mark.django_db
def test_a_session_has_one_verdict_and_one_fix(client: Client) -> None:
    """Messages before a compaction are no longer sent: their errors are counted separately, and the next step fixes the session."""
    boundary = {"type": "system", "subtype": "compact_boundary", "content": "Conversation compacted", "logicalParentUuid": "u2"}
    before = [said(0, "Look"), called(1, "toolu_1"), said(2, "And?"), line_of(3, boundary)]
    summary = said(4, "This session is continued.", **COMPACTED)
    accepted = [*before, summary, told(5, "Yes.")]
    refused = [*before, summary, called(5, "toolu_2"), said(6, "And now?"), told(7, "Yes.")]
    page = page_of(client, session_of(accepted))
    assert "Anthropic: accepted" in page and "1 more error in messages" in " ".join(page.split())
    assert "Export</a>" in page and "Fix all messages" in page
    page = page_of(client, chain := session_of(refused))
    assert "Anthropic: 1 error" in page and "1 more error in messages" in " ".join(page.split())
    assert f'href="/c/{chain.pk}/fix/"' in page and "Fix 1 problem</a>" in page


@pytest.mark.django_db
def test_an_answer_that_pi_does_not_send_again_is_no_problem(client: Client) -> None:
    lines: Lines = [{"type": "session", "version": 3, "id": "a1", "timestamp": "2026-11-20T10:00:00Z", "cwd": "/depot"}]
    model = {"role": "assistant", "provider": "anthropic", "api": "anthropic-messages", "model": "claude-opus-4-5"}
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "Hi"},
        {**model, "content": [], "stopReason": "aborted"},
        {"role": "user", "content": "Hi again"},
        {**model, "content": [{"type": "text", "text": "Hello."}], "stopReason": "stop"},
    ]
    for number, message in enumerate(messages):
        lines.append({"type": "message", "id": f"m{number}", "parentId": f"m{number - 1}" if number else None, "message": message})
    page = page_of(client, chain := session_of(lines))
    assert "Anthropic: accepted" in page and "1 more error in messages" in " ".join(page.split())
    assert (chain.health, chain.own_problems) == (Chain.Health.ACCEPTED, 0), "the library agrees"


def line_of(number: int, record: dict[str, Any]) -> dict[str, Any]:
    return {"parentUuid": None, **SHARED, "uuid": f"u{number}", **record}


def session_of(lines: Lines) -> Chain:
    return make_chain_of("".join(json.dumps(each) + "\n" for each in lines).encode(), "session.jsonl")
