"""The redact page without scripts: what a form means, what its table says, and the draft and audit it leads to."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.test import Client

from chainviz.chains.audit import AuditEntry
from chainviz.chains.models import Chain
from chainviz.core.operations.redact.candidates import find_same_calls
from chainviz.drafts.models import Draft
from chainviz.drafts.operations.redact.redact_choices import RedactChoices
from chainviz.drafts.operations.run import run_operation
from chainviz.jobs import lease
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import JobContext, run_job
from chainviz.store.models import Draft as StoredDraft
from chainviz.store.models import History
from tests.chains.making import ai, human, make_chain, make_chain_of, result
from tests.drafts.pages import fields_of, send_form

pytestmark = pytest.mark.django_db
SECRET_LOOKING = "the whole file " * 40
MESSAGES = [
    human("Look at both files"),
    ai(None, ("c1", "read_file", {"path": "a"}), ("c2", "grep", {"q": "x"})),
    result("c1", SECRET_LOOKING),
    result("c2", "a.py:1: x" * 30),
    ai("Both are fine."),
    human("And the third?"),
    ai(None, ("c3", "read_file", {"path": "c"})),
    result("c3", "the third file " * 30),
    human("Stop"),
]


@pytest.fixture
def chain(client: Client) -> Chain:
    client.get("/")
    return make_chain(MESSAGES)


@pytest.fixture
def address(chain: Chain) -> str:
    return f"/c/{chain.pk}/do/redact/"


def look(client: Client, address: str, **changed: Any) -> str:
    """The page that answers the filled-in form, with every row."""
    return str(send_form(client, address, **{"act": "look", "view": "row"} | changed).content.decode())


def decisions(page: str) -> list[str]:
    table = page[page.index("<tbody>") : page.index("</tbody>")]
    return ["redact" if 'data-state="redacted"' in row else "keep" for row in table.split("<tr")[1:]]


def test_tools_and_rows_count_the_same_bytes(client: Client, address: str) -> None:
    page = client.get(address).content.decode()
    assert page.count(f"{len(MESSAGES[3]['content'])} B") >= 2


def test_the_menu_leads_to_the_page(client: Client, chain: Chain, address: str) -> None:
    assert address in client.get(f"/c/{chain.pk}/v/1/").content.decode()
    assert "Redact</h1>" in client.get(address).content.decode()


def test_a_chain_without_results_says_so_and_offers_no_filter(client: Client, settings: Any) -> None:
    talk = make_chain([human("Hello"), ai("Hi")])
    page = client.get(f"/c/{talk.pk}/do/redact/").content.decode()
    assert "Nothing to redact" in page and "only_tool" not in page and 'class="measures"' not in page
    every = send_form(client, f"/c/{talk.pk}/do/redact/", parts="text", policy="every", act="look").content.decode()
    assert "Nothing to redact" not in every and 'class="measures"' in every


def test_choice_without_effect_says_so(client: Client) -> None:
    open_run = make_chain([human("Look"), ai(None, ("c1", "read", {})), result("c1", "text")])
    page = client.get(f"/c/{open_run.pk}/do/redact/?v=1").content.decode()
    assert "This choice redacts nothing here" in page


def test_every_result_has_a_row_and_an_answer_decides(client: Client, address: str) -> None:
    page = look(client, address)
    assert decisions(page) == ["redact", "redact", "keep"]
    assert "a plain answer follows" in page
    assert "/v/1/at/s1.p1.m1" in page


def test_the_page_opens_with_three_plain_choices_and_what_each_comes_to(client: Client, address: str) -> None:
    page = client.get(address).content.decode()
    counts = re.findall(r'<b>([^<]*)</b>.*?class="choice-count"[^>]*>(\d+ of \d+)', page)
    assert counts == [("Old results", "2 of 3"), ("Every result", "3 of 3"), ("By hand", "0 of 3")]
    assert fields_of(page)["policy"] == ["seed"]
    assert '<details class="side-part advanced">' in page
    assert '<details class="side-part advanced" open>' in look(client, address, policy="superseded")
    assert decisions(look(client, address, policy="every")) == ["redact"] * 3
    assert decisions(look(client, address, policy="by_hand", **{"row-s1.p1.m1.c0": "redact"})) == ["redact", "keep", "keep"]


def test_rows_of_another_policy_are_marked(client: Client, address: str) -> None:
    assert "would redact" in look(client, address)
    page = look(client, address, policy="reference")
    assert decisions(page) == ["redact"] * 3
    assert "would keep" in page


def test_an_unticked_tool_stays(client: Client, address: str) -> None:
    assert decisions(look(client, address, tool=["0"])) == ["keep", "redact", "keep"]
    assert decisions(look(client, address, exclude_globs="read_*")) == ["keep", "redact", "keep"]


def test_a_filter_shows_some_rows_and_changes_no_decision(client: Client, address: str) -> None:
    page = look(client, address, show="keep")
    assert decisions(page) == ["keep"]
    assert "of 3" in page


def test_a_row_decided_by_hand_goes_into_the_draft_and_the_audit(client: Client, chain: Chain, address: str) -> None:
    answer = send_form(client, address, **{"row-s1.p1.m1.c0": "keep", "act": "apply"})
    assert answer.status_code == 303
    page = client.get(answer["Location"]).content.decode()
    assert "[redacted]" in page
    entry = AuditEntry.objects.get()
    assert entry.draft_key == Draft.objects.get().pk
    assert [(row["decision"], row["override"]) for row in entry.record["rows"]] == [("keep", True), ("redact", False), ("keep", False)]
    assert "whole file" not in json.dumps(entry.record)
    listed = client.get(f"/c/{chain.pk}/audit/").content.decode()
    assert ">you, " in listed, "who it was"
    assert "1 of 3 redacted" in listed
    record = client.get(f"/c/{chain.pk}/audit/{entry.pk}/").json()
    assert record["record"]["policy"] == "seed"


def listed(client: Client, chain: Chain) -> str:
    return str(client.get(f"/c/{chain.pk}/audit/").content.decode())


def test_the_audit_says_what_became_of_the_draft(client: Client, chain: Chain, address: str) -> None:
    draft = send_form(client, address, act="apply")["Location"]
    assert "of version 1, in a draft that is open" in listed(client, chain)
    client.post(f"{draft}discard")
    assert "of version 1, in a draft that was discarded" in listed(client, chain)
    client.post(f"{draft}restore")
    assert "of version 1, in a draft that is open" in listed(client, chain)
    client.post(f"{draft}save", {"note": ""})
    assert "of version 1, saved as version 2" in listed(client, chain)


def test_a_redaction_that_was_undone_was_not_saved(client: Client, chain: Chain, address: str) -> None:
    draft = send_form(client, address, act="apply")["Location"]
    again = f"{address}?draft={Draft.objects.get().pk}"
    assert send_form(client, again, policy="reference", act="apply").status_code == 303
    client.post(f"{draft}undo")
    client.post(f"{draft}save", {"note": ""})
    page = listed(client, chain)
    assert page.index("undone before the draft was saved") < page.index("saved as version 2")
    assert "policy reference" in page[: page.index("saved as version 2")]


def test_decisions_of_the_audit_are_a_table_of_pages(client: Client, chain: Chain) -> None:
    messages = [human("Read all")]
    for n in range(120):
        messages += [ai(None, (f"m{n}", "read_file", {"path": n})), result(f"m{n}", f"line {n}\n" * 9), ai("Read."), human("Next")]
    made = make_chain(messages, "long.json")
    send_form(client, f"/c/{made.pk}/do/redact/", **{"row-s2.p1.m1.c0": "keep", "act": "apply"})
    page = listed(client, made)
    first = client.get(re.findall(r'href="(/c/\d+/audit/\d+/decisions)"', page)[0]).content.decode()
    assert first.count("<tr") == 1 + 100
    assert "1 to 100 of 120" in first
    assert "by hand" in first
    assert f'href="/c/{made.pk}/v/1/at/s1.p1.m1"' in first
    assert "line 3" not in first
    last = client.get(f"/c/{made.pk}/audit/{AuditEntry.objects.get().pk}/decisions?from=100").content.decode()
    assert last.count("<tr") == 1 + 20
    assert f'href="/c/{made.pk}/v/1/at/s120.p1.m1"' in last


def test_copies_around_the_messages_go_with_what_was_redacted(client: Client, chain: Chain) -> None:
    document = {"trajectory": [{"observation": SECRET_LOOKING, "query": f"Seen: {SECRET_LOOKING}!"}], "messages": MESSAGES}
    made = make_chain_of(json.dumps(document, indent=1).encode())
    draft = send_form(client, f"/c/{made.pk}/do/redact/", act="apply")
    client.post(f"{draft['Location']}save", {"note": ""})
    for scope in ("chain", "file", "html", "markdown"):
        export = b"".join(client.get(f"/c/{made.pk}/v/2/export?scope={scope}").streaming_content)
        assert b"the whole file" not in export, scope
        assert b"the third file" in export, scope
    left = json.loads(b"".join(client.get(f"/c/{made.pk}/v/2/export?scope=chain").streaming_content))
    assert left["trajectory"] == [{"observation": "[redacted]", "query": "Seen: [redacted]!"}]


def test_what_was_redacted_is_marked_whatever_the_placeholder_says(client: Client, chain: Chain, address: str) -> None:
    draft = send_form(client, address, placeholder="{tool} gave {bytes} bytes of output that have served their purpose", act="apply")
    assert "gave 600 bytes" in client.get(draft["Location"]).content.decode()
    again = look(client, f"{address}?draft={Draft.objects.get().pk}")
    assert decisions(again) == ["keep"] * 3
    assert again.count('class="why">it is already redacted') == 2
    client.post(f"{draft['Location']}save", {"note": ""})
    assert decisions(look(client, address)) == ["keep"] * 3
    # restored, it may be redacted again
    client.post(f"/c/{chain.pk}/diff/1..2/restore", {"part": "2.0"})
    assert decisions(look(client, client.get(address, follow=True).redirect_chain[-1][0])) == ["redact", "keep", "keep"]


def test_decisions_by_hand_outlive_the_filter_that_hides_them(client: Client, address: str) -> None:
    fields = fields_of(client.get(address).content.decode())
    fields |= {"view": ["row"], "row-s1.p1.m1.c0": ["keep"], "show": ["redact"], "act": ["look"]}
    hidden = fields_of(client.post(address, fields).content.decode())
    assert "row-s1.p1.m1.c0" not in hidden
    assert hidden["by_hand_keep"] == ["s1.p1.m1.c0"]
    back = client.post(address, hidden | {"show": ["all"], "act": ["look"]}).content.decode()
    assert decisions(back) == ["keep", "redact", "keep"]


def test_faults_are_said_and_nothing_is_lost(client: Client, address: str) -> None:
    answer = send_form(client, address, placeholder="{secret}", act="look")
    page = answer.content.decode()
    assert answer.status_code == 422
    assert "A placeholder has no" in page
    assert fields_of(page)["placeholder"] == ["{secret}"]
    assert not Draft.objects.exists()


def test_a_form_made_for_other_content_is_not_carried_out(client: Client, address: str) -> None:
    answer = send_form(client, address, seen="00", act="apply")
    assert answer.status_code == 422
    assert not Draft.objects.exists()


def test_settings_of_anthropic_come_in_and_go_out(client: Client, address: str) -> None:
    text = json.dumps(
        {
            "edits": [
                {
                    "type": "clear_tool_uses_20250919",
                    "trigger": {"type": "tool_uses", "value": 1},
                    "keep": {"type": "tool_uses", "value": 1},
                    "exclude_tools": ["grep"],
                }
            ]
        }
    )
    page = send_form(client, address, context_management=text, act="read", view="row").content.decode()
    assert decisions(page) == ["redact", "keep", "keep"]
    assert "&quot;exclude_tools&quot;" in page
    fields = fields_of(page)
    assert (fields["policy"], fields["keep"], fields["tool"]) == (["clear_tool_uses"], ["1"], ["1"])
    file = client.post(address, fields | {"act": ["write"]})
    assert "attachment" in file["Content-Disposition"]
    assert file.json() == json.loads(text) | {"edits": [json.loads(text)["edits"][0] | {"clear_tool_inputs": False}]}


def test_settings_of_anthropic_may_name_tools_that_this_chain_never_called(client: Client, address: str) -> None:
    text = json.dumps({"type": "clear_tool_uses_20250919", "exclude_tools": ["grep", "web_search", "memory"]})
    fields = fields_of(send_form(client, address, context_management=text, act="read", view="row").content.decode())
    file = client.post(address, fields | {"act": ["write"]})
    assert file.json()["edits"][0]["exclude_tools"] == ["grep", "web_search", "memory"]


def test_broken_settings_of_anthropic_say_where(client: Client, address: str) -> None:
    answer = send_form(client, address, context_management='{"type":\n"clear', act="read")
    assert answer.status_code == 422
    assert "at line 2, column 1." in answer.content.decode()


def test_settings_that_anthropic_has_no_words_for_are_not_written(client: Client, address: str) -> None:
    page = send_form(client, address, policy="clear_tool_uses", min_bytes="9", act="write").content.decode()
    assert "its settings have no “At least”" in page


MANY = [f"tool_{n:02}" for n in range(70)]


@pytest.fixture
def of_many_tools(client: Client, chain: Chain) -> str:
    messages = [human("Use all")]
    for n, name in enumerate(MANY):
        messages += [ai(None, (f"m{n}", name, {})), result(f"m{n}", f"{name} " * (10 + n))]
    made = make_chain([*messages, ai("All used.")], "many.json")
    return f"/c/{made.pk}/do/redact/"


def boxes(page: str) -> list[str]:
    return re.findall(r'name="tool" value="\d+"[^>]*><span class="tool-name">(\w+)', page)


def test_every_tool_is_reached_by_paging_and_by_name(client: Client, of_many_tools: str) -> None:
    seen, start = [], ""
    for _ in range(3):
        page = look(client, of_many_tools, tools_from=start)
        seen += boxes(page)
        start = str(len(seen))
    assert sorted(seen) == MANY
    assert "61 to 70 of 70" in page
    assert boxes(look(client, of_many_tools, tool_like="L_07")) == ["tool_07"]


def test_a_box_that_is_out_of_sight_keeps_its_state(client: Client, of_many_tools: str) -> None:
    fields = fields_of(client.get(of_many_tools).content.decode())
    largest = fields["tool"][0]
    fields |= {"tool": fields["tool"][1:], "tools_from": ["30"]}
    page = client.post(of_many_tools, fields).content.decode()
    assert "1 left out" in page
    assert "69</span>" in page
    back = fields_of(client.post(of_many_tools, fields_of(page) | {"tools_from": ["0"]}).content.decode())
    assert largest not in back["tool"]
    assert len(back["tool"]) == 29


def test_rows_are_filtered_by_a_piece_of_any_tools_name(client: Client, of_many_tools: str) -> None:
    assert "1 row<" in look(client, of_many_tools, only_tool="ool_03")
    assert "10 rows<" in look(client, of_many_tools, only_tool="tool_0")


@pytest.mark.parametrize("value", ["false", "off", "No", "0", "disabled"])
def test_the_switch_keeps_everything(client: Client, monkeypatch: pytest.MonkeyPatch, address: str, value: str) -> None:
    monkeypatch.setenv("STREAM_REDACTION_ENABLED", value)
    page = look(client, address)
    assert decisions(page) == ["keep"] * 3
    assert "turns redaction off" in page


def test_a_fragment_holds_the_table_alone(client: Client, address: str) -> None:
    fields = fields_of(client.get(address).content.decode())
    answer = client.post(address, fields, headers={"HX-Request": "true"}).content.decode()
    assert answer.strip().startswith('<div class="decisions-pane"')
    assert "<form" not in answer


def test_results_are_chosen_by_age(client: Client, address: str) -> None:
    page = client.get(address).content.decode()
    assert "Older than" in page
    assert "Older than" in page
    assert decisions(look(client, address, policy="reference", protect_last="5")) == ["redact", "redact", "keep"]
    assert decisions(look(client, address, policy="reference", protect_last="6")) == ["redact", "keep", "keep"]


def test_calls_are_read_once_for_a_content(client: Client, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[Any] = []

    def find(chain: Any) -> Any:
        found.append(chain)
        return find_same_calls(chain)

    monkeypatch.setattr("chainviz.core.operations.redact.candidates.find_same_calls", find)
    for show in ("all", "redact", "keep"):
        page = look(client, address, policy="superseded", superseded_by="same_call", show=show)
        assert "No row matches" in page if show == "redact" else decisions(page) == ["keep"] * 3
    assert len(found) == 1


@pytest.fixture
def redacting(client: Client, address: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The page of a job that is to redact a long chain; nobody has taken it up yet."""
    monkeypatch.setattr(RedactChoices, "first_options", None)  # no job before this one
    monkeypatch.setattr("chainviz.drafts.operations.run.MESSAGES_AT_ONCE", 1)
    answer = send_form(client, f"{address}?v=1", act="apply", placeholder="[gone]", min_bytes="7")
    assert answer.status_code == 303 and not Draft.objects.exists()
    return str(answer.url)


def test_a_long_chain_is_redacted_by_a_job_that_is_found_again(client: Client, chain: Chain, address: str, redacting: str) -> None:
    job = Job.objects.get()
    assert redacting == f"{address}?v=1&step={job.pk}"
    for page in (redacting, f"{address}?v=1", address):
        assert "<h2>Redacting</h2>" in client.get(page).content.decode()
    fragment = client.get(redacting, headers={"HX-Request": "true"}).content.decode()
    assert "Stop</button>" in fragment and "<html" not in fragment
    run_job(job.pk)
    draft = Draft.objects.get()
    ended = client.get(redacting, headers={"HX-Request": "true"})
    assert json.loads(ended["HX-Trigger"])["job:done"]["href"] == client.get(redacting)["Location"]
    assert client.get(redacting).url == f"/c/{chain.pk}/d/{draft.pk}/"
    client.post(f"/c/{chain.pk}/d/{draft.pk}/save", {"note": ""})
    exported = b"".join(client.get(f"/c/{chain.pk}/v/2/export?scope=chain").streaming_content)
    assert b"[gone]" in exported and SECRET_LOOKING.encode() not in exported
    assert AuditEntry.objects.filter(act="redact").count() == 1


def test_a_live_preview_goes_on_while_a_redaction_is_under_way(client: Client, address: str, redacting: str) -> None:
    headers = {"HX-Request": "true", "HX-Target": "decisions"}
    preview = client.post(f"{address}?v=1", {"act": "look", "policy": "seed"}, headers=headers).content.decode()
    assert 'id="decisions"' in preview and "<progress" not in preview


def test_a_redaction_that_is_stopped_leaves_the_choices(client: Client, redacting: str) -> None:
    assert client.post(redacting, {"act": "stop"}).url == redacting
    run_job(Job.objects.get().pk)
    assert not Draft.objects.exists()
    page = client.get(redacting).content.decode()
    assert "was stopped, and nothing was changed" in page
    assert fields_of(page)["placeholder"] == ["[gone]"] and fields_of(page)["min_bytes"] == ["7"]


def test_a_redaction_that_is_refused_says_why_beside_the_choices(client: Client, address: str, redacting: str) -> None:
    client.post(redacting, {"act": "stop"})
    answer = send_form(client, redacting.split("&")[0], act="apply", min_bytes="999999")
    run_job(Job.objects.latest("pk").pk)
    page = client.get(answer.url).content.decode()
    assert "These choices redact nothing" in page
    assert fields_of(page)["min_bytes"] == ["999999"]
    # the form is no longer about that job
    assert f'action="{address}?v=1"' in page


def test_a_worker_that_dies_while_redacting_leaves_no_half_step(client: Client, redacting: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second one makes the step; a third, who takes over what is done, makes none."""
    job = Job.objects.get()
    claimed = lease.claim(job.pk)
    assert claimed is not None
    with monkeypatch.context() as dying, pytest.raises(ZeroDivisionError):
        dying.setattr(lease, "finish", lambda *_, **__: 1 / 0)
        run_operation(JobContext(claimed), **claimed.args)
    assert not Draft.objects.exists() and not AuditEntry.objects.filter(act="redact").exists()
    Job.objects.filter(pk=job.pk).update(state=Job.State.QUEUED)
    for _ in range(2):
        run_job(job.pk)
    assert StoredDraft.objects.get(pk=Draft.objects.get().key).steps.count() == 1
    job.refresh_from_db()
    assert (job.state, job.attempts) == (Job.State.DONE, 2)


def test_what_was_purged_meanwhile_is_not_redacted(client: Client, redacting: str) -> None:
    History.objects.update(edition=1)
    run_job(Job.objects.get().pk)
    assert not Draft.objects.exists()
    assert "The content changed after" in client.get(redacting).content.decode()


def test_a_job_of_another_page_is_not_found(client: Client, address: str, redacting: str) -> None:
    assert client.get(redacting.replace("redact", "convert")).status_code == 404
    assert client.get(f"{address}?v=1&step=99").status_code == 404


def test_many_changes_are_shown_in_groups_and_compared_on_demand(client: Client, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chainviz.drafts.preview.steps.MOST_ONE_BY_ONE", 1)
    draft = send_form(client, address, policy="reference", act="apply")["Location"]
    with monkeypatch.context() as uncompared:
        uncompared.setattr("chainviz.drafts.preview.draft_page.compare", lambda *_: pytest.fail("nothing is to be compared"))
        page = client.get(draft).content.decode()
    size = sum(len(MESSAGES[at]["content"]) for at in (2, 3, 7))
    assert "3 results redacted" in page and f"{size / 1000:.1f}" in page.partition("3 results redacted")[2][:200]
    assert "Change 1 " not in page
    assert client.get(f"{draft}?from=1").content.decode().count("data-change-stop") == 2
