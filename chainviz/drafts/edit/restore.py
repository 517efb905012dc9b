"""Brings back what an earlier version holds: one part of a message, or whole nodes that are gone or became others.

Knows no request. A part takes the place of its successor, whose ids stay; nodes take the place of what became of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from django.db import transaction

from chainviz.chains.diff.compare import compare
from chainviz.chains.render.numbers import count_text
from chainviz.core.chain.chain import Splice
from chainviz.core.chain.messages import Image, Part, Text, Thinking, ToolCall, ToolResult
from chainviz.core.diff.chains import Group
from chainviz.core.diff.messages import MessageDiff
from chainviz.core.errors import Refused
from chainviz.core.formats.conversion import without_source
from chainviz.core.operations.contract import Decision
from chainviz.drafts.models import Draft
from chainviz.drafts.services import held
from chainviz.drafts.target import Target
from chainviz.store.content.chain import StoredChain
from chainviz.store.history import drafts as store
from chainviz.store.history.steps import NewStep

OPERATION = "restore"
SAME = "The newest version already has this."
NOT_FOUND = "This cannot be found in the newest version; restore its whole node instead."


@dataclass(frozen=True, slots=True)
class Restored:
    change: Splice
    told: Decision


def restore(target: Target, old: StoredChain, number: int, message: int, part: int | None) -> Draft:
    """A step of the person's draft; `number`: of the version that `old` is. Refused in a sentence."""
    if not message < len(old):
        raise Refused("The version before has no such message.")
    now = target.stored
    found = restored_nodes(old, now, message) if part is None else restored_part(old, now, message, part)
    with transaction.atomic():
        kept, draft, _ = held(target)
        store.add_step(kept, NewStep([found.change], OPERATION, {"from_version": number}, report=[found.told]))
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
    """The whole change that the message is part of is taken back: also what was removed, joined, split or summarised."""
    group = _change_of(old, now, message)
    if group.kind == "moved":
        raise Refused("The newest version has it, unchanged, in another place.")
    messages = old.slice(group.old.start, group.old.stop)
    if old.format != now.format:
        messages = tuple(map(without_source, messages))
    first = group.new.first or group.old.first
    told = Decision(
        str(first),
        OPERATION,
        f"{count_text(len(messages), 'message')} as before",
        group.new.measure.size,
        group.old.measure.size,
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
