"""A draft and a newer version that changed different parts of one pair: both changes are kept, and no call loses its result."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from chainviz.accounts.models import local_owner
from chainviz.chains.models import Chain
from chainviz.core.operations.edit import Edit, EditOptions
from chainviz.drafts.models import Draft
from chainviz.drafts.operations.run import change
from chainviz.drafts.preview.conflicts import conflict_page
from chainviz.drafts.target import target_of_draft, target_of_version
from chainviz.store.fsck import fsck
from chainviz.store.transfer.exports import export
from tests.chains.making import ai, human, make_chain_of
from tests.drafts.pages import fields_of, snapshot_of
from tests.drafts.test_conflict import field, shown
from tests.drafts.test_draft import of

pytestmark = pytest.mark.django_db


def call(number: int, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"id": f"call_{number}", "type": "function", "function": {"name": "find", "arguments": json.dumps(arguments)}}


def result(number: int, text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": f"call_{number}", "content": text}


TALK = [
    human("Find it."),
    ai("I look in two places.") | {"tool_calls": [call(1, {"q": "one"}), call(2, {"q": "two", "n": 1})]},
    result(1, "nothing"),
    result(2, "two hits"),
    ai("Found."),
]


@pytest.fixture
def chain(client: Client) -> Chain:
    return make_chain_of(json.dumps(TALK).encode(), "calls.json")


def edited(chain: Chain, *edits: EditOptions) -> Draft:
    draft = change(target_of_version(chain, 1, local_owner()), Edit(), edits[0])
    for each in edits[1:]:
        change(target_of_draft(draft), Edit(), each)
    return draft


def behind(client: Client, chain: Chain, theirs: list[EditOptions], mine: list[EditOptions]) -> Draft:
    assert "/v/" in client.post(of(edited(chain, *theirs), "save")).url
    chain.refresh_from_db()
    return edited(chain, *mine)


def messages_of(draft: Draft) -> list[dict[str, Any]]:
    return json.loads(b"".join(export(snapshot_of(Draft.objects.get(pk=draft.pk)))))  # type: ignore[no-any-return]


def rebased(client: Client, draft: Draft, choice: str = "") -> list[dict[str, Any]]:
    page = shown(client, draft)
    chosen = {field(page): choice} if choice else {}
    assert client.post(of(draft, "rebase"), {**fields_of(page), **chosen}).status_code == 303
    assert not list(fsck())
    return messages_of(draft)


def text(value: str) -> EditOptions:
    return EditOptions(path="s1.p1.m0.c0", action="text", text=value)


def arguments(part: int, value: str) -> EditOptions:
    return EditOptions(path=f"s1.p1.m0.c{part}", action="arguments", arguments=value)


REMOVED = EditOptions(path="s1.p1.m0.c1", action="delete")
"""Removes the first call and its result."""
RENAMED = EditOptions(path="s1.p1.m0.c1", action="call_id", call_id="call_9")
OTHER_RESULT = EditOptions(path="s1.p1.m2.c0", action="result", text="2 hits")


@pytest.mark.parametrize("is_mine", [True, False])
@pytest.mark.parametrize("other", [text("I look."), arguments(2, '{"q": "three"}'), OTHER_RESULT])
def test_a_removed_call_and_another_part_that_was_edited(client: Client, chain: Chain, other: EditOptions, is_mine: bool) -> None:
    draft = behind(client, chain, *([[other], [REMOVED]] if is_mine else [[REMOVED], [other]]))
    assert not conflict_page(draft).total
    made = rebased(client, draft)
    assert [each["id"] for each in made[1]["tool_calls"]] == ["call_2"]
    assert [each["tool_call_id"] for each in made if each["role"] == "tool"] == ["call_2"]
    assert any(word in json.dumps(made) for word in ("I look.", "three", "2 hits"))


def test_the_text_of_a_call_and_of_its_result_merge(client: Client, chain: Chain) -> None:
    made = rebased(client, behind(client, chain, [OTHER_RESULT], [text("I look."), arguments(1, '{"q": "ONE"}')]))
    assert (made[1]["content"], made[3]["content"]) == ("I look.", "2 hits")
    assert made[1]["tool_calls"][0]["function"]["arguments"] == '{"q": "ONE"}'


@pytest.mark.parametrize("choice", ["mine", "theirs"])
def test_a_call_that_one_side_removed_and_the_other_changed_stays_beside_its_result(client: Client, chain: Chain, choice: str) -> None:
    draft = behind(client, chain, [arguments(1, '{"q": "ONE"}'), text("I look.")], [REMOVED])
    made = rebased(client, draft, choice)
    calls = [each["id"] for each in made[1]["tool_calls"]]
    assert calls == [each["tool_call_id"] for each in made if each["role"] == "tool"]
    assert calls == (["call_2"] if choice == "mine" else ["call_1", "call_2"])


def test_an_id_that_one_side_changed_is_chosen_for_call_and_result_together(client: Client, chain: Chain) -> None:
    first_result = EditOptions(path="s1.p1.m1.c0", action="result", text="no hits")
    draft = behind(client, chain, [RENAMED], [first_result, arguments(1, '{"q": "ONE"}')])
    made = rebased(client, draft, "theirs")
    assert made[1]["tool_calls"][0]["id"] == made[2]["tool_call_id"] == "call_9"


@pytest.mark.parametrize(
    ("choice", "content"),
    [("mine", "I look here."), ("theirs", "I look there."), ("both", [("text", "I look here."), ("text", "I look there.")])],
)
def test_with_one_text_chosen_the_other_parts_merge(client: Client, chain: Chain, choice: str, content: Any) -> None:
    draft = behind(client, chain, [text("I look there."), arguments(2, '{"q": "2"}')], [text("I look here."), arguments(1, '{"q": "1"}')])
    page = shown(client, draft)
    assert "Changes to other parts merge automatically." in page
    made = rebased(client, draft, choice)
    shown_content = made[1]["content"]
    if choice == "both":
        shown_content = [(each["type"], each["text"]) for each in shown_content]
    assert shown_content == content
    assert [each["function"]["arguments"] for each in made[1]["tool_calls"]] == ['{"q": "1"}', '{"q": "2"}']
