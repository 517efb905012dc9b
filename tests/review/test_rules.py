"""Rules of a team: their form, the badge, `chainviz check --review`, and the export lock."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from chainviz.accounts.models import AuditRow
from chainviz.chains.models import Chain
from chainviz.cli import main
from chainviz.drafts.models import Draft
from chainviz.drafts.summaries.runs import endpoint_for
from chainviz.review.csv_and_jsonl import locked_reason
from chainviz.review.models import TeamRules
from chainviz.review.requests.services import ask, give_verdict
from chainviz.review.sign_off import sign_off_version
from chainviz.store.models import History
from tests import ROOT
from tests.accounts.access_rows import addresses
from tests.chains.files import lines
from tests.chains.making import make_chain_of
from tests.drafts.pages import send_form
from tests.review.conftest import Room

pytestmark = [pytest.mark.django_db]
SCOPES = [f"scope={scope}" for scope in ("chain", "file", "html", "markdown", "original")]
HOLE = re.compile(r"<(?:\w+:)?(\w+)>")
HARMLESS = {
    "chainviz/accounts/audit_listing.py": "who did what, without content",
    "chainviz/accounts/audit.py": "reads the header",
    "chainviz/chains/audit.py": "decisions and sizes",
    "chainviz/chains/uploads/upload_view.py": "a file that is no chain yet, for the person who sent it",
    "chainviz/drafts/operations/redact/redact_choices.py": "settings",
    "chainviz/drafts/operations/compact/compact_choices.py": "settings",
    "chainviz/drafts/simulation/simulation_page.py": "sizes",
    "chainviz/review/certificate_pages.py": "the facts of a certificate, without content",
    "chainviz/review/sign_off.py": "the facts of a sign-off, without content",
    "chainviz/bulk/views.py": "bulk/zip_file.py, which writes the files, asks",
    "chainviz/recipes/views.py": "recipes and word lists, without content",
}
"""Files that send attachments without content of a chain."""


def lock(room: Room, **rules: Any) -> None:
    TeamRules.objects.update_or_create(team=room.team, defaults={"locks_export": True, **rules})


def test_owners_change_the_rules_and_everybody_sees_them(room: Room) -> None:
    owner = room.client(room.lin)
    assert send_form(owner, "/team/rules/", approvals="2", locks_export="on").status_code == 303
    assert TeamRules.objects.get().approvals == 2
    assert send_form(owner, "/team/rules/", approvals="99").status_code == 422
    assert room.client(room.ivo).post("/team/rules/", {"approvals": 0, "edition": 1}).status_code == 403
    assert 'value="2"' in room.client(room.sam).get("/team/rules/").content.decode()
    row = AuditRow.objects.filter(act="review:rules", outcome="done").get()
    assert (row.facts["approvals"], row.facts["locks_export"]) == (2, True)


def test_rules_saved_meanwhile_are_not_overwritten(room: Room) -> None:
    owner = room.client(room.lin)
    send_form(owner, "/team/rules/", approvals="2")
    late = owner.post("/team/rules/", {"approvals": "5", "edition": "0"})
    assert late.status_code == 409
    assert "The rules were changed meanwhile" in late.content.decode()
    assert 'value="5"' in late.content.decode(), "what was typed stays"
    assert TeamRules.objects.get().approvals == 2


@pytest.mark.parametrize(("is_asked", "most"), [(False, 11), (True, 13)])
def test_the_badge_of_a_chain_costs_few_statements(room: Room, django_assert_num_queries: Any, is_asked: bool, most: int) -> None:
    """Five of them ask for the chain itself, and three who looks."""
    client, address = room.client(room.mei), f"/c/{room.chain.pk}/"
    if is_asked:
        ask(room.chain, [room.mei.user_id], "", by=room.ivo.user)
    client.get(address)
    with django_assert_num_queries(most):
        assert client.get(address).status_code == 200


def test_the_badge_is_in_the_header_and_in_the_library(room: Room) -> None:
    client, pages = room.client(room.sam), ("/", f"/c/{room.chain.pk}/")

    def badges() -> set[bool]:
        return {"0 of 1 approval" in client.get(page).content.decode() for page in pages}

    assert badges() == {False}, "nobody asked for a review"
    lock(room)
    assert badges() == {True}
    give_verdict(room.chain, 1, "approve", "", by=room.mei.user)
    assert {"rules met" in client.get(page).content.decode() for page in pages} == {True}
    sign_off_version(room.chain, 1, by=room.lin)
    assert {"signed off" in client.get(page).content.decode() for page in pages} == {True}


def test_the_command_says_whether_the_rules_are_met(room: Room, monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.setattr("chainviz.commands.server.startup.prepare", lambda: True)
    monkeypatch.delenv("CHAINVIZ_TOKEN", raising=False)
    assert main(["check", "--review", str(room.chain.pk)]) == 1
    assert "no  0 of 1 approval" in capsys.readouterr().out
    give_verdict(room.chain, 1, "approve", "", by=room.mei.user)
    assert main(["check", "--json", "--review", f"https://chainviz.example.org/c/{room.chain.pk}/v/1/"]) == 0
    assert json.loads(capsys.readouterr().out)["met"] is True
    assert main(["check", "--review", "999"]) == 2
    assert main(["check", "--review", "run.json"]) == 2


def test_the_lock_opens_for_the_signed_version_only(room: Room) -> None:
    assert locked_reason(room.chain, 1) == ""
    lock(room, approvals=0)
    assert "Version 1 is not signed off" in locked_reason(room.chain, 1)
    sign_off_version(room.chain, 1, by=room.lin)
    assert locked_reason(room.chain, 1) == ""
    assert locked_reason(room.chain, 2) and locked_reason(room.chain, None)
    for history in History.objects.filter(pk=room.chain.history):
        history.edition += 1
        history.save()
    assert locked_reason(room.chain, 1), "a purge changed what was signed off"


def downloads(room: Room) -> set[str]:
    """Addresses below the chain, with the queries of downloads, that answer with a file."""
    client = room.client(room.ivo)
    client.raise_request_exception = False
    draft = Draft.objects.filter(author=room.ivo.user).latest("pk").pk
    holes = {"chain_id": room.chain.pk, "draft_id": draft, "number": 1, "where": "s1.p1", "path": "s1.p1", "name": "repair"}
    return {
        f"{name}?{query}"
        for name, route, _ in addresses()
        if set(HOLE.findall(route)) <= holes.keys() and "chain_id" in route and name != "drafts:simulation"
        for query in (SCOPES if name.endswith("export") else ["as=file"])
        if _sends_file(client.get(f"{HOLE.sub(lambda found: str(holes[found[1]]), route)}?{query}"))
    }


def _sends_file(answer: Any) -> bool:
    return str(answer.headers.get("Content-Disposition", "")).startswith("attachment")


def test_the_lock_covers_every_download(room: Room) -> None:
    send_form(room.client(room.ivo), f"/c/{room.chain.pk}/edit/s1.p2?v=1", s1__p2__m0__c0__text="Another drill.")
    open_ones = downloads(room)
    assert {each.partition("?")[0] for each in open_ones} == {
        *(f"{space}{name}" for space in ("chains:", "drafts:explore_") for name in ("raw", "observation_text", "export")),
        "drafts:state_document",
        "fixed_session",
        "api:export",
    }

    lock(room, approvals=0, no_open_threads=False)
    assert downloads(room) == set()

    sign_off_version(Chain.objects.get(pk=room.chain.pk), 1, by=room.lin)
    no_versions = ("drafts:explore_", "fixed_session")
    still_locked = {each for each in open_ones if each.startswith(no_versions) and not each.endswith("original")}
    assert downloads(room) == open_ones - still_locked


def test_every_view_that_sends_a_file_asks_the_lock() -> None:
    assert [path for path in sending_files() if path not in HARMLESS] == [
        "chainviz/chains/explorer/views.py",
        "chainviz/chains/exports/downloads.py",
        "chainviz/chains/observations/results_page.py",
        "chainviz/drafts/state/state_page.py",
        "chainviz/fixes/fix_page.py",
        "chainviz/review/csv_and_jsonl.py",
    ], "ask chains/exports/lock.py, then add the file here; or say in HARMLESS what it sends"
    for path in sending_files():
        if path not in HARMLESS:
            assert re.search(r"require_\w*unlocked\(|export_chains\(", (ROOT / path).read_text()), path


def sending_files() -> Iterator[str]:
    for path in sorted((ROOT / "chainviz").rglob("*.py")):
        if re.search("Content-Disposition|as_attachment", path.read_text()):
            yield str(path.relative_to(ROOT))


def test_the_page_of_a_locked_export_leads_to_the_review(room: Room) -> None:
    lock(room)
    page = f"/c/{room.chain.pk}/v/1/export"
    client = room.client(room.sam)
    answer = client.get(f"{page}?scope=chain")
    assert answer.status_code == 403
    assert f'href="{room.page}"' in answer.content.decode()
    assert "Export is locked" in client.get(page).content.decode()
    assert AuditRow.objects.filter(act="chains:export", outcome="refused").exists()


def test_a_file_of_several_chains_stays_locked(room: Room) -> None:
    """The file contains chains that nobody signed off."""
    lock(room, approvals=0)
    part = make_chain_of(lines(2), "many.jsonl")
    answers = {}
    for chain in (room.chain, part):
        sign_off_version(chain, 1, by=room.lin)
        page = f"/c/{chain.pk}/v/1/export?scope="
        found = [room.client(room.sam).get(page + scope).status_code for scope in ("chain", "file", "original")]
        answers[chain] = found
    assert answers == {room.chain: [200, 200, 200], part: [200, 403, 403]}


def test_a_language_model_is_asked_only_where_the_rules_allow_it(room: Room, settings: Any) -> None:
    model = {"llm_base_url": "http://127.0.0.1:9/v1", "llm_model": "small"}
    settings.CHAINVIZ = settings.CHAINVIZ.model_copy(update=model)
    page = f"/c/{room.chain.pk}/do/summarize/"
    assert "rules do not allow it" in room.client(room.ivo).get(page).content.decode()
    assert "do not allow it" in endpoint_for(room.chain).problem, "a job that was begun before asks again"
    send_form(room.client(room.lin), "/team/rules/", approvals="1", external_writers="on")
    assert "What is folded is sent to 127.0.0.1:9." in room.client(room.ivo).get(page).content.decode()
    assert not endpoint_for(room.chain).problem
