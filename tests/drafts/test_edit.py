from __future__ import annotations

import json
import re
from html import unescape

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from chainviz.chains.models import Chain
from chainviz.drafts.edit.form import MOST_PARTS
from chainviz.drafts.models import Draft
from chainviz.store.content.chain import StoredChain
from tests.chains.files import send
from tests.drafts.pages import fields_of, send_form, snapshot_of, steps_of

pytestmark = pytest.mark.django_db


def contents(draft: Draft) -> list[str]:
    """Each message in a line: its role and what its parts say."""
    chain = StoredChain(snapshot_of(draft))
    said = ("text", "content", "arguments")
    return [
        f"{message.role}: {' | '.join(getattr(part, name) for part in message.parts for name in said if hasattr(part, name))}"
        for message in chain.slice(0, len(chain))
    ]


def edit(client: Client, chain: Chain, path: str, query: str = "?v=1", **changed: object) -> Draft:
    answer = send_form(client, f"/c/{chain.pk}/edit/{path}{query}", **changed)
    assert answer.status_code == 303, answer.content.decode()[:3000]
    return Draft.objects.get()


def test_a_selected_node_has_a_plain_link_to_its_form(client: Client, chain: Chain) -> None:
    page = client.get(f"/c/{chain.pk}/v/1/at/s1.p2").content.decode()
    links = page.partition('class="inspector-part cluster without-script"')[2].partition("</div>")[0]
    assert f'href="/c/{chain.pk}/edit/s1.p2?v=1"' in links
    assert "without-script" not in client.get(f"/c/{chain.pk}/v/1/").content.decode().partition("<aside")[2].partition("</aside>")[0]


def test_looking_at_a_form_begins_no_draft(client: Client, chain: Chain) -> None:
    page = client.get(f"/c/{chain.pk}/edit/s1.p1?v=1").content.decode()
    assert fields_of(page)["s1-p1-m0-c1-text"] == ['{"path": "a.py"}']
    assert "print(&#x27;&lt;b&gt;&#x27;)" in page and "print('<b>')" not in page
    assert not Draft.objects.exists()


def test_a_form_that_was_not_touched_changes_nothing(client: Client, chain: Chain) -> None:
    answer = send_form(client, f"/c/{chain.pk}/edit/s1.p1?v=1")
    assert answer.status_code == 422
    assert "Nothing has changed yet" in answer.content.decode()
    assert not Draft.objects.exists()


def test_several_fields_are_several_steps_of_one_draft(client: Client, chain: Chain) -> None:
    draft = edit(client, chain, "s1.p1", s1__p1__m0__c0__text="Let me see.\r\nNow.", s1__p1__m1__c0__text="nothing")
    assert contents(draft)[3:5] == ['ai: Let me see.\nNow. | {"path": "a.py"} | {"q": "x"', "tool: nothing"]
    assert [step.snapshot.operation for step in steps_of(draft).all] == ["edit", "edit"]


def test_the_next_edit_of_the_version_goes_into_the_same_draft(client: Client, chain: Chain) -> None:
    draft = edit(client, chain, "s1.h.m0", act="delete:s1.h.m0")
    answer = client.get(f"/c/{chain.pk}/edit/s1.h.m2?v=1")
    # the node has another path there, for a message before it is gone
    assert answer.url == f"/c/{chain.pk}/edit/s1.h.m1?draft={draft.pk}"
    edit(client, chain, "s1.h.m1", f"?draft={draft.pk}", s1__h__m1__c0__text="(no hurry)")
    assert contents(draft)[:2] == ["human: Why is it red?", "human: (no hurry)"]


def test_a_changed_node_is_found_again_in_the_draft(client: Client, chain: Chain) -> None:
    draft = edit(client, chain, "s1.p1", s1__p1__m0__c0__text="Other words.")
    assert client.get(f"/c/{chain.pk}/edit/s1.p1?v=1").url == f"/c/{chain.pk}/edit/s1.p1?draft={draft.pk}"


@pytest.mark.parametrize(
    ("act", "expected"),
    [
        ("delete:s1.p1.m0.c1", ['ai: Let me look. | {"q": "x"', "ai: It is the clock."]),
        ("answer:s1.p1.m0.c2", None),
        ("move_down:s1.p1", ["ai: It is the clock.", 'ai: Let me look. | {"path": "a.py"} | {"q": "x"']),
        ("merge:s1.h.m1", None),
    ],
)
def test_buttons_of_the_form(client: Client, chain: Chain, act: str, expected: list[str] | None) -> None:
    path = act.partition(":")[2].rsplit(".c", 1)[0]
    draft = edit(client, chain, path, act=act)
    found = contents(draft)
    if act.startswith("answer"):
        assert "tool: the call was not handled, please try again" in found
    elif act.startswith("merge"):
        assert found[1] == "human: Why is it red? | (hurry)"
    else:
        assert found[3:5] == expected


def test_results_can_stay_when_their_call_is_deleted(client: Client, chain: Chain) -> None:
    draft = edit(client, chain, "s1.p1", act="delete:s1.p1.m0.c1", keep_results="on")
    assert "tool: print('<b>')" in contents(draft)


def test_a_button_first_keeps_what_was_typed(client: Client, chain: Chain) -> None:
    draft = edit(client, chain, "s1.p2", s1__p2__m0__c0__text="It is the calendar.", act="move_up:s1.p2")
    assert contents(draft)[3] == "ai: It is the calendar."


def test_a_text_is_split_at_the_cursor(client: Client, chain: Chain) -> None:
    draft = edit(client, chain, "s1.h.m1", act="split:s1.h.m1.c0", at="3")
    assert contents(draft)[1:3] == ["human: Why", "human:  is it red?"]


def test_a_message_is_added(client: Client, chain: Chain) -> None:
    given = {"insert__place": "after:s1.p2.m0", "insert__role": "human", "insert__text": "And now?"}
    draft = edit(client, chain, "s1.p2", act="insert:", **given)
    assert contents(draft)[6] == "human: And now?"


@pytest.mark.parametrize(
    ("given", "last"), [({"insert__text": "Once more"}, "human: Once more"), ({"insert__role": "ai", "insert__name": "look"}, "ai: {}")]
)
def test_a_message_is_appended_in_the_role_that_was_chosen(client: Client, chain: Chain, given: dict[str, str], last: str) -> None:
    draft = edit(client, chain, "s1.p2", act="insert:", insert__place="end:", **given)
    assert contents(draft)[-1] == last


def test_a_call_typed_for_a_human_message_is_refused_and_kept(client: Client, chain: Chain) -> None:
    given = {"insert__place": "after:s1.p2.m0", "insert__role": "human", "insert__name": "look", "insert__arguments": "{1"}
    answer = send_form(client, f"/c/{chain.pk}/edit/s1.p2?v=1", act="insert:", **given)
    page = answer.content.decode()
    assert answer.status_code == 422 and "Only an AI message has a call." in page
    assert 'id="insert" open' in page and 'value="look"' in page and "{1" in page


def test_a_refused_form_loses_nothing(client: Client, chain: Chain) -> None:
    answer = send_form(client, f"/c/{chain.pk}/edit/s1.p1?v=1", s1__p1__m0__c0__text="Kept <i>", s1__p1__m0__c1__text="{broken")
    page = answer.content.decode()
    assert answer.status_code == 422
    assert fields_of(page)["s1-p1-m0-c1-text"] == ["{broken"]
    assert fields_of(page)["s1-p1-m0-c0-text"] == ["Kept <i>"]
    assert not Draft.objects.exists(), "all of it or none"
    allowed = send_form(client, f"/c/{chain.pk}/edit/s1.p1?v=1", s1__p1__m0__c1__text="{broken", allow_invalid="on")
    assert allowed.status_code == 303


def test_a_form_made_for_older_content_is_a_conflict_with_the_text(client: Client, chain: Chain) -> None:
    draft = edit(client, chain, "s1.p2", s1__p2__m0__c0__text="one")
    address = f"/c/{chain.pk}/edit/s1.p2?draft={draft.pk}"
    stale = fields_of(client.get(address).content.decode())
    edit(client, chain, "s1.p2", f"?draft={draft.pk}", s1__p2__m0__c0__text="two")
    answer = client.post(address, {**stale, "s1-p2-m0-c0-text": ["three"]})
    assert answer.status_code == 409
    assert fields_of(answer.content.decode())["s1-p2-m0-c0-text"] == ["three"]
    assert "ai: two" in contents(draft)


@pytest.mark.parametrize("path", ["s9.p1", "s1.p1.m0.c9", "nonsense", "s1.p9"])
def test_a_node_that_is_not_there_is_not_found(client: Client, chain: Chain, path: str) -> None:
    assert client.get(f"/c/{chain.pk}/edit/{path}?v=1").status_code == 404


@pytest.mark.parametrize("act", ["burn:s1", "delete:x", "split:s1.h.m1.c0", "insert:", "delete:s7.p1"])
def test_odd_buttons_are_refused_in_a_sentence(client: Client, chain: Chain, act: str) -> None:
    answer = send_form(client, f"/c/{chain.pk}/edit/s1.h.m1?v=1", act=act, at="x", insert__place="nowhere")
    assert answer.status_code == 422


def test_characters_no_field_can_hold_survive(client: Client) -> None:
    body = b'[{"role": "user", "content": "a\\u0000b\\ud83d\\r\\nc"}, {"role": "assistant", "content": "ok"}]'
    send(client, ("odd.json", body))
    chain = Chain.objects.get()
    address = f"/c/{chain.pk}/edit/s1.h.m0?v=1"
    assert send_form(client, address).status_code == 422
    typed = fields_of(client.get(address).content.decode())["s1-h-m0-c0-text"][0] + "!"
    answer = send_form(client, address, s1__h__m0__c0__text=typed)
    assert answer.status_code == 303, answer.content.decode()
    text = StoredChain(snapshot_of(Draft.objects.get()))[0].parts[0].text  # type: ignore[union-attr]
    assert text == "a\x00b\ud83d\r\nc!"


def test_who_edits_an_old_version_is_told_so(client: Client, chain: Chain) -> None:
    draft = edit(client, chain, "s1.p1", s1__p1__m0__c0__text="Let me see.")
    client.post(f"/c/{chain.pk}/d/{draft.pk}/save")
    assert "not of the newest: version 2" in client.get(f"/c/{chain.pk}/edit/s1.p1?v=1").content.decode()
    assert "not the newest" in client.get(f"/c/{chain.pk}/v/1/").content.decode()
    assert "not of the newest" not in client.get(f"/c/{chain.pk}/edit/s1.p1?v=2").content.decode()
    assert "not the newest" not in client.get(f"/c/{chain.pk}/v/2/").content.decode()


def test_an_empty_chain_gets_its_first_message(client: Client) -> None:
    send(client, ("one.json", json.dumps([{"role": "user", "content": "Hi"}]).encode()))
    chain = Chain.objects.get()
    send_form(client, f"/c/{chain.pk}/edit/s1.h.m0?v=1", act="delete:s1.h.m0")
    client.post(f"/c/{chain.pk}/d/{Draft.objects.get().pk}/save")
    page = client.get(f"/c/{chain.pk}/").content.decode()
    assert "This chain is empty" in page and f"/c/{chain.pk}/edit/s1?v=2" in page
    answer = send_form(client, f"/c/{chain.pk}/edit/s1?v=2", act="insert:", insert__text="Hello again")
    assert answer.status_code == 303
    draft = Draft.objects.get(saved_as=None)
    assert "Hello again" in client.get(answer.url).content.decode()
    assert client.get(f"/c/{chain.pk}/edit/s1?v=2").url == f"/c/{chain.pk}/d/{draft.pk}/"
    assert client.get(f"/c/{chain.pk}/edit/s2?v=2").status_code == 404


def test_every_part_of_a_long_message_can_be_reached_and_edited(client: Client) -> None:
    parts = [{"type": "text", "text": f"part {i}"} for i in range(MOST_PARTS + 3)]
    send(client, ("parts.json", json.dumps([{"role": "user", "content": parts}]).encode()))
    chain = Chain.objects.get()
    page = client.get(f"/c/{chain.pk}/edit/s1.h.m0?v=1").content.decode()
    link = unescape(next(link for link in re.findall('href="([^"]*parts=[^"]*)"', page)))
    rest = client.get(link).content.decode()
    assert "3 more parts of this message" in page and f"{MOST_PARTS} earlier parts of this message" in rest
    answer = send_form(client, link, **{f"s1__h__m0__c{MOST_PARTS + 2}__text": "the last"})
    assert answer.status_code == 303, answer.content.decode()
    message = StoredChain(snapshot_of(Draft.objects.get()))[0]
    assert [part.text for part in message.parts[-2:]] == [f"part {MOST_PARTS + 1}", "the last"]  # type: ignore[union-attr]


def test_a_call_is_added_to_a_message_without_an_id(client: Client, chain: Chain) -> None:
    draft = edit(client, chain, "s1.p2", act="add_part:s1.p2.m0", s1__p2__m0__new__name="grep")
    call = StoredChain(snapshot_of(draft))[5].parts[-1]
    assert (call.id, call.name) == ("call_3", "grep")  # type: ignore[union-attr]


def test_apply_adds_what_was_typed_for_new_parts_and_messages(client: Client, chain: Chain) -> None:
    given = {"s1__p2__m0__new__text": "See above.", "s1__p2__m0__new__name": "grep", "insert__text": "And now?"}
    draft = edit(client, chain, "s1.p2", s1__p2__m0__c0__text="It is the calendar.", **given)
    assert contents(draft)[5:7] == ["ai: It is the calendar. | See above. | {}", "human: And now?"]


def test_apply_adds_the_result_that_was_typed_for_a_call(client: Client, chain: Chain) -> None:
    draft = edit(client, chain, "s1.p2", act="add_part:s1.p2.m0", s1__p2__m0__new__name="grep")
    edit(client, chain, "s1.p2", f"?draft={draft.pk}", s1__p2__m0__c1__answer="no match")
    assert contents(draft)[6] == "tool: no match"


def test_another_button_does_not_drop_what_was_typed(client: Client, chain: Chain) -> None:
    answer = send_form(client, f"/c/{chain.pk}/edit/s1.p2?v=1", act="move_up:s1.p2", s1__p2__m0__new__text="See above.")
    page = answer.content.decode()
    assert answer.status_code == 422 and "Apply it or clear it first." in page
    assert fields_of(page)["s1-p2-m0-new-text"] == ["See above."] and not Draft.objects.exists()


def test_an_image_file_becomes_a_part(client: Client, chain: Chain) -> None:
    file = SimpleUploadedFile("a.png", b"\x89PNG", content_type="image/png")
    draft = edit(client, chain, "s1.h.m1", act="add_part:s1.h.m1", s1__h__m1__new__file=file)
    assert StoredChain(snapshot_of(draft))[1].parts[-1].url == "data:image/png;base64,iVBORw=="  # type: ignore[union-attr]


def test_a_file_that_is_no_image_is_refused_with_what_was_typed(client: Client, chain: Chain) -> None:
    file = SimpleUploadedFile("a.txt", b"text", content_type="text/plain")
    address = f"/c/{chain.pk}/edit/s1.h.m1?v=1"
    answer = send_form(client, address, act="add_part:s1.h.m1", s1__h__m1__new__file=file, s1__h__m1__new__text="See")
    assert answer.status_code == 422 and "a.txt is not an image" in answer.content.decode()
    assert fields_of(answer.content.decode())["s1-h-m1-new-text"] == ["See"]


def test_a_section_is_moved_and_deleted(client: Client, chain: Chain) -> None:
    draft = edit(client, chain, "s2", act="move_up:s2")
    assert contents(draft)[:2] == ["human: Thanks", "ai: You are welcome."]
    edit(client, chain, "s1", f"?draft={draft.pk}", act="delete:s1")
    assert contents(draft)[0] == "system: Be brief."


def test_a_section_is_edited_as_one_where_a_draft_was_begun(client: Client, chain: Chain) -> None:
    draft = edit(client, chain, "s1.p1", s1__p1__m0__c0__text="Another text.")
    answer = client.get(f"/c/{chain.pk}/edit/s1?v=1")
    assert answer["Location"] == f"/c/{chain.pk}/edit/s1?draft={draft.pk}"
