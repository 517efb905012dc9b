"""Parts of a message as the merge item by item asks for them: which is which, and what becomes of one that both sides changed."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from chainviz.core.chain.messages import PART_KINDS, Binary, Image, Part, Text, ToolCall, ToolResult
from chainviz.core.dialects.patching import is_json
from chainviz.core.diff.merge.item_merge import Entry, Keys, paired
from chainviz.core.diff.merge.json_merge import merge_json
from chainviz.core.diff.merge.merged import Merged
from chainviz.core.diff.merge.word_merge import merge_words

_WORDED = ("text", "content", "arguments")
"""Fields whose words merge; of any other field only one side may change the value."""
_REPEATABLE = (Text, Image, Binary)


def part_entries(parts: Iterable[Part]) -> list[Entry[Part]]:
    return [Entry(part, Keys(part, _identity(part), PART_KINDS[type(part)])) for part in parts]


def kept_parts(base: Sequence[Part], side: Sequence[Part]) -> Mapping[int, int]:
    """Places in `side` of the base's parts, rising."""
    return paired([each.keys for each in part_entries(base)], [each.keys for each in part_entries(side)])


def _identity(part: Part) -> Hashable:
    if isinstance(part, ToolCall):
        return ToolCall, part.id
    return (ToolResult, part.call_id) if isinstance(part, ToolResult) else part


def join_parts(base: Part, mine: Part, theirs: Part) -> Merged[tuple[Part, ...]]:
    joined = _joined(base, mine, theirs)
    return Merged((mine,), (theirs,), None if joined is None else (joined,), has_conflicts=True)


def join_or_repeat_parts(base: Part, mine: Part, theirs: Part) -> Merged[tuple[Part, ...]]:
    """As join_parts; a text or image that cannot be joined is there twice."""
    found = join_parts(base, mine, theirs)
    if found.both is None and isinstance(mine, _REPEATABLE) and isinstance(theirs, _REPEATABLE):
        return replace(found, both=(mine, replace(theirs, origin=-1)))
    return found


def _joined(base: Part, mine: Part, theirs: Part) -> Part | None:
    """None where both changed the same words, or a value that is no text."""
    if not type(base) is type(mine) is type(theirs):
        return None
    values: dict[str, Any] = {}
    for name in (each.name for each in fields(base) if each.init and each.compare):
        old, own, other = (getattr(each, name) for each in (base, mine, theirs))
        if own == other or old in (own, other):
            values[name] = other if own == old else own
        elif name not in _WORDED or (joined := _joined_text(old, own, other)) is None:
            return None
        else:
            values[name] = joined
    return replace(mine, **values, origin=mine.origin)


def _joined_text(*sides: str) -> str | None:
    """JSON stays JSON: its members merge, else words."""
    if not all(isinstance(each, str) for each in sides):
        return None
    are_json = all(each.lstrip()[:1] in ("{", "[") and is_json(each) for each in sides)
    return merge_json(*sides) if are_json else merge_words(*sides)
