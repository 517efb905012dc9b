"""Units whose content is Anthropic blocks (a request's messages, a session's lines): fragments to messages and back.

A message may own several units, and a unit may feed several messages (`Fragment.blocks`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from chainviz.core.chain.messages import SLOT, Fragment, Message, Part, Role
from chainviz.core.dialects.anthropic_read import read_blocks
from chainviz.core.dialects.anthropic_write import patched_content
from chainviz.core.dialects.patching import Speller, matched
from chainviz.core.documents import json_edit
from chainviz.core.documents.units import Pointer


def content_at(fragment: Fragment, at: Pointer) -> Pointer:
    """The slot is the content itself."""
    return () if fragment.ordinal == SLOT else at


def value_at(value: Any, at: Pointer) -> Any:
    for step in at:
        if isinstance(value, dict) and step in value:
            value = value[step]
        else:
            return None
    return value


def read_fragments(source: Sequence[Fragment], at: Pointer, role: Role) -> list[list[Part]]:
    """The parts that each fragment gives; origins count through."""
    found: list[list[Part]] = []
    first = 0
    for fragment in source:
        here = content_at(fragment, at)
        content = value_at(json_edit.parse(fragment.text), here)
        parts = read_blocks(content, fragment.text, here, role, fragment.blocks, first)
        first += len(parts)
        found.append(parts)
    return found


def patched_fragments(message: Message, at: Pointer, ascii_only: bool, role: Role) -> tuple[Fragment, ...]:
    """The message's fragments with its changes; a unit that loses its last block goes, unless it is the only one.

    A new part joins the unit of the part before it.
    """
    owned = read_fragments(message.source, at, role)
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
        result.append(_patched(fragment, at, parts, share, ascii_only))
    return tuple(result) or (_patched(message.source[0], at, owned[0], [], ascii_only),)


def _patched(
    fragment: Fragment, at: Pointer, old: Sequence[Part], share: Sequence[tuple[Part, int | None]], ascii_only: bool
) -> Fragment:
    new = [part for part, _ in share]
    claims = [claim for _, claim in share]
    if new == list(old) and claims == list(range(len(old))):
        return fragment
    here = content_at(fragment, at)
    raw = json_edit.raw_at(fragment.text, here)
    speller = Speller(fragment.text, ascii_only)
    content = patched_content(raw or "null", fragment.blocks, old, new, claims, speller)
    text = json_edit.replace_at(fragment.text, here, content) if raw is not None else _with_content(fragment, at, content)
    blocks = None if fragment.blocks is None else tuple(range(len(json_edit.load_array(content))))
    return Fragment(fragment.ordinal, fragment.lead, text, blocks)


def _with_content(fragment: Fragment, at: Pointer, content: str) -> str:
    """The unit has no content member yet."""
    holder = json_edit.load_object(json_edit.raw_at(fragment.text, at[:-1]) or "{}")
    holder.set(str(at[-1]), content)
    return json_edit.replace_at(fragment.text, at[:-1], str(holder))


def with_member(fragment: Fragment, at: Pointer, text: str) -> Fragment:
    """The fragment with the value at `at` replaced by JSON text."""
    return replace(fragment, text=json_edit.replace_at(fragment.text, at, text), start=-1)
