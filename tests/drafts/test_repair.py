from __future__ import annotations

import json
import re
from html import unescape

import pytest
from django.test import Client

from chainviz.chains.models import Chain
from chainviz.chains.samples import load_samples
from chainviz.core.operations import OPERATIONS
from chainviz.drafts.models import Draft
from chainviz.drafts.operations import presets
from chainviz.drafts.operations.repair.cards import MOST_CARDS
from chainviz.jobs import lease
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import JobContext, run_job
from chainviz.store.content.chain import StoredChain
from chainviz.store.models import History, Version
from tests.chains.files import send
from tests.chains.making import make_chain_of
from tests.drafts.pages import fields_of, send_form, snapshot_of, steps_of

pytestmark = pytest.mark.django_db


def roles(draft: Draft) -> list[str]:
    chain = StoredChain(snapshot_of(draft))
    return [message.role for message in chain.slice(0, len(chain))]


def test_the_page_lists_what_can_be_mended_and_changes_nothing(client: Client, chain: Chain) -> None:
    page = client.get(f"/c/{chain.pk}/repair/?v=1").content.decode()
    assert "Merge the human messages" in page and "Answer the call" in page and "Turn the call into text" in page
    assert len(fields_of(page)["fix"]) == 3
    assert not Draft.objects.exists()


def test_accepted_fixes_are_a_step_and_the_problems_are_cleared(client: Client, chain: Chain) -> None:
    answer = send_form(client, f"/c/{chain.pk}/repair/?v=1")
    assert answer.status_code == 303
    assert roles(Draft.objects.get())[:6] == ["system", "human", "ai", "tool", "tool", "ai"]
    page = client.get(answer.url).content.decode()
    assert "cleared" in page and "2 messages become one" in page


def test_a_declined_fix_is_left_alone(client: Client, chain: Chain) -> None:
    offered = fields_of(client.get(f"/c/{chain.pk}/repair/?v=1").content.decode())["fix"]
    send_form(client, f"/c/{chain.pk}/repair/?v=1", fix=[fix for fix in offered if not fix.startswith("merge-human")])
    assert roles(Draft.objects.get())[:4] == ["system", "human", "human", "ai"]


def test_another_way_can_be_chosen(client: Client, chain: Chain) -> None:
    offered = fields_of(client.get(f"/c/{chain.pk}/repair/?v=1").content.decode())
    call = next(fix for fix in offered["fix"] if fix.startswith("answer-call"))
    send_form(client, f"/c/{chain.pk}/repair/?v=1", **{f"way-{call}": "call-to-text"})
    assert roles(Draft.objects.get()).count("tool") == 1


def test_nothing_chosen_is_refused_in_a_sentence(client: Client, chain: Chain) -> None:
    answer = send_form(client, f"/c/{chain.pk}/repair/?v=1", fix=None)
    assert answer.status_code == 422
    assert fields_of(answer.content.decode()).get("fix", []) == [], "the boxes come back as they were sent"
    assert "These choices change nothing" in answer.content.decode()


def test_a_repair_goes_into_the_draft_that_was_begun(client: Client, chain: Chain) -> None:
    send_form(client, f"/c/{chain.pk}/repair/?v=1")
    draft = Draft.objects.get()
    again = client.get(f"/c/{chain.pk}/repair/?v=1")
    assert again.url == f"/c/{chain.pk}/do/repair/?draft={draft.pk}&at=0"
    assert "Step 1 of your draft has these choices" in client.get(again.url).content.decode()
    assert "Nothing to repair" in client.get(f"/c/{chain.pk}/do/repair/?draft={draft.pk}").content.decode()


def test_back_from_a_preview_shows_the_choices_and_a_new_preview_replaces_the_step(client: Client, chain: Chain) -> None:
    address = f"/c/{chain.pk}/do/repair/?v=1"
    offered = fields_of(client.get(address).content.decode())["fix"]
    one = next(fix for fix in offered if fix.startswith("answer-call"))
    send_form(client, address, fix=[one])
    back = client.get(address).url
    assert fields_of(client.get(back).content.decode())["fix"] == [one]
    answer = send_form(client, back, fix=offered)
    draft = Draft.objects.get()
    assert answer.url == f"/c/{chain.pk}/d/{draft.pk}/" and len(steps_of(draft).all) == 1
    assert f"{back}".replace("&", "&amp;") in client.get(answer.url).content.decode()


def open_calls(client: Client) -> Chain:
    messages: list[dict[str, object]] = [{"role": "user", "content": "Go"}]
    for i in range(MOST_CARDS + 5):
        call = {"id": f"c{i}", "type": "function", "function": {"name": "look", "arguments": "{}"}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
    messages.append({"role": "user", "content": "Well?"})
    send(client, ("open.json", json.dumps(messages).encode()))
    return Chain.objects.get()


def test_many_fixes_are_chosen_by_kind(client: Client) -> None:
    chain = open_calls(client)
    page = client.get(f"/c/{chain.pk}/repair/").content.decode()
    assert fields_of(page)["fix"] == ["answer-call"]
    one_by_one = client.get(f"/c/{chain.pk}/repair/?kind=answer-call").content.decode()
    assert len(fields_of(one_by_one)["fix"]) == MOST_CARDS
    send_form(client, f"/c/{chain.pk}/repair/?kind=answer-call")
    assert roles(Draft.objects.get()).count("tool") == MOST_CARDS
    draft = Draft.objects.get()
    send_form(client, f"/c/{chain.pk}/repair/?draft={draft.pk}")
    assert roles(draft).count("tool") == MOST_CARDS + 5


def test_fixes_of_one_kind_stay_those_of_the_draft(client: Client) -> None:
    chain = open_calls(client)
    edited = send_form(client, f"/c/{chain.pk}/edit/s1.h.m0?v=1", s1__h__m0__c0__text="Go on")
    draft = Draft.objects.get()
    assert edited.status_code == 303
    page = client.get(f"/c/{chain.pk}/repair/?draft={draft.pk}").content.decode()
    link = next(link for link in re.findall('href="([^"]*kind=[^"]*)"', page))
    one_by_one = client.get(f"/c/{chain.pk}/repair/{unescape(link)}")
    assert one_by_one.status_code == 200
    assert len(fields_of(one_by_one.content.decode())["fix"]) == MOST_CARDS


@pytest.fixture
def long_chain(client: Client, monkeypatch: pytest.MonkeyPatch) -> Chain:
    """A call without result, and a message that says nothing; too long to be read while a page is made."""
    call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "Go"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "user", "content": " "},
    ]
    send(client, ("long.json", json.dumps(messages).encode()))
    monkeypatch.setattr("chainviz.drafts.operations.run.MESSAGES_AT_ONCE", 1)
    chain = Chain.objects.get()
    client.get(f"/c/{chain.pk}/repair/?v=1")
    run_job(Job.objects.get().pk)
    return chain


def read_all(client: Client, chain: Chain) -> None:
    client.post(f"/c/{chain.pk}/repair/?v=1", {"act": "read"})
    run_job(Job.objects.latest("pk").pk)


def test_the_structure_of_a_long_chain_is_checked_by_a_job(client: Client, long_chain: Chain) -> None:
    page = client.get(f"/c/{long_chain.pk}/repair/?v=1").content.decode()
    assert "Only the structure is checked" in page and "Answer the call" in page
    assert "has no content" not in page
    assert Job.objects.count() == 1


def test_until_the_structure_is_checked_the_page_tells_how_far_it_is(client: Client, long_chain: Chain) -> None:
    Job.objects.update(state=Job.State.RUNNING)
    address = f"/c/{long_chain.pk}/repair/?v=1"
    page = client.get(address).content.decode()
    assert "is being checked" in page and "Answer the call" not in page and "Nothing to repair" not in page
    assert "is being checked" in client.get(f"{address}&checking=1", headers={"HX-Request": "true"}).content.decode()
    Job.objects.update(state=Job.State.DONE)
    answer = client.get(f"{address}&checking=1", headers={"HX-Request": "true"})
    assert answer["HX-Redirect"].endswith(f"/c/{long_chain.pk}/do/repair/?v=1")


def test_a_check_serves_every_later_look(client: Client, long_chain: Chain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chainviz.drafts.operations.repair.repair_choices.propose", None)
    presets._kept.clear()
    assert "Answer the call" in client.get(f"/c/{long_chain.pk}/repair/?v=1").content.decode()


def test_a_long_chain_is_read_by_a_job_that_can_be_left_and_found_again(client: Client, long_chain: Chain) -> None:
    address = f"/c/{long_chain.pk}/repair/?v=1"
    assert client.post(address, {"act": "read"}).status_code == 303
    client.post(address, {"act": "read"})
    job = Job.objects.latest("pk")
    page = client.get(address).content.decode()
    assert "are being read" in page and "Answer the call" in page
    assert "being read" in client.get(address, headers={"HX-Request": "true"}).content.decode()
    run_job(job.pk)
    done = client.get(address, headers={"HX-Request": "true"}).content.decode()
    assert "Show all fixes" in done and "<html" not in done
    page = client.get(address).content.decode()
    assert "has no content" in page and "Answer the call" in page and "Only the structure" not in page


def test_reading_can_be_stopped_and_begun_again(client: Client, long_chain: Chain) -> None:
    address = f"/c/{long_chain.pk}/repair/?v=1"
    client.post(address, {"act": "read"})
    client.post(address, {"act": "stop"})
    assert Job.objects.latest("pk").state == Job.State.CANCELLED
    assert "Only the structure is checked" in client.get(address).content.decode()
    read_all(client, long_chain)
    assert "has no content" in client.get(address).content.decode()


def test_fixes_of_a_long_chain_are_carried_out_by_a_job(client: Client, long_chain: Chain) -> None:
    address = f"/c/{long_chain.pk}/repair/?v=1"
    read_all(client, long_chain)
    offered = re.findall('name="fix" value="([^"]*)"', client.get(address).content.decode())
    answer = send_form(client, address, fix=[unescape(fix) for fix in offered])
    job = Job.objects.latest("pk")
    assert answer.status_code == 303 and answer.url == f"/c/{long_chain.pk}/do/repair/?v=1&step={job.pk}"
    assert "<h2>Repairing</h2>" in client.get(answer.url).content.decode()
    assert client.get(address).content.decode().count("<h2>Repairing</h2>") == 1
    run_job(job.pk)
    draft = Draft.objects.get()
    assert client.get(answer.url).url == f"/c/{long_chain.pk}/d/{draft.pk}/"
    assert roles(draft) == ["human", "ai", "tool"]


def test_what_was_chosen_of_the_structure_leaves_contents_alone(client: Client, long_chain: Chain) -> None:
    address = f"/c/{long_chain.pk}/repair/?v=1"
    form = fields_of(client.get(address).content.decode())
    read_all(client, long_chain)
    answer = client.post(address, form)
    run_job(Job.objects.latest("pk").pk)
    assert client.get(answer.url).status_code == 303
    assert roles(Draft.objects.get()) == ["human", "ai", "tool", "human"]


def test_mending_a_long_chain_can_be_stopped(client: Client, long_chain: Chain) -> None:
    address = f"/c/{long_chain.pk}/repair/?v=1"
    waiting = send_form(client, address).url
    assert client.post(waiting, {"act": "stop"}).url == waiting
    run_job(Job.objects.latest("pk").pk)
    assert not Draft.objects.exists()
    assert "nothing was changed" in client.get(waiting).content.decode()
    refused = send_form(client, address, fix=None)
    run_job(Job.objects.latest("pk").pk)
    page = client.get(refused.url).content.decode()
    assert "These choices change nothing" in page and "fix" not in fields_of(page)


def test_a_form_about_contents_that_were_not_read_is_refused(client: Client, long_chain: Chain) -> None:
    address = f"/c/{long_chain.pk}/repair/?v=1"
    form = fields_of(client.get(address).content.decode())
    answer = client.post(address, {**form, "content": "1"})
    assert answer.status_code == 422
    assert client.get(f"{address}&step=99").status_code == 404


def test_every_other_operation_has_a_page_from_its_options(client: Client, chain: Chain) -> None:
    for operation in OPERATIONS:
        expected = 404 if operation.name in {"edit"} else 200
        assert client.get(f"/c/{chain.pk}/do/{operation.name}/").status_code == expected
    assert client.get(f"/c/{chain.pk}/do/burn/").status_code == 404


def test_a_chain_is_converted_and_exported_in_the_other_format(client: Client, chain: Chain) -> None:
    answer = send_form(client, f"/c/{chain.pk}/do/convert/", to="anthropic")
    assert answer.status_code == 303, answer.content.decode()
    draft = Draft.objects.get()
    assert snapshot_of(draft).format == "anthropic"
    assert client.get(answer.url).status_code == 200
    wrong = send_form(client, f"/c/{chain.pk}/do/convert/?draft={draft.pk}", to="nonsense")
    assert wrong.status_code == 422
    assert "nonsense" in wrong.content.decode()


@pytest.fixture
def converting(client: Client, chain: Chain, monkeypatch: pytest.MonkeyPatch) -> str:
    """The page of a job that is to convert a long chain; nobody has taken it up yet."""
    monkeypatch.setattr("chainviz.drafts.operations.run.MESSAGES_AT_ONCE", 1)
    answer = send_form(client, f"/c/{chain.pk}/do/convert/?v=1", to="anthropic", drop_reasoning="on")
    assert answer.status_code == 303 and not Draft.objects.exists()
    return str(answer.url)


def test_a_long_chain_is_converted_by_a_job_that_is_found_again(client: Client, chain: Chain, converting: str) -> None:
    job = Job.objects.get()
    assert converting == f"/c/{chain.pk}/do/convert/?v=1&step={job.pk}"
    for address in (converting, f"/c/{chain.pk}/do/convert/?v=1"):
        assert "<h2>Converting</h2>" in client.get(address).content.decode()
    page = client.get(converting, headers={"HX-Request": "true"}).content.decode()
    assert "Stop</button>" in page and "<html" not in page
    assert client.get(f"/c/{chain.pk}/do/repair/?v=1&step={job.pk}").status_code == 404
    assert "Converting" not in client.get(f"/c/{chain.pk}/repair/?v=1").content.decode()
    run_job(job.pk)
    assert client.get(converting).url == f"/c/{chain.pk}/d/{Draft.objects.get().pk}/"
    assert snapshot_of(Draft.objects.get()).format == "anthropic"


def test_asking_for_a_conversion_again_leads_to_the_one_under_way(client: Client, chain: Chain, converting: str) -> None:
    seen = Version.objects.get().snapshot.digest
    again = client.post(f"/c/{chain.pk}/do/convert/?v=1", {"seen": bytes(seen).hex(), "to": "same"})
    assert again.url == converting


def test_a_conversion_that_is_stopped_leaves_the_choices(client: Client, converting: str) -> None:
    assert client.post(converting, {"act": "stop"}).url == converting
    run_job(Job.objects.get().pk)
    assert not Draft.objects.exists()
    page = client.get(converting).content.decode()
    assert "was stopped, and nothing was changed" in page
    assert fields_of(page)["to"] == ["anthropic"] and fields_of(page)["drop_reasoning"] == ["on"]


def test_a_conversion_that_is_refused_says_why(client: Client, chain: Chain, converting: str) -> None:
    client.post(converting, {"act": "stop"})
    # what each message holds already
    answer = send_form(client, f"/c/{chain.pk}/do/convert/?v=1")
    run_job(Job.objects.latest("pk").pk)
    assert client.get(answer.url, headers={"HX-Request": "true"})["HX-Redirect"] == answer.url
    page = client.get(answer.url)
    assert page.status_code == 200 and "These choices change nothing" in page.content.decode()
    assert "<progress" not in page.content.decode()


def test_what_was_purged_meanwhile_is_not_converted(client: Client, converting: str) -> None:
    History.objects.update(edition=1)
    run_job(Job.objects.get().pk)
    assert not Draft.objects.exists()
    assert "The content changed after" in client.get(converting).content.decode()


def test_a_conversion_tells_how_far_it_is_and_stops_between(client: Client, converting: str, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[float, str]] = []

    def report(context: JobContext, progress: float, message: str = "") -> None:
        told.append((progress, message))
        if "rewritten" in message:
            lease.cancel(context.job)
        real(context, progress, message)

    real = JobContext.report
    monkeypatch.setattr(JobContext, "report", report)
    run_job(Job.objects.get().pk)
    assert [progress for progress, _ in told] == sorted(progress for progress, _ in told)
    assert "messages read" in told[0][1] and "rewritten" in told[-1][1]
    assert Job.objects.get().state == Job.State.CANCELLED and not Draft.objects.exists()


def test_a_provider_is_the_goal_of_a_repair(client: Client) -> None:
    messages = [
        {"role": "user", "content": "hi"},
        {"role": "user", "content": ""},
        {"role": "assistant", "content": "a", "tool_calls": [
            {"id": "a:1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
        ]},
        {"role": "tool", "tool_call_id": "a:1", "content": "x"},
    ]  # fmt: skip
    send(client, ("chain.json", json.dumps(messages).encode()))
    address = f"/c/{Chain.objects.get().pk}/repair/?v=1"
    page = client.get(address).content.decode()
    assert "Anthropic Messages: 2 errors" in page
    planned = re.findall(r"<b>([^<]+)</b>", client.get(f"{address}&goal=anthropic").content.decode().partition("What the fixes do")[2])
    assert planned == ["Drop empty texts", "Spell the id so that every API accepts it"]
    seen = re.search('name="seen" value="([^"]*)"', page)
    assert seen is not None
    draft = client.post(address, {"act": "goal", "goal": "anthropic", "seen": seen[1]})
    saved = client.post(f"{draft['Location'].split('?')[0]}save", {"note": ""})
    found = client.get(f"{saved['Location']}problems?provider=anthropic").content.decode()
    assert "The chain breaks no rule of this provider" in found
    nobody = client.post(address, {"act": "goal", "goal": "nobody", "seen": seen[1]})
    assert nobody.status_code in (302, 303, 422)


def test_errors_of_one_kind_are_told_once(client: Client) -> None:
    empty = [{"role": role, "content": text} for role, text in (("user", "hi"), ("user", ""), ("user", ""), ("assistant", "a"))]
    send(client, ("chain.json", json.dumps(empty).encode()))
    page = client.get(f"/c/{Chain.objects.get().pk}/repair/?v=1&goal=anthropic").content.decode()
    told = page.partition("What is refused")[2].partition("</ol>")[0]
    assert re.findall(r"<b>([^<]+)</b>", told) == ["Text empty"] and "2 times" in told and told.count("<a ") == 1
    choice = page.partition('id="goal-choice"')[2].partition("</form>")[0]
    assert "csrf" not in choice, "the token is no part of the address"


def test_another_api_is_shown_for_the_draft_of_the_page(client: Client) -> None:
    said = [("user", "hi"), ("user", ""), ("assistant", "a")]
    send(client, ("chain.json", json.dumps([{"role": role, "content": text} for role, text in said]).encode()))
    address = f"/c/{Chain.objects.get().pk}/repair/"
    seen = fields_of(client.get(f"{address}?v=1").content.decode())["seen"]
    client.post(f"{address}?v=1", {"act": "goal", "goal": "anthropic", "seen": seen})
    page = client.get(address, follow=True).content.decode()
    fields = fields_of("<main>" + page.partition('id="goal-choice"')[2].partition("</form>")[0])
    shown = client.get(address, {**fields, "goal": "vllm"})
    assert fields["draft"] == [str(Draft.objects.get().pk)]
    assert '<option value="vllm" selected>' in shown.content.decode()


def test_a_goal_without_anything_to_fix_leaves_the_page_as_it_was(client: Client) -> None:
    send(client, ("chain.json", json.dumps([{"role": "user", "content": "hi"}, {"role": "assistant", "content": ""}]).encode()))
    address = f"/c/{Chain.objects.get().pk}/repair/?v=1"
    seen = fields_of(client.get(address).content.decode())["seen"]
    page = client.post(address, {"act": "goal", "goal": "vllm", "seen": seen})
    assert page.status_code == 422 and "These choices change nothing" in page.content.decode()
    assert "Only the structure is checked" not in page.content.decode()


def test_what_the_page_worked_out_is_kept(client: Client, chain: Chain, monkeypatch: pytest.MonkeyPatch) -> None:
    address = f"/c/{chain.pk}/do/repair/?v=1"
    page = fields_of(client.get(address).content.decode())["fix"]
    monkeypatch.setattr("chainviz.drafts.operations.repair.repair_choices.propose", lambda *_: pytest.fail("worked out again"))
    assert fields_of(client.get(address).content.decode())["fix"] == page


def test_the_change_shows_the_call_beside_its_result_and_a_move_once(client: Client) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "book", "arguments": '{"door": 2}'}}
    other = {"id": "c2", "type": "function", "function": {"name": "check", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "Check it"},
        {"role": "assistant", "content": None, "tool_calls": [other]},
        {"role": "user", "content": "Book it"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "assistant", "content": "Wait."},
        {"role": "tool", "tool_call_id": "c1", "content": "booked at 17:30"},
    ]
    send(client, ("late.json", json.dumps(messages).encode()))
    address = f"/c/{Chain.objects.get().pk}/repair/?v=1"
    page = client.get(send_form(client, address).url).content.decode()
    assert "2 nodes changed" in page, "the pair that lost the result is not a change of its own"
    assert "The result moved here from 2.2, unchanged." in page and "2.2 · its result is in 2.1 now, unchanged" in page
    assert "booked at 17:30" not in page
    assert page.count("Call of book") == 2 and page.count("Call of check") == 2, "on both sides"
    assert "Result of check" in page and unescape(page).count('{"door": 2}') == 2


def test_the_heading_counts_nodes_and_the_changes_that_its_badges_add_up_to(client: Client) -> None:
    """A system message that becomes a human one is two changes of one node."""
    load_samples()
    chain = Chain.objects.get(title="Depot plan, broken in five ways")
    page = client.get(send_form(client, f"/c/{chain.pk}/repair/?v=1").url).content.decode()
    bar = page.split('<h2 id="changes">')[1].split('class="push-end"')[0]
    assert bar.startswith("5 nodes changed · 6 changes</h2>")
    assert sum(int(count) for count in re.findall(r"</svg>(\d+) \w+</span>", bar)) == 6


def test_the_page_names_what_the_next_calls_provider_refuses_in_its_words(client: Client) -> None:
    call = {"type": "tool_use", "id": "toolu_1", "name": "ls", "input": {}}
    lines = [{"role": "user", "content": "a"}, {"role": "assistant", "content": [call]}, {"role": "user", "content": "b"}]
    document = {"model": "claude-sonnet-4-5", "max_tokens": 9, "system": "s", "messages": lines}
    chain = make_chain_of(json.dumps(document).encode())

    def text(query: str = "") -> str:
        page = client.get(f"/c/{chain.pk}/repair/?v=1{query}").content.decode()
        return " ".join(unescape(re.sub(r"<[^>]+>", " ", page)).split())

    page = text()
    assert "Anthropic would refuse the next call: 1 error" in page
    assert "messages.1 " in page and "tool_use ids were found without tool_result" in page
    other = text("&goal=openai-chat")
    assert "OpenAI would refuse the next call" in other and "messages.1 " not in other
    assert "Ollama accepts the next call" in text("&goal=ollama")
