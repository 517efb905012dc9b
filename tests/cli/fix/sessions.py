"""Sessions of each agent in small: their lines, how they are written, and what an API says to them."""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path
from typing import Any

from chainviz.core.chain.messages import Message, Text
from chainviz.core.chain.tree import parse
from chainviz.core.formats.vendors import get_provider
from chainviz.core.load import load_file
from chainviz.core.providers.check import check

Lines = list[dict[str, Any]]
SHARED = {"isSidechain": False, "userType": "external", "cwd": "/repo", "sessionId": "s-1", "version": "2.1.44"}
COMPACTED = {"isCompactSummary": True, "isVisibleInTranscriptOnly": True}
CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
META = {"timestamp": "2026-11-21T20:00:00.000Z", "type": "session_meta", "payload": {"id": "019a-1", "cwd": "/repo"}}


def line(number: int, kind: str, message: dict[str, Any], **more: Any) -> dict[str, Any]:
    parent = f"u{number - 1}" if number else None
    return {"parentUuid": parent, **SHARED, "type": kind, "message": message, "uuid": f"u{number}", **more}


def said(number: int, text: str, **more: Any) -> dict[str, Any]:
    return line(number, "user", {"role": "user", "content": text}, **more)


def called(number: int, *ids: str, message: str = "", **more: Any) -> dict[str, Any]:
    blocks = [{"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "ls"}} for id in ids]
    inner = {"id": message or f"msg_{number}", "type": "message", "role": "assistant", "content": blocks}
    return line(number, "assistant", inner, **more)


def answered(number: int, *ids: str, **more: Any) -> dict[str, Any]:
    blocks = [{"type": "tool_result", "tool_use_id": id, "content": f"result of {id}"} for id in ids]
    return line(number, "user", {"role": "user", "content": blocks}, **more)


def told(number: int, text: str, **more: Any) -> dict[str, Any]:
    inner = {"id": f"msg_{number}", "type": "message", "role": "assistant", "content": [{"type": "text", "text": text}]}
    return line(number, "assistant", inner, **more)


def pixels(width: int, height: int = 9) -> str:
    """The beginning and the end of a PNG of that size, in base64."""
    size = width.to_bytes(4, "big") + height.to_bytes(4, "big")
    return b64encode(b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + size + bytes(21) + b"IEND\xaeB`\x82").decode()


def showed(number: int, data: str, media_type: str = "image/png") -> dict[str, Any]:
    source = {"type": "base64", "media_type": media_type, "data": data}
    content = [{"type": "image", "source": source}, {"type": "text", "text": "See"}]
    return line(number, "user", {"role": "user", "content": content})


def thought(number: int, **more: Any) -> dict[str, Any]:
    blocks = [{"type": "thinking", "thinking": "Hm", "signature": "EgZhYmNkZWY="}]
    return line(number, "assistant", {"id": f"msg_{number}", "type": "message", "role": "assistant", "content": blocks}, **more)


def item(**payload: Any) -> dict[str, Any]:
    return {"timestamp": "2026-11-21T20:01:00.000Z", "type": "response_item", "payload": payload}


def words(role: str, text: str) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return item(type="message", role=role, content=[{"type": kind, "text": text}])


def patched(id: str) -> dict[str, Any]:
    return item(type="custom_tool_call", name="apply_patch", input="*** Begin Patch", call_id=id, status="completed")


def reasoned() -> dict[str, Any]:
    return item(type="reasoning", id="rs_1", summary=[], encrypted_content="gAAA")


def pi_line(role: str, **members: Any) -> dict[str, Any]:
    return {"type": "message", "message": {"role": role, **members}}


def entry(id: str, parent: str, role: str, content: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    return {"type": "message", "id": id, "parentId": parent, "message": {"role": role, "content": content, **more}}


def event(number: int, kind: str, **members: Any) -> dict[str, Any]:
    return {"id": f"e{number}", "timestamp": f"2026-11-21T20:00:0{number}", "kind": kind, **members}


def asked(number: int, text: str) -> dict[str, Any]:
    message = {"role": "user", "content": [{"type": "text", "text": text}]}
    return event(number, "MessageEvent", source="user", llm_message=message)


def acted(number: int, id: str, answer: str = "") -> dict[str, Any]:
    call = {"id": id, "name": "terminal", "arguments": '{"command": "ls"}', "origin": "completion"}
    named = {"tool_name": "terminal", "tool_call_id": id, "tool_call": call, "llm_response_id": answer or f"r{number}"}
    return event(number, "ActionEvent", source="agent", thought=[], action={"kind": "ExecuteBashAction", "command": "ls"}, **named)


def observed(number: int, id: str) -> dict[str, Any]:
    content = {"kind": "ExecuteBashObservation", "content": [{"type": "text", "text": "a.txt"}]}
    named = {"tool_name": "terminal", "tool_call_id": id, "action_id": "e1", "observation": content}
    return event(number, "ObservationEvent", source="environment", **named)


def json_lines(values: Lines) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def one_list(values: Lines) -> bytes:
    return json.dumps(values, indent=1).encode()


def errors(path: Path, format: str, provider: str, chain: int = 0) -> list[str]:
    messages = (*load_file(path, format)[chain].messages, Message("human", (Text("Go on"),)))
    found = check(get_provider(provider), parse(messages), format)
    return [problem.text for problem in found if problem.severity == "error"]
