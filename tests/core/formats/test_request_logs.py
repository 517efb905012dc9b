"""Logs of requests: an answer that was streamed is read as one that was not, and a question that is a plain string is read, wherever
the log holds its request."""

from __future__ import annotations

import json
from typing import Any

import pytest

import chainviz
from chainviz.core.chain.messages import text_of
from chainviz.core.errors import Refused
from chainviz.fixes.fix import fix_session

ASKED, ANSWERED = "Where is the boat?", "In the bay."
HUMAN = {"role": "user", "content": ASKED}


def anthropic() -> tuple[dict[str, Any], list[dict[str, Any]], dict[str, Any]]:
    start = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-opus-4-5", "content": [], "stop_reason": None}
    deltas = [{"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}} for text in ("In the ", "bay.")]
    first = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    end = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}
    whole = {**start, "content": [{"type": "text", "text": ANSWERED}], "stop_reason": "end_turn"}
    return ({"max_tokens": 9, "messages": [HUMAN]}, [{"type": "message_start", "message": start}, first, *deltas, end], whole)


def bedrock() -> tuple[dict[str, Any], list[dict[str, Any]], dict[str, Any]]:
    deltas = [{"contentBlockDelta": {"delta": {"text": text}, "contentBlockIndex": 0}} for text in ("In the ", "bay.")]
    chunks = [{"messageStart": {"role": "assistant"}}, *deltas, {"messageStop": {"stopReason": "end_turn"}}]
    whole = {"output": {"message": {"role": "assistant", "content": [{"text": ANSWERED}]}}}
    return {"messages": [{"role": "user", "content": [{"text": ASKED}]}]}, chunks, whole


def chat() -> tuple[dict[str, Any], list[dict[str, Any]], dict[str, Any]]:
    deltas = [{"role": "assistant", "content": "In the "}, {"content": "bay."}]
    chunks = [{"id": "c", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    whole = {"object": "chat.completion", "choices": [{"index": 0, "message": {"role": "assistant", "content": ANSWERED}}]}
    return {"model": "gpt-5", "stream": True, "messages": [HUMAN]}, chunks, whole


def gemini() -> tuple[dict[str, Any], list[dict[str, Any]], dict[str, Any]]:
    contents = [{"role": "model", "parts": [{"text": text}]} for text in ("In the ", "bay.", ANSWERED)]
    *chunks, whole = ({"candidates": [{"content": content}]} for content in contents)
    return {"contents": [{"role": "user", "parts": [{"text": ASKED}]}]}, chunks, whole


def responses() -> tuple[dict[str, Any], list[dict[str, Any]], dict[str, Any]]:
    item = {"id": "m", "type": "message", "role": "assistant", "status": "completed"}
    whole = {"object": "response", "output": [{**item, "content": [{"type": "output_text", "text": ANSWERED, "annotations": []}]}]}
    added = {"type": "response.output_item.added", "output_index": 0, "item": {**item, "content": []}}
    chunks = [{"type": "response.created", "response": {"output": []}}, added, {"type": "response.completed", "response": whole}]
    return {"model": "gpt-5", "input": ASKED}, chunks, whole


def in_http_log(request: Any, answer: Any) -> Any:
    return {"request": request, "response": answer}


def with_bodies(request: Any, answer: Any) -> Any:
    return {"request": {"method": "POST", "body": request}, "response": {"status": 200, "body": answer}}


def in_aws_log(request: Any, answer: Any) -> Any:
    bodies = {"input": {"inputBodyJson": request}, "output": {"outputBodyJson": answer}}
    return {"schemaType": "ModelInvocationLog", "operation": "InvokeModelWithResponseStream", **bodies}


def as_events(chunks: list[dict[str, Any]]) -> str:
    return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"


APIS = (anthropic, bedrock, chat, gemini, responses)
LOGS = [(api, log) for api in APIS for log in (in_http_log, with_bodies)] + [(anthropic, in_aws_log), (bedrock, in_aws_log)]


@pytest.mark.parametrize(("api", "log"), LOGS)
def test_a_streamed_answer_is_read_as_a_whole_one(api: Any, log: Any) -> None:
    request, chunks, whole = api()
    (plain,) = chainviz.load(json.dumps(log(request, whole)).encode())
    assert [text_of(message) for message in plain.messages] == [ASKED, ANSWERED]
    for streamed in (chunks, as_events(chunks)):
        content = json.dumps(log(request, streamed), indent=1).encode()
        (chain,) = chainviz.load(content)
        assert (chain.format, chain.is_fully_read) == (plain.format, True)
        assert [(each.role, each.parts) for each in chain.messages] == [(each.role, each.parts) for each in plain.messages]
        assert chain.to_bytes() == content
    lines = "".join(json.dumps(log(request, answer)) + "\n" for answer in (chunks, whole, as_events(chunks)))
    assert [[text_of(message) for message in chain.messages] for chain in chainviz.load(lines.encode())] == [[ASKED, ANSWERED]] * 3


def test_a_streamed_answer_is_read_behind_a_long_request() -> None:
    """Neither the request nor the first 64 kB of the file say that the answer is streamed."""
    request, chunks, _ = chat()
    request = {"model": "m", "messages": [*request["messages"], {"role": "user", "content": "long " * 40_000}]}
    for streamed in (chunks, as_events(chunks)):
        (chain,) = chainviz.load(json.dumps({"request": request, "response": streamed}).encode())
        assert text_of(chain.messages[-1]) == ANSWERED and chain.is_fully_read


def test_a_streamed_answer_that_no_format_joins_is_told_of() -> None:
    sent = "event: message_start\ndata: {}\n\n"
    (chain,) = chainviz.load(json.dumps({"messages": [HUMAN], "log": sent}).encode())
    assert not chain.is_fully_read and "“log”" in chain.problems()[0].text


BODY = {"model": "gpt-5", "input": ASKED}
ANSWER = responses()[2]


@pytest.mark.parametrize(
    ("record", "texts"),
    [
        (BODY, [ASKED]),
        ({**BODY, "output": ANSWER["output"]}, [ASKED, ANSWERED]),
        (in_http_log(BODY, ANSWER), [ASKED, ANSWERED]),
        (with_bodies(BODY, ANSWER), [ASKED, ANSWERED]),
        ({"custom_id": "1", "method": "POST", "url": "/v1/responses", "body": BODY}, [ASKED]),
    ],
)
def test_a_question_that_is_a_string_is_read_wherever_its_request_is(record: Any, texts: list[str]) -> None:
    for content, count in ((json.dumps(record), 1), (f"{json.dumps(record)}\n" * 2, 2)):
        chains = chainviz.load(content.encode())
        assert [[text_of(message) for message in chain.messages] for chain in chains] == [texts] * count
        assert all(chain.format == "openai_responses" and chain.is_fully_read for chain in chains)
        assert chains[0].to_bytes() == content.encode()


def in_har_file(request: Any, answer: Any) -> Any:
    sent = {"method": "POST", "postData": {"mimeType": "application/json", "text": json.dumps(request)}}
    return {"log": {"version": "1.2", "entries": [{"request": sent, "response": {"content": {"text": answer}}}]}}


@pytest.mark.parametrize(
    "log",
    [
        in_har_file,
        lambda request, answer: {"request": json.dumps(request), "response": answer},
        lambda request, answer: {"request_body": json.dumps(request), "response_body": answer},
        lambda request, answer: {"request": {"body": json.dumps(request)}, "response": {"body": answer}},
        lambda request, answer: {"prompt": request, "completion": answer},
        lambda request, answer: {"call": {"kwargs": request, "chunks": answer}},
        lambda request, answer: {"data": {"request": request, "reply": answer}},
    ],
)
@pytest.mark.parametrize("api", [chat, anthropic])
def test_an_answer_is_read_under_whatever_names_a_log_has(api: Any, log: Any) -> None:
    request, chunks, _ = api()
    (chain,) = chainviz.load(json.dumps(log(request, as_events(chunks))).encode())
    assert ([text_of(message) for message in chain.messages], chain.is_fully_read) == ([ASKED, ANSWERED], True)


def test_an_unknown_pair_of_names_loses_no_answer() -> None:
    request, _, whole = chat()
    (chain,) = chainviz.load(json.dumps({"prompt": request, "completion": whole}).encode())
    assert [text_of(message) for message in chain.messages] == [ASKED, ANSWERED]
    pairs = [{"prompt": request, "completion": whole}] * 2
    assert [len(chain) for chain in chainviz.load(json.dumps({"runs": pairs}).encode())] == [2, 2]
    again = [*request["messages"], {"role": "assistant", "content": ANSWERED}]
    (chain,) = chainviz.load(json.dumps({"prompt": {**request, "messages": again}, "completion": whole}).encode())
    assert len(chain) == 2, "an answer that the list already ends with counts once"


def test_a_fix_does_not_replace_the_chunks_of_a_log() -> None:
    request, chunks, _ = chat()
    broken = {**request, "messages": [{"role": "tool", "tool_call_id": "c", "content": "gulls"}, HUMAN]}
    content = json.dumps(in_http_log(broken, chunks)).encode()
    with pytest.raises(Refused, match="contains more than the messages"):
        fix_session(content, "log.json", lambda chain, result: None)
    whole = json.dumps(in_http_log(request, chunks)).encode()
    assert fix_session(whole, "log.json", lambda chain, result: None).new == whole
