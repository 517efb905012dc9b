"""Chats of VS Code as the editor keeps them (`chatSessions/….jsonl`): a log of changes to one session, a change a line.

Kind 0 is the whole session, 1 sets a value, 2 cuts a list and appends to it, 3 removes a value. A request and its answer are made
of all lines that changed them; the format of chats reads the result. The registry passes that format in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from chainviz.core.chain.messages import Fragment, Message, Opaque, Role
from chainviz.core.documents.json.edit import dump, parse
from chainviz.core.documents.units import Sample, Unit
from chainviz.core.formats.read_only import said
from chainviz.core.formats.read_only_units import ReadOnlyUnits, Said

WHOLE, SET, PUSH, REMOVE = range(4)
_REQUESTS = "requests"
_MEMBERS = frozenset(("kind", "k", "v", "i"))
_STATE = frozenset(
    ("k", "inputState", "customTitle", "requesterUsername", "responderUsername", "initialLocation", "response", "pendingRequests")
)
"""Members of a change and of the session that are not said by anybody."""


@dataclass(slots=True)
class _Request:
    """A request of the session, and the lines that made it: each with the place of the request among those that it adds."""

    value: Any
    lines: list[tuple[Unit, int]] = field(default_factory=list)


class VSCodeChatLog(ReadOnlyUnits):
    name = "vscode_chat_log"
    label = "VS Code chat session log (Copilot)"
    tested_with = "source of VS Code 1.109, logs of 1.108"
    hints = ("kind",)
    certainty = 0.985
    def __init__(self, dialect: ReadOnlyUnits) -> None:
        self.dialect = dialect
        self.carried_fields = dialect.carried_fields | _STATE

    def carried_in(self, value: object) -> frozenset[str]:
        """Pieces of an answer are shown, or repeat the rounds of the model."""
        path = value.get("k") if isinstance(value, dict) else None
        return self.carried_fields | ({"v"} if isinstance(path, list) and path[-1:] == ["response"] else set())

    def is_message(self, value: object) -> bool:
        """Whether it is a change of a session."""
        if not isinstance(value, dict) or value.get("kind") not in (WHOLE, SET, PUSH, REMOVE) or not value.keys() <= _MEMBERS:
            return False
        if value["kind"] == WHOLE:
            return isinstance(value.get("v"), dict) and "sessionId" in value["v"]
        return isinstance(value.get("k"), list)

    def is_carried(self, value: object) -> bool:
        """A change of the editor's own state, or of a request that a later change took back."""
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
        found = [(request, self._said(request.value, request.lines[0][0].text)) for request in requests]
        used = {id(unit) for request, messages in found if messages for unit, _ in request.lines}
        yield from (unit for unit in seen if id(unit) not in used)
        for request, messages in found:
            for place, (word, parts) in enumerate(messages):
                yield said(word, parts, tuple(unit.fragment((item, place)) for unit, item in request.lines))

    def message(self, role: Role, source: tuple[Fragment, ...]) -> Message:
        """The request again from its own lines: the first one adds it, the others change it."""
        value: Any = None
        for fragment in source:
            change = parse(fragment.text)
            added, path = _added(change), change.get("k", [])
            if added is not None:
                value = added[fragment.blocks[0] if fragment.blocks else 0]
            elif value is not None:
                value = _changed_value(value, change, path[2:])
        word, parts = self._said(value, source[0].text)[source[0].blocks[1] if source[0].blocks else 0]
        return said(word, parts, source)

    def _said(self, request: Any, text: str) -> Sequence[Said]:
        """What a request and its answer say; a change of a request that the log does not hold is shown as it is."""
        if request is None:
            return [("assistant", [Opaque("change of a missing request", text)])]
        if not self.dialect.is_message(request):
            return [("user", [Opaque("unclear request", dump(request))])]
        return self.dialect.messages_in(request)


def _is_lost(change: dict[str, Any], count: int) -> bool:
    """Whether a change is inside of a request that is not there."""
    path = change.get("k", [])
    return len(path) > 2 and path[0] == _REQUESTS and isinstance(path[1], int) and path[1] >= count


def _added(change: dict[str, Any]) -> list[Any] | None:
    """The requests that a change adds or replaces as a whole; None for a change inside of one, or beside them."""
    kind, path, value = change["kind"], change.get("k", []), change.get("v")
    if kind == WHOLE or (kind == SET and not path):
        value = value.get(_REQUESTS) if isinstance(value, dict) else None
        return value if isinstance(value, list) else []
    if kind in (SET, PUSH) and path == [_REQUESTS]:
        return value if isinstance(value, list) else []
    return [value] if kind == SET and len(path) == 2 and path[0] == _REQUESTS else None


def _changed(requests: list[_Request], unit: Unit) -> list[_Request]:
    """The requests of the session after one more change."""
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
    """The value after a change at the path inside of it, as a new value; what the path does not fit stays as it is."""
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
