"""`chainviz serve` as a person starts it: from nothing to a page, again in under three seconds, and clear refusals."""

from __future__ import annotations

import os
import random
import re
import signal
import socket
import sqlite3
import subprocess
import sys
from contextlib import ExitStack, closing, suppress
from http.client import HTTPResponse
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests import ROOT
from tests.chains.files import chat, lines
from tests.waiting import PATIENCE, wait_for
from tests.web.headers import missing_headers


def free_port() -> int:
    """Return a free port outside the range that systems assign automatically, so that no other program gets it first."""
    while True:
        port = random.randrange(15_000, 30_000)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


def environment(folder: Path, **changes: str) -> dict[str, str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("CHAINVIZ_", "DJANGO_"))}
    return {**clean, "CHAINVIZ_DATA": str(folder), "PYTHONUNBUFFERED": "1", **changes}


def refusal(folder: Path, *arguments: str, **changes: str) -> str:
    """Return the message that `chainviz serve` prints on standard error if it cannot start."""
    done = subprocess.run(
        [sys.executable, "-m", "chainviz", "serve", *arguments],
        cwd=ROOT, env=environment(folder, **changes), capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr


class Server:
    """A running server. `said` has the lines of its standard output up to the one that says that it is ready."""

    def __init__(self, command: list[str], folder: Path, *files: Path, cwd: Path = ROOT, told: bool = False) -> None:
        """`told`: what it says on standard error is part of `said`."""
        self.port = free_port()
        self.running = subprocess.Popen(
            [*command, "serve", *map(str, files)],
            cwd=cwd, env=environment(folder, CHAINVIZ_PORT=str(self.port)), stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if told else None, text=True,
        )  # fmt: skip
        assert self.running.stdout is not None
        self.said = self.running.stdout.readline()
        while self.running.poll() is None and "is ready" not in self.said:
            self.said += self.running.stdout.readline()

    def get(self, path: str) -> tuple[int, dict[str, str], str]:
        with urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=PATIENCE) as response:
            return response.status, dict(response.headers), response.read().decode()

    def stop(self) -> int:
        self.running.terminate()
        return self.running.wait(timeout=PATIENCE)


def assert_serves(server: Server) -> None:
    assert f"http://127.0.0.1:{server.port}/" in server.said
    status, headers, page = server.get("/")
    assert status == 200
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    hashed = re.findall(r"/static/[\w/-]+\.[0-9a-f]{12}\.\w+", page)
    assert len(hashed) >= 5
    for path in hashed:
        status, headers, _ = server.get(path)
        assert status == 200
        assert "immutable" in headers["Cache-Control"]


def assert_refuses(server: Server) -> None:
    """Assert that bytes that are not HTTP get a refusal with the headers of all other responses."""
    for request in (b"<script> / HTTP/1.1\r\n\r\n", b"GET /" + b"a" * 9_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", b"no HTTP\r\n\r\n"):
        with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as connection:
            connection.sendall(request)
            answer = HTTPResponse(connection)
            answer.begin()
            assert answer.status in (400, 414)
            assert missing_headers(answer.headers) == []
            assert b"<script" not in answer.read()
    assert server.get("/?q=" + "%C3%BC" * 1_300)[0] == 200, "a long filter"


def test_from_nothing_to_a_page_and_again(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    first = Server([sys.executable, "-m", "chainviz"], folder)
    assert_serves(first)
    assert_refuses(first)
    assert first.stop() == 0
    assert (folder / "secret-key").stat().st_mode & 0o777 == 0o600
    key = (folder / "secret-key").read_text()
    orphan = folder / "incoming" / ("0" * 32)
    orphan.parent.mkdir(exist_ok=True)
    orphan.touch(0o600)
    again = Server([sys.executable, "-m", "chainviz"], folder)
    assert_serves(again)
    assert again.stop() == 0
    assert not orphan.exists(), "an upload that was killed before its row was written"
    assert folder.stat().st_mode & 0o777 == 0o700
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert len(files) > 5
    assert [path for path in files if path.stat().st_mode & 0o777 != 0o600] == []
    assert (folder / "secret-key").read_text() == key


def test_twelve_uploads_that_stall_do_not_block_readers(folder: Path) -> None:
    server = Server([sys.executable, "-m", "chainviz"], folder)
    head = (
        b"POST /upload/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: 999999\r\n\r\n--x"
    )
    with ExitStack() as stack:
        for _ in range(12):
            stalled = stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE))
            stalled.sendall(head)
        assert server.get("/")[0] == 200
    assert server.stop() == 0


def test_files_are_in_the_library_when_it_is_ready(folder: Path, tmp_path: Path) -> None:
    one, many = tmp_path / "one.json", tmp_path / "many.jsonl"
    one.write_bytes(chat(say="Where is bay 4?"))
    many.write_bytes(lines(3))

    first = Server([sys.executable, "-m", "chainviz"], folder, one, many)
    told = first.said.splitlines()
    place = re.fullmatch(rf"{re.escape(str(one))}: http://127\.0\.0\.1:{first.port}(/c/\d+/)", told[0])
    assert place
    assert "Where is bay 4?" in first.get(place[1])[2]
    assert told[1] == f"{many}: 3 chains: http://127.0.0.1:{first.port}/"
    assert first.stop() == 0

    again = Server([sys.executable, "-m", "chainviz"], folder, one, many)
    told = again.said.splitlines()
    assert told[0].endswith(f"already uploaded, now at version 1: http://127.0.0.1:{again.port}{place[1]}")
    assert told[1].endswith(f"3 chains, 3 of them already uploaded: http://127.0.0.1:{again.port}/")
    assert again.stop() == 0


def add(folder: Path, *arguments: str, **changes: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "chainviz", "add", *arguments],
        cwd=ROOT, env=environment(folder, **changes), capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip


def test_a_server_that_runs_takes_more_files(folder: Path, tmp_path: Path) -> None:
    session, missing = tmp_path / "session.jsonl", tmp_path / "none.json"
    session.write_bytes(lines(1))
    server = Server([sys.executable, "-m", "chainviz"], folder)
    done = add(folder, str(session), str(missing))
    place = re.fullmatch(rf"{re.escape(str(session))}: http://127\.0\.0\.1:{server.port}(/c/\d+/)\n", done.stdout)
    assert place and "Question 0" in server.get(place[1])[2]
    assert done.returncode == 2 and "none.json cannot be opened: No such file" in done.stderr
    assert server.stop() == 0

    done = add(folder, str(session))
    assert done.returncode == 0 and "already uploaded, now at version 1: http://" in done.stdout
    assert done.stderr == "chainviz: no server runs on this machine; start one with chainviz serve, then open the link.\n"
    done = add(folder, str(session), CHAINVIZ_MODE="team", CHAINVIZ_BASE_URL="https://chainviz.example.org")
    assert done.returncode == 2 and "chainviz push FILE --to URL" in done.stderr


def test_a_file_that_cannot_be_read_stops_neither_the_start_nor_the_others(folder: Path, tmp_path: Path) -> None:
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_bytes(chat(say="Where is bay 4?"))
    bad.write_bytes(chat()[:-20])

    server = Server([sys.executable, "-m", "chainviz"], folder, bad, tmp_path / "none.json", good, told=True)

    assert server.stop() == 0
    assert f"chainviz: {bad}: Line 1, column" in server.said
    assert "none.json cannot be opened: No such file" in server.said
    with sqlite3.connect(folder / "chainviz.sqlite3") as database:
        assert database.execute("SELECT * FROM chains_chain WHERE file_name = 'good.json'").fetchall()


def test_an_unknown_format_is_told(folder: Path) -> None:
    assert "There is no format “yaml”" in refusal(folder, "--format", "yaml", CHAINVIZ_PORT=str(free_port()))


def test_the_database_is_set_up_to_lose_nothing(folder: Path) -> None:
    server = Server([sys.executable, "-m", "chainviz"], folder)
    assert server.stop() == 0
    with sqlite3.connect(folder / "chainviz.sqlite3") as database:
        assert database.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def job_process(server: Server) -> int | None:
    """The process that runs jobs: a child of the one that makes pages, which is a child of the one that was started."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, parent = stat.read_text().rpartition(") ")[2].split()[:2]
            if state != "Z":
                children.setdefault(int(parent), []).append(int(stat.parent.name))
    found = [job for pages in children.get(server.running.pid, []) for job in children.get(pages, [])]
    assert len(found) <= 1
    return found[0] if found else None


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="only Linux tells the parents of processes")
def test_jobs_run_in_a_process_of_their_own_that_ends_with_the_server(folder: Path) -> None:
    server = Server([sys.executable, "-m", "chainviz"], folder)
    wait_for(lambda: job_process(server))
    first = job_process(server)
    assert first
    os.kill(first, signal.SIGKILL)
    wait_for(lambda: job_process(server) not in (None, first))
    second = job_process(server)
    assert second
    server.running.kill()  # nothing is left that could end it
    wait_for(lambda: not Path(f"/proc/{second}").exists())
    assert server.stop() == -signal.SIGKILL


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("CHAINVIZ_MODE", "team", "CHAINVIZ_BASE_URL=: team mode needs the address that people open"),
        ("CHAINVIZ_PORT", "http", "CHAINVIZ_PORT=http"),
        ("CHAINVIZ_PORT", "99999", "CHAINVIZ_PORT=99999"),
        ("CHAINVIZ_HOST", "0.0.0.0", "this machine only"),
        ("CHAINVIZ_MAX_UPLOAD_MB", "0", "CHAINVIZ_MAX_UPLOAD_MB=0"),
        ("CHAINVIZ_DATABASE_URL", "mysql://localhost/x", "postgresql:// or sqlite:///"),
        ("CHAINVIZ_DATABASE_URL", "postgresql://nobody@127.0.0.1:1/x", "the database cannot be used"),
    ],
)
def test_a_wrong_setting_is_refused_in_one_line(folder: Path, name: str, value: str, said: str) -> None:
    text = refusal(folder, **{name: value})
    assert said in text
    assert len(text.strip().splitlines()) == 1


def test_database_of_a_newer_version_is_refused_in_one_line(folder: Path) -> None:
    command = [sys.executable, "-m", "chainviz", "fsck"]
    subprocess.run(command, cwd=ROOT, env=environment(folder), check=True, capture_output=True)
    (file,) = folder.glob("*.sqlite3")
    with sqlite3.connect(file) as database:
        database.execute("INSERT INTO django_migrations (app, name, applied) VALUES ('store', '9999_later', '2099-01-01')")
    text = refusal(folder)
    assert "newer version of chainviz (migration 9999_later)" in text
    assert len(text.strip().splitlines()) == 1


def test_database_that_is_too_old_names_the_version_between(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "chainviz.sqlite3")) as database, database:
        database.execute("CREATE TABLE django_migrations (id integer PRIMARY KEY, app text, name text, applied datetime)")
        database.execute("INSERT INTO django_migrations (app, name, applied) VALUES ('store', '0001_initial', '2026-11-01')")
    text = refusal(tmp_path)
    assert "start version 0.1.0 with it once" in text
    assert len(text.strip().splitlines()) == 1


def test_a_port_in_use_is_told_with_what_to_do(folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        text = refusal(folder, CHAINVIZ_PORT=str(other.getsockname()[1]))
    assert "Choose another port with CHAINVIZ_PORT" in text


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert "CHAINVIZ_DATA" in refusal(tmp_path / "file" / "data")
