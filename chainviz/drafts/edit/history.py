"""List the earlier texts of a node, newest first, and restore one of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from chainviz.accounts.models import person_of
from chainviz.accounts.permissions import requires
from chainviz.chains.access import chain_for, version_of
from chainviz.chains.diff.compare import WORDS, compare
from chainviz.chains.diff.part_rows import label_of
from chainviz.chains.models import Chain
from chainviz.core.chain.chain import Splice
from chainviz.core.chain.messages import Image, Part, Text, Thinking, ToolCall, ToolResult
from chainviz.core.chain.paths import Path, parse_path
from chainviz.core.counts import count_text
from chainviz.core.diff.chains import Group
from chainviz.core.diff.messages import MessageDiff, PartDiff
from chainviz.core.errors import ChainError, PathError, Refused
from chainviz.core.formats.conversion import without_source
from chainviz.core.operations.contract import Decision
from chainviz.drafts import services
from chainviz.drafts.models import Draft
from chainviz.drafts.operations.choices import to_draft
from chainviz.drafts.services import lock_draft
from chainviz.drafts.target import Target, target_of, target_of_draft, target_of_version
from chainviz.store.content.chain import StoredChain
from chainviz.store.history import drafts as store
from chainviz.store.history.steps import NewStep
from chainviz.store.models import Version
from chainviz.web.http import see_other, small_number

MOST_VERSIONS = 50
EXCERPT = 600
"""The number of characters of a text that are shown. The page of its version shows the whole text."""


@dataclass(frozen=True, slots=True)
class EarlierText:
    """The text of the node in an earlier version."""

    version: int
    href: str
    """The address of the node in that version."""
    label: str
    icon: str
    size: int
    text: str
    is_cut: bool
    restore: str
    """The value that the form sends to restore the text."""
    action: str


@dataclass(frozen=True, slots=True)
class EarlierPage:
    chain: Chain
    number: str
    node_href: str
    source_words: str
    found: tuple[EarlierText, ...]
    looked_at: int
    oldest: int
    """The oldest version that was searched."""


def earlier_page(target: Target, path: Path) -> EarlierPage:
    """List the earlier texts of a node. Raises PathError if there is no such node."""
    span = target.stored.span(path)
    older = Version.objects.filter(history=target.chain.history, number__lte=target.version.number)
    if target.draft is None:
        older = older.exclude(number=target.version.number)
    versions = list(older.select_related("snapshot").order_by("-number")[:MOST_VERSIONS])
    found: dict[object, EarlierText] = {}
    for version in versions:
        for key, was in _in_version(target, version, span.start, span.stop):
            found.setdefault(key, was)
    return EarlierPage(
        chain=target.chain,
        number=path.number,
        node_href=target.address_of(path),
        source_words=target.words,
        found=tuple(found.values()),
        looked_at=len(versions),
        oldest=versions[-1].number if versions else 1,
    )


def _in_version(target: Target, version: Version, start: int, stop: int) -> Iterator[tuple[object, EarlierText]]:
    """Yield texts of a version, each with a key that is equal for equal texts of other versions."""
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
    """Return True if a group concerns the messages `start:stop`. Removed messages count for the node before them, because they may have
    been merged into it."""
    at = group.new.start
    if group.new.is_empty:
        return start < at <= stop or at == start == 0
    return at < stop and start < group.new.stop


def _is_of(message: MessageDiff, group: Group, start: int, stop: int) -> bool:
    """Return True if a message belongs to the node with the messages `start:stop`. A removed message belongs to the replacement of its
    node."""
    return start <= message.new < stop if message.new is not None else group.new.start >= start


def _parts(target: Target, version: Version, old: StoredChain, message: MessageDiff) -> Iterator[tuple[object, EarlierText]]:
    if message.old is None:
        return
    parts = old[message.old].parts
    for part in message.parts:
        if part.kind == "same" or part.old_part is None:
            continue
        before = parts[part.old_part]
        yield (message.new, part.new_part, before), _earlier_text(target, version, message, part, before)


def _earlier_text(target: Target, version: Version, message: MessageDiff, part: PartDiff, before: Part) -> EarlierText:
    label = label_of(message, replace(part, title=part.title or _tool_of(before, target, message)), "", None)
    assert message.old is not None
    path = StoredChain(version.snapshot).outline.path_at(message.old)
    text = _text_of(before)
    is_gone = message.new is None or part.new_part is None
    return EarlierText(
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
    """Return the tool of a result. Results seldom name it, but the call in the same node does."""
    if not isinstance(part, ToolResult) or message.new is None:
        return ""
    span = target.stored.span(target.stored.outline.path_at(message.new).node)
    calls = (call for row in target.stored.rows(span.start, span.stop) for call in row.shape.calls)
    return next((call.name for call in calls if call.id == part.call_id), "")


def _nodes(target: Target, version: Version, group: Group) -> EarlierText:
    assert group.old.first is not None
    _, icon, word = WORDS[group.kind]
    return EarlierText(
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


# Restoring content of an earlier version: one part of a message, or whole nodes that were removed or replaced. Knows no request. A part
# replaces its successor, whose ids stay. Nodes replace their replacements.


OPERATION = "restore"
SAME = "The newest version already has this."
NOT_FOUND = "This cannot be found in the newest version; restore its whole node instead."


@dataclass(frozen=True, slots=True)
class Restored:
    change: Splice
    told: Decision


def restore(target: Target, old: StoredChain, number: int, message: int, part: int | None) -> Draft:
    """Restore a node of an earlier version as a step of the person's draft. `number` is the number of the version `old`. Raises Refused if
    that is not possible."""
    if not message < len(old):
        raise Refused("The version before has no such message.")
    now = target.stored
    found = restored_nodes(old, now, message) if part is None else restored_part(old, now, message, part)
    with transaction.atomic():
        draft, _ = lock_draft(target)
        store.add_step(draft.stored, NewStep([found.change], OPERATION, {"from_version": number}, report=[found.told]))
    return draft


def restored_part(old: StoredChain, now: StoredChain, message: int, part: int) -> Restored:
    if not part < len(old[message].parts):
        raise Refused("The version before has no such text.")
    place, number = _successor(old, now, message, part)
    there = now[place]
    new = _with_content_of(old[message].parts[part], there.parts[number])
    parts = (*there.parts[:number], new, *there.parts[number + 1 :])
    path = f"{now.outline.path_at(place)}.c{number}"
    told = Decision(path, OPERATION, "its text as it was", there.parts[number].size, new.size)
    return Restored(Splice(place, 1, (replace(there, parts=parts),)), told)


def restored_nodes(old: StoredChain, now: StoredChain, message: int) -> Restored:
    """Return the change that undoes the whole change of a message, even if messages were removed, joined, split or summarized."""
    group = _change_of(old, now, message)
    if group.kind == "moved":
        raise Refused("The newest version has it, unchanged, in another place.")
    messages = old.slice(group.old.start, group.old.stop)
    if old.format != now.format:
        messages = tuple(map(without_source, messages))
    first = group.new.first or group.old.first
    told = Decision(
        str(first), OPERATION, f"{count_text(len(messages), 'message')} as before", group.new.measure.size, group.old.measure.size
    )
    return Restored(Splice(group.new.start, group.new.stop - group.new.start, tuple(messages)), told)


def _change_of(old: StoredChain, now: StoredChain, message: int) -> Group:
    group = next((each for each in compare(old, now).groups if each.old.start <= message < each.old.stop), None)
    if group is None or group.kind == "same":
        raise Refused(SAME)
    return group


def _successor(old: StoredChain, now: StoredChain, message: int, part: int) -> tuple[int, int]:
    group = _change_of(old, now, message)
    messages = compare(old, now).messages(group) if group.kind == "changed" else ()
    there = next((each for each in messages if each.old == message), None)
    if there is None or there.new is None:
        raise Refused(NOT_FOUND)
    return there.new, _part_of(there, part)


def _part_of(message: MessageDiff, part: int) -> int:
    if message.kind == "same":
        raise Refused(SAME)
    found = next((each for each in message.parts if each.old_part == part), None)
    if found is None or found.new_part is None:
        raise Refused(NOT_FOUND)
    if found.kind == "same":
        raise Refused(SAME)
    return found.new_part


def _with_content_of(before: Part, after: Part) -> Part:
    match before, after:
        case Text(), Text():
            return replace(after, text=before.text, reasoning=before.reasoning)
        case Thinking(), Thinking():
            return replace(before, origin=after.origin)
        case Image(), Image():
            return replace(before, origin=after.origin)
        case ToolCall(), ToolCall() if before.id == after.id:
            return replace(after, arguments=before.arguments, reasoning=before.reasoning)
        case ToolResult(), ToolResult() if before.call_id == after.call_id:
            return replace(after, content=before.content, media=before.media, is_error=before.is_error)
    raise Refused(NOT_FOUND)


# The views: the earlier texts of a node, and the buttons that restore one of them as a step of the draft.


@requires("draft")
@require_safe
def earlier(request: HttpRequest, chain_id: int, where: str) -> HttpResponse:
    target = target_of(request, chain_id)
    try:
        page = earlier_page(target, parse_path(where).node)
    except PathError as unknown:
        raise Http404(str(unknown)) from unknown
    return render(request, "drafts/edit/earlier.html", {"page": page})


@requires("draft")
@require_POST
def restore_text(request: HttpRequest, chain_id: int, before: int, after: int) -> HttpResponse:
    chain = chain_for(request, chain_id)
    old = StoredChain(version_of(chain, before).snapshot)
    person = person_of(request)
    begun = services.open_draft(chain, person, chain.version)
    target = target_of_draft(begun) if begun else target_of_version(chain, chain.version, person)
    message, dot, part = request.POST.get("part", "").partition(".")
    try:
        found = _number(message), _number(part) if dot else None
        return to_draft(restore(target, old, before, *found))
    except ChainError as refused:
        messages.error(request, str(refused))
        return see_other("chains:diff", chain.pk, before, after)


def _number(text: str) -> int:
    number = small_number(text)
    if number is None:
        raise Refused("Choose something to restore from the comparison.")
    return number
