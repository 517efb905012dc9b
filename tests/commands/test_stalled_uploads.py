"""Uploads that send a byte now and then hold a thread each: pages still come, and more such uploads are turned away."""

from __future__ import annotations

import http.client
import re
import shutil
import socket
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from chainviz.commands.server.serve import options
from chainviz.web.middleware import AT_ONCE, LARGE
from tests.commands.test_serve import Server
from tests.waiting import wait_for

STALLED = 12
BOUNDARY = "a-boundary"


@pytest.fixture(scope="module")
def server(migrated: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("stalled")
    shutil.copy(migrated, folder)
    server = Server([sys.executable, "-m", "chainviz"], folder)
    yield server
    server.stop()


def begun_upload(server: Server, token: str, cookie: str) -> socket.socket:
    """An upload that says that much will follow, and sends the beginning of its file."""
    line = socket.create_connection(("127.0.0.1", server.port), timeout=60)
    line.sendall(
        f"POST /upload/ HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nCookie: {cookie}\r\n"
        f"Content-Type: multipart/form-data; boundary={BOUNDARY}\r\nContent-Length: {LARGE * 5}\r\n\r\n"
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="csrfmiddlewaretoken"\r\n\r\n{token}\r\n'
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="slow.json"\r\n\r\n['.encode()
    )
    return line


def token_and_cookie(server: Server) -> tuple[str, str]:
    line = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    line.request("GET", "/?page=1")
    answer = line.getresponse()
    found = re.search(rb'name="csrfmiddlewaretoken" value="(\w+)"', answer.read())
    assert found
    cookies = [value.partition(";")[0] for name, value in answer.getheaders() if name == "Set-Cookie"]
    return found[1].decode(), "; ".join(cookies)


def is_waiting(line: socket.socket) -> bool:
    """Whether the server has neither answered nor closed it."""
    line.setblocking(False)
    try:
        return bool(line.recv(1, socket.MSG_PEEK)) and False
    except BlockingIOError:
        return True
    finally:
        line.settimeout(60)


def test_pages_come_while_uploads_stall(server: Server) -> None:
    token, cookie = token_and_cookie(server)
    with ExitStack() as held:
        stalled = [held.enter_context(begun_upload(server, token, cookie)) for _ in range(STALLED)]
        for path in ("/", "/bin/", "/secrets/", "/"):
            for line in stalled:
                line.sendall(b" ")
            assert server.get(path)[0] == 200
        assert all(map(is_waiting, stalled))


def test_more_uploads_than_that_are_asked_to_come_again(server: Server) -> None:
    threads = options("127.0.0.1:1", "", has_worker=False)["threads"]
    token, cookie = token_and_cookie(server)
    with ExitStack() as held:
        lines = [held.enter_context(begun_upload(server, token, cookie)) for _ in range(threads + 8)]
        assert server.get("/")[0] == 200
        assert threads > AT_ONCE
        wait_for(lambda: sum(map(is_waiting, lines)) <= AT_ONCE)
        turned_away = [line for line in lines if not is_waiting(line)]
        answers = [line.recv(100) for line in turned_away]
    assert answers and all(answer.startswith(b"HTTP/1.1 503") for answer in answers if answer)
    assert server.get("/")[0] == 200
