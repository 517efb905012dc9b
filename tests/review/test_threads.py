"""Threads on the pages: begun, answered, edited, deleted, resolved; pending comments; suggestions; mentions."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from chainviz.accounts.models import local_owner
from chainviz.accounts.permissions import Role
from chainviz.drafts.models import Draft
from chainviz.drafts.target import target_of_draft
from chainviz.review.fsck import fsck_review
from chainviz.review.models import Comment, Thread
from chainviz.review.threads.thread_view import mentioned, title_of
from chainviz.review.threads.writing import NewThread, begin, send_pending
from tests.accounts.people import make_member, make_team
from tests.chains.making import STORY, make_chain
from tests.drafts.pages import send_form
from tests.review.conftest import Room
from tests.review.test_places import TALK, apply, thread_on

pytestmark = pytest.mark.django_db


def page(client: Client, address: str) -> str:
    return client.get(address).content.decode()


def in_order() -> bool:
    return not list(fsck_review())


def test_a_comment_is_written_answered_edited_deleted_and_resolved(client: Client) -> None:
    chain = make_chain(STORY)
    form = f"/c/{chain.pk}/v/1/comment/?path=s1.p2"
    answer = send_form(client, form, body="Is *that* so? <script>x</script>")
    assert answer["Location"] == f"/c/{chain.pk}/v/1/at/s1.p2#thread-1"
    here = f"/c/{chain.pk}/threads/1/"
    shown = page(client, here)
    assert "<em>that</em>" in shown and "<script>x" not in shown
    client.post(here, {"body": "It is.", "act": "reply"})
    first, second = Comment.objects.order_by("pk")
    client.post(f"/c/{chain.pk}/comments/{second.pk}/edit/", {"body": "It is not."})
    client.post(f"/c/{chain.pk}/comments/{first.pk}/delete/")
    shown = page(client, here)
    assert "It is not." in shown and "edited" in shown and "This comment was deleted" in shown
    assert client.get(f"/c/{chain.pk}/comments/{second.pk}/")["Location"] == f"{here}#comment-{second.pk}"
    client.post(here, {"act": "resolve"})
    assert "No open threads" in page(client, f"/c/{chain.pk}/threads/")
    client.post(here, {"act": "reopen", "resolved": "1"})
    assert "It is not." in page(client, f"/c/{chain.pk}/threads/")
    assert in_order()


def test_words_are_found_as_the_page_shows_them(client: Client) -> None:
    chain = make_chain(STORY)
    form = f"/c/{chain.pk}/v/1/comment/?path=s1.h.m1"
    send_form(client, form, body="Which one?", quote="fits this wall")
    thread = Thread.objects.get()
    assert (thread.path, thread.quote) == ("s1.h.m1.c0", "fits **this** wall")
    refused = send_form(client, form, body="My long thought", quote="nowhere")
    assert refused.status_code == 422
    assert "My long thought" in refused.content.decode() and "not in the node" in refused.content.decode()
    assert send_form(client, f"/c/{chain.pk}/v/1/comment/", body="On all of it").status_code == 303
    assert "On the whole chain" in page(client, f"/c/{chain.pk}/threads/")


def test_commented_words_are_marked_where_they_stand(client: Client) -> None:
    """The second of two equal words, in the explorer, on the page of the node, and in a part alone."""
    chain = make_chain([*TALK[:1], {"role": "assistant", "content": "One *drill*, two drill."}])
    form = f"/c/{chain.pk}/v/1/comment/?path=s1.p1.m0.c0"
    send_form(client, form, body="Which?", quote="drill", nth="1")
    marked = 'two <mark class="anchor" data-state="open">drill</mark><a class="anchor-link" href="#thread-1"'
    for where in ("at/s1.p1", "node/s1.p1", "node/s1.p1?text=plain", "part/s1.p1.m0.c0"):
        shown = page(client, f"/c/{chain.pk}/v/1/{where}")
        assert marked in shown and shown.count("<mark") == 1, where
    assert 'name="nth" value="1"' in page(client, f"{form}&quote=drill&nth=1"), "also without a script"
    begun = client.post(form, {"body": "In place", "quote": "two"}, headers={"HX-Request": "true"})
    assert begun.status_code == 200 and b'data-thread="2"' in begun.content and b"<html" not in begun.content
    apply(chain, "edit", path="s1.p1.m0.c0", action="text", text="Oh: one *drill*, two drill.")
    assert marked in page(client, f"/c/{chain.pk}/v/2/node/s1.p1")


def test_rows_and_outline_show_threads_without_a_script(client: Client) -> None:
    chain = make_chain(STORY)
    thread_on(chain, "s1.p2")
    explorer = page(client, f"/c/{chain.pk}/v/1/at/s1.p2")
    row = explorer[explorer.index('id="s1-p2"') :]
    assert '<span class="thread-chip" data-state="open">' in row
    assert f'href="/c/{chain.pk}/threads/1/">Show the thread' in row
    assert re.search(r'class="outline-item"[^>]*data-path="s1.p2"[^>]*>[^<]*<span><i class="note-mark"', explorer)
    apply(chain, "edit", path="s1.p2", action="delete")
    assert "thread-chip" not in page(client, f"/c/{chain.pk}/")
    assert "no longer has it" in page(client, f"/c/{chain.pk}/threads/?show=removed")
    thread_on(chain, "s2", version=2)
    assert "threads/2/" in page(client, f"/c/{chain.pk}/v/2/inspect/s2"), "a section shows its threads beside the chain"
    thread_on(chain, "s2.p1", version=2)
    assert "threads/3/" in page(client, f"/c/{chain.pk}/v/2/at/s2.p1"), "also where its section has a thread"


def test_a_folded_thread_shows_its_words_without_their_markdown() -> None:
    assert title_of("**Sure?** See `f(x) < 2` in [the docs](https://example.org)") == "Sure? See f(x) < 2 in the docs (example.org)"
    assert title_of("Better:\n```suggestion\nno_snake_case\n```") == "Better: → no_snake_case"


def test_both_sides_of_a_difference_can_be_commented_on(client: Client) -> None:
    chain = make_chain(TALK)
    apply(chain, "edit", path="s1.p2.m0.c0", action="text", text="It was noon.")
    thread_on(chain, "s1.p2")
    shown = page(client, f"/c/{chain.pk}/diff/1..2/")
    assert 'aria-label="Threads on s1.p2 of version 1"' in shown and "thread-chip" in shown
    send_form(client, f"/c/{chain.pk}/v/2/comment/?path=s1.p2", body="On the right side")
    assert 'aria-label="Threads on s1.p2 of version 2"' in page(client, f"/c/{chain.pk}/diff/1..2/")
    assert "from version 2, unchanged" not in page(client, f"/c/{chain.pk}/threads/2/")


def test_threads_of_a_window_cost_two_statements(client: Client, django_assert_max_num_queries: Any) -> None:
    chain = make_chain(STORY)
    page(client, f"/c/{chain.pk}/")
    with django_assert_max_num_queries(8):
        page(client, f"/c/{chain.pk}/")
    for number in range(30):
        begin(chain, local_owner(), NewThread(1, Thread.Kind.NODE, "s1.p2"), f"Comment {number}")
    page(client, f"/c/{chain.pk}/")
    with django_assert_max_num_queries(9):
        assert "30<span" in page(client, f"/c/{chain.pk}/")


def test_text_that_no_database_holds_can_be_quoted(client: Client) -> None:
    chain = make_chain([{"role": "user", "content": "a\ud800b\x00c words"}, {"role": "assistant", "content": "Yes."}])
    for path, quote in (("s1.h.m0.c0", ""), ("s1.h.m0", "c words"), ("s1.h.m0", "")):
        assert send_form(client, f"/c/{chain.pk}/v/1/comment/?path={path}", body="\x00 odd", quote=quote).status_code == 303
    whole = begin(chain, local_owner(), NewThread(1, Thread.Kind.PART, "s1.h.m0.c0", quote="a\ud800b\x00c words"), "x").thread
    assert client.get(f"/c/{chain.pk}/threads/{whole.number}/").status_code == 200


def test_comments_with_secrets_are_named(client: Client) -> None:
    chain = make_chain(STORY)
    thread_on(chain, "s1.p2")
    assert "may hold secrets" not in page(client, f"/c/{chain.pk}/threads/")
    begin(chain, local_owner(), NewThread(1, Thread.Kind.CHAIN), "The key is ghp_" + "a1B2c3D4e5F6" * 3)
    assert '<a href="#thread-2">2</a> may hold secrets' in page(client, f"/c/{chain.pk}/threads/")


def test_an_answer_to_a_thread_that_was_resolved_meanwhile_is_kept(client: Client) -> None:
    chain = make_chain(STORY)
    thread_on(chain, "s1.p2")
    here = f"/c/{chain.pk}/threads/1/"
    client.post(here, {"act": "resolve"})
    refused = client.post(here, {"act": "reply", "body": "But I think", "resolved": ""})
    assert refused.status_code == 409
    assert "But I think" in refused.content.decode() and "resolved this thread while" in refused.content.decode()
    assert client.post(here, {"act": "reopen_and_reply", "body": "But I think", "resolved": "1"}).status_code == 303
    assert (Comment.objects.count(), Thread.objects.get().is_resolved) == (2, False)


def test_suggestions_become_steps_of_one_draft(client: Client) -> None:
    chain = make_chain(TALK)
    sure = thread_on(chain, "s2.p1.m0.c0", "quite sure")
    whole = thread_on(chain, "s1.p2.m0.c0")
    pair, several = thread_on(chain, "s3.p1"), thread_on(chain, "s1.p1")
    picks = []
    suggested = ((sure, "nearly sure"), (whole, "It is noon in London."), (pair, "The only text."), (several, "Which?"))
    for thread, text in suggested:
        client.post(f"/c/{chain.pk}/threads/{thread.number}/", {"act": "reply", "body": f"Better:\n```suggestion\n{text}\n```"})
        picks.append(f"{Comment.objects.latest('pk').pk}.0")
    answer = client.post(f"/c/{chain.pk}/threads/suggestions/", {"pick": picks}, follow=True)
    draft = Draft.objects.get()
    assert answer.redirect_chain[0][0] == f"/c/{chain.pk}/d/{draft.pk}/"
    assert "Thread 4: s1.p1 does not contain exactly one text" in answer.content.decode()
    assert [Thread.objects.get(pk=thread.pk).is_resolved for thread in (sure, whole, pair, several)] == [True, True, True, False]
    assert f"in thread {sure.number}" in client.get(f"/c/{chain.pk}/d/{draft.pk}/").content.decode()
    texts = [message.parts[0] for message in target_of_draft(draft).stored.slice(0, 8)]
    assert "One o'clock. I am nearly sure." in str(texts[5]) and "It is noon in London." in str(texts[3])
    assert "The only text." in str(texts[7]), "the only text of a node is meant where the node is"
    again = client.post(f"/c/{chain.pk}/threads/suggestions/", {"pick": picks[1:]}, follow=True)
    assert "no longer applies" in again.content.decode()


def test_pending_comments_are_their_authors_only(room: Room) -> None:
    mei, ivo = room.client(room.mei), room.client(room.ivo)
    send_form(mei, f"/c/{room.chain.pk}/v/1/comment/?path=s1.p2", body="Not yet seen", send="pending")
    address = f"/c/{room.chain.pk}/threads/"
    assert "Not yet seen" in page(mei, address) and "Not yet seen" not in page(ivo, address)
    assert "thread-chip" not in page(ivo, f"/c/{room.chain.pk}/") and "thread-chip" in page(mei, f"/c/{room.chain.pk}/")
    key = Comment.objects.get().pk
    assert [each.get(f"/c/{room.chain.pk}/comments/{key}/").status_code for each in (mei, ivo)] == [303, 404]
    assert ivo.get(f"{address}1/").status_code == 404
    assert [comment.body for comment in send_pending(room.mei.user, room.chain)] == ["Not yet seen"]
    assert "Not yet seen" in page(ivo, address)
    mei.post(f"{address}1/", {"act": "pending", "body": "Second"})
    mei.post(f"{address}pending/", {"act": "discard"})
    assert Comment.objects.count() == 1 and in_order()


def test_who_may_comment_and_who_is_mentioned(room: Room) -> None:
    thread = thread_on(room.chain, "s1.p2")
    here = f"/c/{room.chain.pk}/threads/{thread.number}/"
    assert room.client(room.sam).post(here, {"act": "reply", "body": "Me too"}).status_code == 403
    assert "Viewers can only read" in page(room.client(room.sam), here)
    room.client(room.mei).post(here, {"act": "reply", "body": "Ask @ivo, not `@sam` or @nobody"})
    shown = page(room.client(room.ivo), here)
    assert '<span class="mention">@ivo</span>' in shown and "@nobody</span>" not in shown
    assert mentioned("@ivo @nobody", room.team) == [room.ivo.user]
    mine = Comment.objects.latest("pk")
    for client in (room.client(room.ivo), room.client(room.lin)):
        assert client.post(f"/c/{room.chain.pk}/comments/{mine.pk}/delete/").status_code == 404


def test_members_are_offered_for_a_mention(room: Room) -> None:
    ivan = make_member(room.team, "Ivan", Role.VIEWER).user
    ivan.first_name = "Ivan Lindt"
    ivan.save()
    make_member(make_team("Elsewhere"), "Ivonne", Role.OWNER)

    def offered(text: str, who: Any = room.mei) -> list[str]:
        return re.findall(r'data-handle="(.*?)"', page(room.client(who), f"/c/{room.chain.pk}/mentions/?q={text}"))

    assert offered("i") == ["ivan", "ivo"]
    assert offered("LIN") == ["ivan", "lin"], "words of names too"
    assert offered("x") == [] and "role" not in page(room.client(room.mei), f"/c/{room.chain.pk}/mentions/?q=x")
    assert len(offered("")) == 6
    assert room.client(room.sam).get(f"/c/{room.chain.pk}/mentions/?q=i").status_code == 403
    assert "data-mentions" in page(room.client(room.mei), f"/c/{room.chain.pk}/v/1/comment/?path=s1.p1")


def test_a_comment_outlives_the_account_of_its_author(room: Room) -> None:
    begin(room.chain, room.mei.user, NewThread(1, Thread.Kind.CHAIN), "I was here")
    Comment.objects.update(author=None)
    shown = page(room.client(room.ivo), f"/c/{room.chain.pk}/threads/")
    assert "I was here" in shown and "Mei" in shown
