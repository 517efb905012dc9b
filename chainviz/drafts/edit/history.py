"""What a node was in earlier versions: each text that stood in its place, newest first, ready to be brought back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from django.urls import reverse

from chainviz.chains.diff.compare import compare
from chainviz.chains.diff.groups import WORDS, count, label_of, number_of
from chainviz.chains.models import Chain
from chainviz.core.chain.messages import Image, Part, Text, Thinking, ToolCall, ToolResult
from chainviz.core.chain.paths import Path
from chainviz.core.diff.chains import Group
from chainviz.core.diff.messages import MessageDiff, PartDiff
from chainviz.drafts.target import Ground
from chainviz.store.content.chain import StoredChain
from chainviz.store.models import Version

MOST_VERSIONS = 50
EXCERPT = 600
"""Characters of a text that are shown; its version shows all of it."""


@dataclass(frozen=True, slots=True)
class Was:
    """What stood here in a version."""

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


def earlier_page(ground: Ground, path: Path) -> EarlierPage:
    """PathError where there is no such node."""
    span = ground.stored.span(path)
    older = Version.objects.filter(history=ground.chain.history, number__lte=ground.version.number)
    if ground.draft is None:
        older = older.exclude(number=ground.version.number)
    versions = list(older.select_related("snapshot").order_by("-number")[:MOST_VERSIONS])
    found: dict[object, Was] = {}
    for version in versions:
        for key, was in _in_version(ground, version, span.start, span.stop):
            found.setdefault(key, was)
    return EarlierPage(
        chain=ground.chain,
        number=number_of(path),
        node_href=f"{ground.explorer}at/{path}#{path.dom_id}",
        source_words=ground.words,
        found=tuple(found.values()),
        looked_at=len(versions),
        oldest=versions[-1].number if versions else 1,
    )


def _in_version(ground: Ground, version: Version, start: int, stop: int) -> Iterator[tuple[object, Was]]:
    """Each with a key that is the same where another version holds the same."""
    old = StoredChain(version.snapshot)
    diff = compare(old, ground.stored)
    for group in diff.changes:
        if group.old.is_empty or group.kind == "moved" or not _touches(group, start, stop):
            continue
        if group.kind == "changed":
            for message in diff.messages(group):
                if message.kind != "same" and _is_of(message, group, start, stop):
                    yield from _parts(ground, version, old, message)
        else:
            rows = old.rows(group.old.start, group.old.stop)
            yield ("nodes", *(row.digest for row in rows)), _nodes(ground, version, group)


def _touches(group: Group, start: int, stop: int) -> bool:
    """What is gone belongs to the node before it: it may have been merged into that one."""
    at = group.new.start
    if group.new.is_empty:
        return start < at <= stop or at == start == 0
    return at < stop and start < group.new.stop


def _is_of(message: MessageDiff, group: Group, start: int, stop: int) -> bool:
    """A message that is gone belongs to what became of its node."""
    return start <= message.new < stop if message.new is not None else group.new.start >= start


def _parts(ground: Ground, version: Version, old: StoredChain, message: MessageDiff) -> Iterator[tuple[object, Was]]:
    if message.old is None:
        return
    parts = old[message.old].parts
    for part in message.parts:
        if part.kind == "same" or part.old_part is None:
            continue
        is_gone = message.new is None or part.new_part is None
        before = parts[part.old_part]
        what = f"{message.old}" if is_gone else f"{message.old}.{part.old_part}"
        yield (message.new, part.new_part, before), _was(ground, version, message, part, before, what)


def _was(ground: Ground, version: Version, message: MessageDiff, part: PartDiff, before: Part, what: str) -> Was:
    label = label_of(message, replace(part, title=part.title or _tool_of(before, ground, message)), "", None)
    assert message.old is not None
    path = StoredChain(version.snapshot).outline.path_at(message.old)
    text = _text_of(before)
    whole = " (with its whole node)" if "." not in what else ""
    return Was(
        version=version.number,
        href=_in(ground, version, path),
        label=f"{label.before}{whole}",
        icon=label.icon,
        size=before.size,
        text=text[:EXCERPT],
        is_cut=len(text) > EXCERPT,
        restore=what,
        action=_action(ground, version),
    )


def _tool_of(part: Part, ground: Ground, message: MessageDiff) -> str:
    """A result seldom says which tool gave it; a call of its node does."""
    if not isinstance(part, ToolResult) or message.new is None:
        return ""
    span = ground.stored.span(ground.stored.outline.path_at(message.new).node)
    calls = (call for row in ground.stored.rows(span.start, span.stop) for call in row.shape.calls)
    return next((call.name for call in calls if call.id == part.call_id), "")


def _nodes(ground: Ground, version: Version, group: Group) -> Was:
    assert group.old.first is not None
    _, icon, word = WORDS[group.kind]
    return Was(
        version=version.number,
        href=_in(ground, version, group.old.first),
        label=f"{count(group.old.measure.messages, 'message')}, {word} since",
        icon=icon,
        size=group.old.measure.size,
        text="",
        is_cut=False,
        restore=str(group.old.start),
        action=_action(ground, version),
    )


def _in(ground: Ground, version: Version, path: Path) -> str:
    base = reverse("chains:version", args=[ground.chain.pk, version.number])
    return f"{base}at/{path.node}#{path.node.dom_id}"


def _action(ground: Ground, version: Version) -> str:
    return reverse("drafts:restore_text", args=[ground.chain.pk, version.number, ground.chain.version])


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
