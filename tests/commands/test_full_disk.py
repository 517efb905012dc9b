"""A data folder on a small file system that is full: pages can be read, writes answer 507, and it recovers (issue 8)."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from html import unescape
from http.cookiejar import CookieJar
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, Request, build_opener

import pytest

from tests import ROOT
from tests.commands.test_serve import Server, environment
from tests.waiting import PATIENCE, wait_for

TYPED = "Bay 4 is closed until Monday."


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(folder)]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("only root can mount a small file system")
    try:
        yield folder
    finally:  # a process that has just ended may hold the folder for a moment
        wait_for(lambda: subprocess.run(["umount", str(folder)], capture_output=True).returncode == 0)


def fill(disk: Path) -> None:
    with suppress(OSError), (disk / "filler").open("ab", buffering=0) as file:
        while True:
            file.write(bytes(4096))
    assert os.statvfs(disk).f_bavail == 0


class Person:
    """Looks at pages and sends forms, as a browser does without JavaScript."""

    def __init__(self, server: Server) -> None:
        self.address = f"http://127.0.0.1:{server.port}"
        self.cookies = CookieJar()
        self.opener = build_opener(HTTPCookieProcessor(self.cookies))

    def look(self, path: str) -> tuple[int, str]:
        return self._ask(Request(self.address + path))

    def send(self, path: str, **fields: str) -> tuple[int, str]:
        token = next(cookie.value for cookie in self.cookies if cookie.name == "chainviz_csrf")
        body = urlencode({"csrfmiddlewaretoken": token, **fields}).encode()
        return self._ask(Request(self.address + path, body))

    def _ask(self, request: Request) -> tuple[int, str]:
        try:
            with self.opener.open(request, timeout=PATIENCE) as response:
                return response.status, response.read().decode()
        except HTTPError as answer:
            return answer.code, answer.read().decode()


def fsck(folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "chainviz", "fsck"],
        cwd=ROOT, env=environment(folder), capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    return done.stdout + done.stderr


def assert_reads(person: Person, chain: str) -> None:
    exports = [f"{chain}v/1/export", *(f"{chain}v/1/export?scope={scope}" for scope in ("chain", "file", "original"))]
    for path in ("/", chain, f"{chain}v/1/problems", *exports, f"{chain}versions/", f"{chain}edit/s1", "/readyz"):
        status, page = person.look(path)
        assert status == 200, f"{path}: {page[:400]}"


def assert_keeps_what_was_typed(answer: tuple[int, str]) -> None:
    status, page = answer
    assert status == 507, page[page.find("<main") :][:3000]
    assert "The server’s disk is full" in page
    assert TYPED in unescape(page)


def edit_of(page: str) -> dict[str, str]:
    """The fields of the form for editing, with another text in the first."""
    form = page[page.index('id="edit-form"') :]
    form = form[: form.index("</form>")]
    fields = dict(re.findall(r'<input [^>]*name="([^"]+)"[^>]*value="([^"]*)"', form))
    areas = re.findall(r'<textarea[^>]* name="([^"]+)"[^>]*>\n?(.*?)</textarea>', form, re.DOTALL)
    texts = {name: unescape(text) for name, text in areas}
    first = next(iter(texts))
    del fields["csrfmiddlewaretoken"]
    return {**fields, **texts, first: TYPED}


@contextmanager
def serving(folder: Path) -> Iterator[Server]:
    server = Server([sys.executable, "-m", "chainviz"], folder, told=True)
    try:
        assert "is ready" in server.said, server.said
        yield server
    finally:
        server.stop()


def test_a_full_disk_stops_writing_only(disk: Path) -> None:
    folder = disk / "data"
    with serving(folder) as server:
        person = Person(server)
        person.look("/")
        chain = re.findall(r'href="(/c/\d+/)"', person.send("/samples/")[1])[0]
        form = f"{chain}edit/s1"
        fields = edit_of(person.look(form)[1])
        fill(disk)
        assert_reads(person, chain)
        assert_keeps_what_was_typed(person.send("/upload/", text=f'[{{"role": "user", "content": "{TYPED}"}}]'))
        assert_keeps_what_was_typed(person.send(form, **fields))
    fill(disk)
    with serving(folder) as server:
        person = Person(server)
        assert_reads(person, chain)
        assert fsck(folder).endswith("Everything is in order.\n")
        (disk / "filler").unlink()
        status, page = person.send(form, **fields)
        assert status == 200, page[page.find("<main") :][:2000]


def test_fsck_needs_no_room_on_the_disk(disk: Path) -> None:
    folder = disk / "data"
    assert fsck(folder).endswith("Everything is in order.\n")
    fill(disk)
    assert fsck(folder).endswith("Everything is in order.\n")
