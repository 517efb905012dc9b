"""Read and write units whose content is a list of blocks, such as the messages of a request or the lines of a session.

A message may consist of several units, and a unit may feed several messages (`Fragment.blocks`): the tool results of a user
message become a tool message, and its other blocks a human message. The dialect knows what a block is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chainviz.core.chain.messages import HUMAN, NEW, SLOT, SYSTEM, TOOL, Fragment, Message, Opaque, Part, Role, Text
from chainviz.core.dialects.values import Speller, matched
from chainviz.core.documents.json import edit as json_edit
from chainviz.core.documents.json.edit import value_of
from chainviz.core.documents.units import Pointer
from chainviz.core.formats.contract import Format, Style

Run = tuple[Role, tuple[int, ...] | None]
"""A message that a unit feeds: its role, and the indexes of its blocks (None if the whole unit is this message)."""


@dataclass(frozen=True, slots=True)
class Content:
    """The content of a unit, and its position in the unit's text."""

    value: Any
    text: str
    at: Pointer = ()
    own: Sequence[int] | None = None
    """Indexes of the blocks to read; None for all."""
    first: int = 0
    """The `origin` of the first part."""

    def parts(self, part_of: Callable[[int, Pointer, int], Part], kind: str = "content") -> list[Part]:
        """Read a string as one text, and each own block of a list with `part_of(index, place, origin)`. Any other value becomes one
        opaque part."""
        if type(self.value) is str:
            return [Text(self.value, origin=self.first)]
        if type(self.value) is not list:
            raw = json_edit.raw_at(self.text, self.at)
            return [] if self.value is None else [Opaque(kind, raw or "", origin=self.first)]
        indexes = range(len(self.value)) if self.own is None else self.own
        return [part_of(index, (*self.at, index), origin) for origin, index in enumerate(indexes, self.first) if index < len(self.value)]


ReadBlocks = Callable[[Content, Role], list[Part]]


@dataclass(frozen=True, slots=True)
class Change:
    """A change to a message's part of a block list."""

    own: Sequence[int] | None
    """Indexes of the blocks that belong to the message; None for all."""
    old: Sequence[Part]
    new: Sequence[Part]
    claims: Sequence[int | None]
    """For each new part, the index of the old part that it was; None if it is new."""

    def rows(self, length: int) -> list[tuple[Part, int | None, Part | None]]:
        """Return each new part with the index of its block and its old part; both are None if it has no block yet."""
        places = range(length) if self.own is None else self.own
        return [
            (part, None, None) if claim is None else (part, places[claim], self.old[claim])
            for part, claim in zip(self.new, self.claims, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class Blocks:
    """How a dialect reads and changes blocks, and where they are in a unit."""

    at: Pointer
    read: ReadBlocks
    patched: Callable[[str, Change, Speller], str]
    """Return the text of the content after a change, with the message's own blocks only."""
    in_slot: Pointer = ()
    """Where the blocks are in a slot that is an object. A slot that is a list or a string is itself the content."""


def user_runs(content: Any, is_result: Callable[[Any], bool]) -> list[Run]:
    """Return the messages of a user unit: its tool results are a tool message, its other blocks a human message."""
    if type(content) is not list or not any(is_result(item) for item in content):
        return [(HUMAN, None)]
    runs: list[tuple[Role, list[int]]] = []
    for index, item in enumerate(content):
        kind = TOOL if is_result(item) else HUMAN
        if not runs or runs[-1][0] != kind:
            runs.append((kind, []))
        runs[-1][1].append(index)
    if len(runs) == 1:
        return [(TOOL, None)]
    return [(kind, tuple(places)) for kind, places in runs]


def patched_list(raw: str, change: Change, new: Callable[[Part], list[str]], changed: Callable[[str, Part, Part], str]) -> str:
    """Return a block list after a change, with the message's own blocks only.

    `new` returns the blocks of a new part; `changed` returns a block from its text, its old part and its new part.
    """
    array = json_edit.load_array(raw)
    row: list[int | str] = []
    for part, index, old in change.rows(len(array)):
        if index is None or old is None:
            row += new(part)
            continue
        if part != old:
            array.set(index, changed(array.raw(index), old, part))
        row.append(index)
    array.rebuild(row)
    return str(array)


def content_at(fragment: Fragment, blocks: Blocks) -> Pointer:
    if fragment.ordinal != SLOT:
        return blocks.at
    return blocks.in_slot if fragment.text.startswith("{") else ()


def value_at(value: Any, at: Pointer) -> Any:
    for step in at:
        is_there = step in value if isinstance(value, dict) else isinstance(value, list) and step in range(len(value))
        if not is_there:
            return None
        value = value[step]
    return value


def read_fragments(source: Sequence[Fragment], blocks: Blocks, role: Role) -> list[list[Part]]:
    """Return the parts of each fragment. Their origins are numbered across all fragments."""
    found: list[list[Part]] = []
    first = 0
    for fragment in source:
        here = content_at(fragment, blocks)
        value = value_at(value_of(fragment), here)
        parts = blocks.read(Content(value, fragment.text, here, fragment.blocks, first), role)
        first += len(parts)
        found.append(parts)
    return found


def patched_fragments(message: Message, blocks: Blocks, ascii_only: bool, role: Role) -> tuple[Fragment, ...]:
    """Return the fragments of a changed message. A new part joins the unit of the part before it; a unit without blocks is
    removed, unless it is the only one."""
    owned = read_fragments(message.source, blocks, role)
    old = [part for parts in owned for part in parts]
    claims = matched(old, message.parts)
    shares: list[list[tuple[Part, int | None]]] = [[] for _ in owned]
    starts = [sum(len(parts) for parts in owned[:place]) for place in range(len(owned))]
    home = next((place for place, parts in enumerate(owned) if parts), 0)
    for part, claim in zip(message.parts, claims, strict=True):
        if claim is not None:
            home = max(place for place, start in enumerate(starts) if start <= claim and owned[place])
        shares[home].append((part, None if claim is None else claim - starts[home]))
    result = []
    for fragment, parts, share in zip(message.source, owned, shares, strict=True):
        if parts and not share and len(message.source) > 1:
            continue
        result.append(_patched(fragment, blocks, parts, share, ascii_only))
    return tuple(result) or (_patched(message.source[0], blocks, owned[0], [], ascii_only),)


def _patched(
    fragment: Fragment, blocks: Blocks, old: Sequence[Part], share: Sequence[tuple[Part, int | None]], ascii_only: bool
) -> Fragment:
    new = [part for part, _ in share]
    claims = [claim for _, claim in share]
    if new == list(old) and claims == list(range(len(old))):
        return fragment
    here = content_at(fragment, blocks)
    raw = json_edit.raw_at(fragment.text, here)
    speller = Speller(fragment.text, ascii_only)
    content = blocks.patched(raw or "null", Change(fragment.blocks, old, new, claims), speller)
    text = json_edit.replace_at(fragment.text, here, content) if raw is not None else _with_content(fragment, here, content)
    own = None if fragment.blocks is None else tuple(range(len(json_edit.load_array(content))))
    return Fragment(fragment.ordinal, fragment.lead, text, own)


def _with_content(fragment: Fragment, at: Pointer, content: str) -> str:
    """Return the text of a unit that has no content yet, with this content."""
    holder = json_edit.load_object(json_edit.raw_at(fragment.text, at[:-1]) or "{}")
    holder.set(str(at[-1]), content)
    return json_edit.replace_at(fragment.text, at[:-1], str(holder))


def patched_message(message: Message, role: Role, blocks: Blocks, words: Mapping[Role, str], *, ascii_only: bool) -> tuple[Fragment, ...]:
    """Return the fragment of a changed message that has exactly one. `role` is the old role; `words` spells the roles."""
    source = message.source[:1]
    one = Message(message.role, message.parts, source=source)
    fragments = patched_fragments(one, blocks, ascii_only, role)
    word = words.get(message.role, message.role)
    if source[0].ordinal == SLOT or word == words.get(role, role):
        return fragments
    return tuple(with_member(item, (*blocks.at[:-1], "role"), Speller(item.text, True).quote(word)) for item in fragments)


def with_member(fragment: Fragment, at: Pointer, text: str) -> Fragment:
    """Return the fragment with the value at `at` replaced by JSON text."""
    holder = json_edit.load_object(json_edit.raw_at(fragment.text, at[:-1]) or "{}")
    holder.set(str(at[-1]), text)
    return fragment.with_text(json_edit.replace_at(fragment.text, at[:-1], str(holder)))


class BlockFormat(Format):
    packs = True
    blocks: Blocks
    words: Mapping[Role, str]
    """How the format spells each role."""

    def content(self, message: Message, style: Style, speller: Speller) -> str:
        """Return the content of a new message as JSON text."""
        raise NotImplementedError

    def write(self, message: Message, style: Style) -> tuple[Fragment, ...]:
        if not message.source:
            return (self._new(message, style),)
        source = message.source[:1]
        old = self.message(message.role, source)
        if old == message:
            return source
        if source[0].ordinal == SLOT and message.role != SYSTEM:
            return (self._new(message, style),)
        return patched_message(message, old.role, self.blocks, self.words, ascii_only=style.ascii)

    def _new(self, message: Message, style: Style) -> Fragment:
        speller = Speller(style.near, style.ascii)
        content = self.content(message, style, speller)
        member = str(self.blocks.at[-1])
        if message.role == SYSTEM and style.slot:
            return Fragment(SLOT, "", speller.object({member: content}) if self.blocks.in_slot else content)
        head = {key: speller.quote(word) for key, word in self.head(message, style).items()}
        return Fragment(NEW, "", speller.unit({**head, member: content}))

    def head(self, message: Message, style: Style) -> dict[str, str]:
        """Return the members that precede the content of a new message."""
        return {"role": self.words.get(message.role, message.role)}
