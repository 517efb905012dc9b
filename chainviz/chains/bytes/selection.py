"""What is selected in the chart of bytes, and the redaction that it leads to: by rule, so that no address grows with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from chainviz.chains.bytes.groups import CALL, RESULT, TEXTS, Group
from chainviz.chains.bytes.level import Address, Level
from chainviz.chains.explorer.subject import Subject
from chainviz.chains.render.numbers import count_text, size_and_share
from chainviz.chains.render.visible_text import marks, one_line

REDACTED = {RESULT: "result", CALL: "arguments"}
"""Names of parts as Redact has them; anything else is a text of its role."""


@dataclass(frozen=True, slots=True)
class Selection:
    title: str
    words: str
    action: str
    redact_url: str
    """"" where nothing can be redacted."""
    clear_url: str


def redact_page(subject: Subject) -> str:
    """Where a selection is redacted; "" for a person who may not."""
    return subject.change_url("drafts:operation", "redact")


def selection_of(subject: Subject, level: Level, address: Address, groups: Sequence[Group]) -> Selection | None:
    count, size, name = _picked(address, groups)
    clear = replace(address, tool=None, part="").url
    if not size:
        return Selection(f"No results of {name} here", "", "", "", clear) if address.tool is not None else None
    noun = "result" if address.tool is not None or address.part == RESULT else "call" if address.part == CALL else ""
    title = f"{count_text(count, noun)} selected" if noun else f"{name} selected"
    where = f"{name} in {level.name}" if level.name else name
    return Selection(
        title,
        f"{where} · {size_and_share(size, subject.snapshot.size)} of the chain",
        _action(count, noun),
        _redact_url(subject, level, address),
        clear,
    )


def _picked(address: Address, groups: Sequence[Group]) -> tuple[int, int, str]:
    """How many parts of what size, and what they are called."""
    tools = [group for group in groups if group.is_tool and address.tool in (None, group.name)]
    if address.tool is not None:
        name = marks(one_line(address.tool, 60)) or "no name"
        return sum(tool.results for tool in tools), sum(tool.result_size for tool in tools), name
    if address.part == RESULT:
        return sum(tool.results for tool in tools), sum(tool.result_size for tool in tools), "Results"
    if address.part == CALL:
        return sum(tool.calls for tool in tools), sum(tool.call_size for tool in tools), "Calls"
    texts = [group for group in groups if not group.is_tool and group.role == address.part]
    return 0, sum(group.size for group in texts), TEXTS.get(address.part, "")


def _action(count: int, noun: str) -> str:
    if not noun:
        return "Redact these texts"
    return f"Redact these {count:,} {noun}s" if count > 1 else f"Redact this {noun}"


def _redact_url(subject: Subject, level: Level, address: Address) -> str:
    page = redact_page(subject)
    if not page:
        return ""
    part = RESULT if address.tool is not None else address.part
    rule = {"policy": "every", "parts": REDACTED.get(part, "text")}
    if part in TEXTS:
        rule["roles"] = part
    if address.tool is not None:
        rule["only"] = address.tool
    if level.first is not None:
        rule |= {"from": str(level.first), "to": str(level.last)}
    return f"{page}&{urlencode(rule, errors='surrogatepass')}"
