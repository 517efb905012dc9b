"""`chainviz push`, and the example of the help, against a server that listens."""

from __future__ import annotations

import http.server
import json
import re
import threading
from pathlib import Path
from typing import Any

import pytest

from chainviz.accounts.models import local_member
from chainviz.accounts.tokens import create_token
from chainviz.chains.models import Arrival, Chain
from chainviz.chains.uploads import arrivals
from chainviz.cli import main
from chainviz.commands.server import push
from chainviz.jobs.tasks import run_next_job
from tests import ROOT
from tests.chains.files import lines
from tests.chains.making import STORY
from tests.own_data import own_data_folder  # noqa: F401

pytestmark = pytest.mark.django_db(transaction=True)
FILE = json.dumps({"messages": STORY}).encode()


@pytest.fixture
def server(live_server: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("CHAINVIZ_TOKEN", create_token(local_member(), "CI", ["write"], 30)[1])
    monkeypatch.setenv("CHAINVIZ_URL", live_server.url)
    return str(live_server.url)


def test_files_become_chains_whose_links_are_printed(server: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = tmp_path / "runs"
    runs.mkdir()
    (runs / "one.json").write_bytes(FILE)
    (runs / "many.jsonl").write_bytes(lines(2))
    assert main(["push", str(runs), "--to", server]) == 0

    links = capsys.readouterr().out.split()
    assert links == [f"{server}/c/{key}/" for key in Chain.objects.order_by("pk").values_list("pk", flat=True)]
    assert len(links) == 3
    assert main(["push", str(runs), "--to", f"{server}/"]) == 0
    assert capsys.readouterr().out.split() == links, "the same bytes are the same chains"


def test_a_bad_file_does_not_stop_the_others(server: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bad.json").write_text('{"messages": [')
    (tmp_path / "good.json").write_bytes(FILE)
    assert main(["push", *(str(tmp_path / name) for name in ("bad.json", "none.json", "good.json")), "--to", server]) == 2
    said = capsys.readouterr()
    assert said.out.split() == [f"{server}/c/{Chain.objects.get().pk}/"]
    assert [line.partition(": ")[2].partition(":")[0] for line in said.err.splitlines()] == [
        str(tmp_path / "bad.json"),
        str(tmp_path / "none.json"),
    ]


def test_it_waits_for_a_large_file(
    server: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrivals, "BIG", 10)
    monkeypatch.setattr(push.time, "sleep", lambda seconds: run_next_job())
    (tmp_path / "run.json").write_bytes(FILE)
    assert main(["push", str(tmp_path / "run.json"), "--to", server]) == 0
    assert capsys.readouterr().out.split() == [f"{server}/c/{Chain.objects.get().pk}/"]


def test_a_push_whose_answer_is_lost_is_sent_again_with_its_key(
    server: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    keys: list[str] = []
    open_once = push.Server._ask_once

    def lossy(self: push.Server, request: Any) -> Any:
        keys.append(request.get_header("Idempotency-key"))
        answer = open_once(self, request)
        if len(keys) < 3:
            raise push.NoAnswer("connection reset")
        return answer

    monkeypatch.setattr(push.Server, "_ask_once", lossy)
    monkeypatch.setattr(push.time, "sleep", lambda seconds: None)
    (tmp_path / "run.json").write_bytes(FILE)
    assert main(["push", str(tmp_path / "run.json"), "--to", server]) == 0
    assert (len(keys), len(set(keys)), len(keys[0])) == (3, 1, 32)
    assert capsys.readouterr().out.split() == [f"{server}/c/{Chain.objects.get().pk}/"]
    assert main(["push", str(tmp_path / "run.json"), "--to", server]) == 0
    assert keys[3] != keys[0], "another push is another request"


def test_a_busy_server_is_asked_again(
    server: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    monkeypatch.setattr(push.time, "sleep", waits.append)

    class Busy(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            answers = [(503, {}, b"{}"), (409, {"Retry-After": "1"}, b"{}"), (201, {}, b'{"state": "done", "chains": []}')]
            status, headers, content = answers[len(waits)]
            self.send_response(status)
            for name, value in (headers | {"Content-Length": str(len(content))}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *said: Any) -> None:
            pass

    (tmp_path / "run.json").write_bytes(FILE)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Busy) as busy:
        threading.Thread(target=busy.serve_forever, daemon=True).start()
        assert main(["push", str(tmp_path / "run.json"), "--to", f"http://127.0.0.1:{busy.server_port}"]) == 0
        busy.shutdown()
    assert waits == [1.0, 2.0]


@pytest.mark.parametrize(
    ("to", "token", "said"),
    [
        ("ftp://x", "t", "--to needs the address"),
        ("http://127.0.0.1:1", "t", "does not answer"),
        ("", "", "Set CHAINVIZ_TOKEN"),
        ("", "cvz_wrong", "This token is unknown, expired or revoked."),
    ],
)
def test_what_is_missing_is_one_sentence(
    server: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, to: str, token: str, said: str
) -> None:  # fmt: skip
    monkeypatch.setenv("CHAINVIZ_TOKEN", token)
    monkeypatch.setattr(push.time, "sleep", lambda seconds: None)
    (tmp_path / "run.json").write_bytes(FILE)
    assert main(["push", str(tmp_path / "run.json"), "--to", to or server]) in (1, 2)
    assert said in capsys.readouterr().err
    assert not Chain.objects.exists()


def test_the_token_follows_no_redirect(server: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[str] = []

    class Elsewhere(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            seen.append(self.path)
            self.send_response(302)
            self.send_header("Location", f"http://{self.headers['Host']}/stolen")
            self.end_headers()

        do_GET = do_POST  # noqa: N815

        def log_message(self, *said: Any) -> None:
            pass

    (tmp_path / "run.json").write_bytes(FILE)
    with http.server.HTTPServer(("127.0.0.1", 0), Elsewhere) as other:
        threading.Thread(target=other.handle_request, daemon=True).start()
        assert main(["push", str(tmp_path / "run.json"), "--to", f"http://127.0.0.1:{other.server_port}"]) == 1
    assert seen == ["/api/v1/uploads?name=run.json"]
    assert "302" in capsys.readouterr().err


def test_example_of_the_help_prints_a_link(server: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    example = re.search(r"```python\n(.*?)```", (ROOT / "chainviz/help/api.md").read_text(), re.DOTALL)
    assert example is not None
    assert len(example[1].splitlines()) <= 10
    exec(compile(example[1], "api.md", "exec"), {"messages": STORY})
    assert capsys.readouterr().out.split() == [f"{server}/c/{Chain.objects.get().pk}/"]
    monkeypatch.setattr(arrivals, "BIG", 10)
    exec(compile(example[1], "api.md", "exec"), {"messages": STORY[:2]})
    assert capsys.readouterr().out.split() == [f"{server}/upload/{Arrival.objects.get().pk}/"]
