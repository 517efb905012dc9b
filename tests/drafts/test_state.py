"""The State page: what a chain would store and send, the next call as a person imagines it, appending, and the download."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from chainviz.chains.models import Chain
from chainviz.core.chain.chain import Splice
from chainviz.core.chain.messages import HUMAN, Message, Text
from chainviz.core.state.document import seen_messages
from chainviz.core.state.export import next_call
from chainviz.drafts.models import Draft
from chainviz.drafts.state import state_page as document
from chainviz.store.content import message_reader
from chainviz.store.content.chain import StoredChain
from chainviz.store.fsck import fsck
from chainviz.store.history.drafts import add_step, save, start_draft
from chainviz.store.history.rebase import rebase
from chainviz.store.history.steps import NewStep
from chainviz.store.models import Version
from chainviz.store.query.state import StatePart
from chainviz.store.transfer.exports import export
from tests.chains.files import send
from tests.chains.making import ai, human, long_story, make_chain, make_chain_of, result
from tests.drafts.pages import fields_of, send_form, snapshot_of
from tests.examples import examples

pytestmark = pytest.mark.django_db


def system(text: str) -> dict[str, Any]:
    return {"role": "system", "content": text}


TALK = [
    system("You are the desk."),
    human("Hello"),
    ai("Hi"),
    system("The passenger checked in."),
    human("Where is my cabin?"),
    ai(None, ("c1", "find_cabin", {"deck": 8})),
    result("c1", "8106"),
    ai("Deck 8."),
    human("Event: boarding passes were opened."),
]


@pytest.fixture
def talk() -> Chain:
    return make_chain(TALK)


def version_of(chain: Chain) -> Version:
    return Version.objects.get(history=chain.history, number=chain.version)


def stored(chain: Chain) -> StoredChain:
    return StoredChain(version_of(chain).snapshot)


def rows(page: str) -> list[str]:
    """Kind of each row with the words of its cells."""
    found = []
    for kind, body in re.findall(r'<li(?: class="state-(\w+)")?[^>]*>(.*?)</li>', page[page.index("data-rows") :], re.S):
        words = unescape(" ".join(re.sub(r"<[^>]*>", " ", body).split()))
        found.append(f"{kind or 'fold'}: {words}")
    return found


def get(chain: Chain, query: str = "") -> str:
    response = Client().get(f"/c/{chain.pk}/state/{query}")
    assert response.status_code == 200
    return str(response.content.decode())


def downloaded(chain: Chain, query: str = "") -> dict[str, Any]:
    answer = Client().get(f"/c/{chain.pk}/state/document{query}")
    return dict(json.loads(b"".join(answer.streaming_content)))  # type: ignore[attr-defined]


def stepped(client: Client, chain: Chain, query: str = "", **fields: str) -> Any:
    """Return the response of a button that adds a step to the draft."""
    given = fields_of(client.get(f"/c/{chain.pk}/state/{query}").content.decode())
    return client.post(f"/c/{chain.pk}/state/step{query}", {**given, **fields})


def test_two_columns_show_what_is_stored_and_what_is_sent(talk: Chain) -> None:
    found = rows(get(talk))
    assert found[:2] == [
        "section: System messages at the start from the next call, 17 B",
        "row: not kept System You are the desk. sent only 17 B",
    ]
    assert found[2] == "section: §1 Hello 3 messages · 24 B"
    assert "row: 2 System The passenger checked in. kept 25 B 2 System The passenger checked in. 25 B" in found
    assert "row: 4 find_cabin calls 8 31 B 4 find_cabin calls 8 31 B" in [re.sub(r"\d+ B", "31 B", row) for row in found]
    assert any("find_cabin result 8106" in row for row in found)
    at = found.index("divider: Seen by the model up to here 7 messages")
    assert found[at + 2].startswith("row: 7 Human Event: boarding passes were opened. new")
    assert found[-2:] == [
        "section: Next call",
        "row: The reply is kept once it is complete, with its calls and their results. If the call fails, nothing is added."
        " The model answers here.",
    ]


def test_the_strip_shows_what_the_next_call_is_made_of(talk: Chain) -> None:
    page = get(talk)
    call = next_call(stored(talk).shapes())
    assert f"{call.stored.size} B" in page
    assert re.findall(r'<rect data-kind="([a-z]+)" x="[0-9.]+" width="[0-9.]+" height="24"', page) == ["lead", "kept", "appended"]
    assert "new since the last call 35 B" in page
    assert "openai only" in page


def test_the_next_call_is_what_a_person_enters(talk: Chain) -> None:
    page = send_form(
        Client(), f"/c/{talk.pk}/state/", lead__0="Be brief.\r\nBe kind.", next="And the dog?", window="8192", processed="2"
    ).content.decode()
    found = rows(page)
    assert found[1] == "row: not kept System Be brief. Be kind. sent only 18 B"
    assert "divider: Seen by the model up to here 2 messages" in found
    assert found[-2].startswith("row: Human And the dog? once the reply is complete 12 B")
    assert 'data-kind="next" x=' in page
    assert fields_of(page)["lead-0"] == ["Be brief.\r\nBe kind."]
    assert Chain.objects.get().version == 1


def test_system_messages_are_added_moved_and_removed(talk: Chain) -> None:
    client, address = Client(), f"/c/{talk.pk}/state/"
    fields = fields_of(send_form(client, address, act="lead_add").content.decode())
    assert fields["lead-1"] == [""]
    fields = fields_of(client.post(address, {**fields, "lead-1": "Second", "act": "lead_up:1"}).content.decode())
    assert [fields["lead-0"], fields["lead-1"]] == [["Second"], ["You are the desk."]]
    fields = fields_of(client.post(address, {**fields, "act": "lead_remove:1"}).content.decode())
    assert "lead-1" not in fields
    assert client.post(address, {"act": "lead_remove:9", "lead-x": "?", "window": "many"}).status_code == 200


def test_over_the_context_window_the_page_says_so(talk: Chain) -> None:
    page = send_form(Client(), f"/c/{talk.pk}/state/", next="x" * 40_000, window="8192").content.decode()
    assert "the window takes 8,192" in page and "Make it fit" in page


@pytest.mark.parametrize(
    ("fields", "role", "text"),
    [
        ({"act": "append", "append_role": "system", "append_text": "The ship is late."}, "system", "The ship is late."),
        ({"act": "add_event", "append_role": "system", "append_text": "Checked in."}, "human", "Checked in."),
    ],
)
def test_appending_is_a_step_of_a_draft(talk: Chain, fields: dict[str, str], role: str, text: str) -> None:
    client = Client()
    answer = stepped(client, talk, **fields)
    draft = Draft.objects.get()
    assert (answer.status_code, answer.headers["Location"]) == (303, f"/c/{talk.pk}/d/{draft.pk}/")
    last = StoredChain(snapshot_of(draft))[-1]
    assert (last.role, last.parts[0].text) == (role, text)  # type: ignore[union-attr]


def test_appending_nothing_or_to_other_content_is_refused(talk: Chain) -> None:
    assert stepped(Client(), talk, act="append").status_code == 422
    answer = stepped(Client(), talk, act="append", append_text="x", seen="00")
    assert answer.status_code == 422
    assert "changed after this form was opened" in answer.content.decode()
    assert not Draft.objects.exists()


def test_the_download_is_the_state_document(talk: Chain) -> None:
    answer = Client().get(f"/c/{talk.pk}/state/document?v=1")
    assert answer.headers["Content-Disposition"] == 'attachment; filename="story state.json"'
    document = downloaded(talk)
    assert (document["version"], document["provider"], document["processed_length"]) == (1, "openai", 7)
    assert document["messages"] == TALK[1:]
    assert downloaded(talk, "?processed_length=3")["processed_length"] == 3


def test_an_imported_state_keeps_what_it_says() -> None:
    messages = [system("Kept."), human("a"), ai("b"), human("c")]
    document = {"version": 1, "provider": "openai", "processed_length": 1, "session": {"id": 7}, "messages": messages}
    chain = make_chain_of(json.dumps(document).encode())
    page = get(chain)
    assert "1 message</span>" in page
    assert "The state starts with a system message." in page
    assert downloaded(chain) == document


@pytest.mark.parametrize(("provider", "left"), [("openai", [human("a"), ai("b"), system("mid")]), ("anthropic", [human("a"), ai("b")])])
def test_refused_system_messages_are_removed_with_one_button(provider: str, left: list[Any]) -> None:
    """goaitools drops one at the start; Anthropic takes none among the messages."""
    chain = make_chain_of(json.dumps(state_document([system("Kept."), human("a"), ai("b"), system("mid")], 3, provider)).encode())
    assert 'value="drop_systems"' in get(chain)
    stepped(Client(), chain, act="drop_systems")
    assert downloaded(chain, f"?draft={Draft.objects.get().pk}")["messages"] == left
    assert "drop_systems" not in get(chain, f"?draft={Draft.objects.get().pk}")


def test_refused_system_messages_become_human_ones_with_one_button() -> None:
    chain = make_chain_of(json.dumps(state_document([system("Kept."), human("a"), ai("b")])).encode())
    stepped(Client(), chain, act="note_systems")
    first = downloaded(chain, f"?draft={Draft.objects.get().pk}")["messages"][0]
    assert (first["role"], "Kept." in first["content"]) == ("user", True)


@pytest.mark.parametrize("document", ["openai", "anthropic"])
def test_the_export_button_says_how_large_the_file_is(document: str, talk: Chain) -> None:
    chain = make_chain_of(json.dumps(anthropic(4), indent=2).encode()) if document == "anthropic" else talk
    content = b"".join(Client().get(f"/c/{chain.pk}/state/document").streaming_content)  # type: ignore[attr-defined]
    assert f"{len(content)} B</span></a>" in get(chain)


def test_the_length_of_a_state_follows_its_messages() -> None:
    """The plain export has it too, because goaitools reads it as the messages that the model has seen."""
    messages = [human("a"), ai("b"), human("c"), ai("d")]
    document = {"version": 1, "session": "s", "provider": "openai", "processed_length": 4, "messages": messages}
    chain = make_chain_of(json.dumps(document, indent=1).encode())
    client = Client()

    def exported(draft: Draft) -> dict[str, Any]:
        answer = client.get(f"/c/{chain.pk}/d/{draft.pk}/explore/export?scope=chain")
        return dict(json.loads(b"".join(answer.streaming_content)))  # type: ignore[attr-defined]

    stepped(client, chain, act="add_event", append_text="late")
    draft = Draft.objects.get()
    late = human("late")
    assert exported(draft) == {**document, "messages": [*messages, late]}
    options = {"act": "apply", "type@": "message_limit", "max_messages@": "3", "if_no_user_boundary": "keep_last_turn"}
    address = f"/c/{chain.pk}/do/compact/?draft={draft.pk}"
    seen = fields_of(client.get(address).content.decode())["seen"]
    assert client.post(address, {**options, "seen": seen}).status_code == 303
    assert exported(draft) == {**document, "processed_length": 2, "messages": [*messages[2:], late]}
    assert "2 messages</span>" in client.get(f"/c/{chain.pk}/state/?draft={draft.pk}").content.decode()
    client.post(f"/c/{chain.pk}/d/{draft.pk}/undo")
    assert exported(draft)["processed_length"] == 4
    assert [finding for finding in fsck() if finding.severity == "error"] == []


def anthropic(seen: int) -> dict[str, Any]:
    """The third message holds a tool result and a text, which are two messages of a chain."""
    use = {"type": "tool_use", "id": "t1", "name": "find", "input": {}}
    parts = [{"type": "tool_result", "tool_use_id": "t1", "content": "21:15"}, {"type": "text", "text": "thanks"}]
    messages = [human("a"), {"role": "assistant", "content": [use]}, human(parts), ai("b"), human("c"), ai("d")]
    return {"version": 1, "provider": "anthropic", "processed_length": seen, "messages": messages}


def test_the_length_of_an_anthropic_state_counts_its_own_messages() -> None:
    document = anthropic(4)
    chain = make_chain_of(json.dumps(document).encode())
    found = rows(get(chain))
    assert found[found.index("divider: Seen by the model up to here 5 messages") + 1].startswith("section: §3 c")
    assert downloaded(chain) == document
    # the call and half of the message with its result go
    options = {"type@": "message_limit", "max_messages@": "4", "if_no_user_boundary": "keep_last_turn"}
    send_form(Client(), f"/c/{chain.pk}/do/compact/", act="apply", **options, keep_first_request="")
    after = downloaded(chain, f"?draft={Draft.objects.get().pk}")
    assert (len(after["messages"]), after["processed_length"]) == (4, 2)


def test_a_state_of_lines_is_one_document() -> None:
    lines = "".join(json.dumps(each) + "\n" for each in TALK)
    assert downloaded(make_chain_of(lines.encode(), "talk.jsonl"))["messages"] == TALK[1:]


def test_the_length_follows_when_a_draft_moves_to_a_newer_version() -> None:
    messages = [human("a"), ai("b"), human("c"), ai("d"), human("e")]
    document = {"version": 1, "provider": "openai", "processed_length": 4, "messages": messages}
    version = version_of(make_chain_of(json.dumps(document).encode()))
    mine, yours = start_draft(version, author="me"), start_draft(version, author="you")
    add_step(yours, NewStep([Splice(0, 2)], "edit"))
    add_step(mine, NewStep([Splice(3, 1)], "edit"))
    head = save(yours, author="you")
    saved = save(rebase(mine, head), author="me")
    assert [json.loads(b"".join(export(each.snapshot)))["processed_length"] for each in (head, saved)] == [2, 1]
    assert not list(fsck())


def test_a_chain_without_a_provider_is_converted_first() -> None:
    chain = make_chain_of(json.dumps([{"role": "human", "parts": [{"type": "text", "text": "Hello"}]}]).encode())
    page = get(chain)
    assert "No provider stores messages in this format." in page
    assert "Download the state" not in page
    answer = Client().get(f"/c/{chain.pk}/state/document")
    assert answer.status_code == 422


def test_nothing_stored_is_said() -> None:
    page = get(make_chain([system("Only this.")]))
    assert "No message is kept." in page
    assert "Nothing would be stored" in page


def test_a_long_chain_is_shown_in_windows() -> None:
    chain = make_chain([system("s"), *long_story(30, 4)])
    found = rows(get(chain))
    assert any(re.match(r"fold: \d+ messages the same on both sides · §1 to §30", row) for row in found)
    page = get(chain, "?rows=all&from=60")
    assert "60 to 119 of 270" in page
    assert [int(number) for number in re.findall(r'node-number">(\d+)<', page)][::2] == list(range(60, 120))
    assert "section: §7 Task number 7" in "\n".join(rows(page))
    assert "System messages at the start</b>" not in page
    assert 'name="at" value="60"' in page
    assert "Next call" in rows(get(chain, "?rows=all&from=99999"))[-2]


@pytest.mark.parametrize("query", ["?from=x", "?v=99999999999", "?rows=all&from=-1"])
def test_odd_addresses_are_harmless(talk: Chain, query: str) -> None:
    assert Client().get(f"/c/{talk.pk}/state/{query}").status_code == 200


MESSAGES = st.lists(
    st.sampled_from([
        system("rule"), human("question"), ai("answer"), ai(None, ("c", "f", {})), result("c", "found it"), human("é" * 9),
    ]),
    min_size=1, max_size=25,
)  # fmt: skip


@examples(40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(messages=MESSAGES, is_state=st.booleans(), places=st.lists(st.integers(0, 25), max_size=4))
def test_the_outline_measures_as_core_does(messages: list[dict[str, Any]], is_state: bool, places: list[int]) -> None:
    document: dict[str, Any] = {"messages": messages}
    if is_state:
        document = {"version": 1, "provider": "openai", "processed_length": 0, **document}
    chain = stored(make_chain_of(json.dumps(document).encode(), f"{len(Chain.objects.all())}.json"))
    call = next_call(chain.shapes(), is_state=is_state)
    part = StatePart.of(chain)
    assert (part.start, len(part), part.size) == (call.stored.start, len(call.stored), call.stored.size)
    assert (part.count_to_last_answer, part.systems, part.first_role) == (call.seen, call.stored.systems, call.stored.first_role)
    for place in (min(place, len(part)) for place in places):
        assert part.size_before(place) == call.stored.size_before(place)
    late = list(part.late_systems())
    assert late == [at for at in range(len(part) - 1, -1, -1) if chain.shapes()[part.start + at].role == "system"]


def test_a_window_of_a_long_chain_reads_few_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    talk = [system("s"), *(message for turn in range(100) for message in (*long_story(1, 19)[:39], ai("done")))]
    chain = make_chain(talk)
    assert len(stored(chain)) > 3_900
    read: list[int] = []
    select = message_reader._select

    def counted(*args: Any) -> Any:
        rows = select(*args)
        read.append(len(rows))
        return rows

    monkeypatch.setattr(message_reader, "_select", counted)
    monkeypatch.setattr(document, "MOST_MEASURED", 1_000)
    for query in ("", "?rows=all&from=2000"):
        read.clear()
        with CaptureQueriesContext(connection) as queries:
            page = Client().get(f"/c/{chain.pk}/state/{query}")
        assert page.status_code == 200 and len(page.content) < 200_000
        assert sum(read) <= 400 and len(queries) <= 40


def test_one_pair_with_very_many_members_is_windowed() -> None:
    calls = [(f"c{number}", "f", {}) for number in range(400)]
    chain = make_chain([human("go"), ai(None, *calls), *(result(id, f"found {id}") for id, _, _ in calls)])
    page = get(chain)
    assert "2 messages</span>" in page
    assert len(rows(page)) < 80
    assert "340 messages the same" in page


def importing(chain: Chain, document: Any, **fields: Any) -> Any:
    content = document if isinstance(document, str) else json.dumps(document)
    return send_form(Client(), f"/c/{chain.pk}/state/import/", text=content, **{"as": "version", "file": None, **fields})


def state_document(messages: list[Any], seen: int = 0, provider: str = "openai") -> dict[str, Any]:
    return {"version": 1, "provider": provider, "processed_length": seen, "messages": messages}


def test_a_later_state_continues_the_chain(talk: Chain) -> None:
    later = [*TALK[4:], {"content": "Deck 8, indeed.", "role": "assistant", "x": 1.50}]
    answer = importing(talk, state_document(later))
    draft = Draft.objects.get()
    assert answer.headers["Location"] == f"/c/{talk.pk}/d/{draft.pk}/"
    after = StoredChain(snapshot_of(draft))
    assert [message.role for message in after.slice(0, 2)] == ["system", "human"]
    assert json.loads(after[-1].source[0].text) == later[-1]
    assert "1 message added, 3 removed" in Client().get(answer.headers["Location"]).content.decode()
    assert importing(talk, state_document(TALK[1:])).status_code == 422


def test_an_imported_state_sets_the_length_of_a_state(talk: Chain) -> None:
    chain = make_chain_of(json.dumps(anthropic(2)).encode())
    more = anthropic(6)
    importing(chain, {**more, "messages": [*more["messages"], human("bye")]})
    after = downloaded(chain, f"?draft={Draft.objects.get().pk}")
    assert (len(after["messages"]), after["processed_length"]) == (7, 6)


def test_results_and_text_of_one_imported_message_stay_one_message(talk: Chain) -> None:
    call = {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "find", "input": {}}]}
    answer = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "3"}, {"type": "text", "text": "So?"}]}
    messages = [human("a"), call, answer, {"role": "assistant", "content": "Three."}, call, answer]
    chain = make_chain_of(json.dumps(state_document(messages[:1], 1, "anthropic")).encode())
    importing(chain, state_document(messages, 6, "anthropic"))
    after = downloaded(chain, f"?draft={Draft.objects.get().pk}")
    assert (after["messages"], after["processed_length"]) == (messages, 6)
    assert json.loads(b"".join(export(snapshot_of(Draft.objects.get())))) == state_document(messages, 6, "anthropic")


def test_a_broken_state_waits_and_its_readable_messages_can_be_taken(talk: Chain) -> None:
    answer = importing(talk, state_document([*TALK[1:], {"role": "user", "content": 1180}, human("late")]))
    assert "import/?v=1&file=" in answer.headers["Location"]
    page = Client().get(answer.headers["Location"]).content.decode()
    assert 'data-outcome="failed"' in page and "Import 9 readable messages into this chain" in page
    assert not Draft.objects.exists()
    number = re.findall(r'name="file_waiting" value="(\d+)"', page)[0]
    seen = re.findall(r'name="seen" value="([^"]+)"', page)[0]
    address = f"/c/{talk.pk}/state/import/?v=1"
    Client().post(address, {"file_waiting": number, "seen": seen, "as": "version"})
    assert StoredChain(snapshot_of(Draft.objects.get()))[-1].parts[0].text == "late"  # type: ignore[union-attr]


@pytest.mark.parametrize("text", ["", "not JSON", '{"version": 2}'])
def test_what_is_no_state_is_refused_in_a_sentence(talk: Chain, text: str) -> None:
    answer = importing(talk, text)
    page = answer if answer.status_code == 422 else Client().get(answer.headers["Location"])
    assert "Choose a file" in page.content.decode() or 'data-outcome="failed"' in page.content.decode()


def test_a_refused_import_gives_the_pasted_text_back(talk: Chain) -> None:
    text = '{"version": 1, "messages": "<b>"}'
    answer = Client().post(f"/c/{talk.pk}/state/import/", {"text": text, "as": "chain", "seen": "other"})
    assert answer.status_code == 422 and "changed after this form was opened" in answer.content.decode()
    fields = fields_of(answer.content.decode())
    assert (fields["text"][0].strip(), fields["as"]) == (text, ["chain"])


def test_a_state_of_another_provider_becomes_a_new_chain(talk: Chain) -> None:
    page = Client().get(importing(talk, anthropic(2)).headers["Location"]).content.decode()
    assert 'data-outcome="failed"' in page and "into this chain" not in page
    answer = importing(talk, state_document(TALK[3:]), **{"as": "chain"})
    assert Client().get(answer.headers["Location"]).status_code == 303
    assert Chain.objects.count() == 2


def test_a_converted_chain_is_a_state_that_has_been_processed() -> None:
    """This holds for the export and the State page of the version. The model has not seen an event that is added later."""
    chain, client = make_chain_of(json.dumps([human("a"), ai("b"), human("c")]).encode()), Client()
    address = f"/c/{chain.pk}/do/convert/"
    seen = fields_of(client.get(address).content.decode())["seen"]
    assert client.post(address, {"to": "goaitools_state", "act": "apply", "seen": seen}).status_code == 303
    draft = Draft.objects.get()

    def exported() -> dict[str, Any]:
        return dict(json.loads(b"".join(export(snapshot_of(draft)))))

    assert (exported()["processed_length"], len(exported()["messages"])) == (3, 3)
    stepped(client, chain, f"?draft={draft.pk}", act="add_event", append_text="late")
    assert (exported()["processed_length"], len(exported()["messages"])) == (3, 4)
    assert "3 messages</span>" in client.get(f"/c/{chain.pk}/state/?draft={draft.pk}").content.decode()


def test_seen_messages_are_counted_alike_in_long_and_short_stretches(monkeypatch: pytest.MonkeyPatch) -> None:
    """The state is Anthropic's, before and after changes; one of them separates a result from the text of its message."""
    chain = make_chain_of(json.dumps({**anthropic(2), "messages": anthropic(2)["messages"] * 3}).encode())
    draft = start_draft(version_of(chain), author="me")
    new = Message(HUMAN, (Text("new"),))
    snapshots = [draft.base.snapshot, add_step(draft, NewStep([Splice(3, 1), Splice(8, 0, (new,)), Splice(16, 2)], "edit"))]
    for snapshot in snapshots:
        part = StatePart.of(StoredChain(snapshot))
        expected = [seen_messages(length, part.origins()) for length in range(24)]
        for long in (0, 4, 64):
            monkeypatch.setattr("chainviz.store.query.state.LONG", long)
            assert [part.seen_messages(length) for length in range(24)] == expected


def test_several_state_documents_become_new_chains(talk: Chain) -> None:
    address, client = f"/c/{talk.pk}/state/import/", Client()
    seen = fields_of(client.get(address).content.decode())["seen"]

    def send(as_what: str) -> Any:
        contents = [json.dumps(state_document([human(text)])).encode() for text in ("one", "two")]
        files = [SimpleUploadedFile(f"{place}.json", content) for place, content in enumerate(contents)]
        return client.post(address, {"seen": seen, "as": as_what, "file": files})

    answer = send("version")
    assert (answer.status_code, Chain.objects.count()) == (422, 1)
    assert "Choose one file to change this chain" in answer.content.decode()
    assert (send("chain").status_code, Chain.objects.count()) == (303, 3)


def test_the_recorded_tokens_stand_beside_the_estimate(talk: Chain) -> None:
    """The page and the facts of the chain agree on what the last call cost."""
    usage = {"input": 1200, "output": 7, "cacheRead": 34, "cacheWrite": 0, "totalTokens": 1241}
    answer = {"role": "assistant", "provider": "anthropic", "model": "claude-opus-4-5", "usage": usage, "stopReason": "stop"}
    lines = [
        {"type": "session", "version": 3, "id": "a1", "timestamp": "2026-11-20T10:00:00Z", "cwd": "/depot"},
        {"type": "message", "id": "m0", "parentId": None, "message": {"role": "user", "content": "Hi"}},
        {"type": "message", "id": "m1", "parentId": "m0", "message": {**answer, "content": [{"type": "text", "text": "Hello."}]}},
    ]
    send(Client(), ("session.jsonl", "\n".join(map(json.dumps, lines)).encode()))
    assert "the last call recorded 1,234 tokens" in get(Chain.objects.latest("pk"))
    assert "the last call recorded" not in get(talk)
