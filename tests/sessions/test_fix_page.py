"""Fix for resuming, in the browser: the file on disk for a chain that the server was given, a download for an upload."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from chainviz.accounts.models import Team, local_member
from chainviz.accounts.permissions import Role
from chainviz.chains.models import Chain, LocalFile
from chainviz.chains.uploads.local_files import take_file
from tests.accounts.conftest import team_mode as team_mode
from tests.accounts.people import client_of, make_member
from tests.chains.making import make_chain_of
from tests.cli.fix.sessions import errors, json_lines
from tests.cli.fix.shapes import CLAUDE
from tests.drafts.pages import fields_of

pytestmark = pytest.mark.django_db
BROKEN = json_lines(CLAUDE["parallel calls half answered"])


@pytest.fixture
def session(tmp_path: Path) -> Path:
    path = tmp_path / "session.jsonl"
    path.write_bytes(BROKEN)
    return path


@pytest.fixture
def chain(session: Path) -> Chain:
    return take_file(local_member(), session).chains[0]


def address(chain: Chain) -> str:
    return f"/c/{chain.pk}/fix/"


def page_of(chain: Chain, query: str = "") -> str:
    response = Client().get(address(chain) + query)
    assert response.status_code == 200
    return str(response.content.decode())


def written(chain: Chain, **fields: str) -> Any:
    return Client().post(address(chain), {**fields_of(page_of(chain)), "act": "write", **fields})


def test_the_difference_is_shown_and_written_back_beside_a_backup(chain: Chain, session: Path) -> None:
    page = page_of(chain)
    assert str(session) in page and "changes for Anthropic" in page
    assert re.search(r'data-change="added">the call was not handled', page)
    assert session.read_bytes() == BROKEN, "looking writes nothing"
    assert written(chain).status_code == 303
    assert errors(session, "claude_code", "anthropic") == []
    (backup,) = session.parent.glob("session.jsonl.backup-*")
    assert backup.read_bytes() == BROKEN
    after = page_of(chain)
    assert "accepted by Anthropic" in after and backup.name in after and "Fix the session" not in after
    for said in ("Restored from", "already what"):
        assert f"{said} {backup.name}" in Client().post(address(chain), {"act": "restore"}, follow=True).content.decode()
        assert session.read_bytes() == BROKEN


def test_a_long_difference_is_shown_from_its_first_line_to_its_last(chain: Chain, session: Path) -> None:
    lines = "\\n".join(f"line {number}" for number in range(2_000))
    content = json_lines(CLAUDE["a result without its call after a compaction"])
    session.write_bytes(content.replace(b"result of t1", lines.encode()))
    page, seen = page_of(chain, "?provider=anthropic"), set()
    assert "1 unchanged message" in page
    more = r'href="([^"]*)">[^>]*>[^>]*></svg>(?:Show the rest of this text|[0-9,]+ more lines)'
    for _ in range(20):
        seen |= set(re.findall(">line ([0-9]+)<", page))
        rest = re.search(more, page)
        if rest is None:
            break
        assert "provider=anthropic" in rest[1] and rest[1].startswith(address(chain))
        page = page_of(chain, unescape(rest[1]).removeprefix(address(chain)))
    assert seen == set(map(str, range(2_000)))


def test_unchanged_nodes_unfold_in_their_place(chain: Chain) -> None:
    fold = re.search(r'class="diff-fold"[^>]* hx-get="([^"]*)"', page_of(chain))
    assert fold is not None
    unfolded = Client().get(unescape(fold[1]), headers={"HX-Request": "true"}).content.decode()
    assert 'class="same-list"' in unfolded and "Human Look</span>" in unfolded and "<a" not in unfolded


def test_the_chain_offers_it(chain: Chain) -> None:
    assert f'href="{address(chain)}"' in Client().get(f"/c/{chain.pk}/").content.decode()


def test_a_session_that_changed_since_it_was_shown_is_left_alone(chain: Chain, session: Path) -> None:
    grown = BROKEN + json_lines(CLAUDE["a call at the end"])[:-1] + b"\n"
    fields = fields_of(page_of(chain))
    session.write_bytes(grown)
    answer = Client().post(address(chain), {**fields, "act": "write"})
    assert answer.status_code == 422
    assert "changed after you opened this page" in answer.content.decode()
    assert session.read_bytes() == grown


def test_a_session_that_is_gone_or_unreadable_is_said(chain: Chain, session: Path) -> None:
    session.write_bytes(b"only words")
    assert "Nothing can be written." in page_of(chain)
    session.unlink()
    assert "cannot be opened" in page_of(chain)
    assert Client().post(address(chain), {"act": "restore"}).status_code == 422


def test_another_provider_can_be_chosen(chain: Chain) -> None:
    assert "changes for OpenAI" in page_of(chain, "?provider=openai-chat")
    assert "changes for Anthropic" in page_of(chain, "?provider=nobody")


def test_an_uploaded_chain_is_fixed_as_a_download(tmp_path: Path) -> None:
    chain = make_chain_of(BROKEN, "session.jsonl")
    assert not LocalFile.objects.exists()
    page = page_of(chain)
    assert "Fix the session" not in page and "Download the fixed file" in page
    answer = Client().get(f"{address(chain)}file")
    assert answer.headers["Content-Disposition"] == 'attachment; filename="session.jsonl"'
    (tmp_path / "fixed.jsonl").write_bytes(answer.content)
    assert errors(tmp_path / "fixed.jsonl", "claude_code", "anthropic") == []
    assert Client().post(address(chain), {"act": "write"}).status_code == 404


def test_in_team_mode_no_file_of_the_server_is_touched(chain: Chain, session: Path, team_mode: Team) -> None:
    owner = client_of(make_member(team_mode, "Ada", Role.OWNER))
    assert str(session) not in owner.get(address(chain)).content.decode()
    assert owner.post(address(chain), {"act": "write"}).status_code == 404
    assert client_of(make_member(team_mode, "Eve", Role.EDITOR)).post(address(chain), {"act": "write"}).status_code == 403
    assert session.read_bytes() == BROKEN


def test_of_several_chains_each_difference_is_shown_and_paged_alone(tmp_path: Path) -> None:
    broken = [{"role": "user", "content": "Look"}, {"role": "tool", "tool_call_id": "t1", "content": "late"}]
    path = tmp_path / "runs.json"
    path.write_text(json.dumps([{"messages": broken}, {"messages": broken[:1]}, {"messages": broken}]))
    chain = take_file(local_member(), path).chains[0]
    page = page_of(chain)
    assert "accepted by OpenAI" in page and page.count("changes for OpenAI") == 2
    assert 'id="chain-1-change-1"' in page and 'id="chain-3-change-1"' in page
    assert f'href="{address(chain)}?chain=3&amp;fold=0#chain-3-same-0"' in page
    alone = page_of(chain, "?chain=3&change=1")
    assert f'href="{address(chain)}?chain=3&amp;from=1#chain-3-change-1"' in alone and 'id="chain-1-change-1"' in alone
