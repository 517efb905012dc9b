"""Files of this machine: read when they are named or opened, and again when they have grown."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from chainviz.accounts.models import local_member
from chainviz.chains.models import Chain, LocalFile
from chainviz.chains.uploads import staging
from chainviz.chains.uploads.local_files import Outcome, take_file
from chainviz.core.errors import DocumentError
from chainviz.store.fsck import fsck
from chainviz.store.models import Version
from chainviz.store.transfer.exports import export
from tests.chains.files import HELLO, chat, lines
from tests.core.databases.opencode_database import add_message, add_part, create
from tests.drafts.pages import send_form
from tests.store.test_growth import session

pytestmark = pytest.mark.django_db


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "session.jsonl"
    path.write_bytes(session(4))
    return path


def taken(path: Path, **more: Any) -> tuple[Outcome, Chain]:
    (followed,) = take_file(local_member(), path, **more).followed
    chain = Chain.objects.get(pk=followed.chain.pk)
    assert chain.version == Version.objects.filter(history=chain.history).count()
    return followed.outcome, chain


def content_of(chain: Chain) -> bytes:
    return b"".join(export(Version.objects.get(history=chain.history, number=chain.version).snapshot))


def test_a_file_that_grew_is_the_next_version_of_its_chain(file: Path) -> None:
    assert taken(file)[0] is Outcome.ADDED
    assert taken(file)[0] is Outcome.SAME
    file.write_bytes(session(7))
    outcome, chain = taken(file)
    assert (outcome, chain.version, chain.messages) == (Outcome.GREW, 2, 7)
    assert Version.objects.get(number=2).note == "The file grew: 3 new messages"
    assert content_of(chain) == session(7)
    assert Chain.objects.count() == 1 and not list(staging.folder().iterdir())
    assert not [each.text for each in fsck() if each.severity == "error"]


def test_a_file_is_the_same_by_whatever_way_it_is_named(file: Path) -> None:
    (file.parent / "aside").mkdir()
    take_file(local_member(), file.parent / "aside" / ".." / file.name)
    assert LocalFile.objects.get().path == str(file)
    file.write_bytes(session(7))
    take_file(local_member(), file)
    assert Chain.objects.count() == 1
    with pytest.raises(DocumentError):
        take_file(local_member(), file.parent / "none" / ".." / "none.jsonl")


def test_a_line_that_is_being_written_is_waited_for(file: Path) -> None:
    whole = session(5)
    file.write_bytes(whole[:-40])
    assert taken(file)[1].messages == 4
    file.write_bytes(whole[:-1])  # only the line break is missing
    assert taken(file)[1].messages == 5
    file.write_bytes(whole)
    assert taken(file)[0] is Outcome.SAME
    file.write_bytes(whole[:100])
    with pytest.raises(DocumentError):
        taken(file)
    assert Chain.objects.get().version == 2


def test_a_file_that_was_rewritten_is_said_to_be(file: Path) -> None:
    taken(file)
    rewritten = session(4).replace(b"hello 2", b"goodbye 2")
    file.write_bytes(rewritten)
    outcome, chain = taken(file)
    assert outcome is Outcome.GREW and content_of(chain) == rewritten
    assert Version.objects.get(number=2).note == "The file was rewritten: the first 2 messages are the same"


def test_what_somebody_edited_is_not_overwritten(file: Path, client: Client) -> None:
    _, chain = taken(file)
    send_form(client, f"/c/{chain.pk}/edit/s1.p1?v=1", s1__p1__m0__c0__text="Changed by hand.")
    draft = client.get(f"/c/{chain.pk}/").content.decode().split(f"/c/{chain.pk}/d/")[1].split("/")[0]
    client.post(f"/c/{chain.pk}/d/{draft}/save", {"note": ""})
    file.write_bytes(session(8))
    outcome, chain = taken(file)
    assert (outcome, chain.version) == (Outcome.EDITED, 2)
    assert LocalFile.objects.get().is_behind
    outcome, chain = taken(file, over_edits=True)
    assert (outcome, chain.version) == (Outcome.GREW, 3)
    assert content_of(chain) == session(8) and not LocalFile.objects.get().is_behind
    file.write_bytes(session(9))
    assert taken(file)[0] is Outcome.GREW
    assert not [each.text for each in fsck() if each.severity == "error"]


def test_a_log_of_requests_goes_on_in_the_same_chain(tmp_path: Path) -> None:
    """Each request of a log holds the chain again: the longest one is the chain, whichever line it is on."""
    file, talk = tmp_path / "requests.jsonl", [*HELLO, *HELLO, *HELLO]
    requests = [json.dumps({"messages": talk[:end]}).encode() + b"\n" for end in range(1, 7)]
    file.write_bytes(b"".join(requests[:3]))
    _, chain = taken(file)
    assert chain.messages == 3
    file.write_bytes(b"".join(requests[:6]))
    outcome, again = taken(file)
    assert again.pk == chain.pk and (outcome, again.messages) == (Outcome.GREW, 6)
    assert taken(file)[0] is Outcome.SAME


def test_new_chains_of_a_file_are_added_and_the_others_stay(tmp_path: Path) -> None:
    file = tmp_path / "many.jsonl"
    file.write_bytes(lines(2))
    take_file(local_member(), file)
    file.write_bytes(lines(3))
    again = take_file(local_member(), file)
    assert [each.outcome for each in again.followed] == [Outcome.SAME, Outcome.SAME, Outcome.ADDED]
    assert {chain.version for chain in Chain.objects.all()} == {1}
    assert take_file(local_member(), file).fresh == 0 and Chain.objects.count() == 3


def test_a_grown_file_is_known_when_it_is_uploaded(file: Path, client: Client) -> None:
    taken(file)
    file.write_bytes(session(6))
    _, chain = taken(file)
    with file.open("rb") as upload:
        answer = client.post("/upload/", {"file": upload})
    assert answer.headers["Location"] == f"/c/{chain.pk}/" and Chain.objects.count() == 1


def test_a_json_document_that_is_written_anew_grows_too(tmp_path: Path) -> None:
    file = tmp_path / "chat.json"
    file.write_bytes(chat())
    taken(file)
    file.write_bytes(chat({"role": "user", "content": "more"}))
    outcome, chain = taken(file)
    assert outcome is Outcome.GREW and content_of(chain) == file.read_bytes()
    assert Version.objects.get(number=2).note == "The file grew: 1 new message"


@pytest.mark.parametrize("what", ["gone", "a folder", "unreadable", "no transcript"])
def test_a_file_that_cannot_be_read_is_one_sentence(tmp_path: Path, what: str) -> None:
    path = tmp_path / "session.jsonl"
    if what == "a folder":
        path.mkdir()
    elif what != "gone":
        path.write_bytes(b"<html></html>" if what == "no transcript" else session(2))
    if what == "unreadable":
        path.chmod(0)
        if path.stat() and _can_read(path):
            pytest.skip("this person may read everything")
    with pytest.raises(DocumentError, match=r"session\.jsonl"):
        take_file(local_member(), path)
    assert not list(staging.folder().iterdir())


def _can_read(path: Path) -> bool:
    try:
        return bool(path.read_bytes())
    except OSError:
        return False


def add_answer(connection: sqlite3.Connection, number: int) -> None:
    id = f"ses_{number:04d}"
    message = add_message(connection, id, 9, {"role": "assistant", "modelID": "m", "providerID": "local"})
    add_part(connection, id, message, 9, {"type": "text", "text": "One more was found."})
    connection.commit()


def test_each_session_of_a_database_is_a_chain_that_grows_by_what_the_log_holds(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    create(path, 3)
    with closing(sqlite3.connect(path)) as agent:
        add_answer(agent, 1)
        assert path.with_name("opencode.db-wal").stat().st_size
        found = take_file(local_member(), path).followed
        assert [(each.outcome, each.chain.messages) for each in found] == [(Outcome.ADDED, count) for count in (4, 5, 4)]
        titles = {file.path.rpartition("#")[2]: file.chain.title for file in LocalFile.objects.select_related("chain")}
        assert titles == {f"ses_{number:04d}": f"Crates of depot {number}" for number in range(3)}
        add_answer(agent, 2)
        again = {each.chain.title[-1]: each.outcome for each in take_file(local_member(), path).followed}
    assert again == {"0": Outcome.SAME, "1": Outcome.SAME, "2": Outcome.GREW}
    assert not list(staging.folder().iterdir()) and not list(tmp_path.glob("*backup*"))


def test_one_session_of_a_database_is_opened_by_its_address(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    create(path, 2)
    (tmp_path / "aside").mkdir()
    outcome, chain = taken(tmp_path / "aside" / ".." / "opencode.db#ses_0001")
    assert (outcome, chain.title, chain.file_name) == (Outcome.ADDED, "Crates of depot 1", "ses_0001.json")
    assert LocalFile.objects.get().path == f"{path}#ses_0001"
    assert content_of(chain).endswith(b"}\n") and b'"ses_0000"' not in content_of(chain)
    with pytest.raises(DocumentError, match="holds no session “ses_9”"):
        take_file(local_member(), Path(f"{path}#ses_9"))


def test_a_session_that_cannot_be_read_leaves_the_others(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    create(path, 2)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE message SET data = '{}' WHERE session_id = 'ses_0001'")
        connection.execute("UPDATE part SET data = '{}' WHERE session_id = 'ses_0001'")
        connection.commit()
    taken = take_file(local_member(), path)
    assert [each.chain.title for each in taken.followed] == ["Crates of depot 0"]
    assert any("ses_0001" in note for note in taken.notes)
