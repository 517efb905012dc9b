"""The messages that a summary replaced are found after later changes of the summary."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client

from chainviz.chains.explorer.summarized_nodes import nodes_in_words, version_with
from chainviz.chains.models import Chain
from chainviz.core.chain.paths import parse_path
from chainviz.core.operations import OPERATIONS
from chainviz.core.operations.edit import Edit
from chainviz.core.operations.edit.locate import EditOptions
from chainviz.drafts import services
from chainviz.drafts.models import Draft
from chainviz.drafts.operations.run import change
from chainviz.drafts.target import target_of_draft, target_of_version, version_of
from chainviz.jobs.worker import run_waiting_jobs
from chainviz.store.content.chain import StoredChain
from chainviz.store.lineage import Replacement, replacement_of
from tests.chains.making import ai, human, make_chain
from tests.drafts.pages import send_form
from tests.drafts.summary_story import story, summarizable
from tests.drafts.test_summaries import begin

pytestmark = pytest.mark.django_db(transaction=True)

LONG = "I looked at the clock and found it wrong. " * 30
TALK = [human("What is it?"), ai(LONG), ai(LONG), ai("Done."), human("And now?"), ai("All is well.")]


def summarized(client: Client, chain: Chain, **settings: Any) -> Draft:
    run = begin(client, chain, **settings)
    run_waiting_jobs()
    client.post(f"/c/{chain.pk}/summaries/{run.pk}/do", {"act": "take"})
    return Draft.objects.latest("pk")


def step(draft: Draft, name: str, **options: Any) -> None:
    operation = next(each for each in OPERATIONS if each.name == name)
    chosen = operation.Options.model_validate(options)
    change(target_of_draft(draft), operation, chosen)


def save(draft: Draft) -> None:
    services.save(draft, note="", by=get_user_model().objects.get())


def found(draft: Draft, path: str) -> Replacement | None:
    return replacement_of(target_of_draft(draft).stored, parse_path(path))


def told(draft: Draft, path: str) -> str:
    replaced = found(draft, path)
    return f"{nodes_in_words(replaced)} from {replaced.first}" if replaced else ""


def edit(draft: Draft, action: str, path: str, **options: Any) -> None:
    step(draft, "edit", action=action, path=path, **options)


def test_a_summary_of_tool_use_that_is_edited_moved_and_converted(client: Client) -> None:
    draft = summarized(client, summarizable())
    edit(draft, "result", "s1.p1.m1.c0", text="It was the clock.")
    assert told(draft, "s1.p1") == "4 pairs from s1.p1"
    edit(draft, "arguments", "s1.p1.m0.c0", arguments='{"question": "why?"}')
    assert told(draft, "s1.p1") == "4 pairs from s1.p1"
    edit(draft, "insert", "s2.p1", role="ai", text="One moment.", where="before")
    assert told(draft, "s2.p2") == "4 pairs from s2.p1"
    assert told(draft, "s2.p1") == ""
    edit(draft, "move_up", "s2.p2")
    assert told(draft, "s2.p1") == "4 pairs from s2.p1"
    assert told(draft, "s2.p2") == ""
    edit(draft, "move_down", "s1")
    assert (told(draft, "s1.p1"), told(draft, "s2.p1")) == ("4 pairs from s2.p1", "4 pairs from s1.p1")
    step(draft, "convert", to="anthropic")
    assert (told(draft, "s1.p1"), told(draft, "s2.p1")) == ("4 pairs from s2.p1", "4 pairs from s1.p1")
    assert [told(draft, f"s3.p{pair}") for pair in (1, 2, 3, 4)] == [""] * 4


def test_a_summary_that_is_redacted_still_lists_what_it_replaced(client: Client) -> None:
    draft = summarized(client, summarizable())
    save(draft)
    address = f"/c/{draft.chain_id}/do/redact/"
    answer = send_form(client, address, **{"row-s1.p1.m1.c0": "redact", "act": "apply"})
    client.post(f"{answer['Location']}save", {"note": ""})
    messages = [*StoredChain(version_of(draft.chain, 3).snapshot).at(parse_path("s1.p1"))]
    assert messages[1].parts[0].content == "[redacted]"  # type: ignore[union-attr]
    body = client.get(f"/c/{draft.chain_id}/v/3/node/s1.p1").content.decode()
    assert "Replaces <b>4 pairs</b>" in body
    assert "made in version 2" in body


def test_a_summary_of_talk_that_is_rewritten_merged_and_split(client: Client) -> None:
    draft = summarized(client, make_chain(TALK))
    edit(draft, "text", "s1.p1.m0.c0", text="The clock was wrong.")
    edit(draft, "insert", "s1.p1", role="ai", text="So it is.", where="after")
    edit(draft, "merge", "s1.p1.m0")
    assert told(draft, "s1.p1") == "3 pairs from s1.p1"
    edit(draft, "split", "s1.p1.m0.c0", offset=9)
    assert told(draft, "s1.p1") == "3 pairs from s1.p1"
    assert told(draft, "s2.p1") == ""


def on_version(chain: Chain, number: int, action: str, path: str, **options: Any) -> None:
    """Edit a version once, and save the result as the next version."""
    target = target_of_version(chain, number, chain.owner)
    chosen = EditOptions.model_validate({"action": action, "path": path, **options})
    draft = change(target, Edit(), chosen)
    save(draft)


def test_later_versions_say_in_which_one_it_was_made(client: Client) -> None:
    draft = summarized(client, summarizable())
    save(draft)
    on_version(draft.chain, 2, "result", "s1.p1.m1.c0", text="Short.")
    for number in (2, 3):
        page = f"/c/{draft.chain_id}/v/{number}"
        body = client.get(f"{page}/node/s1.p1").content.decode()
        assert "Replaces <b>4 pairs</b>" in body and "made in version 2" in body
        assert client.get(f"{page}/replaced/s1.p1").content.decode().count("run_shell") >= 3
    assert client.get(f"/c/{draft.chain_id}/v/1/replaced/s1.p1").status_code == 404


def test_a_rebased_summary_is_not_taken_for_another(client: Client) -> None:
    draft = summarized(client, summarizable())
    Draft.objects.update(base=99)  # out of the way of the next one
    on_version(draft.chain, 1, "insert", "s1.h.m1", role="ai", text="At once.", where="after")
    on_version(draft.chain, 2, "insert", "s1.p1", role="human", text="Please.", where="after")
    Draft.objects.filter(pk=draft.pk).update(base=1)
    draft.refresh_from_db()
    services.rebase(draft)
    assert [told(draft, f"s{number}.p1") for number in (1, 2, 3)] == ["", "4 pairs from s1.p1", "4 pairs from s2.p1"]
    save(draft)
    made = found(draft, "s2.p1")
    assert made is not None and (version := version_with(made)) is not None and version.number == 4


def test_summarized_questions_and_joined_sections_list_what_they_replaced(client: Client) -> None:
    asked = [{**m, "content": f"{m['content']} " * 40} if m["role"] == "user" else m for m in story(sections=4)]
    chain = make_chain(asked)
    draft = summarized(client, chain, use_qa="on", summ_human_in_qa="on", max_qa_sections="2", keep_qa_sections="1")
    assert told(draft, "s1.p1") == "2 sections from s1"
    assert told(draft, "s1.h.m1") == "2 sections from s1"
    assert told(draft, "s1.h.m0") == "", "the system message stays"
    body = client.get(f"/c/{chain.pk}/d/{draft.pk}/explore/node/s1.h.m1").content.decode()
    assert "Replaces <b>2 sections</b>" in body
