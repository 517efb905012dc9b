"""A model that behaves: what it is sent, what is taken from it, how far it is, how it is stopped."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from chainviz.core.operations.summarize.writers.contract import Summary, Writer, WriterError
from chainviz.core.usage.recorded import TokenUsage
from chainviz.llm.endpoint import Endpoint
from chainviz.llm.openai_writer import OpenAIWriter
from tests.core.pictures import ai
from tests.llm.asking import KEY, fault, request, writer
from tests.llm.fake_server import Exchange, says, serving
from tests.waiting import PROMPT


def test_it_is_a_writer_and_says_where_text_would_go() -> None:
    made: Writer = OpenAIWriter(Endpoint(base_url="https://models.example/v1", model="small", api_key=KEY))
    assert (made.name, made.label) == ("openai", "model small at models.example")
    assert KEY not in repr(made)


def test_the_words_of_a_stream_are_the_summary() -> None:
    with serving(says("The depot ", "is full. ", "Ünïcode 🙂")) as server:
        assert writer(server.url).write(request()).text == "The depot is full. Ünïcode 🙂"
    (seen,) = server.seen
    assert seen.path == "/v1/chat/completions"
    assert seen.body["model"] == "small"
    assert seen.body["stream"] is True
    assert seen.body["messages"] == [{"role": "user", "content": "<instructions>Sum up.</instructions>\n\n" + request().prompt_body}]


def test_an_answer_in_one_piece_is_taken_too() -> None:
    body = json.dumps({"choices": [{"message": {"role": "assistant", "content": "Whole."}, "finish_reason": "stop"}]})
    with serving(lambda exchange: exchange.answer(200, body)) as server:
        assert writer(server.url).write(request()).text == "Whole."


USAGE = {"prompt_tokens": 900, "completion_tokens": 40, "prompt_tokens_details": {"cached_tokens": 300}}


def test_the_tokens_that_the_server_counted_come_with_the_text() -> None:
    with serving(says("Counted.", usage=USAGE)) as server:
        assert writer(server.url).write(request()) == Summary("Counted.", TokenUsage(1, 900, 300, 0, 40))
    body = json.dumps({"choices": [{"message": {"content": "Whole."}, "finish_reason": "stop"}], "usage": USAGE})
    with serving(lambda exchange: exchange.answer(200, body)) as server:
        assert writer(server.url).write(request()).usage == TokenUsage(1, 900, 300, 0, 40)


def test_a_server_that_cannot_count_is_asked_without() -> None:
    def play(exchange: Exchange) -> None:
        if "stream_options" in exchange.server.seen[-1].body:
            exchange.answer(400, '{"error": {"message": "Unrecognized request argument: stream_options"}}')
        else:
            says("Fine.")(exchange)

    with serving(play) as server:
        assert writer(server.url).write(request()) == Summary("Fine.", None)
    assert len(server.seen) == 2


def test_a_server_that_goes_silent_after_the_text_loses_nothing() -> None:
    def play(exchange: Exchange) -> None:
        exchange.begin()
        exchange.event(content="Whole.")
        exchange.event({"finish_reason": "stop"})
        exchange.pause(20)

    with serving(play) as server:
        assert writer(server.url).write(request()).text == "Whole."


def test_what_is_larger_than_the_window_is_asked_in_parts_and_joined() -> None:
    heard: list[str] = []
    messages = tuple(ai(f"Step {n}: " + "so " * 900) for n in range(12))
    asked = replace(request(), messages=messages, window=4_000, target_bytes=900)

    def play(exchange: Exchange) -> None:
        says(f"Part {exchange.number}.", usage=USAGE)(exchange)

    with serving(play) as server:
        summary = writer(server.url).write(asked, progress=lambda done, stage: heard.append(stage))
    assert len(server.seen) > 3
    assert summary.text == "\n\n".join(f"Part {n + 1}." for n in range(len(server.seen)))
    assert summary.usage == TokenUsage(len(server.seen), 900 * len(server.seen), 300 * len(server.seen), 0, 40 * len(server.seen))
    assert all(len(seen.body["messages"][0]["content"]) < 4 * 4_000 for seen in server.seen)


def test_a_part_that_fails_says_which_one() -> None:
    messages = tuple(ai(f"Step {n}: " + "so " * 900) for n in range(12))
    asked = replace(request(), messages=messages, window=4_000)

    def play(exchange: Exchange) -> None:
        exchange.answer(401, "{}") if exchange.number == 2 else says("x")(exchange)

    with serving(play) as server, pytest.raises(WriterError, match=r"^Part 2 of \d: ") as raised:
        writer(server.url).write(asked)
    assert not raised.value.retryable


def test_the_key_is_sent_and_nothing_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "other-key")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-somebody")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Secret: custom-secret\nAuthorization: Bearer other-key")
    with serving(says("x")) as server:
        writer(server.url).write(request())
        writer(server.url, key="").write(request())
    with_key, keyless = server.seen
    assert with_key.headers["authorization"] == f"Bearer {KEY}"
    assert "authorization" not in keyless.headers
    for seen in server.seen:
        assert not [name for name in seen.headers if name.startswith("x-")]
        assert not {"org-of-somebody", "other-key", "custom-secret", "Bearer other-key"} & set(seen.headers.values())


def test_no_other_address_than_the_one_set(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(says("x")) as other:
        monkeypatch.setenv("OPENAI_BASE_URL", other.url)
        told = fault(OpenAIWriter(Endpoint(model="small", api_key=KEY)))
        assert "CHAINVIZ_LLM_BASE_URL" in told.text
        assert not told.retryable
    assert other.seen == []


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"base_url": "127.0.0.1:11434"}, "CHAINVIZ_LLM_BASE_URL"),
        ({"base_url": "ftp://127.0.0.1/v1"}, "CHAINVIZ_LLM_BASE_URL"),
        ({"base_url": "http://:80/v1"}, "CHAINVIZ_LLM_BASE_URL"),
        ({"base_url": "http://host:port/v1"}, "CHAINVIZ_LLM_BASE_URL"),
        ({"base_url": f"http://me:{KEY}@host/v1"}, "CHAINVIZ_LLM_API_KEY"),
        ({"api_key": f"{KEY}\nX-Other: 1"}, "CHAINVIZ_LLM_API_KEY"),
        ({"api_key": f"{KEY}é"}, "CHAINVIZ_LLM_API_KEY"),
        ({"model": ""}, "CHAINVIZ_LLM_MODEL"),
    ],
)
def test_settings_that_cannot_work_are_named(wrong: dict[str, str], named: str) -> None:
    endpoint = Endpoint(**{"base_url": "http://127.0.0.1:9/v1", "model": "small", **wrong})
    told = fault(OpenAIWriter(endpoint), within=1)
    assert named in told.text
    assert not told.retryable
    assert OpenAIWriter(endpoint).label == "model, not set up"


def test_progress_grows_with_the_words() -> None:
    def play(exchange: Exchange) -> None:
        exchange.begin()
        for _ in range(4):
            exchange.event(content="x" * 50)
            exchange.pause(0.15)
        exchange.stop()

    heard: list[tuple[float, str]] = []
    with serving(play) as server:
        writer(server.url).write(request(), progress=lambda done, stage: heard.append((done, stage)))
    parts = [done for done, _ in heard]
    assert parts == sorted(parts)
    assert parts[-1] > parts[0]
    assert max(parts) < 1
    assert any("bytes written" in stage for _, stage in heard)


def test_thoughts_in_front_of_the_answer_are_no_summary() -> None:
    with serving(says("<think>They want ", "brevity.</think>\n\nShort.")) as server:
        assert writer(server.url).write(request()).text == "Short."


def test_half_an_emoji_in_a_transcript_stops_nothing() -> None:
    with serving(says("x")) as server:
        assert writer(server.url).write(request(text="cut \ud83d here\x00")).text == "x"
    assert "cut ? here\x00" in server.seen[0].body["messages"][0]["content"]


@pytest.mark.parametrize("moment", ["before the first word", "between words", "while pausing"])
def test_a_cancel_is_heeded_within_a_second_and_hangs_up(moment: str) -> None:
    come = threading.Event()

    def play(exchange: Exchange) -> None:
        if moment == "while pausing":
            exchange.answer(429, "{}", Retry_After="25")
        if moment == "between words":
            exchange.begin()
            exchange.event(content="begun")
        come.set()
        while moment != "while pausing":
            exchange.pause(0.05)
            exchange.wfile.write(b": still here\n\n" if moment == "between words" else b"")
            exchange.connection.setblocking(False)
            try:
                if exchange.connection.recv(1) == b"":
                    raise ConnectionResetError
            except BlockingIOError:
                exchange.connection.setblocking(True)

    with serving(play) as server:
        told = fault(writer(server.url), within=PROMPT, cancelled=come.is_set)
        assert "Cancelled" in told.text
        assert moment == "while pausing" or server.hung_up.wait(PROMPT)


def test_what_is_called_between_words_may_use_a_database() -> None:
    """Django refuses its database where an event loop runs, and connections belong to their thread."""

    def play(exchange: Exchange) -> None:
        exchange.begin()
        exchange.event(content="x")
        exchange.pause(0.3)
        exchange.stop()

    here, threads = threading.current_thread(), set()

    def look(*_: object) -> bool:
        threads.add(threading.current_thread())
        return False

    with serving(play) as server:
        writer(server.url).write(request(), cancelled=look, progress=look)  # type: ignore[arg-type]
    assert threads == {here}


def test_it_writes_where_an_event_loop_runs() -> None:
    async def ask() -> str:
        return writer(server.url).write(request()).text

    with serving(says("fine")) as server, ThreadPoolExecutor(1) as threads:
        assert threads.submit(asyncio.run, ask()).result() == "fine"


def test_the_key_is_in_no_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with serving(lambda exchange: exchange.answer(401, json.dumps({"error": f"bad {KEY}"}))) as server, pytest.raises(WriterError):
        writer(server.url).write(request())
    assert KEY not in caplog.text
