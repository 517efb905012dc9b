"""ZIP archives of sessions and databases of agents: each session is a chain, from the browser and from this machine."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from django.test import Client

from chainviz.accounts.models import local_member
from chainviz.chains.models import Arrival, Chain, LocalFile
from chainviz.chains.uploads import staging
from chainviz.chains.uploads.local_files import Outcome, take_file
from chainviz.core.documents.packed_files import members
from chainviz.core.errors import DocumentError
from tests.chains.files import chat, send, send_row
from tests.core.databases.opencode_database import create

pytestmark = pytest.mark.django_db


def packed(files: Mapping[str, bytes]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return content.getvalue()


SESSIONS = {
    "runs/one.json": chat(say="First question"),
    "runs/two.jsonl": b"".join(json.dumps(each).encode() + b"\n" for each in json.loads(chat(say="Second question"))),
    "runs/picture.png": b"\x89PNG\r\n\x1a\n",
    "__MACOSX/runs/._one.json": b"{}",
    "runs/settings.json": b'{"theme": "dark"}',
}


def titles() -> set[str]:
    return set(Chain.objects.values_list("title", flat=True))


def test_each_session_of_an_uploaded_archive_is_a_chain(client: Client) -> None:
    response = send(client, ("runs.zip", packed(SESSIONS)))
    assert response.status_code == 303 and response["Location"] == "/"
    assert titles() == {"First question", "Second question"}
    assert "settings.json hold no transcript and were left out." in client.get("/").content.decode()
    assert not Arrival.objects.filter(state=Arrival.State.FAILED).exists()


def test_an_archive_among_other_files_is_a_line_for_each_session(client: Client) -> None:
    response = send_row(client, "runs.zip", packed({name: SESSIONS[name] for name in list(SESSIONS)[:2]}))
    page = response.content.decode()
    assert response.status_code == 200 and "one.json" in page and "two.jsonl" in page and page.count("<li") == 2


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (packed({"readme.pdf": b"%PDF-"}), "holds no transcript"),
        (packed({f"{number}.json": b"[]" for number in range(501)}), "more than 500"),
        (packed({"one.json": chat()})[:-30] + bytes(30), "zip archive"),
    ],
)
def test_an_archive_that_cannot_be_taken_says_why(client: Client, content: bytes, sentence: str) -> None:
    send(client, ("runs.zip", content))
    assert sentence in str(Arrival.objects.get().failure["sentence"]) and not Chain.objects.exists()
    assert len(list(staging.folder().iterdir())) <= 1


def test_an_archive_that_grows_when_unpacked_is_refused() -> None:
    with pytest.raises(DocumentError, match="unpacks to more than 1 MB"):
        list(members(io.BytesIO(packed({"zeros.json": bytes(2_000_000)})), 1_000_000))


def test_names_do_not_lead_out_of_an_archive(tmp_path: Path) -> None:
    path = tmp_path / "runs.zip"
    path.write_bytes(packed({"../../outside.json": chat(say="One"), "/absolute.json": chat(say="Two"), "a\\..\\b.json": chat(say="Three")}))
    take_file(local_member(), path)
    assert sorted(file.path for file in LocalFile.objects.all()) == [
        f"{path}/a/b.json", f"{path}/absolute.json", f"{path}/outside.json",
    ]  # fmt: skip


def test_an_archive_of_this_machine_is_known_again(tmp_path: Path) -> None:
    path = tmp_path / "runs.zip"
    path.write_bytes(packed(SESSIONS))
    taken = take_file(local_member(), path)
    assert titles() == {"First question", "Second question"} and any("settings.json" in note for note in taken.notes)
    assert {each.outcome for each in take_file(local_member(), path).followed} == {Outcome.SAME}
    path.write_bytes(packed({"notes.pdf": b"%PDF-"}))
    with pytest.raises(DocumentError, match=r"runs\.zip.*holds no transcript"):
        take_file(local_member(), path)


def test_an_uploaded_database_offers_its_sessions(client: Client, tmp_path: Path) -> None:
    database = tmp_path / "opencode.db"
    create(database, 3, log=False)
    response = send(client, ("opencode.db", database.read_bytes()))
    assert response.status_code == 303 and response["Location"].startswith("/pick/")
    page = client.get(response["Location"]).content.decode()
    assert all(f"How many crates are in depot {number}?" in page or f"Crates of depot {number}" in page for number in range(3))
    keys = [row["key"] for row in Arrival.objects.get().found]
    assert client.post(response["Location"], {"pick": keys[:2]}).status_code == 303
    assert titles() == {"Crates of depot 2", "Crates of depot 1"}, "the ones changed last come first"
