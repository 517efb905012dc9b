"""A file of 120 MB, or 300 MB in the long form, through a real server: taken in or refused with its place, and memory stays bounded."""

from __future__ import annotations

import http.client
import json
import re
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.commands.test_serve import Server
from tests.examples import IS_LONG
from tests.waiting import wait_for

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux tells the peak memory of a process"),
]

SIZE = 300_000_000 if IS_LONG else 120_000_000
MESSAGE = 100_000
MOST_GROWTH = 64_000_000 + 2 * MESSAGE
"""Bytes of memory beyond what the server has when its first page is open."""
BOUNDARY = "a-boundary-that-no-message-holds"


def big_list(tail: bytes) -> Iterator[bytes]:
    """A list of messages of about SIZE bytes, written piece by piece; `tail` is what it ends with."""
    yield b"["
    for number in range(SIZE // MESSAGE // 2):
        human = json.dumps({"role": "user", "content": f"Page {number}, please: " + f"line {number}\n" * (MESSAGE // 11)})
        yield human.encode() + b",\n"
        yield json.dumps({"role": "assistant", "content": "x" * MESSAGE}).encode() + b",\n"
    yield b'{"role": "user", "content": "Thank you"}' + tail


class Person:
    """Somebody with a browser that keeps cookies and does nothing else by itself."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.cookies: dict[str, str] = {}
        page = self.ask("GET", "/?page=1")[2]
        token = re.search(rb'name="csrfmiddlewaretoken" value="(\w+)"', page)
        assert token
        self.token = token[1].decode()

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, str, bytes]:
        """Status, where it leads to, and the page."""
        line = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=600)
        cookies = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        line.request(method, path, body, {"Cookie": cookies, **headers})
        answer = line.getresponse()
        for name, value in answer.getheaders():
            if name == "Set-Cookie":
                key, _, rest = value.partition("=")
                self.cookies[key] = rest.partition(";")[0]
        page = answer.read()
        line.close()
        return answer.status, answer.getheader("Location") or "", page

    def upload(self, file: Path) -> tuple[int, str, bytes]:
        head = (
            f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="csrfmiddlewaretoken"\r\n\r\n{self.token}\r\n'
            f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="big.json"\r\n'
            "Content-Type: application/json\r\n\r\n"
        ).encode()
        end = f"\r\n--{BOUNDARY}--\r\n".encode()

        def body() -> Iterator[bytes]:
            yield head
            with file.open("rb") as content:
                while piece := content.read(1 << 20):
                    yield piece
            yield end

        length = str(len(head) + file.stat().st_size + len(end))
        kind = f"multipart/form-data; boundary={BOUNDARY}"
        return self.ask("POST", "/upload/", body(), **{"Content-Type": kind, "Content-Length": length})

    def wait_for(self, place: str) -> tuple[int, str, bytes]:
        """Wait until the page of an upload redirects or says that the upload failed."""
        for _ in range(1200):
            answer = self.ask("GET", place)
            if b'http-equiv="refresh"' not in answer[2]:
                return answer
            time.sleep(0.5)
        raise AssertionError("the upload never came to an end")


def peak_memory(server: Server) -> int:
    """Return the peak memory of the process that answers, which is a child of the one that was started."""
    children = Path(f"/proc/{server.running.pid}/task/{server.running.pid}/children").read_text().split()
    status = Path(f"/proc/{children[0]}/status").read_text()
    peak = re.search(r"VmHWM:\s+(\d+) kB", status)
    assert peak
    return int(peak[1]) * 1024


@pytest.fixture
def server(migrated: Path, tmp_path: Path) -> Iterator[Server]:
    (tmp_path / "data").mkdir()
    shutil.copy(migrated, tmp_path / "data")
    server = Server([sys.executable, "-m", "chainviz"], tmp_path / "data")
    yield server
    server.stop()
    wait_for(lambda: is_removed(tmp_path))  # pytest would keep the gigabyte for days


def is_removed(folder: Path) -> bool:
    """Remove a folder, as far as processes that are about to end leave it alone."""
    shutil.rmtree(folder, ignore_errors=True)
    return not folder.exists()


def written(path: Path, tail: bytes) -> Path:
    with path.open("wb") as file:
        file.writelines(big_list(tail))
    return path


def test_a_big_chain_is_taken_in_and_opens(server: Server, tmp_path: Path) -> None:
    person = Person(server)
    before = peak_memory(server)
    status, place, _ = person.upload(written(tmp_path / "big.json", b"]"))
    assert (status, place[:8]) == (303, "/upload/")

    status, place, page = person.wait_for(place)

    assert status == 303, page[-3000:]
    assert re.fullmatch(r"/c/\d+/", place)
    status, _, page = person.ask("GET", f"{place}v/1/")
    assert (status, len(page) < 400_000) == (200, True)
    assert peak_memory(server) - before <= MOST_GROWTH


def test_a_big_file_that_breaks_off_is_refused_with_its_place(server: Server, tmp_path: Path) -> None:
    person = Person(server)
    before = peak_memory(server)
    _, place, _ = person.upload(written(tmp_path / "big.json", b""))

    status, _, page = person.wait_for(place)

    assert status == 200
    assert f"Line {SIZE // MESSAGE + 1}, column" in page.decode()
    assert peak_memory(server) - before <= MOST_GROWTH
