from __future__ import annotations

import re

import pytest
from django.test import Client

from chainviz.chains.models import Chain
from chainviz.drafts.models import Draft
from chainviz.store.content.chain import StoredChain
from chainviz.store.models import Version
from tests.drafts.pages import fields_of, send_form, snapshot_of, steps_of

pytestmark = pytest.mark.django_db


def begin(client: Client, chain: Chain, path: str = "s1.p2", text: str = "It is the calendar.", version: int = 1) -> Draft:
    answer = send_form(
        client, f"/c/{chain.pk}/edit/{path}?v={version}", **{f"{path}.m0.c0-text".replace(".", "__").replace("-", "__"): text}
    )
    assert answer.status_code == 303
    return Draft.objects.get(chain=chain, saved_as=None, discarded_at=None, base=version)


def of(draft: Draft, act: str = "") -> str:
    return f"/c/{draft.chain_id}/d/{draft.pk}/{act}"


def page(client: Client, draft: Draft, query: str = "") -> str:
    answer = client.get(of(draft) + query)
    assert answer.status_code == 200
    return str(answer.content.decode())


def last_texts(chain: Chain) -> list[str]:
    version = Version.objects.filter(history=chain.history).latest("number")
    return [m.parts[0].text for m in StoredChain(version.snapshot).slice(0, 9) if m.role == "ai"]  # type: ignore[union-attr]


def test_the_page_of_a_draft_shows_its_change(client: Client, chain: Chain) -> None:
    shown = page(client, begin(client, chain))
    assert "from version 1, will become version 2" in shown
    assert "<del>clock</del>" in shown and "<ins>calendar</ins>" in shown
    assert "1 node changed" in shown and "Text of 1.2" in shown


def test_undo_and_redo_move_through_the_steps(client: Client, chain: Chain) -> None:
    draft = begin(client, chain)
    assert client.post(of(draft, "undo")).status_code == 303
    assert steps_of(draft).cursor == 0
    assert "data-undone" in page(client, draft)
    assert "Save as version 2" in page(client, draft)
    assert client.post(of(draft, "save")).url == of(draft), "nothing to save"
    client.post(of(draft, "redo"))
    assert steps_of(draft).cursor == 1


def test_saving_makes_the_next_version_with_its_note(client: Client, chain: Chain) -> None:
    draft = begin(client, chain)
    answer = client.post(of(draft, "save"), {"note": "It was the calendar"})
    assert (answer.status_code, answer.url) == (303, f"/c/{chain.pk}/v/2/")
    version = Version.objects.get(history=chain.history, number=2)
    assert version.note == "It was the calendar"
    chain.refresh_from_db()
    assert chain.version == 2
    assert client.get(of(draft)).url == f"/c/{chain.pk}/v/2/", "a saved draft leads to its version"
    assert client.post(of(draft, "save")).status_code == 303
    assert Version.objects.filter(history=chain.history).count() == 2, "a form sent twice saves once"
    assert client.post(of(draft, "undo")).status_code == 409


def test_a_discarded_draft_can_be_brought_back(client: Client, chain: Chain) -> None:
    draft = begin(client, chain)
    client.post(of(draft, "discard"))
    assert "Restore the draft" in page(client, draft)
    assert client.get(f"/c/{chain.pk}/edit/s1.p2?draft={draft.pk}").status_code == 409
    client.post(of(draft, "restore"))
    assert "<ins>calendar</ins>" in page(client, draft)


def test_nothing_is_overwritten_where_somebody_was_faster(client: Client, chain: Chain) -> None:
    mine = begin(client, chain)
    client.post(of(mine, "save"), {"note": "first"})
    late = begin(client, chain, "s1.p2", "It is the cat.")
    answer = client.post(of(late, "save"), {"note": "my <note>"})
    shown = answer.content.decode()
    assert answer.status_code == 409
    assert "Version 2 is newer than version 1" in shown
    assert "<ins>calendar</ins>" in shown and "<ins>cat</ins>" in shown, "both changes are shown"
    assert "1 node was changed on both sides" in shown
    assert fields_of(shown)["note"][0] == "my <note>"
    assert last_texts(chain) == ["Let me look.", "It is the calendar.", "You are welcome."]
    assert "Version 2 is newer than version 1" in page(client, late)


def test_a_conflicting_draft_can_become_a_branch(client: Client, chain: Chain) -> None:
    client.post(of(begin(client, chain), "save"))
    late = begin(client, chain, "s1.p2", "It is the cat.")
    client.post(of(late, "branch"), {"title": "The cat", "note": "mine"})
    made = Chain.objects.get(branched_from=chain)
    assert made.title == "The cat"
    assert last_texts(made)[1] == "It is the cat."
    assert last_texts(chain)[1] == "It is the calendar."


def test_changes_of_different_pairs_merge(client: Client, chain: Chain) -> None:
    client.post(of(begin(client, chain), "save"))
    late = begin(client, chain, "s2.p1", "No problem.")
    assert "merge automatically" in client.get(of(late, "conflict")).content.decode()
    answer = client.post(of(late, "rebase"))
    assert answer.status_code == 303
    late.refresh_from_db()
    assert late.base == 2
    client.post(of(late, "save"))
    assert last_texts(chain)[1:] == ["It is the calendar.", "No problem."]


def test_a_draft_is_explored_like_a_version(client: Client, chain: Chain) -> None:
    draft = begin(client, chain)
    answer = client.get(of(draft, "explore/"))
    assert answer.status_code == 200
    assert f"draft={draft.pk}" in answer.content.decode()


def test_an_unchanged_run_unfolds_in_place_and_without_scripts(client: Client, chain: Chain) -> None:
    draft = begin(client, chain)
    assert "… 1 unchanged pair" in page(client, draft)
    fragment = client.get(of(draft) + "?fold=0", headers={"HX-Request": "true"}).content.decode()
    assert fragment.startswith('<section class="diff-unfolded"') and "<html" not in fragment
    assert "Why is it red?" in fragment
    assert "Why is it red?" in page(client, draft, "?fold=0")


ODD = ["?from=99", "?until=0", "?change=7&text=9&row=99999", "?change=1", "?fold=77", "?from=-1&layout=x", "?row=٣"]


@pytest.mark.parametrize("query", ODD)
def test_odd_addresses_are_no_errors(client: Client, chain: Chain, query: str) -> None:
    shown = page(client, begin(client, chain), query)
    assert "1 node changed" in shown or "Change 1 of 1" in shown


@pytest.mark.parametrize("act", ["undo", "redo", "save", "discard", "restore", "rebase", "branch"])
def test_writes_are_posts_and_drafts_of_others_are_not_found(client: Client, chain: Chain, act: str) -> None:
    draft = begin(client, chain)
    assert client.get(of(draft, act)).status_code == 405
    assert client.post(f"/c/{chain.pk}/d/{draft.pk + 1}/{act}").status_code == 404
    assert client.post(f"/c/{chain.pk + 1}/d/{draft.pk}/{act}").status_code == 404


def test_a_snapshot_of_a_draft_is_what_its_cursor_says(client: Client, chain: Chain) -> None:
    draft = begin(client, chain)
    before = snapshot_of(draft).digest
    client.post(of(draft, "undo"))
    assert snapshot_of(draft).digest != before


def test_a_draft_is_found_again_from_its_chain(client: Client, chain: Chain) -> None:
    explorer, history = f"/c/{chain.pk}/", f"/c/{chain.pk}/versions/"
    assert "your draft" not in client.get(explorer).content.decode()
    draft = begin(client, chain)
    link = f'href="/c/{chain.pk}/d/{draft.pk}/"'
    for page in (explorer, history, of(draft, "explore/")):
        assert link in client.get(page).content.decode(), page
    client.post(of(draft, "undo"))
    assert link in client.get(explorer).content.decode(), "its steps can be redone"
    client.post(of(draft, "discard"))
    assert link not in client.get(explorer).content.decode()


@pytest.mark.parametrize("end", ["save", "discard"])
def test_what_is_sent_to_a_draft_that_is_over_comes_back(client: Client, chain: Chain, end: str) -> None:
    """Answering 404 would lose the text."""
    draft = begin(client, chain)
    address = f"/c/{chain.pk}/edit/s1.p2?draft={draft.pk}"
    form = fields_of(client.get(address).content.decode())
    field = next(name for name in form if name.endswith("-text"))
    client.post(of(draft, end))
    answer = client.post(address, {**form, field: "A long new text"})
    page = answer.content.decode()
    assert answer.status_code == 409 and "A long new text" in page
    assert "saved as version 2" in page if end == "save" else "Restore the draft" in page
    again = re.search(r'href="(/c/[^"]*\?v=\d)"', page)
    assert again is not None and client.get(again[1]).status_code == 200
