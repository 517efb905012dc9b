"""Transcripts as failures arrive (issue 12): the JSON is found, unwrapped and said so, and the file comes back as it came."""

from __future__ import annotations

import json
import re
import shlex
from typing import Any

import pytest

import chainviz
from chainviz.core.chain.messages import text_of
from chainviz.core.documents.source import open_source
from chainviz.core.documents.wrapped import unwrap, values
from chainviz.core.documents.wrapped.unwrap import WRAPPED as WRAPPED_JSON
from chainviz.core.documents.wrapped.unwrap import unwrapped
from chainviz.core.documents.written_file import written

MESSAGES = [
    {"role": "user", "content": "it's \"hot\"\nhé 🦊"},
    {"role": "assistant", "content": None, "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"a": 1}'}}]},
    {"role": "tool", "tool_call_id": "c1", "content": "none"},
]  # fmt: skip
BODY = json.dumps({"model": "m", "messages": MESSAGES})
OPTIONS = {"method": "post", "json_data": {"messages": MESSAGES}}
IN_SHELL = BODY.replace("\\", "\\\\").replace("'", "\\'")
IN_DOUBLE_QUOTES = re.sub(r'([\\"$`])', r"\\\1", BODY.replace("none", "costs $5 or `6`"))
IN_POWERSHELL = re.sub(r'([`"$])', r"`\1", BODY.replace("none", "costs $5 or `6`"))
DOUBLED = BODY.replace("'", "''")
QUOTED = json.dumps(MESSAGES).replace('"', '""')

PRETTY = json.dumps({"messages": MESSAGES}, indent=2)
FOR_WINDOWS = json.dumps({"messages": [{**MESSAGES[0]}, *MESSAGES[1:]]}).replace("\\", "\\\\").replace('"', '\\"').replace("{", "^{")

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
    "JSON inside a string of a string": json.dumps(json.dumps(BODY)),
    "JSON inside strings, one a message": json.dumps([json.dumps(each) for each in MESSAGES]),
    "a cURL command of Windows": f'curl "https://api.test/v1" ^\n  -H "x: y" ^\n  --data-raw "{FOR_WINDOWS}"',
    "a cURL command in a pipe": f"$ time curl -s https://api.test/v1 -d{shlex.quote(BODY)} | jq .\n",
    "a cURL command that has double quotes": f'curl https://api.test/v1 -d "{IN_DOUBLE_QUOTES}"',
    "a PowerShell command": f'Invoke-WebRequest -Uri "https://api.test/v1" `\n  -Method "POST" `\n  -Body "{IN_POWERSHELL}"',
    "a PowerShell command of a browser": f'Invoke-WebRequest -Body ([System.Text.Encoding]::UTF8.GetBytes("{IN_POWERSHELL}"))',
    "text with JSON in it, a request of a browser": f'fetch("https://api.test/v1", {{\n  "body": {json.dumps(BODY)}\n}});',
    "text with JSON in it, a here-document": f"cat <<END | send\n{PRETTY}\nEND\n",
    "text with JSON in it, fenced": f"This fails with 400:\n\n```json\n{PRETTY}\n```\n",
    "text with JSON in it, an assignment in Python": f"messages = {MESSAGES!r}\n",
    "text with JSON in it, key and value": f"level=info msg=request body={json.dumps(BODY)}\n",
    "Python's repr with objects": f"{{'client': <openai.OpenAI object at 0x7f01>, 'messages': {MESSAGES!r}}}",
    "a log of several lines an entry": f"2026-01-02 03:04:05 INFO request\n{PRETTY}\n2026-01-02 03:04:06 INFO done\n",
    "a log with a message a line": "2026-01-02 INFO start\n" + "".join(f"2026-01-02 INFO {json.dumps(each)}\n" for each in MESSAGES),
    "a log with a message a line, of Python": "".join(f"[{n}] {each!r}\n" for n, each in enumerate(MESSAGES)),
    "text with JSON in it, a list": f"messages: [ {', '.join(map(json.dumps, MESSAGES))} ]\n",
    "text with JSON in it, in SQL": f"INSERT INTO runs VALUES (1, '{DOUBLED}');\n",
    "text with JSON in it, in PowerShell": f"Invoke-RestMethod https://api.test/v1 -Body '{DOUBLED}'\n",
    "a log of containers": f"web-1  | starting\nweb-1  | {BODY}\n",
    "a log with other values beside": f"INFO messages={MESSAGES!r} tools=[] {{it's}}\n",
    "a table with a column of JSON, in strings": f'id,body\r\n1,"{json.dumps(BODY).replace(chr(34), chr(34) * 2)}"\r\n',
    "JSON with the request inside a string, in a log": json.dumps({"log": f"INFO request {BODY}\n", "stream": "stderr"}),
    "JSON with the request inside a string": json.dumps({"id": 1, "request": {"body": BODY}}) + "\n",
}


@pytest.mark.parametrize("kind", WRAPPED)
def test_the_chain_is_found_and_the_file_stays(kind: str) -> None:
    content = WRAPPED[kind].encode()
    (chain,) = chainviz.load(content)
    assert [message.role for message in chain.messages] == ["human", "ai", "tool"]
    assert [part.text for part in chain.messages[0].parts] == [MESSAGES[0]["content"]]  # type: ignore[union-attr]
    (notice,) = chain.warnings
    assert notice.startswith(f"This is {re.split(' that| of | in a | with (?!JSON|a col|the)|, ', kind)[0]}")
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
        f"**User:** what is this?\n```json\n{BODY}\n```\n**Assistant:** a request\n",
        f"# aider chat started at 2026-01-02\n#### fix this\n{BODY}\n",
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


def test_a_recording_of_a_browser_holds_the_answer_beside_the_request() -> None:
    """HAR 1.2: entries with `request.postData.text` and `response.content.text`."""
    answer = json.dumps({"choices": [{"message": {"role": "assistant", "content": "hello"}}]})
    calls = [
        {"request": {"method": "POST", "postData": {"text": BODY}}, "response": {"status": 200, "content": {"text": text}}}
        for text in (answer, "")
    ]
    first, second = chainviz.load(json.dumps({"log": {"version": "1.2", "entries": calls}}).encode())
    assert [message.role for message in first.messages] == ["human", "ai", "tool", "ai"]
    assert text_of(first.messages[-1]) == "hello"
    assert [message.role for message in second.messages] == ["human", "ai", "tool"]


def test_models_that_leave_out_their_kind() -> None:
    text = (
        "[SystemMessage(content='be brief', additional_kwargs={}), HumanMessage(content='hi', additional_kwargs={}), "
        "AIMessage(content='', tool_calls=[{'name': 'look', 'args': {'a': 1}, 'id': 'c1', 'type': 'tool_call'}]), "
        "ToolMessage(content='none', tool_call_id='c1')]"
    )
    (chain,) = chainviz.load(text.encode())
    assert [message.role for message in chain.messages] == ["system", "human", "ai", "tool"]


def test_what_only_looks_like_json_ends_the_search_and_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each place that looks like a value costs time: a text of nothing else may not take for ever."""
    monkeypatch.setattr(values, "FAILURES", 500)
    text = f"INFO {BODY}\n" + "[{'a', " * 2_000
    found = unwrapped(text)
    assert found is not None and len(found.documents) == 1
    assert "The end was not searched" in found.notice
    assert unwrapped("INFO role: " + '{"role": ' * 2_000) is None


def test_a_file_comes_back_as_it_came_whatever_is_looked_for_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts that were stored before they carried their own digest are read again."""
    content = WRAPPED["a log"].encode()
    with open_source(content) as source:
        text = b"".join(source.chunks())
    old = re.sub(rb',\n"sha256": "\w+"}\n$', b"}\n", text)
    assert len(old) < len(text)
    assert b"".join(written([old], WRAPPED_JSON)) == b"".join(written([text], WRAPPED_JSON)) == content
    changed = text.replace(b"it's", b"that", 1)
    assert b"".join(written([changed], WRAPPED_JSON)).startswith(b'{"model"')
    monkeypatch.setattr(unwrap, "KINDS", ())
    assert b"".join(written([text], WRAPPED_JSON)) == content


def test_a_secret_beside_the_json_is_masked_with_what_it_stood_in() -> None:
    """The key of a command's header lies in no JSON: the file comes back as it came only while nothing is taken out of it."""
    key = "sk-" + "proj-Zx8Kq3LmN4pQ7rS9tU2vW5yA1bC6dE0fG8hJ3kL5mN7pQ9rS1tU4vW6xY8zA"
    command = f"curl https://api.test/v1 -H 'Authorization: Bearer {key}' -d {shlex.quote(BODY)}\n".encode()
    (chain,) = chainviz.load(command)
    assert chain.to_bytes() == command
    masked = chain.apply("mask")
    assert len(masked.report) == 1 and json.loads(masked.chain.to_bytes()) == json.loads(BODY)
    (chain,) = chainviz.load(command.replace(key.encode(), b"$KEY"))
    assert chain.apply("mask").chain is chain
