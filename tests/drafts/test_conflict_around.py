"""A draft and a newer version that changed the document around the messages: unknown fields, the list of tools."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.test import Client

from chainviz.accounts.models import local_owner
from chainviz.chains.models import Chain
from chainviz.core.chain.chain import Splice
from chainviz.core.operations.mask import Mask, MaskOptions
from chainviz.drafts import services
from chainviz.drafts.models import Draft
from chainviz.drafts.operations.run import change
from chainviz.drafts.target import target_of_version, version_of
from chainviz.store.errors import Overlap
from chainviz.store.fsck import fsck
from chainviz.store.history.drafts import add_step, current, save, start_draft
from chainviz.store.history.rebase import rebase as store_rebase
from chainviz.store.history.steps import NewStep
from chainviz.store.transfer.exports import export
from tests.chains.making import ai, human, make_chain_of
from tests.drafts.pages import fields_of, snapshot_of
from tests.drafts.test_conflict import shown
from tests.drafts.test_draft import of

pytestmark = pytest.mark.django_db
WHOLE = {
    "owner": "Jane of Orion",
    "messages": [human("Who pays?"), ai("Jane pays.") | {"metadata": {"by": "Orion"}}, human("And?"), ai("Nobody.")],
    "tools": [{"type": "function", "function": {"name": "bill", "description": "Bills Acme"}}],
    "seen_by": ["Orion", "Jane", "Acme"],
}
NAME = "[OWN_WORDS]"


@pytest.fixture
def chain(client: Client) -> Chain:
    return make_chain_of(json.dumps(WHOLE).encode(), "whole.json")


def mask(chain: Chain, word: str, version: int = 1) -> Draft:
    options = MaskOptions(strategy="replace", own_words=word)
    return change(target_of_version(chain, version, local_owner()), Mask(), options)


def saved(client: Client, draft: Draft) -> Any:
    answer = client.post(of(draft, "save"))
    assert "/v/" in answer.url
    draft.chain.refresh_from_db()
    return json.loads(b"".join(export(version_of(draft.chain, draft.chain.version).snapshot)))


def rebase(client: Client, draft: Draft, *choices: str) -> None:
    page = shown(client, draft)
    names = dict.fromkeys(re.findall(r'name="(choose-[0-9a-f]+)"', page))
    answer = client.post(of(draft, "rebase"), {**fields_of(page), **dict(zip(names, choices, strict=True))})
    assert (answer.status_code, answer.url) == (303, of(draft))
    assert not list(fsck())


def test_different_fields_merge_automatically(client: Client, chain: Chain) -> None:
    saved(client, mask(chain, "Acme"))
    late = mask(chain, "Orion")
    assert "merge automatically" in shown(client, late)
    rebase(client, late)
    made = saved(client, late)
    assert made["tools"][0]["function"]["description"] == f"Bills {NAME}", "theirs"
    assert (made["owner"], made["seen_by"]) == (f"Jane of {NAME}", [NAME, "Jane", NAME])
    assert made["messages"][1]["metadata"] == {"by": NAME}


@pytest.mark.parametrize(("choice", "owner"), [("mine", f"{NAME} of Orion"), ("theirs", f"Jane of {NAME}"), ("both", f"{NAME} of {NAME}")])
def test_one_field_changed_by_both_is_chosen(client: Client, chain: Chain, choice: str, owner: str) -> None:
    saved(client, mask(chain, "Orion"))
    late = mask(chain, "Jane")
    assert "1 node was changed on both sides" in shown(client, late)
    rebase(client, late, choice)
    made = saved(client, late)
    assert made["seen_by"] == [NAME, NAME, "Acme"], "what only one side changed"
    assert made["owner"] == owner
    assert made["messages"][1] == ai(f"{NAME} pays.") | {"metadata": {"by": NAME}}, "each changed another field of it"


def test_two_masked_copies_never_show_each_others_words(client: Client, chain: Chain) -> None:
    """Both changed the same words, so they cannot be joined; one copy behind the other would hide nothing."""
    saved(client, mask(chain, "Jane"))
    late = mask(chain, "Jane pays")
    page = shown(client, late)
    assert page.count('value="mine"') == page.count('value="theirs"') > 0 and 'value="both"' not in page
    key = re.findall(r'name="(choose-[0-9a-f]+)"', page)[0]
    assert client.post(of(late, "rebase"), {**fields_of(page), key: "both"}).status_code == 422


def test_what_the_draft_changed_comes_back_with_undo(client: Client, chain: Chain) -> None:
    saved(client, mask(chain, "Orion"))
    late = mask(chain, "Jane")
    rebase(client, late, "theirs")
    assert json.loads(b"".join(export(snapshot_of(late))))["owner"] == f"Jane of {NAME}"
    client.post(of(late, "undo"))
    made = json.loads(b"".join(export(snapshot_of(late))))
    assert (made["owner"], made["seen_by"]) == (f"{NAME} of Orion", [NAME, NAME, "Acme"])


def test_the_length_of_a_state_follows_its_messages(client: Client) -> None:
    talk = [human("a"), ai("b"), human("c"), ai("d"), human("e")]
    state = {"version": 1, "provider": "openai", "processed_length": 4, "messages": talk, "by": "Jane", "team": "Orion"}
    chain = make_chain_of(json.dumps(state).encode(), "state.json")
    saved(client, mask(chain, "Orion"))
    late = mask(chain, "Jane")
    add_step(late.stored, NewStep([Splice(3, 1)], "edit"))
    shorter = start_draft(version_of(chain, 2), author="you")
    add_step(shorter, NewStep([Splice(0, 2)], "edit"))
    result = store_rebase(late.stored, save(shorter, author="you"))
    made = json.loads(b"".join(export(current(result))))
    assert (made["processed_length"], made["by"], made["team"]) == (1, NAME, NAME)


def test_a_refusal_names_the_document(client: Client, chain: Chain) -> None:
    whole = json.dumps(WHOLE | {"messages": [human("Hi"), ai("Hello")]})
    quiet = make_chain_of(whole.encode(), "quiet.json")
    saved(client, mask(quiet, "Orion"))
    with pytest.raises(Overlap, match="changed the document around the messages;"):
        services.rebase(mask(quiet, "Jane"))
