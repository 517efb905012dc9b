"""The page of a draft behind a newer version: each node that both changed is chosen, the rest merges, nothing is lost."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from chainviz.accounts.models import local_owner
from chainviz.chains.models import Chain
from chainviz.core.operations.convert import Convert, ConvertOptions
from chainviz.core.operations.edit import Edit, EditOptions
from chainviz.drafts.models import Draft
from chainviz.drafts.operations.run import change
from chainviz.drafts.target import target_of_version, version_of
from chainviz.store.fsck import fsck
from chainviz.store.transfer.exports import export
from tests.drafts.pages import fields_of, send_form, snapshot_of, steps_of
from tests.drafts.test_draft import begin, last_texts, of

pytestmark = pytest.mark.django_db


@pytest.fixture
def late(client: Client, chain: Chain) -> Draft:
    """A draft of version 1 that changes what version 2 changed, and something else."""
    client.post(of(begin(client, chain), "save"))
    draft = begin(client, chain, "s1.p2", "It is the cat.")
    address = f"/c/{chain.pk}/edit/s2.p1?draft={draft.pk}"
    assert send_form(client, address, s2__p1__m0__c0__text="No problem.").status_code == 303
    return draft


def shown(client: Client, draft: Draft) -> str:
    answer = client.get(of(draft, "conflict"))
    assert answer.status_code == 200
    return str(answer.content.decode())


def field(page: str) -> str:
    """The name of the first choice."""
    return re.findall(r'name="(choose-[0-9a-f]+)"', page)[0]


@pytest.mark.parametrize(
    ("choice", "texts"),
    [("mine", ["It is the cat."]), ("theirs", ["It is the calendar."]), ("both", ["It is the cat.", "It is the calendar."])],
)
def test_each_choice_makes_its_draft(client: Client, chain: Chain, late: Draft, choice: str, texts: list[str]) -> None:
    page = shown(client, late)
    assert "1 node was changed on both sides. The other change merges automatically" in page
    assert "<ins>cat</ins>" in page and "<ins>calendar</ins>" in page
    answer = client.post(of(late, "rebase"), {**fields_of(page), field(page): choice})
    assert (answer.status_code, answer.url) == (303, of(late))
    client.post(of(late, "save"))
    assert last_texts(chain) == ["Let me look.", *texts, "No problem."]
    assert not list(fsck())


def test_a_part_that_one_side_added_and_the_text_that_the_other_changed_merge_automatically(client: Client, chain: Chain) -> None:
    client.post(of(begin(client, chain), "save"))
    more = EditOptions(path="s1.p2", action="add_part", text="More of it.")
    draft = change(target_of_version(chain, 1, local_owner()), Edit(), more)
    page = shown(client, draft)
    assert "merge automatically" in page and "choose-" not in page
    assert client.post(of(draft, "rebase"), fields_of(page)).status_code == 303
    draft.refresh_from_db()
    saved = b"".join(export(snapshot_of(draft))).decode()
    assert "It is the calendar." in saved and "More of it." in saved
    assert [step.snapshot.operation for step in steps_of(draft).all] == ["edit", "merge"]
    client.post(of(draft, "undo"))
    assert "It is the calendar." not in b"".join(export(snapshot_of(draft))).decode()
    assert not list(fsck())


def test_a_missing_choice_is_asked_for(client: Client, late: Draft) -> None:
    answer = client.post(of(late, "rebase"), fields_of(shown(client, late)))
    assert answer.status_code == 422
    assert "Choose a side for every node first." in answer.content.decode()
    assert "not chosen yet" in answer.content.decode()
    late.refresh_from_db()
    assert late.base == 1 and steps_of(late).cursor == 2


def test_another_version_while_choosing(client: Client, chain: Chain, late: Draft) -> None:
    page = shown(client, late)
    other = begin(client, chain, "s2.p1", "Any time.", version=2)
    client.post(of(other, "save"))
    answer = client.post(of(late, "rebase"), {**fields_of(page), field(page): "theirs"})
    after = answer.content.decode()
    assert answer.status_code == 409
    assert "Your choices are kept" in after and "2 nodes were changed on both sides" in after
    assert fields_of(after)[field(page)] == ["theirs"], "what was chosen stays chosen"
    missing = next(each for each in re.findall(r'name="(choose-[0-9a-f]+)"', after) if each != field(page))
    client.post(of(late, "rebase"), {**fields_of(after), missing: "mine"})
    client.post(of(late, "save"))
    assert last_texts(chain) == ["Let me look.", "It is the calendar.", "No problem."]


def test_one_side_for_all_is_chosen_without_scripts(client: Client, late: Draft) -> None:
    page = shown(client, late)
    answer = client.post(of(late, "conflict"), {**fields_of(page), "all": "theirs"})
    assert answer.status_code == 200
    assert fields_of(answer.content.decode())[field(page)] == ["theirs"]
    late.refresh_from_db()
    assert late.base == 1


def test_what_was_typed_comes_back_with_undo(client: Client, late: Draft) -> None:
    page = shown(client, late)
    client.post(of(late, "rebase"), {**fields_of(page), field(page): "theirs"})
    assert "Merged" in client.get(of(late)).content.decode()
    client.post(of(late, "undo"))
    assert "It is the cat." in b"".join(export(snapshot_of(late))).decode()


def test_a_chain_that_one_side_moved_to_another_format_is_one_choice(client: Client, chain: Chain) -> None:
    client.post(of(begin(client, chain), "save"))
    draft = change(target_of_version(chain, 1, local_owner()), Convert(), ConvertOptions(to="anthropic"))
    page = shown(client, draft)
    assert "one choice" in page and "The whole chain" in page and 'value="both"' not in page
    client.post(of(draft, "rebase"), {**fields_of(page), field(page): "theirs"})
    draft.refresh_from_db()
    after = snapshot_of(draft)
    assert after.format == version_of(chain, 2).snapshot.format and "calendar" in b"".join(export(after)).decode()
    client.post(of(draft, "undo"))
    assert snapshot_of(draft).format == "anthropic"
    assert not list(fsck())


def test_many_nodes_are_shown_page_by_page_and_choices_travel(
    client: Client, late: Draft, chain: Chain, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chainviz.drafts.preview.conflict_nodes.ROOM", 1)
    other = begin(client, chain, "s2.p1", "Any time.", version=2)
    client.post(of(other, "save"))
    page = shown(client, late)
    first = field(page)
    assert "1 of 2" in page and "Next nodes" in page
    second = client.post(of(late, "conflict"), {**fields_of(page), first: "both", "from": "2"}).content.decode()
    assert "2 of 2" in second and first not in re.findall(r'name="(choose-\w+)"', second)
    answer = client.post(of(late, "rebase"), {**fields_of(second), field(second): "mine"})
    assert answer.status_code == 303
    client.post(of(late, "save"))
    assert last_texts(chain) == ["Let me look.", "It is the cat.", "It is the calendar.", "No problem."]


def test_odd_forms_are_no_errors(client: Client, late: Draft) -> None:
    for form in ({"chosen": "x:y z: :"}, {"choose-": "mine"}, {"choose-zz": "everything"}, {"seen": "1"}):
        assert client.post(of(late, "rebase"), form).status_code in (409, 422)
    for form in ({"from": "99"}, {"from": "-1"}, {"all": "nobody"}, {"from": "9" * 30}):
        assert client.post(of(late, "conflict"), form).status_code == 200
