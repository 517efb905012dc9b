"""Transcripts as failures arrive (issue 12): the JSON is found, unwrapped and said so, and the file comes back as it came."""

from __future__ import annotations

import json
import shlex
from typing import Any

import pytest

import chainviz
from chainviz.core.chain.messages import text_of
from chainviz.core.documents.wrapped_text import unwrapped

MESSAGES = [
    {"role": "user", "content": "it's \"hot\"\nhé 🦊"},
    {"role": "assistant", "content": None, "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"a": 1}'}}]},
    {"role": "tool", "tool_call_id": "c1", "content": "none"},
]  # fmt: skip
BODY = json.dumps({"model": "m", "messages": MESSAGES})
OPTIONS = {"method": "post", "json_data": {"messages": MESSAGES}}
IN_SHELL = BODY.replace("\\", "\\\\").replace("'", "\\'")
QUOTED = json.dumps(MESSAGES).replace('"', '""')

WRAPPED = {
    "JSON inside a string": json.dumps(BODY),
    "JSON inside a string that lost its quotation marks": json.dumps(BODY)[1:-1],
    "a cURL command": f"curl https://api.test/v1 \\\n  -H 'X-Y: z' \\\n  -d {shlex.quote(BODY)}\n",
    "a cURL command of a browser": f"curl 'https://api.test/v1' --data-raw $'{IN_SHELL}' --compressed",
    "Python's repr": repr({"messages": MESSAGES}),
    "Python's repr of models": f"[Message(role='user', content={MESSAGES[0]['content']!r}), {MESSAGES[1]!r}, {MESSAGES[2]!r}]",
    "a log": f"2026-01-02 03:04:05,678 INFO client: request {BODY}\n2026-01-02 03:04:06 INFO done\n",
    "a log of Python's repr": f"DEBUG:client:Request options: {OPTIONS!r}\n",
    "a table with a column of JSON": f'id,messages\r\n1,"{QUOTED}"\r\n',
    "JSON with the request inside a string": json.dumps({"id": 1, "request": {"body": BODY}}) + "\n",
}


@pytest.mark.parametrize("kind", WRAPPED)
def test_the_chain_is_found_and_the_file_stays(kind: str) -> None:
    content = WRAPPED[kind].encode()
    (chain,) = chainviz.load(content)
    assert [message.role for message in chain.messages] == ["human", "ai", "tool"]
    assert [part.text for part in chain.messages[0].parts] == [MESSAGES[0]["content"]]  # type: ignore[union-attr]
    (notice,) = chain.warnings
    assert notice.startswith(f"This is {kind.partition(' that')[0].partition(' of ')[0]}")
    assert chain.to_bytes() == content
    changed = chain.apply("edit", path="s1.h.m0.c0", action="text", text="cold").chain.to_bytes()
    assert [message["role"] for message in _messages(json.loads(changed))] == ["user", "assistant", "tool"]
    assert _messages(json.loads(changed))[0]["content"] == "cold"


def _messages(document: object) -> list[dict[str, str]]:
    """The list of messages, wherever it is in the document."""
    if isinstance(document, list):
        return document
    assert isinstance(document, dict)
    return next(_messages(each) for each in document.values() if isinstance(each, dict | list))


def test_several_documents_are_chains_with_names() -> None:
    lines = [json.dumps({"id": number, "body": BODY}) for number in range(2)]
    chains = chainviz.load("\n".join(lines).encode())
    assert [chain.loaded.title for chain in chains] == ["line 1, body", "line 2, body"]


@pytest.mark.parametrize(
    "text",
    [
        BODY,
        json.dumps(MESSAGES),
        "Dear all, hello, how are you\nfine, thanks, you\n",
        "User: hi\nAssistant: see {'a': 1}\n",
        json.dumps([{"role": "user", "content": BODY}]),
        "curl https://api.test/v1 -d 'plain'",
    ],
)
def test_other_texts_are_what_they_seem(text: str) -> None:
    assert unwrapped(text) is None


@pytest.mark.parametrize("answer", [
    {"choices": [{"message": {"role": "assistant", "content": "hello"}}]},
    {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "hello"}]},
])  # fmt: skip
def test_a_request_and_its_answer_in_strings_are_one_chain(answer: dict[str, Any]) -> None:
    """As the inputs and outputs of a span of MLflow."""
    request = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
    attributes = {"mlflow.spanInputs": json.dumps(request), "mlflow.spanOutputs": json.dumps(answer)}
    (chain,) = chainviz.load(json.dumps({"data": {"spans": [{"name": "chat", "attributes": attributes}]}}).encode())
    assert [text_of(message) for message in chain.messages] == ["hi", "hello"]
