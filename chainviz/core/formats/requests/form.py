"""The spelling of an API's requests: one form reads the settings of a request and writes those of a new one.

Numbers, model and stop sequences are data. Tools, the choice of them, the form of the answer and reasoning differ in shape, so each has
a method that reads and one that writes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from chainviz.core.formats.requests.settings import (
    EFFORTS,
    NUMBER,
    NUMBERS,
    Change,
    Members,
    Place,
    Reasoning,
    RequestSettings,
    ResponseFormat,
    Tool,
    ToolChoice,
    put,
)

UNKNOWN_TOOL = "unknown_tool"
"""The name in the definition of a tool if only a result without a name is known."""


@dataclass(frozen=True, slots=True)
class ReadRequest:
    settings: RequestSettings
    left_out: tuple[Change, ...]
    """Tools of the API itself, and members of tools that are not settings."""


@dataclass(slots=True)
class NewRequest:
    """A request that is written, and what is not written unchanged."""

    settings: RequestSettings
    members: dict[str, Any]
    changes: list[Change]

    def put(self, place: Place, value: Any) -> None:
        put(self.members, place, value)

    def leave_out(self, setting: str) -> None:
        self.changes.append(Change("left-out", self.place(setting)))

    def change(self, setting: str, old: Any, new: Any) -> None:
        self.changes.append(Change("changed", self.place(setting), str(old), str(new)))

    def place(self, setting: str) -> str:
        return self.settings.places.get(setting, setting)


class RequestForm:
    list_key = "messages"
    """The key of the list of messages of a request."""
    lists: tuple[str, ...] = ("messages",)
    """The keys of lists of messages in requests and answers; settings are beside them."""
    family = ""
    """The family of models that a request names."""
    model_at: Place = ("model",)
    """The place of the model; () if the address of the request names it."""
    numbers: Mapping[str, tuple[Place, ...]] = {}
    """The places of each number, by setting. The first place is written, all are read."""
    stop_at: Sequence[Place] = ()
    most_stops = 0
    """The most stop sequences that the API accepts; 0 for any number."""
    limits: Mapping[str, tuple[float, float]] = {}
    """The smallest and the largest value of a number, by setting."""
    requires: Mapping[str, int] = {}
    """Numbers that a request must have, with the value to write if the old request has none."""
    efforts: Sequence[str] = ()
    """The words of EFFORTS that the API knows."""
    needs_called_tools = False
    """True if a request whose messages call tools must define them."""

    def read(self, members: Members) -> ReadRequest:
        found: dict[str, Any] = {}
        for setting, places in self.numbers.items():
            found[setting] = _first(members, places, NUMBER, setting)
        if self.model_at:
            found["model"] = members.take(self.model_at, str, "model") or ""
        found["stop"] = _texts(_first(members, self.stop_at, (list, str), "stop"))
        found["response_format"] = self.read_response_format(members)
        found["reasoning"] = self.read_reasoning(members)
        tools, left_out = _parted(self.read_tools(members))
        found["tool_choice"], found["parallel_calls"] = self.read_tool_choice(members)
        return ReadRequest(RequestSettings(**found, tools=tools, family=self.family, places=members.places), left_out)

    def write(self, settings: RequestSettings, called: Collection[str] = ()) -> NewRequest:
        """Write a request. `called` contains the names of the tools that the messages call or have results of."""
        new = NewRequest(settings, {}, [])
        self._write_model(new)
        self._write_numbers(new)
        if settings.stop:
            self._write_stop(new)
        if settings.reasoning:
            self.write_reasoning(new, settings.reasoning)
        if settings.response_format and not settings.response_format.is_text:
            self.write_response_format(new, settings.response_format)
        tools = self._with_called(new, called)
        if tools:
            self.write_tools(new, tools)
        self._write_choice(new, tools)
        return new

    def _write_model(self, new: NewRequest) -> None:
        model = new.settings.model
        if model and not self.model_at:
            new.leave_out("model")
        elif model and new.settings.family == self.family:
            new.put(self.model_at, model)
        elif model:
            new.changes.append(Change("model", new.place("model"), model))

    def _write_numbers(self, new: NewRequest) -> None:
        for setting in NUMBERS:
            value = getattr(new.settings, setting)
            if value is None and setting in self.requires:
                value = self.requires[setting]
                new.changes.append(Change("added", self.numbers[setting][0][-1], new=f"{value:,}"))
            elif value is not None and setting not in self.numbers:
                new.leave_out(setting)
            if value is None or setting not in self.numbers:
                continue
            least, most = self.limits.get(setting, (value, value))
            if not least <= value <= most:
                old, value = value, min(max(value, least), most)
                new.change(setting, old, value)
            new.put(self.numbers[setting][0], value)

    def _write_stop(self, new: NewRequest) -> None:
        stop = new.settings.stop
        if not self.stop_at:
            new.leave_out("stop")
            return
        if self.most_stops and len(stop) > self.most_stops:
            new.change("stop", f"a list of {len(stop)}", f"its first {self.most_stops}")
            stop = stop[: self.most_stops]
        new.put(self.stop_at[0], list(stop))

    def _with_called(self, new: NewRequest, called: Collection[str]) -> tuple[Tool, ...]:
        """Return the tools to write. If the API requires it, tools that are only called are included."""
        tools = self.fitting(new)
        missing = sorted({name or UNKNOWN_TOOL for name in called} - {tool.name for tool in tools})
        if not self.needs_called_tools or not missing:
            return tools
        new.changes.append(Change("derived-tools", new.place("tools"), new=", ".join(missing)))
        return (*tools, *(Tool(name) for name in missing))

    def fitting(self, new: NewRequest) -> tuple[Tool, ...]:
        """Return the tools as the API can define them: a custom tool is a function with the one argument `input`."""
        return tuple(_as_function(new, tool) if tool.grammar is not None else tool for tool in new.settings.tools)

    def _write_choice(self, new: NewRequest, tools: Sequence[Tool]) -> None:
        choice, parallel = new.settings.tool_choice, new.settings.parallel_calls
        names = {tool.name for tool in tools}
        if choice and choice.names:
            known = tuple(name for name in choice.names if name in names)
            if known != choice.names:
                new.leave_out("tool_choice")
                choice = replace(choice, names=known) if known else None
        if tools:
            self.write_tool_choice(new, choice, parallel)
        else:
            RequestForm.write_tool_choice(self, new, choice, parallel)

    def read_tools(self, members: Members) -> Iterable[Tool | Change]:
        return ()

    def read_tool_choice(self, members: Members) -> tuple[ToolChoice | None, bool | None]:
        return None, None

    def read_response_format(self, members: Members) -> ResponseFormat | None:
        return None

    def read_reasoning(self, members: Members) -> Reasoning | None:
        return None

    def write_tools(self, new: NewRequest, tools: Sequence[Tool]) -> None:
        for tool in tools:
            new.changes.append(Change("left-out", tool.place))

    def write_tool_choice(self, new: NewRequest, choice: ToolChoice | None, parallel: bool | None) -> None:
        if choice and (choice.mode != "auto" or choice.names):
            new.leave_out("tool_choice")
        if parallel is False:
            new.leave_out("parallel_calls")

    def write_response_format(self, new: NewRequest, format: ResponseFormat) -> None:
        new.leave_out("response_format")

    def write_reasoning(self, new: NewRequest, reasoning: Reasoning) -> None:
        new.leave_out("reasoning")

    def effort_of(self, new: NewRequest, reasoning: Reasoning) -> str:
        """Return the effort as a word that the API knows. A budget of tokens becomes the nearest effort."""
        if reasoning.budget is not None:
            effort = next(word for most, word in _BUDGETS if reasoning.budget <= most)
            new.change("reasoning", f"a budget of {reasoning.budget:,} tokens", f"the effort {self._nearest(effort)}")
            return self._nearest(effort)
        effort = self._nearest(reasoning.effort) if reasoning.effort else ""
        if effort != reasoning.effort:
            new.change("reasoning", f"the effort {reasoning.effort}", f"the effort {effort}")
        return effort

    def _nearest(self, effort: str) -> str:
        at = EFFORTS.index(effort if effort in EFFORTS else "medium")
        return min(self.efforts, key=lambda word: abs(EFFORTS.index(word) - at))


_BUDGETS = ((0, "none"), (2_048, "low"), (10_000, "medium"), (float("inf"), "high"))
"""The largest budget in tokens for each effort."""


def _first(members: Members, places: Iterable[Place], kind: Any, setting: str) -> Any:
    """Return the value at the first of the places that has one; the others are taken too, since they mean the same."""
    found = [value for place in places if (value := members.take(place, kind, setting)) is not None]
    return found[0] if found else None


def _texts(value: Any) -> tuple[str, ...]:
    values = [value] if isinstance(value, str) else value or ()
    return tuple(each for each in values if isinstance(each, str))


def _parted(tools: Iterable[Tool | Change]) -> tuple[tuple[Tool, ...], tuple[Change, ...]]:
    found = list(tools)
    return tuple(each for each in found if isinstance(each, Tool)), tuple(each for each in found if isinstance(each, Change))


def _as_function(new: NewRequest, tool: Tool) -> Tool:
    schema = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}
    new.changes.append(Change("changed", tool.place, "a custom tool", "a function with the argument input"))
    return replace(tool, schema=schema, grammar=None)


def set_names(settings: RequestSettings) -> Iterator[str]:
    """Yield the names of the settings that have a value."""
    for each in fields(settings):
        if each.name not in ("family", "places") and getattr(settings, each.name) not in (None, "", ()):
            yield each.name
