"""SWE-agent: trajectories, runs of the web demo, and demonstrations in YAML."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

import yaml

from chainviz.core.chain.messages import Fragment, Message, Opaque, Role, Text, ToolCall, ToolResult
from chainviz.core.dialects.values import string_of
from chainviz.core.documents.json.edit import dump
from chainviz.core.documents.units import Sample
from chainviz.core.formats.contract import Format
from chainviz.core.formats.read_only import MODEL, TOOLS, EventLog, ReadOnly, Turn, make_message
from chainviz.core.formats.vendors.openai_form.chat_format import ChatFormat

_RUN = ("trajectory", "environment", "replay_config")
_RUN_OWN = ("message_type", "is_demo", "tool_call_ids")


class SWEAgent(ChatFormat):
    """SWE-agent trajectories: `history` is the chain, OpenAI's messages with thought, action and the agent's name.

    `trajectory` tells the same run step by step, with the whole prompt repeated in each `query`: it is kept as it is.
    """

    name = "swe_agent"
    label = "SWE-agent trajectory"
    tested_with = "SWE-agent 0.x, 1.x"
    template = '{"history": [\n]}\n'
    copies = (("trajectory", "query"),)
    carried_fields = ChatFormat.carried_fields | {"agent"}

    def confidence(self, sample: Sample) -> float:
        messages = [value for value in sample.values if self.is_message(value)]
        if not messages:
            return 0.0
        if sample.key == "history" and any(key in sample.beside for key in _RUN):
            return 0.97
        return 0.93 if any(_is_own(value) for value in messages) else 0.0


def _is_own(value: dict[str, Any]) -> bool:
    return "agent" in value and any(key in value for key in _RUN_OWN)


_OUTPUTS = ("output_terminal", "output_editor")
_WEB_OWN = {"thought": ("thought",), "action": ("action",), "output": _OUTPUTS}
"""The types of steps; each step has at least one of the members of its type."""


class SWEAgentWeb(EventLog):
    """Runs as SWE-agent's web demo keeps them: `history` is a list of thoughts, actions and what editor and terminal showed. An
    action is a command as text; it is shown as a call `action` with the command as its argument.
    """

    name = "swe_agent_web"
    label = "SWE-agent web trajectory"
    tested_with = "runs of the web demo, 2024"
    hints = ("thought", "action", *_OUTPUTS)
    certainty = 0.98
    carried_fields = frozenset(("open_file", "open_file_start_line", "working_dir", "narration"))

    def is_message(self, value: object) -> bool:
        if not isinstance(value, dict) or "role" in value:
            return False
        return any(isinstance(value.get(key), str) for key in _WEB_OWN.get(string_of(value, "type"), ()))

    def messages_in(self, value: Any) -> Sequence[Turn]:
        kind = value["type"]
        if kind == "thought":
            return [(MODEL, [Text(value["thought"])])]
        if kind == "action":
            return [(MODEL, [ToolCall("", "action", dump({"command": value["action"]}))])]
        shown = [text for key in _OUTPUTS if (text := string_of(value, key))]
        return [(TOOLS, [ToolResult("", "action", "\n".join(shown))])]


_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_LIST = "history"
_HEAD = re.compile(r"^(?:history:|[ \t]*- )", re.MULTILINE)
_ROLE = re.compile(r"^[ \t]*(?:- )?[\"']?role[\"']?:[ \t]*[\"']?\w", re.MULTILINE)
MAX_DEPTH = 64


class SWEAgentYAML(ReadOnly):
    """SWE-agent demonstrations: the trajectory's `history` as YAML, as `sweagent traj-to-demo` writes it, or a bare list of
    messages. A document with aliases is not read: a few lines of them can stand for gigabytes.
    """

    name = "swe_agent_yaml"
    label = "SWE-agent demonstration (YAML)"
    tested_with = "documentation of SWE-agent 1.x"

    def __init__(self, dialect: Format) -> None:
        """`dialect` reads the messages, which are those of a trajectory."""
        self.dialect = dialect

    def rate(self, head: str) -> float:
        if head.lstrip()[:1] in ("", "{", "[") or not (_HEAD.search(head) and _ROLE.search(head)):
            return 0.0
        return 0.96 if head.lstrip().startswith("- ") or re.search(r"^history:", head, re.MULTILINE) else 0.0

    def stretches(self, text: str) -> Iterator[tuple[int, int]]:
        for item in _items(text):
            line = text.rfind("\n", 0, item.start_mark.index) + 1
            is_block = not text[line : item.start_mark.index].strip(" -")
            start = line if is_block else item.start_mark.index
            # a literal text ends with its line break
            end = start + len(text[start : item.end_mark.index].rstrip())
            yield start, end + (is_block and text[end : end + 1] == "\n")

    def message(self, role: Role, source: tuple[Fragment, ...]) -> Message:
        value = _value(source[0].text)
        if value is None:
            return make_message("", (Opaque("message", source[0].text),), source)
        found = self.dialect.message(role, (Fragment(0, "", json.dumps(value, default=str)),))
        return Message(found.role, found.parts, source=source, label=found.label, note=found.note)


def _items(text: str) -> Iterator[Any]:
    """Yield the nodes of the messages."""
    try:
        root = yaml.compose(text, Loader=_LOADER) if _is_plain(text) else None
    except (yaml.YAMLError, ValueError, RecursionError):
        return
    if isinstance(root, yaml.MappingNode):
        root = next((value for key, value in root.value if key.value == _LIST), None)
    if isinstance(root, yaml.SequenceNode):
        yield from (item for item in root.value if isinstance(item, yaml.MappingNode) and _has_role(item))


def _is_plain(text: str) -> bool:
    """Neither aliases nor deep nesting."""
    depth = 0
    for event in yaml.parse(text, Loader=_LOADER):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH or isinstance(event, yaml.AliasEvent):
            return False
    return True


def _has_role(item: yaml.MappingNode) -> bool:
    return any(key.value == "role" and isinstance(value, yaml.ScalarNode) for key, value in item.value)


def _value(text: str) -> dict[str, Any] | None:
    try:
        value = yaml.load(text, Loader=_LOADER)
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    value = value[0] if isinstance(value, list) and value else value
    return value if isinstance(value, dict) and isinstance(value.get("role"), str) else None
