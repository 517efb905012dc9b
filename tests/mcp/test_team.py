"""/mcp of a team server: the client of the package `mcp` with API tokens of different scopes and roles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client as Browser

pytest.importorskip("mcp", reason="the extra mcp is not installed")
import httpx2
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from chainviz.accounts.models import AuditRow, Team
from chainviz.accounts.permissions import Role
from chainviz.accounts.tokens import create_token
from chainviz.chains.models import Chain
from chainviz.drafts.models import Draft
from tests.accounts.conftest import team_mode  # noqa: F401
from tests.accounts.people import make_member
from tests.chains.making import STORY, human, make_chain
from tests.mcp.threads import run_in_thread

pytestmark = pytest.mark.django_db(transaction=True)
ALL = ("read", "write", "export")
Answers = list[tuple[bool, str]]
Ask = Callable[..., Answers]


@pytest.fixture
def ask(team_mode: Team, live_server: Any) -> Ask:  # noqa: F811
    def call(*calls: tuple[str, dict[str, Any]], scopes: tuple[str, ...] = ALL, role: Role = Role.EDITOR, mode: str = "auto") -> Answers:
        token = create_token(make_member(team_mode, f"{role.label}{len(scopes)}{mode}", role), "agent", scopes, 30)[1]

        async def run() -> Answers:
            headers = {"Authorization": f"Bearer {token}"}
            async with (
                httpx2.AsyncClient(headers=headers) as http,
                Client(streamable_http_client(f"{live_server.url}/mcp", http_client=http), mode=mode) as client,
            ):
                found = [await client.call_tool(name, arguments) for name, arguments in calls]
                return [(bool(each.is_error), each.content[0].text) for each in found]  # type: ignore[union-attr]

        return run_in_thread(run)

    return call


@pytest.fixture
def chain(team_mode: Team) -> Chain:  # noqa: F811
    return make_chain([*STORY, human("Twice"), human("asked")])


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_an_agent_reads_a_chain_of_its_team(ask: Ask, chain: Chain, mode: str) -> None:
    (_, listed), (_, shown), (_, checked), (_, usage) = ask(
        ("list_sessions", {"search": "drill"}),
        ("show_chain", {"address": f"{chain.pk}.1", "count": 1}),
        ("check_chain", {"address": str(chain.pk)}),
        ("show_usage", {"address": str(chain.pk)}),
        mode=mode,
    )
    assert f"{chain.pk}.1  openai_chat" in listed
    assert "<transcript-data" in shown and "Cut: Messages 2 to" in shown
    assert "double-human" in checked and "usage: none recorded" in usage
    row = AuditRow.objects.filter(act="mcp").first()
    assert row is not None and str(chain.pk) in row.facts["chains"]


def test_a_change_becomes_a_draft(ask: Ask, chain: Chain) -> None:
    (_, checked), (_, fixed) = ask(
        ("mask_chain", {"address": str(chain.pk), "own_words": "drill"}),
        ("mask_chain", {"address": str(chain.pk), "own_words": "drill", "save": True}),
    )
    assert "Nothing was written." in checked
    assert f"/c/{chain.pk}/d/{Draft.objects.get().pk}/" in fixed
    assert Chain.objects.get().version == 1


@pytest.mark.parametrize(
    ("scopes", "role", "tool", "sentence"),
    [
        (("read",), Role.EDITOR, "show_chain", "This tool needs a token with the scope “export”"),
        (("read", "export"), Role.EDITOR, "mask_chain", "This tool needs a token with the scope “write”"),
        (ALL, Role.VIEWER, "mask_chain", "This tool needs a token with the scope “write” and a role"),
    ],
)
def test_scopes_and_roles_hold(ask: Ask, chain: Chain, scopes: tuple[str, ...], role: Role, tool: str, sentence: str) -> None:
    arguments: dict[str, Any] = {"address": str(chain.pk)}
    more = {"own_words": "drill", "save": True} if tool == "mask_chain" else {}
    ((is_error, text),) = ask((tool, arguments | more), scopes=scopes, role=role)
    assert is_error and text.startswith(sentence)
    assert not Draft.objects.exists()


def test_other_teams_chains_do_not_exist(ask: Ask, chain: Chain) -> None:
    chain.team = Team.objects.create(name="Others")
    chain.save()
    ((is_error, text), (_, listed)) = ask(("show_chain", {"address": str(chain.pk)}), ("list_sessions", {}))
    assert is_error and text.startswith("There is no chain with this number")
    assert listed == "No session matches."


def test_without_a_token_nothing_is_answered(team_mode: Team) -> None:  # noqa: F811
    browser = Browser(enforce_csrf_checks=True)
    refused = browser.post("/mcp", b"{}", content_type="application/json")
    assert refused.status_code == 401 and refused.json()["error"]
    assert browser.get("/mcp", headers={"Authorization": "Bearer no"}).status_code in (401, 405)
