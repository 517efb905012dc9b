"""Rewrite the results in a text, and report those that a reader would not get back with name, order and bytes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from chainviz.core.chain.messages import byte_size
from chainviz.core.observations.contract import LABELS, MARKDOWN, RAW, WHOLE_ACTION, XML, Block, Convention, TextObservation
from chainviz.core.observations.texts import ObservationReader, write_blocks, write_observation
from chainviz.core.toolchain.results import Wrapper

LossKind = Literal["cut", "dropped", "trimmed", "name", "joined", "added", "ignored"]
_TAG_NAME = re.compile(r"[^\s<>/]+")
EXCERPT = 40


@dataclass(frozen=True, slots=True)
class Loss:
    """A result that would not survive."""

    tool: str
    kind: LossKind
    reason: str
    """A sentence without its subject, which is the result."""
    size: int
    """Size of the result that would be lost, in bytes."""
    at: int = -1
    """Offset of its cause in the new text."""


@dataclass(frozen=True, slots=True)
class RewrittenText:
    text: str
    losses: tuple[Loss, ...]
    survived: int
    """The number of results that read back with the same name, place and bytes."""


def rewrite(text: str, found: TextObservation, convention: Convention, wrapper: Wrapper, reader: ObservationReader) -> RewrittenText:
    """Write the results of a text in another convention, and report the losses. The text around them stays unchanged."""
    before, behind = text[: found.start], text[found.end :]
    new = before + write_observation(found.blocks, convention, wrapper) + behind
    losses = list(check(new, len(before), found.blocks, (convention, wrapper), reader))
    survived = len(found.blocks) - sum(loss.kind != "added" for loss in losses)
    return RewrittenText(new, (*ignored_losses(text, found), *losses), survived)


def ignored_losses(text: str, found: TextObservation) -> Iterator[Loss]:
    """Yield a loss for each text between the results that belongs to none of them."""
    for each in found.ignored:
        ignored = text[each.start : each.end]
        reason = f"has text among its results that belongs to none: “{_first_line(ignored)}” would be lost"
        yield Loss("", "ignored", reason, byte_size(ignored))


def check(
    text: str, start: int, blocks: Sequence[Block], written_as: tuple[Convention, Wrapper], reader: ObservationReader
) -> Iterator[Loss]:
    """Yield the losses of `blocks`, which begin at `start` in `text`: one for each block that does not read back the
    same, and one for each text around them that would read as a result."""
    convention, wrapper = written_as
    back = reader.read(text) if convention != RAW else None
    read = {each.outer_start: each for each in back.blocks} if back and back.convention == convention else {}
    place = start
    for block, written in zip(blocks, write_blocks(blocks, convention, wrapper), strict=True):
        place = text.index(written, place)
        loss = _loss(text, place, block, read, convention)
        if loss:
            yield loss
        place += len(written)
    for each in read.values():
        if not start <= each.outer_start < place:
            yield Loss(each.name, "added", "would also be read from the text around the results", 0, each.outer_start)


def _loss(text: str, start: int, block: Block, read: dict[int, Block], convention: Convention) -> Loss | None:
    name, content = block.name or WHOLE_ACTION, block.content
    got = read.get(start)
    if convention == RAW:
        return Loss(name, "name", "loses the name of its tool", 0)
    if convention == XML and not _TAG_NAME.fullmatch(name):
        return Loss(name, "dropped", f"cannot be a tag: “{name[:EXCERPT]}” is not the name of one", block.size)
    if got is None:
        return Loss(name, "dropped", _why_dropped(content, convention), block.size, start)
    if (got.name or WHOLE_ACTION) != name:
        return Loss(name, "name", f"would be read as a result of {got.name[:EXCERPT]}", 0, start)
    if got.content == content:
        return None
    size = block.size - got.size
    if got.content == content.strip():
        blank = "1 blank byte" if size == 1 else f"{size:,} blank bytes"
        return Loss(name, "trimmed", f"has {blank} around it, which would be trimmed", size, start)
    if size < 0:
        return Loss(name, "joined", "would be read together with the text after it", 0, got.end)
    return _cut(text, got, Block(name, content), read)


def _why_dropped(content: str, convention: Convention) -> str:
    if not content.strip():
        return "is empty and would be dropped"
    if convention == MARKDOWN and content.lstrip().startswith("#"):
        return f"would be dropped: “{_first_line(content.lstrip())}” reads as a header, and nothing is left before it"
    return f"would not be read back as {LABELS[convention]}"


def _cut(text: str, got: Block, block: Block, read: dict[int, Block]) -> Loss:
    at = len(text) - len(text[got.end :].lstrip())
    line = block.content.count("\n", 0, block.content.find(got.content) + at - got.start) + 1
    what = "reads as a new result" if at in read else "ends the result"
    reason = f"would be cut short: line {line}, “{_first_line(text[at:])}”, {what}"
    return Loss(block.name, "cut", reason, block.size - got.size, at)


def _first_line(text: str) -> str:
    return text.partition("\n")[0][:EXCERPT].rstrip()
