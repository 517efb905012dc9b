"""A model that misbehaves in every way seen: each ends in time, with its cause, and never as a summary."""

from __future__ import annotations

import json
import resource
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from chainviz.llm.endpoint import Endpoint, Limits
from chainviz.llm.errors import no_connection, quoted, retry_after
from tests.llm.asking import KEY, SHORT, fault, request, writer
from tests.llm.fake_server import Exchange, Play, says, serving
from tests.waiting import PATIENCE, PROMPT


@contextmanager
def listening(backlog: int = 8) -> Iterator[socket.socket]:
    """A port that is open, with nobody behind it."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(backlog)
        yield listener


def url(listener: socket.socket, scheme: str = "http") -> str:
    return f"{scheme}://127.0.0.1:{listener.getsockname()[1]}/v1"


# -- no connection


def test_refused() -> None:
    with listening() as listener:
        free = url(listener)
    told = fault(writer(free))
    assert "refused" in told.text
    assert told.retryable


def test_unknown_name(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    told = fault(writer("http://models.example/v1"))
    assert "models.example" in told.text
    assert "was not found" in told.text


def test_name_look_up_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    over = threading.Event()

    def hang(*_: object, **__: object) -> None:
        over.wait(PATIENCE)
        raise socket.gaierror(socket.EAI_AGAIN, "late")

    monkeypatch.setattr(socket, "getaddrinfo", hang)
    told = fault(writer("http://models.example/v1", connect_seconds=60, seconds=SHORT))
    over.set()
    assert "had not finished" in told.text


def test_tls_where_none_is_spoken() -> None:
    with serving(says("x")) as server:
        told = fault(writer(server.url.replace("http://", "https://")))
    assert "TLS" in told.text
    assert "http://" in told.text
    assert not told.retryable


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificate")
def test_certificate_nobody_trusts(tmp_path: Path) -> None:
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -keyout key.pem -out cert.pem"
    subprocess.run(command.split(), cwd=tmp_path, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
    with listening() as listener:

        def shake_hands() -> None:
            with listener.accept()[0] as client:
                try:
                    context.wrap_socket(client, server_side=True)
                except OSError:
                    return

        threading.Thread(target=shake_hands, daemon=True).start()
        told = fault(writer(url(listener, "https")))
    assert "certificate" in told.text
    assert not told.retryable


def test_connection_that_is_never_taken() -> None:
    with listening(backlog=0) as listener, socket.socket() as first, socket.socket() as second:
        for client in (first, second):
            client.setblocking(False)
            client.connect_ex(listener.getsockname())
        told = fault(writer(url(listener), connect_seconds=0.5), within=PROMPT)
    assert "did not accept a connection within" in told.text


def test_connection_without_an_answer() -> None:
    with listening() as listener:
        told = fault(writer(url(listener), seconds=SHORT))
    assert "waiting for the model" in told.text
    assert told.seconds >= SHORT - 0.1


# -- an answer that says no


def test_too_often_then_room() -> None:
    def play(exchange: Exchange) -> None:
        exchange.answer(429, "{}", Retry_After="0.2") if exchange.number < 3 else says("at last")(exchange)

    with serving(play) as server:
        assert writer(server.url).write(request()).text == "at last"
    assert len(server.seen) == 3


def test_too_often_for_ever_is_given_up() -> None:
    with serving(lambda exchange: exchange.answer(429, '{"error": {"message": "slow down"}}')) as server:
        told = fault(writer(server.url))
    assert "429" in told.text
    assert "slow down" in told.text
    assert "3 times" in told.text
    assert told.retryable
    assert len(server.seen) == 3


def test_asked_to_wait_longer_than_there_is_time() -> None:
    with serving(lambda exchange: exchange.answer(429, "{}", Retry_After="3600")) as server:
        told = fault(writer(server.url), within=PROMPT)
    assert "3,600 s" in told.text
    assert told.retryable
    assert len(server.seen) == 1


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (500, '{"error": {"message": "boom"}}', "application/json"),
        (503, "<html><body>maintenance</body></html>", "text/html"),
        (502, "", "text/plain"),
        (529, "[" * 100_000, "application/json"),
    ],
)
def test_failing_server_is_asked_again_then_given_up(status: int, body: str, kind: str) -> None:
    with serving(lambda exchange: exchange.answer(status, body, kind)) as server:
        told = fault(writer(server.url))
    assert f"failed ({status})" in told.text
    assert "<" not in told.text
    assert told.retryable
    assert len(server.seen) == 3


def test_a_hiccup_is_not_noticed() -> None:
    def play(exchange: Exchange) -> None:
        exchange.answer(500, "{}") if exchange.number == 1 else says("fine")(exchange)

    with serving(play) as server:
        assert writer(server.url).write(request()).text == "fine"


@pytest.mark.parametrize(
    ("status", "body", "says_so"),
    [
        (400, {"error": {"message": "context of 8192 tokens exceeded"}}, "8192 tokens"),
        (401, {"error": {"message": f"Incorrect API key provided: {KEY}"}}, "[key]"),
        (404, {"error": "model 'small' not found"}, "CHAINVIZ_LLM_MODEL"),
        (422, {"detail": "no such field"}, "no such field"),
    ],
)
def test_a_refusal_is_not_repeated(status: int, body: dict[str, object], says_so: str) -> None:
    with serving(lambda exchange: exchange.answer(status, json.dumps(body))) as server:
        told = fault(writer(server.url))
    assert str(status) in told.text
    assert says_so in told.text
    assert not told.retryable
    assert len(server.seen) == 1


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_no_redirect_is_followed_and_the_key_stays(status: int) -> None:
    def play(exchange: Exchange) -> None:
        exchange.answer(status, "", Location=f"{other.url}/chat/completions")

    with serving(says("elsewhere")) as other, serving(play) as server:
        told = fault(writer(server.url))
    assert "redirect" in told.text
    assert not told.retryable
    assert other.seen == []


# -- an answer that is none


def ends(*events: dict[str, object], reason: str | None = None) -> Play:
    def play(exchange: Exchange) -> None:
        exchange.begin()
        for event in events:
            exchange.event(**event)
        if reason:
            exchange.stop(reason)

    return play


def streams(*lines: str) -> Play:
    def play(exchange: Exchange) -> None:
        exchange.begin()
        for line in lines:
            exchange.line(line)

    return play


CALL = [{"index": 0, "id": "c1", "type": "function", "function": {"name": "approve", "arguments": "{}"}}]
WHOLE_CALL = {"choices": [{"message": {"content": "ok", "tool_calls": CALL}, "finish_reason": "stop"}]}


@pytest.mark.parametrize(
    ("play", "cause"),
    [
        (lambda exchange: exchange.answer(200, "{broken"), "a completion"),
        (lambda exchange: exchange.answer(200, "[" * 200_000), "a completion"),
        (lambda exchange: exchange.answer(200, '"text"'), "a completion"),
        (lambda exchange: exchange.answer(200, '{"choices": [{"message": {"content": 7}}]}'), "a completion"),
        (lambda exchange: exchange.answer(200, "{}"), "not with a summary"),
        (lambda exchange: exchange.answer(200, '{"choices": []}'), "not with a summary"),
        (lambda exchange: exchange.answer(200, '{"error": "model is loading"}'), "model is loading"),
        (lambda exchange: exchange.answer(200, "<html>Please log in</html>", "text/html"), "not with a summary"),
        (lambda exchange: exchange.answer(200, json.dumps(WHOLE_CALL)), "called a tool"),
        (streams("{broken"), "a completion"),
        (streams("5"), "a completion"),
        (streams("{}", "[DONE]"), "not with a summary"),
        (streams("[" * 200_000), "a completion"),
        (streams('{"error": {"message": "out of memory"}}'), "out of memory"),
        (streams('{"choices": "none"}'), "a completion"),
        (ends({"content": "half a"}), "ended before"),
        (ends({"content": "half a"}, reason="length"), "length limit"),
        (ends({"content": "half a"}, reason="content_filter"), "filter"),
        (ends({"content": "half a"}, reason="strange"), "strange"),
        (ends({"tool_calls": CALL}, reason="tool_calls"), "called a tool"),
        (ends({"content": "x", "tool_calls": CALL}, reason="stop"), "called a tool"),
        (ends({"refusal": "I will not"}, reason="stop"), "I will not"),
        (ends(reason="stop"), "without writing"),
        (ends({"content": " \n"}, reason="stop"), "without writing"),
    ],
)
def test_what_is_no_summary_is_never_taken_for_one(play: Play, cause: str) -> None:
    with serving(play) as server:
        told = fault(writer(server.url))
    assert cause in told.text


def test_stream_cut_in_the_middle() -> None:
    def play(exchange: Exchange) -> None:
        exchange.begin(Content_Length="100000")
        exchange.event(content="half a summ")

    with serving(play) as server:
        told = fault(writer(server.url))
    assert "broke before the answer was complete" in told.text
    assert told.retryable


def test_connection_closed_without_a_word() -> None:
    with serving(lambda exchange: None) as server:
        told = fault(writer(server.url))
    assert "broke" in told.text


# -- an answer without end


def test_dripping_stream_ends_at_the_deadline() -> None:
    def play(exchange: Exchange) -> None:
        exchange.begin()
        while True:
            exchange.event(content="drip ")
            exchange.pause(0.2)

    with serving(play) as server:
        told = fault(writer(server.url, seconds=SHORT))
        assert server.hung_up.wait(PROMPT)
    assert "had not finished" in told.text
    assert "bytes written" in told.text


def test_endless_stream_of_words() -> None:
    def play(exchange: Exchange) -> None:
        exchange.begin()
        while True:
            exchange.event(content="word " * 2000)

    with serving(play) as server:
        told = fault(writer(server.url))
        assert server.hung_up.wait(PROMPT)
    assert "no summary is that long" in told.text


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@pytest.mark.parametrize("shape", ["one line", "one body", "an error", "comments"])
def test_a_gigabyte_is_not_kept(shape: str) -> None:
    def play(exchange: Exchange) -> None:
        kinds = {"one body": (200, "application/json"), "an error": (400, "text/plain")}
        exchange.begin(*kinds.get(shape, (200, "text/event-stream")), Content_Length=str(1 << 30))
        piece = b": nothing\n\n" * 6000 if shape == "comments" else b"data: " + b"x" * 65536
        for _ in range((1 << 30) // len(piece)):
            exchange.wfile.write(piece)

    wire_bytes = Limits().wire_bytes // (4 if shape == "comments" else 1)  # read line by line, which is slow
    with serving(says("warm")) as server:
        writer(server.url).write(request())
    before = peak()
    with serving(play) as server:
        told = fault(writer(server.url, wire_bytes=wire_bytes))
        assert server.hung_up.wait(PROMPT)
    assert "sent more than" in told.text
    assert peak() - before < 100 * 1024 * 1024


def test_a_compressed_answer_is_not_unfolded() -> None:
    with serving(lambda exchange: exchange.answer(200, "x", Content_Encoding="gzip")) as server:
        told = fault(writer(server.url))
        assert "compressed" in told.text
    assert server.seen[0].headers["accept-encoding"] == "identity"


# -- the sentences


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-3"}, 0),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:30 GMT"}, 30),
        ({"retry-after": "Wed, 21 Oct 2025 07:28:30 GMT"}, 0),
    ],
)
def test_every_spelling_of_retry_after(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, datetime(2026, 10, 21, 7, 28, tzinfo=UTC)) == seconds


def test_a_quote_is_one_short_printable_line_without_the_key() -> None:
    said = quoted(Endpoint(api_key=KEY), "a\x00\x1b[2J\n" + "b" * 150 + KEY + "c" * 500)
    assert said.isprintable()
    assert len(said) < 210
    assert KEY[:6] not in said


def test_errors_that_cause_each_other_are_walked_once() -> None:
    one, two = OSError("one"), OSError("two")
    one.__cause__, two.__cause__ = two, one
    group = ExceptionGroup("attempts", [one, ConnectionRefusedError()])
    assert "refused" in str(no_connection(Endpoint(base_url="http://h/v1"), group))
