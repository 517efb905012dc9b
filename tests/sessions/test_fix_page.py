"""Fix for resuming, in the browser: the file on disk for a chain that the server was given, a download for an upload."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from chainviz.accounts.models import Team, local_member
from chainviz.accounts.permissions import Role
from chainviz.chains.models import Chain, LocalFile
from chainviz.chains.uploads.local_files import take_file
from chainviz.cli import main
from chainviz.core.databases.writing import backups_of
from chainviz.fixes.by_error import addresses_with
from chainviz.jobs.worker import run_waiting_jobs
from chainviz.sessions_index import services
from tests.accounts.conftest import team_mode as team_mode
from tests.accounts.people import client_of, make_member
from tests.chains.files import HELLO
from tests.chains.making import make_chain_of
from tests.cli.fix.sessions import errors, json_lines
from tests.cli.fix.shapes import CLAUDE
from tests.core.databases.opencode_database import add_part, create
from tests.core.databases.test_agents import build_zed, built
from tests.drafts.pages import fields_of
from tests.sessions.test_fix_database import edit, interrupt, rows
from tests.sessions_index.claude_store import GOOD, REFUSED, write_session

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


@pytest.fixture
def stored(tmp_path: Path) -> tuple[Chain, Path]:
    """A session of opencode with a call whose process died, and its database, whose newest rows are in the log."""
    path = tmp_path / "opencode.db"
    create(path, 2)
    edit(path, lambda connection: interrupt(connection, "prt_0001_004"))
    return take_file(local_member(), Path(f"{path}#ses_0001")).chains[0], path


def test_a_session_in_a_database_is_fixed_and_restored_there(stored: tuple[Chain, Path]) -> None:
    chain, path = stored
    before, page = rows(path), page_of(chain)
    assert f"{path}#ses_0001" in page and "Quit opencode first." in page and "the call was not handled" in page
    assert rows(path) == before and not backups_of(path), "looking writes nothing"
    assert written(chain).status_code == 303
    assert {id for id, data in rows(path).items() if data != before[id]} == {"prt_0001_004"}
    page = page_of(chain)
    assert backups_of(path)[0].name in page and "can be resumed as it is" in page
    assert Client().post(address(chain), {"act": "restore"}).status_code == 303
    assert rows(path) == before


def test_a_database_that_changed_or_is_in_use_is_left_alone(stored: tuple[Chain, Path]) -> None:
    chain, path = stored
    fields = {**fields_of(page_of(chain)), "act": "write"}
    with closing(sqlite3.connect(path)) as agent:
        agent.execute("BEGIN IMMEDIATE")
        response = Client().post(address(chain), fields)
        agent.rollback()
    assert response.status_code == 422 and "is in use by" in unescape(response.content.decode())
    part = {"type": "text", "text": "One more."}
    edit(path, lambda connection: add_part(connection, "ses_0001", "msg_0001_003", 9, part))
    response = Client().post(address(chain), fields)
    assert not backups_of(path)
    assert response.status_code == 422 and "changed after you opened this page" in unescape(response.content.decode())
    path.write_bytes(b"SQLite format 3\x00 and nothing else")
    assert "cannot be opened" in page_of(chain)


def test_a_database_that_is_only_read_says_so(tmp_path: Path) -> None:
    path = built(tmp_path / "zed.db", build_zed)
    chain = take_file(local_member(), Path(f"{path}#s")).chains[0]
    page = page_of(chain)
    assert "only reads sessions of Zed" in page and 'value="write"' not in page


ERROR = "messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_9."


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A session of Claude Code that its API refuses, beside another one; nobody opened them."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("CLAUDE_CONFIG_DIR", "XDG_DATA_HOME", "OPENCODE_DB"):
        monkeypatch.delenv(name, raising=False)
    write_session(tmp_path, "refused", REFUSED)
    write_session(tmp_path, "good", GOOD, at=60)
    services.choose_sources(local_member(), ["claude-code"])
    run_waiting_jobs()
    return tmp_path


def test_a_pasted_error_leads_to_the_fix_of_the_session_that_has_its_id(home: Path) -> None:
    assert "Find the session of this error" in Client().get("/error/", {"text": ERROR}).content.decode()
    response = Client().post("/error/", {"text": ERROR})
    chain = Chain.objects.get()
    assert response["Location"].startswith(f"/c/{chain.pk}/fix/?error=messages.2")
    page = unescape(Client().get(response["Location"]).content.decode())
    assert "<mark>toolu_9</mark>" in page and "Open the session here" in page and "the call was not handled" in page
    assert "All that the API requires" in page and "1 · ai" in page
    session = home / ".claude/projects/-yard-shop/refused.jsonl"
    before = session.read_bytes()
    assert Client().post(response["Location"], {**fields_of(page), "act": "write"}).status_code == 303
    assert session.read_bytes() != before and not errors(session, "claude_code", "anthropic")
    assert len(list(session.parent.glob("*.backup-*"))) == 1
    assert Client().get("/error/", {"text": ERROR})["Location"] == response["Location"], "the chain is known now"


UNSIGNED = [
    {"role": "user", "content": "Count the docks."},
    {"role": "assistant", "content": [{"type": "thinking", "thinking": "Four.", "signature": ""}, {"type": "text", "text": "Four."}]},
    {"role": "user", "content": "Sure?"},
]
ENCRYPTED = [
    {"type": "message", "role": "user", "content": "Count the docks."},
    {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAA1"},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Four."}]},
    {"type": "message", "role": "user", "content": "Sure?"},
]


def upload_about(error: str, content: bytes, name: str = "request.json") -> str:
    """Upload a file on the page of an error. Return the page that follows."""
    file = SimpleUploadedFile(name, content)
    response = Client().post("/error/", {"about": error, "file": file}, follow=True)
    assert response.redirect_chain[-1][0].startswith(f"/c/{Chain.objects.earliest('pk').pk}/fix/?error=")
    return unescape(response.content.decode())


def test_a_file_is_opened_at_the_place_of_an_error_that_names_no_id() -> None:
    error = "messages.1.content.0: Invalid `signature` in `thinking` block"
    page = upload_about(error, json.dumps({"model": "claude-opus-4-8", "messages": UNSIGNED}).encode())
    assert error in page and "thinking without a signature" in page and "changes for Anthropic" in page


def test_the_chains_of_a_file_are_imported_to_find_the_place_of_an_error() -> None:
    error = "messages.1.content.0: Invalid `signature` in `thinking` block"
    both = [{"model": "claude-opus-4-8", "messages": UNSIGNED}, {"model": "claude-opus-4-8", "messages": UNSIGNED[::2]}]
    page = upload_about(error, b"".join(json.dumps(each).encode() + b"\n" for each in both), "requests.jsonl")
    assert Chain.objects.count() == 2 and "thinking without a signature" in page


def test_a_fix_that_no_rule_requires_is_chosen_for_the_error_that_it_solves() -> None:
    error = "The encrypted content gAAA...89== could not be verified. Reason: Encrypted content could not be decrypted or parsed."
    page = upload_about(error, json.dumps({"model": "gpt-5.6", "input": ENCRYPTED}).encode())
    assert 'value="drop-signed" checked' in page and "Download the fixed file" in page
    link = re.search(r'href="(/c/\d+/fix/file[^"]*)"', page)
    assert link and b"gAAAA1" not in Client().get(link[1]).content
    query = link[1].partition("?")[2]
    as_asked = page_of(Chain.objects.get(), f"?fix=&{query.replace('fix=drop-signed', '')}")
    assert 'value="" checked' in as_asked and "finds nothing to change for this error" in as_asked


def test_the_goal_is_the_provider_whose_error_was_pasted() -> None:
    messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}, {"role": "system", "content": "Be blue."}]
    content = json.dumps({"model": "Qwen3.8-27B", "messages": [*messages, {"role": "user", "content": "Colour?"}]}).encode()
    page = upload_about("Chat template error: System message must be at the beginning.", content)
    assert "changes for Ollama" in page and "Download the fixed file" in page


def test_one_kind_of_repair_is_chosen_downloaded_and_saved_as_a_version(home: Path) -> None:
    address = Client().post("/error/", {"text": ERROR})["Location"]
    page = unescape(Client().get(address).content.decode())
    kinds = re.findall(r'name="fix" value="([\w-]*)"', page)
    assert kinds[0] == "" and "call-to-text" in kinds
    chosen = unescape(Client().get(f"{address}&fix=call-to-text").content.decode())
    assert 'value="call-to-text" checked' in chosen and "[Call of Read (toolu_9) with" in chosen
    fixed = Client().get(f"/c/{Chain.objects.get().pk}/fix/file?fix=call-to-text")
    assert fixed.status_code == 200 and b"toolu_9" in fixed.content and b'"type": "tool_use"' not in fixed.content
    session = home / ".claude/projects/-yard-shop/refused.jsonl"
    before = session.read_bytes()
    response = Client().post(f"{address}&fix=call-to-text", {"act": "version"})
    assert response["Location"] == f"/c/{Chain.objects.get().pk}/v/2/"
    assert Chain.objects.get().version == 2 and session.read_bytes() == before
    again = Client().post(f"{address}&fix=call-to-text", {"act": "version"})
    assert again.status_code == 422 and Chain.objects.get().version == 2, "nothing is left to fix"


def test_an_error_of_no_session_says_what_was_tried(home: Path) -> None:
    response = Client().post("/error/", {"text": ERROR.replace("toolu_9", "toolu_77")}, follow=True)
    page = unescape(response.content.decode())
    assert "No session with this error was found" in page and "toolu_77" in page and "Search again" in page
    assert not Chain.objects.exists()


def test_an_unknown_error_names_the_sessions_it_may_be_about(home: Path) -> None:
    page = Client().post("/error/", {"text": "Error 418: the teapot overflowed"}, follow=True).content.decode()
    assert "No session with this error was found" in page and "does not know this error" in page
    assert "Was it one of these sessions?" in page and "/sessions/" in page


def test_a_text_that_is_no_error_is_a_transcript(home: Path) -> None:
    response = Client().post("/error/", {"text": json.dumps(HELLO)})
    assert response["Location"] == f"/c/{Chain.objects.get().pk}/"


def test_the_command_line_finds_the_session_of_an_error(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    error = home / "error.txt"
    error.write_text(ERROR)
    session = home / ".claude/projects/-yard-shop/refused.jsonl"
    assert main(["check", "--error", str(error)]) == 0
    said = capsys.readouterr().out
    assert f"{session}: s1.p1" in said and f"chainviz fix {session}" in said and "good.jsonl" not in said
    error.write_text(ERROR.replace("toolu_9", "toolu_77"))
    assert main(["check", "--error", str(error)]) == 2
    assert "No session of this machine has the id toolu_77." in capsys.readouterr().err
    assert main(["check"]) == 2


def test_an_id_in_a_database_is_found_in_its_session(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    database = home / ".local/share/opencode/opencode.db"
    create(database, 3)
    edit(database, lambda connection: interrupt(connection, "prt_0001_004"))
    addresses = [f"{database}#ses_{number:04d}" for number in range(3)]
    assert list(addresses_with(["call_1"], addresses)) == [addresses[1]]
    assert list(addresses_with(["call_7"], addresses)) == [] == list(addresses_with([], addresses))
