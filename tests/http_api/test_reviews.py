"""Reviews over the API: rules, requests, verdicts and sign-offs, and `chainviz check --review` of a server's address."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from chainviz.accounts.models import AuditRow, Team
from chainviz.accounts.permissions import Role
from chainviz.accounts.tokens import create_token
from chainviz.chains.models import Chain
from chainviz.cli import main
from chainviz.review.models import SignOff, TeamRules, Verdict
from tests.accounts.people import make_member
from tests.chains.making import STORY, make_chain
from tests.http_api.test_calls import ALL, Program, program  # noqa: F401

pytestmark = [pytest.mark.django_db, pytest.mark.database]
REVIEWER = (*ALL, "review")


@pytest.fixture
def chain(team_mode: Team) -> Chain:
    return make_chain(STORY)


def test_a_program_asks_judges_and_signs_off(program: Callable[..., Program], chain: Chain) -> None:  # noqa: F811
    editor, mei = program(scopes=REVIEWER), program(scopes=REVIEWER)
    base = f"/chains/{chain.pk}"
    before = editor.get(f"{base}/review").json()
    assert (before["met"], before["request"], before["sign_off"]) == (False, None, None)
    assert [(check["rule"], check["met"]) for check in before["checks"]] == [("approvals", False), ("threads", True)]

    person = before["may_review"][-1]["id"]
    asked = editor.send(f"{base}/review/request", {"people": [person], "purpose": "Before it goes out"})
    assert asked.status_code == 200 and asked.json()["reviewers"][0]["id"] == person
    assert editor.send(f"{base}/versions/1/sign-off", {}).json()["error"].startswith("The team's rules are not met: 0 of 1 approval")

    given = mei.send(f"{base}/versions/1/verdicts", {"verdict": "approve", "summary": "Fine"})
    assert given.status_code == 201 and given.json()["verdict"] == "approve"
    assert editor.get(f"{base}/review").json()["met"] is True
    signed = editor.send(f"{base}/versions/1/sign-off", {})
    assert (signed.status_code, signed.json()["number"]) == (201, 1)
    assert editor.get("/sign-offs").json()["sign_offs"] == [signed.json()]
    assert editor.get(f"{base}/review").json()["sign_off"]["sha256"] == SignOff.objects.get().sha256
    assert editor.send(f"{base}/review/close", {}).json()["request"] is None
    assert editor.send(f"{base}/review/close", {}).status_code == 409
    acts = list(AuditRow.objects.filter(outcome="done").values_list("act", flat=True))
    assert acts.count("signed off") == 1 and "api:sign_off" not in acts


def test_verdicts_are_listed_and_dismissed(program: Callable[..., Program], chain: Chain) -> None:  # noqa: F811
    editor, mei = program(scopes=REVIEWER), program(scopes=REVIEWER)
    base = f"/chains/{chain.pk}"
    for kind in ("comment", "changes"):
        mei.send(f"{base}/versions/1/verdicts", {"verdict": kind})
    assert [each["rule"] for each in editor.get(f"{base}/review").json()["checks"] if not each["met"]] == ["approvals", "objections"]
    first = editor.get(f"{base}/verdicts", limit=1).json()
    (second,) = editor.get(f"{base}/verdicts", after=first["next"]).json()["verdicts"]
    dismissed = editor.send(f"{base}/verdicts/{second['id']}/dismiss", {"reason": "It was fixed"})
    assert dismissed.json()["dismissal"] == "It was fixed"
    assert editor.send(f"{base}/verdicts/{second['id']}/dismiss", {"reason": "Again"}).status_code == 404
    assert [each["rule"] for each in editor.get(f"{base}/review").json()["checks"] if not each["met"]] == ["approvals"]


def test_a_verdict_sent_again_with_its_key_is_given_once(program: Callable[..., Program], chain: Chain) -> None:  # noqa: F811
    mei = program(scopes=REVIEWER)
    for _ in range(2):
        body = json.dumps({"verdict": "comment"})
        path = f"/api/v1/chains/{chain.pk}/versions/1/verdicts"
        answer = mei.client.post(path, body, content_type="application/json", headers={"Idempotency-Key": "one"})
        assert answer.status_code == 201
    assert Verdict.objects.count() == 1


def test_rules_are_those_of_the_team(program: Callable[..., Program], team_mode: Team) -> None:  # noqa: F811
    TeamRules.objects.create(team=team_mode, approvals=3, locks_export=True)
    found = program(Role.VIEWER, ("read",)).get("/rules").json()
    assert (found["approvals"], found["locks_export"], found["no_open_threads"]) == (3, True, True)


@pytest.mark.parametrize(
    ("role", "scopes", "kind", "status", "code"),
    [
        (Role.EDITOR, ALL, "approve", 403, "missing-scope"),
        (Role.VIEWER, REVIEWER, "approve", 403, "missing-role"),
        (Role.COMMENTER, REVIEWER, "praise", 422, "invalid-field"),
    ],
)
def test_refusals_have_a_code(
    program: Callable[..., Program],  # noqa: F811
    chain: Chain,
    role: Role,
    scopes: tuple[str, ...],
    kind: str,
    status: int,
    code: str,
) -> None:
    answer = program(role, scopes).send(f"/chains/{chain.pk}/versions/1/verdicts", {"verdict": kind})
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert answer.json()["error"].endswith(".")


def test_codes_of_other_refusals(program: Callable[..., Program], chain: Chain) -> None:  # noqa: F811
    editor = program()
    answers = {
        "not-found": editor.get("/chains/99999"),
        "unreadable-file": editor.upload(b"{", "?name=x.json"),
        "unknown-path": editor.get(f"/chains/{chain.pk}/versions/1/tree", **{"from": "nonsense"}),
        "invalid-options": editor.get(f"/chains/{chain.pk}/versions/1/problems", provider="nobody"),
        "unauthenticated": Program("cvz_none").get("/chains"),
        "method-not-allowed": editor.client.put("/api/v1/chains"),
    }
    assert {code: answer.json()["code"] for code, answer in answers.items()} == {code: code for code in answers}


@pytest.mark.django_db(transaction=True)
def test_check_review_asks_the_server_with_a_token(
    team_mode: Team, live_server: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    chain = make_chain(STORY)
    monkeypatch.setenv("CHAINVIZ_TOKEN", create_token(make_member(team_mode, "Ci", Role.VIEWER), "CI", ["read"], 30)[1])
    address = f"{live_server.url}/c/{chain.pk}/v/1/"
    assert main(["check", "--review", address]) == 1
    title, *checks = capsys.readouterr().out.splitlines()
    assert title == "Which drill fits **this** wall?, version 1: rules not met"
    assert checks == ["  no  0 of 1 approval", "  ok  No open threads"]
    TeamRules.objects.create(team=team_mode, approvals=0)
    assert main(["check", "--json", "--review", address]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["chain"], found["version"], found["met"], found["signed_off"]) == (chain.pk, 1, True, False)
    assert main(["check", "--review", f"{live_server.url}/c/99999/"]) == 2
    assert "There is nothing here" in capsys.readouterr().err
