"""Folders of this machine: listed, opened with one click, read again when a file has grown, and nothing beyond them."""

from __future__ import annotations

import json
import os
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.test.utils import CaptureQueriesContext

from chainviz.accounts.models import AuditRow, Team, local_member
from chainviz.accounts.permissions import Role
from chainviz.chains.folders import choose_folders, opening
from chainviz.chains.folders.choose_folders import watch
from chainviz.chains.models import Arrival, Chain, Folder, LocalFile
from chainviz.chains.uploads import arrivals
from chainviz.core.errors import DocumentError
from chainviz.core.sources import folder_files
from chainviz.drafts.models import Draft
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import run_next_job
from chainviz.jobs.worker import run_waiting_jobs
from chainviz.sessions_index import services
from tests.accounts.conftest import team_mode as team_mode
from tests.accounts.people import client_of, make_member
from tests.chains.files import chat, lines
from tests.drafts.pages import send_form
from tests.sessions_index.claude_store import REFUSED, write_session
from tests.store.test_growth import session

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is kept from the scan before, and a file may be read again at once."""
    monkeypatch.setattr(opening, "SECONDS", 0.0)
    monkeypatch.setattr(opening, "REST", 0)
    monkeypatch.setattr(opening, "PAUSE", opening.PAUSE * 0)
    monkeypatch.setattr(opening, "REST", 0)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "projects"
    for name, content in (("tide/one.jsonl", session(4)), ("tide/two.json", chat(say="Where is bay 4?")), ("pay/odd.txt", b"?")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    (folder / ".hidden").mkdir()
    (folder / ".hidden" / "secret.jsonl").write_bytes(session(2))
    (folder / "tide" / "notes.bin").write_bytes(b"no transcript")
    return folder


@pytest.fixture
def number(root: Path) -> int:
    return watch(local_member(), str(root)).number


def page(client: Client, query: str = "") -> str:
    answer = client.get(f"/folders/{query}")
    assert answer.status_code == 200
    return str(answer.content.decode())


def names_in(text: str) -> list[str]:
    return re.findall(r'data-file="([^"]+)"', text)


def row_of(text: str, name: str) -> str:
    found = re.search(rf'<tr[^>]* data-file="{re.escape(name)}".*?</tr>', text, re.DOTALL)
    assert found, name
    return found[0]


def open_file(client: Client, number: int, name: str) -> Any:
    return client.post("/folders/open/", {"folder": number, "file": name})


def refreshed(client: Client, number: int, *names: str, marks: dict[str, str] | None = None, **more: Any) -> Any:
    marks = marks or {}
    posted = {"folder": number, "file": list(names), "mark": [marks.get(name, "") for name in names], **more}
    return client.post("/folders/refresh/", posted, headers={"HX-Request": "true"})


def marks_in(text: str) -> dict[str, str]:
    return dict(re.findall(r'data-file="([^"]+)" data-mark="([^"]+)"', text))


def test_files_are_listed_by_folder_and_nothing_is_imported(client: Client, number: int, root: Path) -> None:
    text = page(client)
    assert sorted(names_in(text)) == ["pay/odd.txt", "tide/one.jsonl", "tide/two.json"]
    row = row_of(text, "tide/one.jsonl")
    assert "hello 0" in row and "Claude Code session" in row and "not opened yet" in row and "running" in row
    assert "not recognized" in row_of(text, "pay/odd.txt")
    assert not Chain.objects.exists() and not Arrival.objects.exists()
    assert names_in(page(client, f"?folder={number}&in=pay")) == ["pay/odd.txt"]
    assert names_in(page(client, f"?folder={number}&q=TWO")) == ["tide/two.json"]
    assert "No file matches" in page(client, f"?folder={number}&q=nothing")


def test_the_library_shows_the_sessions_of_a_folder_whatever_their_project(client: Client, tmp_path: Path) -> None:
    """Their recorded working folder is `/yard/shop`, elsewhere."""
    for name in ("export", "other"):
        (tmp_path / name).mkdir()
        write_session(tmp_path, f"{name}-session", REFUSED).rename(tmp_path / name / "run.jsonl")
    number = watch(local_member(), str(tmp_path / "export")).number
    watch(local_member(), str(tmp_path / "other"))
    services.scan(local_member().team)
    run_waiting_jobs()
    link = re.search(r'href="(/[^"]*)">\s*<svg[^>]*>.*?</svg>\s*Problems and cost', page(client, f"?folder={number}"), re.S)
    assert link
    shown = client.get(unescape(link[1])).content.decode()
    assert "1 chain of 2" in re.sub(r"<[^>]+>|\s+", " ", shown).replace("  ", " "), re.findall(r"chain.{0,40}of \d.{0,30}", shown, re.S)


def test_opening_a_file_imports_it_once(client: Client, number: int) -> None:
    answer = open_file(client, number, "tide/one.jsonl")
    chain = Chain.objects.get()
    assert answer.status_code == 303 and answer.headers["Location"] == f"/c/{chain.pk}/"
    assert open_file(client, number, "tide/one.jsonl").headers["Location"] == f"/c/{chain.pk}/"
    assert Chain.objects.count() == 1
    row = row_of(page(client), "tide/one.jsonl")
    assert f'href="/c/{chain.pk}/"' in row and "v1</a>" in row and "4 messages" in row


def test_a_file_with_several_chains_opens_the_first_and_names_the_others(client: Client, number: int, root: Path) -> None:
    (root / "many.jsonl").write_bytes(lines(3))
    answer = client.get(open_file(client, number, "many.jsonl").headers["Location"], follow=True)
    assert Chain.objects.count() == 3
    assert "3 chains added; the others:" in answer.content.decode()
    assert "and 2 more chains" in row_of(page(client), "many.jsonl")


def test_a_session_that_grows_is_read_while_the_page_asks(client: Client, number: int, root: Path) -> None:
    open_file(client, number, "tide/one.jsonl")
    marks = marks_in(page(client))
    same = refreshed(client, number, *marks, marks=marks)
    assert names_in(same.content.decode()) == [] and same.headers["X-Changed"] == "0"

    (root / "tide" / "one.jsonl").write_bytes(session(9) + b'{"type": "assis')
    (root / "tide" / "three.jsonl").write_bytes(session(2))
    answer = refreshed(client, number, *marks, marks=marks, total=3)
    text = answer.content.decode()
    assert names_in(text) == ["tide/one.jsonl"] and 'hx-swap-oob="true"' in text
    assert "v2</a>" in text and "9 messages" in text and "1 new file" in text
    assert Chain.objects.get().version == 2


def test_a_grown_file_is_told_without_a_script_and_read_when_asked(client: Client, number: int, root: Path) -> None:
    open_file(client, number, "tide/one.jsonl")
    (root / "tide" / "one.jsonl").write_bytes(session(6))
    assert "it grew" in row_of(page(client), "tide/one.jsonl")
    chain = Chain.objects.get()
    text = client.get(f"/c/{chain.pk}/").content.decode()
    assert "Read the file again" in text
    assert Chain.objects.get().version == 1, "looking reads nothing"
    assert client.post(f"/c/{chain.pk}/follow/").headers["Location"] == f"/c/{chain.pk}/"
    assert Chain.objects.get().version == 2


def test_an_open_chain_says_that_its_file_grew(client: Client, number: int, root: Path) -> None:
    open_file(client, number, "tide/one.jsonl")
    chain = Chain.objects.get()
    (root / "tide" / "one.jsonl").write_bytes(session(6))
    answer = client.post(f"/c/{chain.pk}/follow/", {"v": 1}, headers={"HX-Request": "true"})
    assert "version 2 was read from the file" in answer.content.decode()
    assert "running" in client.get(f"/c/{chain.pk}/").content.decode()


def test_a_version_that_somebody_saved_was_not_read_from_the_file(client: Client, number: int, root: Path) -> None:
    open_file(client, number, "tide/one.jsonl")
    chain = Chain.objects.get()
    send_form(client, f"/c/{chain.pk}/edit/s1.p1?v=1", s1__p1__m0__c0__text="Another answer.")
    client.post(f"/c/{chain.pk}/d/{Draft.objects.get().pk}/save", {"note": ""})
    assert Chain.objects.get().version == 2
    old = client.get(f"/c/{chain.pk}/v/1/").content.decode()
    assert "not the newest" in old and "was read from the file" not in old


def test_a_file_that_broke_is_said_once_and_not_read_again(client: Client, number: int, root: Path, monkeypatch: Any) -> None:
    open_file(client, number, "tide/one.jsonl")
    (root / "tide" / "one.jsonl").write_bytes(b"<html></html>")
    text = refreshed(client, number, "tide/one.jsonl").content.decode()
    assert "one.jsonl: Line 1, column 1" in text
    monkeypatch.setattr(opening, "take_file", lambda *given: pytest.fail("read again"))
    assert "Line 1, column 1" in refreshed(client, number, "tide/one.jsonl").content.decode()
    assert Chain.objects.get().version == 1
    assert "the file cannot be read" in client.get(f"/c/{Chain.objects.get().pk}/").content.decode()


def test_a_file_that_cannot_be_imported_is_one_sentence(client: Client, number: int) -> None:
    answer = open_file(client, number, "pay/odd.txt")
    assert answer.status_code == 422 and "odd.txt: Line 1, column 1" in answer.content.decode()


OUTSIDE = ["../outside.jsonl", "/etc/hostname", "tide/../../outside.jsonl", ".hidden/secret.jsonl"]


@pytest.mark.parametrize("name", [*OUTSIDE, "tide/notes.bin", "", "\0", "none.json"])
def test_nothing_outside_the_folder_is_opened(client: Client, number: int, root: Path, name: str) -> None:
    (root.parent / "outside.jsonl").write_bytes(session(2))
    answer = open_file(client, number, name)
    assert answer.status_code == 422 and 'role="alert"' in answer.content.decode()
    assert not Chain.objects.exists()


def test_links_out_of_the_folder_are_refused_in_their_row(client: Client, number: int, root: Path) -> None:
    (root.parent / "outside.jsonl").write_bytes(session(2))
    (root / "out.jsonl").symlink_to(root.parent / "outside.jsonl")
    (root / "in.jsonl").symlink_to(root / "tide" / "one.jsonl")
    (root / "elsewhere").symlink_to(root.parent)
    text = page(client)
    assert folder_files.LEADS_OUT in row_of(text, "out.jsonl") and folder_files.LINKED_FOLDER in row_of(text, "elsewhere")
    assert "Claude Code" in row_of(text, "in.jsonl") and "elsewhere/outside.jsonl" not in text
    for name in ("out.jsonl", "elsewhere/outside.jsonl"):
        answer = open_file(client, number, name)
        assert answer.status_code == 422 and "is not followed" in answer.content.decode()
    assert open_file(client, number, "in.jsonl").status_code == 303


def test_what_cannot_be_read_is_a_sentence_in_its_row(client: Client, number: int, root: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: not str(path).endswith("one.jsonl"))
    Path(os.fsdecode(os.fsencode(root) + b"/\xff.json")).write_bytes(chat())
    text = page(client)
    assert "It cannot be read: Permission denied." in row_of(text, "tide/one.jsonl")
    assert folder_files.NO_UTF8 in text
    (root / "tide").rename(root.parent / "gone")
    assert open_file(client, number, "tide/two.json").status_code == 422


def test_a_folder_that_is_gone_says_so(client: Client, number: int, root: Path) -> None:
    root.rename(root.parent / "moved")
    assert f"{root} cannot be read: No such file or directory." in page(client)


def test_many_files_come_in_pages_with_as_many_queries(client: Client, number: int, root: Path, monkeypatch: Any) -> None:
    from django.db import connection

    with CaptureQueriesContext(connection) as few:
        page(client)
    for each in range(230):
        (root / f"run-{each:03}.json").write_bytes(chat(say=f"run {each}"))
    with CaptureQueriesContext(connection) as many:
        text = page(client)
    assert len(many) == len(few)
    assert len(names_in(text)) == 100 and "1 to 100 of 233" in text
    assert len(names_in(page(client, f"?folder={number}&page=3"))) == 33
    monkeypatch.setattr(opening, "MOST_FILES", 50)
    assert "Only the first" in page(client)


def test_patterns_choose_files(client: Client, root: Path) -> None:
    member = local_member()
    (root / "tide" / "deep").mkdir()
    (root / "tide" / "deep" / "four.jsonl").write_bytes(session(2))
    for pattern, names in (
        ("*.json", []),
        ("tide/*.json*", ["one.jsonl", "two.json"]),
        ("*/*.json", ["tide/two.json"]),
        ("**/*.jsonl", ["tide/deep/four.jsonl", "tide/one.jsonl"]),
        ("*/o?[de]*", ["pay/odd.txt", "tide/one.jsonl"]),
        ("*/*.bin", ["tide/notes.bin"]),
    ):
        found = watch(member, f"{root}/{pattern}")
        assert sorted(names_in(page(client, f"?folder={found.number}"))) == names, pattern


def test_folders_are_added_and_no_longer_listed(client: Client, root: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(choose_folders, "KNOWN", (str(root),))
    assert f'value="{root}"' in page(client)
    answer = client.post("/folders/add/", {"path": f" {root} "})
    folder = Folder.objects.get()
    assert answer.headers["Location"] == f"/folders/?folder={folder.pk}"
    client.post("/folders/add/", {"path": str(root)})
    assert Folder.objects.count() == 1
    open_file(client, folder.pk, "tide/one.jsonl")
    client.post("/folders/remove/", {"folder": folder.pk})
    assert not Folder.objects.exists() and Chain.objects.count() == 1
    file = root / "tide" / "one.jsonl"
    for wrong, said in (("/none/here", "is not a folder on this machine"), (str(file), "is a file"), ("\0", "is not a folder")):
        answer = client.post("/folders/add/", {"path": wrong})
        assert answer.status_code == 422 and said in answer.content.decode()


def test_the_command_line_takes_folders_and_very_many_files(root: Path, tmp_path: Path) -> None:
    assert choose_folders.is_place(str(root)) and choose_folders.is_place(f"{root}/*.jsonl")
    assert not choose_folders.is_place(str(root / "tide" / "one.jsonl")) and not choose_folders.is_place("none.json")
    files = [tmp_path / "a" / "1.jsonl", tmp_path / "a" / "2.jsonl", tmp_path / "a" / "x.json", tmp_path / "b" / "3.json"]
    assert choose_folders.folders_of(files) == [f"{tmp_path}/a/*", f"{tmp_path}/b/*.json"], "all that were named are listed"
    with pytest.raises(DocumentError):
        watch(local_member(), f"{tmp_path}/none/*.jsonl")


def test_a_large_file_is_imported_and_read_again_by_a_job(client: Client, number: int, root: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(arrivals, "BIG", 100)
    answer = open_file(client, number, "tide/one.jsonl")
    assert answer.headers["Location"] == f"/upload/{Arrival.objects.get().pk}/"
    assert run_next_job() and Chain.objects.get().messages == 4
    assert LocalFile.objects.get().path == str(root / "tide" / "one.jsonl")
    (root / "tide" / "one.jsonl").write_bytes(session(7))
    for _ in range(2):
        refreshed(client, number, "tide/one.jsonl")
    assert Job.objects.unfinished().count() == 1, "one job reads it"
    assert open_file(client, number, "tide/one.jsonl").status_code == 303
    assert run_next_job() and Chain.objects.get().version == 2


def test_in_team_mode_only_the_server_names_folders_and_only_owners_see_them(
    client: Client, number: int, root: Path, team_mode: Team, settings: Any
) -> None:
    owner, editor = (client_of(make_member(team_mode, role.label, role)) for role in (Role.OWNER, Role.EDITOR))
    assert "CHAINVIZ_FOLDERS" in owner.get("/folders/").content.decode()
    assert open_file(owner, number, "tide/one.jsonl").status_code == 422
    settings.CHAINVIZ = settings.CHAINVIZ.model_copy(update={"folders": str(root)})
    text = owner.get("/folders/").content.decode()
    assert len(names_in(text)) == 3 and "List this folder" not in text
    assert owner.post("/folders/add/", {"path": "/etc"}).status_code == 422
    assert editor.get("/folders/").status_code == 403
    assert open_file(owner, 1, "tide/one.jsonl").status_code == 303
    chain = Chain.objects.get()
    assert editor.post(f"/c/{chain.pk}/follow/").status_code == 403
    noted = AuditRow.objects.count()
    for read in (0, 1):  # an open page that learns nothing new fills no log
        refreshed(owner, 1, "tide/one.jsonl")
        owner.post(f"/c/{chain.pk}/follow/", headers={"HX-Request": "true"})
        assert AuditRow.objects.count() == noted + read
        (root / "tide" / "one.jsonl").write_bytes(session(5))
    (root / "tide" / "one.jsonl").write_bytes(session(6))
    settings.CHAINVIZ = settings.CHAINVIZ.model_copy(update={"folders": ""})
    assert owner.post(f"/c/{chain.pk}/follow/").status_code == 404 and Chain.objects.get().version == 2


def event(number: int, source: str, say: str) -> str:
    value = {"id": number, "timestamp": "2025-01-20T20:29:13", "source": source, "message": say, "action": "message"}
    return json.dumps({**value, "args": {"content": say}})


@pytest.fixture
def conversation(root: Path) -> Path:
    """Write a conversation as OpenHands does, with a file for each event."""
    events = root / "hands" / "c0ffee" / "events"
    events.mkdir(parents=True)
    for number in range(12):
        (events / f"{number}.json").write_text(event(number, "agent" if number % 2 else "user", f"Tide table {number}"))
    (events.parent / "event_cache").mkdir()
    for beside in ("metadata.json", "event_cache/0-25.json"):
        (events.parent / beside).write_text("[]")
    return events


def test_a_folder_of_events_is_one_entry_and_one_chain_that_grows(client: Client, number: int, root: Path, conversation: Path) -> None:
    name = "hands/c0ffee/events"
    text = page(client, f"?folder={number}&in=hands")
    assert names_in(text) == [name]
    row = row_of(text, name)
    assert "Tide table 0" in row and ">c0ffee<" in row and "OpenHands" in row
    open_file(client, number, name)
    chain = Chain.objects.get()
    assert (chain.messages, chain.format, chain.file_name) == (12, "openhands", "c0ffee.jsonl")
    marks = marks_in(page(client))
    assert refreshed(client, number, *marks, marks=marks).headers["X-Changed"] == "0"

    (conversation / "12.json").write_text(event(12, "user", "And tomorrow?"))
    (conversation / "13.json").write_text(event(13, "agent", "High at noon")[:40])
    text = refreshed(client, number, *marks, marks=marks).content.decode()
    assert names_in(text) == [name] and "v2</a>" in text and "13 messages" in text
    (conversation / "13.json").write_text(event(13, "agent", "High at noon"))
    client.post(f"/c/{chain.pk}/follow/")
    assert client.get(f"/c/{chain.pk}/").status_code == 200
    chain = Chain.objects.get()
    assert (chain.version, chain.messages) == (3, 14)


def test_a_folder_of_events_is_listed_by_itself_and_by_a_pattern(root: Path, conversation: Path) -> None:
    named = watch(local_member(), str(conversation))
    assert named.path == conversation.parent and [each.name for each in opening.scan(named).files] == ["events"]
    for pattern, count in {"hands/*/events/*.json": 1, "**/*.json": 2, "hands/*/events/*.txt": 0}.items():
        assert len(opening.scan(watch(local_member(), f"{root}/{pattern}")).files) == count, pattern


def test_an_event_that_links_elsewhere_is_not_read(client: Client, number: int, conversation: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.json").write_text(event(12, "user", "hunter2"))
    (conversation / "12.json").symlink_to(tmp_path / "secret.json")
    open_file(client, number, "hands/c0ffee/events")
    assert Chain.objects.get().messages == 12
