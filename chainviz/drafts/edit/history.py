"""What a node was in earlier versions: each earlier text, newest first, which can be restored."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from django.urls import reverse

from chainviz.chains.diff.compare import compare
from chainviz.chains.diff.compared import WORDS
from chainviz.chains.diff.part_rows import label_of
from chainviz.chains.models import Chain
from chainviz.chains.render.numbers import count_text
from chainviz.core.chain.messages import Image, Part, Text, Thinking, ToolCall, ToolResult
from chainviz.core.chain.paths import Path
from chainviz.core.diff.chains import Group
from chainviz.core.diff.messages import MessageDiff, PartDiff
from chainviz.drafts.target import Target
from chainviz.store.content.chain import StoredChain
from chainviz.store.models import Version

MOST_VERSIONS = 50
EXCERPT = 600
"""Characters of a text that are shown; its version shows all of it."""


@dataclass(frozen=True, slots=True)
class Was:
    """What the node held in a version."""

    version: int
    href: str
    """The node in that version."""
    label: str
    icon: str
    size: int
    text: str
    is_cut: bool
    restore: str
    """What the form sends."""
    action: str


@dataclass(frozen=True, slots=True)
class EarlierPage:
    chain: Chain
    number: str
    node_href: str
    source_words: str
    found: tuple[Was, ...]
    looked_at: int
    oldest: int
    """The oldest version that was looked at."""


def earlier_page(target: Target, path: Path) -> EarlierPage:
    """PathError where there is no such node."""
    span = target.stored.span(path)
    older = Version.objects.filter(history=target.chain.history, number__lte=target.version.number)
    if target.draft is None:
        older = older.exclude(number=target.version.number)
    versions = list(older.select_related("snapshot").order_by("-number")[:MOST_VERSIONS])
    found: dict[object, Was] = {}
    for version in versions:
        for key, was in _in_version(target, version, span.start, span.stop):
            found.setdefault(key, was)
    return EarlierPage(
        chain=target.chain,
        number=path.number,
        node_href=f"{target.explorer}at/{path}#{path.dom_id}",
        source_words=target.words,
        found=tuple(found.values()),
        looked_at=len(versions),
        oldest=versions[-1].number if versions else 1,
    )


def _in_version(target: Target, version: Version, start: int, stop: int) -> Iterator[tuple[object, Was]]:
    """Each with a key that is the same where another version holds the same."""
    old = StoredChain(version.snapshot)
    diff = compare(old, target.stored)
    for group in diff.changes:
        if group.old.is_empty or group.kind == "moved" or not _touches(group, start, stop):
            continue
        if group.kind == "changed":
            for message in diff.messages(group):
                if message.kind != "same" and _is_of(message, group, start, stop):
                    yield from _parts(target, version, old, message)
        else:
            rows = old.rows(group.old.start, group.old.stop)
            yield ("nodes", *(row.digest for row in rows)), _nodes(target, version, group)


def _touches(group: Group, start: int, stop: int) -> bool:
    """What is gone belongs to the node before it: it may have been merged into that one."""
    at = group.new.start
    if group.new.is_empty:
        return start < at <= stop or at == start == 0
    return at < stop and start < group.new.stop


def _is_of(message: MessageDiff, group: Group, start: int, stop: int) -> bool:
    """A message that is gone belongs to what became of its node."""
    return start <= message.new < stop if message.new is not None else group.new.start >= start


def _parts(target: Target, version: Version, old: StoredChain, message: MessageDiff) -> Iterator[tuple[object, Was]]:
    if message.old is None:
        return
    parts = old[message.old].parts
    for part in message.parts:
        if part.kind == "same" or part.old_part is None:
            continue
        before = parts[part.old_part]
        yield (message.new, part.new_part, before), _was(target, version, message, part, before)


def _was(target: Target, version: Version, message: MessageDiff, part: PartDiff, before: Part) -> Was:
    label = label_of(message, replace(part, title=part.title or _tool_of(before, target, message)), "", None)
    assert message.old is not None
    path = StoredChain(version.snapshot).outline.path_at(message.old)
    text = _text_of(before)
    is_gone = message.new is None or part.new_part is None
    return Was(
        version=version.number,
        href=_in(target, version, path),
        label=f"{label.before}{' (with its whole node)' if is_gone else ''}",
        icon=label.icon,
        size=before.size,
        text=text[:EXCERPT],
        is_cut=len(text) > EXCERPT,
        restore=f"{message.old}" if is_gone else f"{message.old}.{part.old_part}",
        action=_action(target, version),
    )


def _tool_of(part: Part, target: Target, message: MessageDiff) -> str:
    """A result seldom says which tool gave it; a call of its node does."""
    if not isinstance(part, ToolResult) or message.new is None:
        return ""
    span = target.stored.span(target.stored.outline.path_at(message.new).node)
    calls = (call for row in target.stored.rows(span.start, span.stop) for call in row.shape.calls)
    return next((call.name for call in calls if call.id == part.call_id), "")


def _nodes(target: Target, version: Version, group: Group) -> Was:
    assert group.old.first is not None
    _, icon, word = WORDS[group.kind]
    return Was(
        version=version.number,
        href=_in(target, version, group.old.first),
        label=f"{count_text(group.old.measure.messages, 'message')}, {word} since",
        icon=icon,
        size=group.old.measure.size,
        text="",
        is_cut=False,
        restore=str(group.old.start),
        action=_action(target, version),
    )


def _in(target: Target, version: Version, path: Path) -> str:
    base = reverse("chains:version", args=[target.chain.pk, version.number])
    return f"{base}at/{path.node}#{path.node.dom_id}"


def _action(target: Target, version: Version) -> str:
    return reverse("drafts:restore_text", args=[target.chain.pk, version.number, target.chain.version])


def _text_of(part: Part) -> str:
    match part:
        case Text():
            return part.text
        case ToolCall():
            return part.arguments
        case ToolResult() | Thinking():
            return part.content
        case Image() if not part.url.startswith("data:"):
            return part.url
    return ""
