"""The redact page without scripts: what a form means, what its table says, and the draft and audit it leads to."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from chainviz.chains.audit import AuditEntry
from chainviz.chains.models import Chain
from chainviz.drafts.models import Draft
from tests.chains.making import ai, human, make_chain, result
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
def chain(client: Client, settings: Any, tmp_path: Any) -> Chain:
    settings.CHAINVIZ = settings.CHAINVIZ.model_copy(update={"data": tmp_path})
    client.get("/")
    return make_chain(MESSAGES)


@pytest.fixture
def address(chain: Chain) -> str:
    return f"/c/{chain.pk}/do/redact/"


def look(client: Client, address: str, **changed: Any) -> str:
    """The page that answers the filled-in form."""
    return str(send_form(client, address, act="look", **changed).content.decode())


def decisions(page: str) -> list[str]:
    table = page[page.index("<tbody>") : page.index("</tbody>")]
    return ["redact" if 'data-state="redacted"' in row else "keep" for row in table.split("<tr")[1:]]


def test_the_menu_leads_to_the_page(client: Client, chain: Chain, address: str) -> None:
    assert address in client.get(f"/c/{chain.pk}/v/1/").content.decode()
    assert "Redact</h1>" in client.get(address).content.decode()


def test_every_result_has_a_row_and_an_answer_decides(client: Client, address: str) -> None:
    page = client.get(address).content.decode()
    assert decisions(page) == ["redact", "redact", "keep"]
    assert "a plain answer follows" in page
    assert "/v/1/at/s1.p1.m1" in page


def test_rows_of_another_policy_are_marked(client: Client, address: str) -> None:
    assert "would redact" in client.get(address).content.decode()
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
    assert [(row["decision"], row["override"]) for row in entry.record["rows"]] == [
        ("keep", True),
        ("redact", False),
        ("keep", False),
    ]
    assert "whole file" not in json.dumps(entry.record)
    listed = client.get(f"/c/{chain.pk}/audit/").content.decode()
    assert "1 of 3 redacted" in listed
    record = client.get(f"/c/{chain.pk}/audit/{entry.pk}/").json()
    assert record["record"]["policy"] == "seed"


def test_decisions_by_hand_outlive_the_filter_that_hides_them(client: Client, address: str) -> None:
    fields = fields_of(client.get(address).content.decode())
    fields |= {"row-s1.p1.m1.c0": ["keep"], "show": ["redact"], "act": ["look"]}
    hidden = fields_of(client.post(address, fields).content.decode())
    assert "row-s1.p1.m1.c0" not in hidden
    assert hidden["by_hand_keep"] == ["s1.p1.m1.c0"]
    back = client.post(address, hidden | {"show": ["all"], "act": ["look"]}).content.decode()
    assert decisions(back) == ["keep", "redact", "keep"]


def test_faults_are_said_and_nothing_is_lost(client: Client, address: str) -> None:
    answer = send_form(client, address, placeholder="{secret}", act="look")
    page = answer.content.decode()
    assert answer.status_code == 422
    assert "a placeholder has no" in page
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
    page = send_form(client, address, context_management=text, act="read").content.decode()
    assert decisions(page) == ["redact", "keep", "keep"]
    assert "&quot;exclude_tools&quot;" in page
    fields = fields_of(page)
    assert (fields["policy"], fields["keep"], fields["tool"]) == (["clear_tool_uses"], ["1"], ["1"])


def test_the_switch_keeps_everything(client: Client, settings: Any, address: str) -> None:
    settings.STREAM_REDACTION_ENABLED = "false"
    page = client.get(address).content.decode()
    assert decisions(page) == ["keep"] * 3
    assert "switched off" in page


def test_a_fragment_holds_the_table_alone(client: Client, address: str) -> None:
    fields = fields_of(client.get(address).content.decode())
    answer = client.post(address, fields, headers={"HX-Request": "true"}).content.decode()
    assert answer.strip().startswith('<div class="decisions-pane"')
    assert "<form" not in answer


def test_results_are_chosen_by_age(client: Client, address: str) -> None:
    page = client.get(address).content.decode()
    assert "Size, age and place" in page
    assert "Older than" in page
    assert decisions(look(client, address, policy="reference", protect_last="5")) == ["redact", "redact", "keep"]
    assert decisions(look(client, address, policy="reference", protect_last="6")) == ["redact", "keep", "keep"]
