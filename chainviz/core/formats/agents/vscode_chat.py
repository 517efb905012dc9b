"""Chats in VS Code: GitHub Copilot as exported and as the editor keeps it, and Continue."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from chainviz.core.chain.messages import TOOL, Fragment, Image, Message, Opaque, Part, Role, Text, Thinking, ToolCall, ToolResult
from chainviz.core.dialects.values import objects_of, string_of
from chainviz.core.documents.json.edit import dump, parse
from chainviz.core.documents.units import Sample, Unit
from chainviz.core.formats.read_only import ReadOnlyUnits, Turn, as_text, in_steps, inner, make_message, unknown, with_results


class CopilotChat(ReadOnlyUnits):
    """Chats that VS Code exports (`Chat: Export Chat…`) and keeps: each request holds the answer of GitHub Copilot.

    The rounds of an agent hold calls and results; other answers hold the pieces that the editor showed.
    """

    name = "copilot_chat"
    label = "VS Code chat (Copilot)"
    tested_with = "source of VS Code 1.95 to 1.106"
    hints = ("requestId",)
    carried_fields = frozenset(
        ("agent", "variableData", "generatedTitle", "invocationMessage", "pastTenseMessage", "slashCommand", "followups", "details",
         "errorDetails", "renderedGlobalContext", "renderedUserMessage", "promptTokenDetails", "codeBlocks", "cacheKey")
    )  # fmt: skip

    def is_message(self, value: object) -> bool:
        return isinstance(value, dict) and "requestId" in value and isinstance(inner(value, "message").get("text"), str)

    def carried_in(self, value: object) -> frozenset[str]:
        """Return the carried fields. The pieces that the editor showed are carried if the rounds are recorded, since
        they repeat them."""
        has_rounds = bool(objects_of(inner(inner(value, "result"), "metadata"), "toolCallRounds"))
        return self.carried_fields | {"response"} if has_rounds else self.carried_fields

    def messages_in(self, value: Any) -> Sequence[Turn]:
        asked: list[Turn] = [("user", [Text(value["message"]["text"])])]
        metadata = inner(inner(value, "result"), "metadata")
        rounds = objects_of(metadata, "toolCallRounds")
        results = inner(metadata, "toolCallResults")
        answered = [said for each in rounds for said in _round(each, results)]
        called = {string_of(call, "id") for each in rounds for call in objects_of(each, "toolCalls")}
        left = [ToolResult(id, "", _copilot_content(each)) for id, each in results.items() if rounds and id not in called]
        return [*asked, *(answered or _answer(value)), *([("tool", left)] if left else [])]


def _round(value: dict[str, Any], returned: dict[str, Any]) -> list[Turn]:
    called = objects_of(value, "toolCalls")
    calls = [ToolCall(string_of(each, "id"), string_of(each, "name"), as_text(each.get("arguments"))) for each in called]
    thought = as_text(inner(value, "thinking").get("text"))
    texts = [Text(string_of(value, "response"))] if string_of(value, "response") else []
    results = [ToolResult(call.id, call.name, _copilot_content(returned[call.id])) for call in calls if call.id in returned]
    return with_results("assistant", [*([Thinking(thought)] if thought else []), *texts, *calls], results)


def _copilot_content(returned: Any) -> str:
    return "\n".join(as_text(item.get("value")) for item in objects_of(returned, "content"))


def _answer(value: dict[str, Any]) -> list[Turn]:
    """Return the pieces that the editor showed of an answer without recorded rounds, such as an interrupted one."""
    pieces: list[tuple[Part, ToolResult | None]] = []
    for item in objects_of(value, "response"):
        for part, result in _piece(item):
            last = pieces[-1][0] if pieces else None
            if isinstance(part, Text) and isinstance(last, Text):
                pieces[-1] = (Text(last.text + part.text), None)
            else:
                pieces.append((part, result))
    return in_steps("assistant", pieces) if pieces else []


def _piece(item: dict[str, Any]) -> Iterator[tuple[Part, ToolResult | None]]:
    kind = string_of(item, "kind")
    text = string_of(item, "value") or string_of(inner(item, "content"), "value")
    if kind == "thinking" and text:
        yield Thinking(text), None
    elif kind in ("", "markdownContent") and text:
        yield Text(text), None
    elif kind == "inlineReference":
        yield Text(_name(inner(item, "inlineReference"), string_of(item, "name"))), None
    elif kind == "toolInvocationSerialized":
        yield _invocation(item)
    elif kind in ("", "thinking", "markdownContent") and "value" not in item and "content" not in item:
        yield unknown(item), None


def _name(reference: dict[str, Any], name: str) -> str:
    """Return the name of a reference in a text, or the name of its file."""
    path = string_of(reference, "path") or string_of(inner(reference, "uri"), "path")
    return f"`{name or string_of(reference, 'name') or path.rpartition('/')[2]}`"


def _invocation(item: dict[str, Any]) -> tuple[ToolCall, ToolResult | None]:
    """Return a call as the editor shows it, and its result."""
    call = ToolCall(string_of(item, "toolCallId"), string_of(item, "toolId"), dump(inner(item, "toolSpecificData")))
    said = item.get("pastTenseMessage") or item.get("invocationMessage")
    shown = string_of(said, "value") or as_text(said)
    return call, ToolResult(call.id, call.name, shown) if item.get("isComplete") is True else None


WHOLE, SET, PUSH, REMOVE = range(4)
_REQUESTS = "requests"
_MEMBERS = frozenset(("kind", "k", "v", "i"))
_STATE = frozenset(
    ("k", "inputState", "customTitle", "requesterUsername", "responderUsername", "initialLocation", "response", "pendingRequests")
)
"""Members of a change and of the session that belong to no message."""


@dataclass(slots=True)
class _Request:
    """A request of the session, and the lines that made it: each with the place of the request among those that it adds."""

    value: Any
    lines: list[tuple[Unit, int]] = field(default_factory=list)


class VSCodeChatLog(ReadOnlyUnits):
    """Chats of VS Code as the editor keeps them (`chatSessions/….jsonl`): a log of changes to one session, a change a line.
    Kind 0 is the whole session, 1 sets a value, 2 cuts a list and appends to it, 3 removes a value. A request and its answer
    are made of all lines that changed them; the format of chats reads the result. The registry passes that format in.
    """

    name = "vscode_chat_log"
    label = "VS Code chat session log (Copilot)"
    tested_with = "source of VS Code 1.109, logs of 1.108"
    hints = ("kind",)
    certainty = 0.985

    def __init__(self, dialect: ReadOnlyUnits) -> None:
        self.dialect = dialect
        self.carried_fields = dialect.carried_fields | _STATE

    def carried_in(self, value: object) -> frozenset[str]:
        """Return the fields that are known. Pieces of an answer are shown, or repeat the rounds of the model."""
        path = value.get("k") if isinstance(value, dict) else None
        return self.carried_fields | ({"v"} if isinstance(path, list) and path[-1:] == ["response"] else set())

    def is_message(self, value: object) -> bool:
        """Return True for a change of a session."""
        if not isinstance(value, dict) or value.get("kind") not in (WHOLE, SET, PUSH, REMOVE) or not value.keys() <= _MEMBERS:
            return False
        if value["kind"] == WHOLE:
            return isinstance(value.get("v"), dict) and "sessionId" in value["v"]
        return isinstance(value.get("k"), list)

    def is_carried(self, value: object) -> bool:
        """Return True for a change of the editor's own state, or of a request that a later change removed."""
        return self.is_message(value)

    def confidence(self, sample: Sample) -> float:
        return self.certainty if any(map(self.is_message, sample.values)) else 0.0

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        requests: list[_Request] = []
        seen: list[Unit] = []
        for unit in units:
            if self.is_message(unit.value) and _is_lost(unit.value, len(requests)):
                requests.append(_Request(None, [(unit, 0)]))
            elif self.is_message(unit.value):
                requests = _changed(requests, unit)
            seen.append(unit)
        found = [(request, self._turns(request.value, request.lines[0][0].text)) for request in requests]
        used = {id(unit) for request, messages in found if messages for unit, _ in request.lines}
        yield from (unit for unit in seen if id(unit) not in used)
        for request, messages in found:
            for place, (word, parts) in enumerate(messages):
                yield make_message(word, parts, tuple(unit.fragment((item, place)) for unit, item in request.lines))

    def message(self, role: Role, source: tuple[Fragment, ...]) -> Message:
        """Read a request again from its own lines: the first one adds it, the others change it."""
        value: Any = None
        for fragment in source:
            change = parse(fragment.text)
            added, path = _added(change), change.get("k", [])
            if added is not None:
                value = added[fragment.blocks[0] if fragment.blocks else 0]
            elif value is not None:
                value = _changed_value(value, change, path[2:])
        word, parts = self._turns(value, source[0].text)[source[0].blocks[1] if source[0].blocks else 0]
        return make_message(word, parts, source)

    def _turns(self, request: Any, text: str) -> Sequence[Turn]:
        """Return the turns of a request and its answer. A change of a request that is not in the log is shown unread."""
        if request is None:
            return [("assistant", [Opaque("change of a missing request", text)])]
        if not self.dialect.is_message(request):
            return [("user", [Opaque("unclear request", dump(request))])]
        return self.dialect.messages_in(request)


def _is_lost(change: dict[str, Any], count: int) -> bool:
    """Return True if a change concerns a request that is missing."""
    path = change.get("k", [])
    return len(path) > 2 and path[0] == _REQUESTS and isinstance(path[1], int) and path[1] >= count


def _added(change: dict[str, Any]) -> list[Any] | None:
    """Return the requests that a change adds or replaces completely, or None if it changes something else."""
    kind, path, value = change["kind"], change.get("k", []), change.get("v")
    if kind == WHOLE or (kind == SET and not path):
        value = value.get(_REQUESTS) if isinstance(value, dict) else None
        return value if isinstance(value, list) else []
    if kind in (SET, PUSH) and path == [_REQUESTS]:
        return value if isinstance(value, list) else []
    return [value] if kind == SET and len(path) == 2 and path[0] == _REQUESTS else None


def _changed(requests: list[_Request], unit: Unit) -> list[_Request]:
    """Return the requests of the session after one more change."""
    change = unit.value
    path, added = change.get("k", []), _added(change)
    if added is not None:
        made = [_Request(value, [(unit, item)]) for item, value in enumerate(added)]
        if change["kind"] == PUSH:
            cut = change.get("i")
            return [*(requests[:cut] if isinstance(cut, int) else requests), *made]
        if len(path) == 2:
            place = path[1] if isinstance(path[1], int) else len(requests)
            return [*requests[:place], *made, *requests[place + 1 :]]
        return made
    if len(path) > 2 and path[0] == _REQUESTS and isinstance(path[1], int) and 0 <= path[1] < len(requests):
        request = requests[path[1]]
        if request.value is not None:
            request.value = _changed_value(request.value, change, path[2:])
        request.lines.append((unit, 0))
    return requests


def _changed_value(value: Any, change: dict[str, Any], path: Sequence[Any]) -> Any:
    """Return a new value with a change at the path inside of it; unchanged if the path does not fit."""
    if path:
        step, rest = path[0], path[1:]
        if isinstance(value, list) and isinstance(step, int) and 0 <= step <= len(value):
            old = value[step] if step < len(value) else None
            return [*value[:step], _changed_value(old, change, rest), *value[step + 1 :]]
        members = value if isinstance(value, dict) else {} if value is None else None
        if members is None or not isinstance(step, str):
            return value
        if change["kind"] == REMOVE and not rest:
            return {key: item for key, item in members.items() if key != step}
        return {**members, step: _changed_value(members.get(step), change, rest)}
    if change["kind"] != PUSH:
        return change.get("v")
    before = value if isinstance(value, list) else []
    cut, more = change.get("i"), change.get("v")
    return [*(before[:cut] if isinstance(cut, int) else before), *(more if isinstance(more, list) else [])]


class ContinueDev(ReadOnlyUnits):
    """Sessions of Continue (`~/.continue/sessions/….json`): each item of `history` holds a chat message and its context. What a
    call returned lies in the state of the call, in most versions once more in a message of its own, which then counts.
    """

    name = "continue_dev"
    label = "Continue session"
    tested_with = "types of Continue 1.0"
    hints = ("contextItems",)
    carried_fields = frozenset(("toolCallStates", "contextItems", "editorState", "promptLogs", "appliedRules"))

    def is_message(self, value: object) -> bool:
        return isinstance(value, dict) and "contextItems" in value and bool(string_of(inner(value, "message"), "role"))

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        waiting: Message | None = None
        for unit in units:
            for each in super().read([unit]):
                is_repeated = isinstance(each, Message) and each.role == TOOL and not each.source[0].blocks
                if waiting is not None and not is_repeated:
                    yield waiting
                is_state = isinstance(each, Message) and each.role == TOOL and bool(each.source[0].blocks)
                waiting = each if is_state and isinstance(each, Message) else None
                if waiting is None:
                    yield each
        if waiting is not None:
            yield waiting

    def messages_in(self, value: Any) -> Sequence[Turn]:
        message = value["message"]
        role = message["role"]
        if role == "tool":
            return [(role, [ToolResult(string_of(message, "toolCallId"), "", as_text(message.get("content")))])]
        if role == "thinking":
            return [("assistant", [Thinking(as_text(message.get("content")), string_of(message, "signature"))])]
        calls = [_call(item) for item in objects_of(message, "toolCalls")]
        results = [_result(state) for state in objects_of(value, "toolCallStates") if objects_of(state, "output")]
        return with_results(role, [*_continue_content(message.get("content")), *calls], results)


def _call(item: dict[str, Any]) -> ToolCall:
    function = inner(item, "function")
    return ToolCall(string_of(item, "id"), string_of(function, "name"), as_text(function.get("arguments")))


def _result(state: dict[str, Any]) -> ToolResult:
    content = "\n\n".join(string_of(item, "content") for item in objects_of(state, "output"))
    name = string_of(inner(inner(state, "toolCall"), "function"), "name")
    return ToolResult(string_of(state, "toolCallId"), name, content, string_of(state, "status") == "errored")


def _continue_content(content: Any) -> Iterator[Part]:
    for item in content if isinstance(content, list) else [content]:
        text = item if isinstance(item, str) else string_of(item, "text")
        url = string_of(inner(item, "imageUrl"), "url")
        if text or url:
            yield Text(text) if text else Image(url)
        elif item:
            yield unknown(item)
