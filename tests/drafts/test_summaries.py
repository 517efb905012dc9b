"""Summaries as a person meets them: settings with their plan, pieces that are written, corrected, declined, and taken."""

from __future__ import annotations

import re
from itertools import count
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client

from chainviz.chains.models import Chain
from chainviz.drafts.models import Draft, SummaryPiece, SummaryRun
from chainviz.drafts.summaries.run_cards import READ_AT_ONCE
from chainviz.drafts.summaries.runs import jobs_of
from chainviz.jobs.models import Job
from chainviz.jobs.worker import run_waiting_jobs
from chainviz.store.models import History, Version
from tests.cpu import within_cpu_seconds
from tests.drafts.pages import fields_of, send_form
from tests.drafts.summary_story import summarizable

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def chain() -> Chain:
    return summarizable()


def begin(client: Client, chain: Chain, **settings: Any) -> SummaryRun:
    answer = send_form(client, f"/c/{chain.pk}/do/summarize/?v=1", **settings)
    assert answer.status_code == 303, answer.content.decode()
    return SummaryRun.objects.get()


def work_off() -> None:
    run_waiting_jobs()


def page_of(client: Client, run: SummaryRun, status: int = 200) -> str:
    answer = client.get(f"/c/{run.chain_id}/summaries/{run.pk}/")
    assert answer.status_code == status
    return answer.content.decode()


def do(client: Client, piece: SummaryPiece, act: str, headers: dict[str, str] | None = None, **fields: str) -> Any:
    address = f"/c/{piece.run.chain_id}/summaries/{piece.run_id}/piece/{piece.pk}/do"
    return client.post(address, {"act": act, "edition": "0", **fields}, headers=headers)


def test_the_plan_says_what_is_folded_kept_and_protected_and_why(client: Client, chain: Chain) -> None:
    page = client.get(f"/c/{chain.pk}/do/summarize/?v=1").content.decode()
    assert "2 summaries would be written" in page
    assert page.count("It is older than the last section.") == 2
    assert "providers check its signatures" in page
    assert "&lt;b&gt;it&lt;/b&gt;" in page
    assert not SummaryRun.objects.exists()


def test_from_settings_to_a_saved_version(client: Client, chain: Chain) -> None:
    run = begin(client, chain)
    assert "Writing summaries: 0 of 2 ready" in page_of(client, run)
    work_off()
    page = page_of(client, run)
    assert "All 2 summaries are ready" in page
    assert "written by extractive, no model" in page
    assert Version.objects.count() == 1
    answer = client.post(f"/c/{chain.pk}/summaries/{run.pk}/do", {"act": "take"})
    draft = Draft.objects.get()
    assert answer["Location"] == f"/c/{chain.pk}/d/{draft.pk}/"
    assert Version.objects.count() == 1, "nothing is written to a version before it is saved"
    assert "2 nodes changed" in client.get(answer["Location"]).content.decode()
    client.post(f"/c/{chain.pk}/d/{draft.pk}/save", {"note": "smaller"})
    assert Version.objects.count() == 2
    chain.refresh_from_db()
    assert chain.size < 10_000


def test_a_summary_opens_what_it_replaced_in_this_and_in_later_versions(client: Client, chain: Chain) -> None:
    run = begin(client, chain)
    work_off()
    draft_page = client.post(f"/c/{chain.pk}/summaries/{run.pk}/do", {"act": "take"})["Location"]
    node = client.get(f"{draft_page}explore/node/s1.p1").content.decode()
    assert "Replaces <b>4 pairs</b>" in node
    assert "made in this draft" in node
    client.post(f"{draft_page}save", {"note": ""})
    send_form(client, f"/c/{chain.pk}/edit/s3.p4?v=2", s3__p4__m0__c0__text="All is well now.")
    client.post(f"/c/{chain.pk}/d/{Draft.objects.latest('pk').pk}/save", {"note": ""})
    for number in (2, 3):
        node = client.get(f"/c/{chain.pk}/v/{number}/node/s1.p1").content.decode()
        assert "made in version 2" in node
        page = client.get(f"/c/{chain.pk}/v/{number}/replaced/s1.p1").content.decode()
        assert page.count("run_shell") >= 3
        assert f"/c/{chain.pk}/v/1/at/s1.p3#s1-p3" in page
        assert f"/c/{chain.pk}/v/1/node/s1.p4" in page
    assert client.get(f"/c/{chain.pk}/v/1/replaced/s1.p1").status_code == 404
    assert client.get(f"/c/{chain.pk}/v/3/replaced/s3.p4").status_code == 404


def test_a_live_plan_of_ten_thousand_messages_is_quick(client: Client) -> None:
    chain = summarizable(sections=200, pairs=24, size=300)
    assert chain.messages > 10_000
    fields = {name: value[0] for name, value in fields_of(page_text(client, chain)).items()}
    limits = count(5_000)

    def planned() -> bytes:
        changed = {**fields, "last_sec_bytes": str(next(limits))}
        return bytes(client.get(f"/c/{chain.pk}/do/summarize/", changed, headers={"HX-Request": "true"}).content)

    answer = within_cpu_seconds(0.2, planned)  # usually 0.025
    assert b"200 summaries would be written" in answer
    assert len(answer) < 150_000


def page_text(client: Client, chain: Chain) -> str:
    return client.get(f"/c/{chain.pk}/do/summarize/?v=1").content.decode()


def ready_piece(client: Client, chain: Chain, **settings: Any) -> SummaryPiece:
    begin(client, chain, **settings)
    work_off()
    return SummaryPiece.objects.earliest("pk")


def test_a_text_is_edited_and_a_lost_fact_added_with_one_click(client: Client, chain: Chain) -> None:
    piece = ready_piece(client, chain)
    do(client, piece, "save", text="It was <script>alert(1)</script> the clock.")
    page = page_of(client, piece.run)
    assert "&lt;script&gt;alert(1)" in page
    assert "<script>alert" not in page
    assert "extractive, no model, edited by you" in page
    assert "/var/log/app_1.log" in page, "a lost path is listed"
    assert f'href="/c/{chain.pk}/v/1/at/s1.p1.m1.c0#s1-p1"' in page, "and leads to where it was"
    answer = do(client, piece, "add:path:/var/log/app_1.log", text="It was the clock, I think.")
    assert answer["Location"].endswith(f"?open={piece.pk}#piece-{piece.pk}")
    piece.refresh_from_db()
    assert piece.text == "It was the clock, I think.\nFile paths: /var/log/app_1.log"
    do(client, piece, "add:url", text=piece.text)
    do(client, piece, "add:path:/var/log/app_2.log", text=SummaryPiece.objects.get(pk=piece.pk).text)
    piece.refresh_from_db()
    assert "File paths: /var/log/app_1.log, /var/log/app_2.log\n" in piece.text
    assert piece.text.count("https://example.org/issues/") == 3
    shares = {kind: (found, kept) for kind, found, kept in piece.losses["shares"]}
    assert shares["url"] == (3, 3)
    assert shares["path"][1] >= 2


def test_a_declined_piece_stays_as_it_is_until_it_is_taken_after_all(client: Client, chain: Chain) -> None:
    piece = ready_piece(client, chain)
    do(client, piece, "decline")
    page = page_of(client, piece.run)
    assert "1 of 2 summaries ready" in page
    assert "1 piece stays as it is" in page
    do(client, piece, "back")
    assert "All 2 summaries are ready" in page_of(client, piece.run)
    do(client, piece, "decline")
    client.post(f"/c/{chain.pk}/summaries/{piece.run_id}/do", {"act": "take"})
    assert "1 node changed" in client.get(f"/c/{chain.pk}/d/{Draft.objects.get().pk}/").content.decode().replace("</b>", "<")


def test_a_preset_keeps_the_writer_that_was_chosen(client: Client, chain: Chain) -> None:
    address = f"/c/{chain.pk}/do/summarize/?v=1"
    page = client.get(f"{address}&set=1&writer=manual", headers={"HX-Request": "true"}).content.decode()
    preset = re.findall(r'href="([^"]*preset=assistant[^"]*)"', page)[0].replace("&amp;", "&")
    chosen = client.get(preset).content.decode()
    assert re.search(r'name="writer" value="manual" checked', chosen)


def test_what_failed_or_was_edited_leaves_the_group(client: Client) -> None:
    run = begin(client, summarizable(sections=15, pairs=1, size=1_500))
    have = ",".join(re.findall(r'data-piece="([^"]+)"', page_of(client, run)))
    work_off()
    failed, edited = run.pieces.order_by("-pk")[:2]
    run.pieces.filter(pk=failed.pk).update(state="failed", cause="The model had no time.")
    fresh = client.get(f"/c/{run.chain_id}/summaries/{run.pk}/status", {"have": have}, headers={"HX-Request": "true"})
    assert f'id="piece-{failed.pk}" hx-swap-oob="delete"' in fresh.content.decode()
    assert fresh.content.decode().count('"beforeend:#cards"') == 1
    do(client, edited, "save", text="My own words.")
    cards, group = page_of(client, run).split('id="group"')
    assert re.findall(r'id="piece-(\d+)"', cards) == [str(edited.pk), str(failed.pk)]
    assert f"{run.pieces.count() - 2} ready" in cards and group.count('class="piece"') == run.pieces.count() - 2
    assert '<details class="piece-group">' in cards, "many are closed until they are asked for"


def test_summaries_by_hand(client: Client, chain: Chain) -> None:
    run = begin(client, chain, writer="manual")
    assert not jobs_of(run)
    page = page_of(client, run)
    assert "0 of 2 summaries written" in page
    assert "Write again" not in page
    for piece in run.pieces.all():
        do(client, piece, "save", text=f"Summary {piece.key}\r\nin two lines")
    assert run.pieces.first().text.endswith("\nin two lines")
    assert "All 2 summaries are ready" in page_of(client, run)
    answer = do(client, run.pieces.first(), "save", text=" ")
    assert (answer.status_code, "The summary is empty" in answer.content.decode()) == (422, True)


def test_each_of_many_summaries_can_be_written_by_hand(client: Client) -> None:
    run = begin(client, summarizable(sections=15, pairs=2, size=2_000), writer="manual")
    page = page_of(client, run)
    assert page.count("Write it yourself") == run.pieces.count() > READ_AT_ONCE
    assert "<textarea" in client.get(f"/c/{run.chain_id}/summaries/{run.pk}/?open={run.pieces.first().pk}").content.decode()


def test_a_summary_larger_than_what_it_replaces_is_not_taken(client: Client, chain: Chain) -> None:
    piece = ready_piece(client, chain)
    do(client, piece, "save", text="word " * 5_000)
    page = page_of(client, piece.run)
    assert "The summary would take" in page
    assert "Preview 1 summary" in page


def test_the_page_is_found_again_and_settings_can_be_changed(client: Client, chain: Chain) -> None:
    piece = ready_piece(client, chain, last_sec_bytes="40000")
    answer = client.get(f"/c/{chain.pk}/do/summarize/?v=1")
    assert answer["Location"] == f"/c/{chain.pk}/summaries/{piece.run_id}/"
    settings = re.search(r'href="(/c/\d+/do/summarize/[^"]+)"', page_of(client, piece.run))
    assert settings is not None
    page = client.get(settings[1].replace("&amp;", "&")).content.decode()
    assert 'value="40000"' in page
    assert "This content already has summaries." in page
    client.post(f"/c/{chain.pk}/summaries/{piece.run_id}/do", {"act": "discard"})
    assert not SummaryRun.objects.exists()
    assert client.get(f"/c/{chain.pk}/do/summarize/?v=1").status_code == 200


def test_summaries_of_a_content_that_moved_on_are_not_taken(client: Client, chain: Chain) -> None:
    piece = ready_piece(client, chain)
    send_form(client, f"/c/{chain.pk}/edit/s3.p4?v=1", s3__p4__m0__c0__text="Meanwhile.")
    answer = client.post(f"/c/{chain.pk}/summaries/{piece.run_id}/do", {"act": "take"})
    page = client.get(answer["Location"]).content.decode()
    assert "changed after this form was opened" in page
    assert Draft.objects.get().saved_as is None
    assert client.get(f"/c/{chain.pk}/do/summarize/?v=1")["Location"].endswith(f"?draft={Draft.objects.get().pk}&at=1")


def test_undone_summaries_can_be_changed_and_taken_again(client: Client, chain: Chain) -> None:
    piece = ready_piece(client, chain)
    take = f"/c/{chain.pk}/summaries/{piece.run_id}/do"
    draft_page = client.post(take, {"act": "take"})["Location"]
    assert "These summaries are a step of your draft." in page_of(client, piece.run)
    client.post(f"{draft_page}undo")
    do(client, piece, "save", text="Better words for the clock.")
    assert client.post(take, {"act": "take"})["Location"] == draft_page
    assert "Better words for the clock." in client.get(f"{draft_page}explore/node/s1.p1").content.decode()


def test_a_text_that_was_opened_before_a_purge_is_not_saved_unseen(client: Client, chain: Chain) -> None:
    piece = ready_piece(client, chain)
    History.objects.filter(pk=chain.history).update(edition=1)
    answer = do(client, piece, "save", {"HX-Request": "true"}, text="The key was brick-layer-7.")
    html = answer.content.decode()
    assert answer.status_code == 422 and "Values were purged from this chain" in html
    assert "The key was brick-layer-7." in html, "what was typed is kept"
    piece.refresh_from_db()
    assert "brick-layer-7" not in piece.text
    edition = re.search(r'name="edition" value="(\d+)"', html)
    assert edition
    assert do(client, piece, "save", edition=edition[1], text="The key was a secret.").status_code == 303
    piece.refresh_from_db()
    assert piece.text == "The key was a secret."


@pytest.mark.parametrize(
    ("text", "said"), [("The key was brick-layer-7.", "Values were purged"), ("  ", "empty"), ("word " * 200_001, "at most")]
)
def test_a_refused_text_comes_back_without_scripts_too(client: Client, chain: Chain, text: str, said: str) -> None:
    piece = ready_piece(client, chain)
    if "purged" in said:
        History.objects.filter(pk=chain.history).update(edition=1)
    answer = do(client, piece, "save", text=text)
    html = answer.content.decode()
    assert answer.status_code == 422
    fields = re.findall(r'<textarea [^>]*id="([^"]+)-text"[^>]*>\n(.*?)</textarea>', html, re.DOTALL)
    assert dict(fields)[f"piece-{piece.pk}"] == text
    assert html.count('role="alert"') == 1 and said in html
    before = piece.text
    piece.refresh_from_db()
    assert piece.text == before


def test_settings_that_cannot_be_are_refused_in_words(client: Client, chain: Chain) -> None:
    answer = send_form(client, f"/c/{chain.pk}/do/summarize/?v=1", reserve_percent="101", tool_call_id_template="{")
    assert answer.status_code == 422
    assert "less than or equal to 100" in answer.content.decode() or "100 or less" in answer.content.decode()
    answer = send_form(client, f"/c/{chain.pk}/do/summarize/?v=1", keep_qa_sections="9")
    assert "These settings summarize nothing" in answer.content.decode()
    assert not SummaryRun.objects.exists()


def test_without_scripts_the_plan_is_shown_by_a_button(client: Client, chain: Chain) -> None:
    answer = send_form(client, f"/c/{chain.pk}/do/summarize/?v=1", show="1", keep_qa_sections="2", preserve_last=None)
    assert answer.status_code == 303
    page = client.get(answer["Location"]).content.decode()
    assert "1 summary would be written" in page
    assert "Keeping the last sections small is turned off." in page
    assert "csrf" not in answer["Location"]


def test_while_one_piece_is_written_alone_the_others_do_not_look_as_if_they_were(client: Client, chain: Chain) -> None:
    run = begin(client, chain)
    assert page_of(client, run).count(':waiting:open"') == 2
    client.post(f"/c/{chain.pk}/summaries/{run.pk}/do", {"act": "stop"})
    page = page_of(client, run)
    assert page.count(':stopped:open"') == 2 and "Write the rest" in page
    do(client, run.pieces.earliest("pk"), "again")
    page = page_of(client, run)
    assert (page.count(':waiting:open"'), page.count(':stopped:open"')) == (1, 1)


def test_a_run_that_is_being_stopped_says_so_and_looks_sooner(client: Client, chain: Chain) -> None:
    run = begin(client, chain)
    Job.objects.filter(pk=run.job_id).update(state="running", cancel_requested=True)
    page = page_of(client, run)
    assert "Stopping; finished summaries are kept" in page and 'hx-trigger="every 300ms"' in page
    assert 'value="stop"' not in page


def test_summaries_of_somebody_else_are_not_there(client: Client, chain: Chain) -> None:
    piece = ready_piece(client, chain)
    stranger = get_user_model().objects.create(username="stranger")
    SummaryRun.objects.update(author=stranger)
    assert page_of(client, piece.run, status=404)
    assert do(client, piece, "save", text="mine").status_code == 404


def test_a_model_that_is_not_set_up_says_how(client: Client, chain: Chain) -> None:
    page = client.get(f"/c/{chain.pk}/do/summarize/?v=1").content.decode()
    assert "CHAINVIZ_LLM_BASE_URL is empty" in page
    run = begin(client, chain, writer="openai")
    assert run.writer == "extractive", "what is not offered cannot be chosen"


def test_many_summaries_come_in_pages_and_one_request_keeps_them_fresh(client: Client) -> None:
    run = begin(client, summarizable(sections=130, pairs=1, size=1_500))
    address = f"/c/{run.chain_id}/summaries/{run.pk}/"
    have = ",".join(re.findall(r'data-piece="([^"]+)"', page_of(client, run)))
    assert have.count(":waiting") == 100
    work_off()
    page = page_of(client, run)
    assert "29 more summaries" in page
    assert page.count("<textarea") == 0
    assert page.count("Read and edit") == 100
    assert client.get(f"{address}?from=100").content.decode().count("Read and edit") == 29
    fresh = client.get(f"{address}status", {"have": have}, headers={"HX-Request": "true"})
    assert fresh.status_code == 286
    assert fresh.content.decode().count('hx-swap-oob="true"') == 102, "100 pieces, the line of the group and the bar below"
    again = client.get(f"{address}status", {"have": have.replace("waiting", "ready")}, headers={"HX-Request": "true"})
    assert again.content.decode().count('hx-swap-oob="true"') == 2
    run.pieces.update(after=-1)
    uncounted = set(re.findall(r'data-piece="[0-9]+:([^"]+)"', page_of(client, run)))
    run.pieces.update(after=400)
    counted = client.get(f"{address}status", {"have": have.replace("waiting", *uncounted)}, headers={"HX-Request": "true"})
    assert counted.content.decode().count("→ 400 B") == 100, "a size that becomes known is shown without a reload"
    piece = run.pieces.earliest("pk")
    was_open = {"have": f"{piece.pk}:writing:open"}
    kept = client.get(f"{address}status", was_open, headers={"HX-Request": "true"}).content.decode()
    assert kept.count("<textarea") == 1, "what was open while it was written again stays open"
    assert f'data-piece="{piece.pk}:ready:open"' in kept
    assert "<textarea" in client.get(f"{address}piece/{piece.pk}/", headers={"HX-Request": "true"}).content.decode()
    assert client.get(f"{address}?open={piece.pk}").content.decode().count("<textarea") == 1
