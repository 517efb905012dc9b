"""Read the results in one text, write results as one text, and report those that a reader would not get back."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from chainviz.core.chain.messages import byte_size
from chainviz.core.observations.contract import BRACKETS, LABELS, MARKDOWN, RAW, WHOLE_ACTION, XML, Block, Convention, TextObservation
from chainviz.core.text_formats import TEXT_FORMATS, get_text_format
from chainviz.core.text_formats.contract import OBSERVATION, FoundSection, IgnoredRange
from chainviz.core.toolchain.results import Wrapper, is_error

_OPENING = re.compile(r"^<observation>\r?\n?|\A\s*# observation[ \t]*\r?\n", re.MULTILINE | re.IGNORECASE)
_CLOSING = re.compile(r"\r?\n?</observation>", re.IGNORECASE)
_SIGNS = {MARKDOWN: "#", XML: "</"}
"""A text without these contains no section."""
_SEPARATORS = {RAW: "\n\n", BRACKETS: "\n", **{each.name: each.separator for each in TEXT_FORMATS}}


@dataclass(frozen=True, slots=True)
class Wrapped:
    """The text inside `<observation>`, and the wrapper itself."""

    start: int
    inner_start: int
    inner_end: int
    end: int


@dataclass(frozen=True, slots=True)
class _Reading:
    convention: Convention
    blocks: tuple[Block, ...]
    ignored: tuple[IgnoredRange, ...]
    end: int
    """The end of the last result."""


class ObservationReader:
    """Knows the tools whose names may be headers; any other name is content."""

    def __init__(self, tools: Iterable[str]) -> None:
        self.tools = frozenset((*tools, WHOLE_ACTION)) - {""}
        self._formats = [text_format.register_all(sorted(self.tools)) for text_format in TEXT_FORMATS]

    def read(self, text: str) -> TextObservation | None:
        """Return the results in a text, in the convention of the first one; None if it has none."""
        wrapper = find_wrapper(text)
        inner = text[wrapper.inner_start : wrapper.inner_end] if wrapper else text
        readings = [reading for reading in self._readings(inner) if reading.blocks]
        if readings:
            reading = min(readings, key=lambda each: each.blocks[0].outer_start)
        elif wrapper and is_error(inner):
            reading = _Reading(BRACKETS, (Block("", inner, 0, len(inner), 0),), (), len(inner))
        else:
            return None
        return _in_whole_text(reading, wrapper)

    def _readings(self, text: str) -> Iterator[_Reading]:
        yield _Reading(BRACKETS, tuple(read_brackets(text, self.tools)), (), len(text))
        for text_format in self._formats:
            if _SIGNS[text_format.name] not in text:
                continue
            parsed = text_format.scan(text)
            sections = list(_outermost(parsed.sections))
            blocks = tuple(Block(each.name, each.content, each.start, each.end, each.outer_start) for each in sections)
            # Markdown does not say where its last section ends
            end = sections[-1].outer_end if sections and text_format.name == XML else len(text.rstrip())
            yield _Reading(text_format.name, blocks, parsed.ignored, end)


def find_wrapper(text: str) -> Wrapped | None:
    """Return the first `<observation>` that is closed, up to the last closing tag; or the header the text begins with."""
    opening = _OPENING.search(text)
    if opening is None:
        return None
    if "#" in opening[0]:
        return Wrapped(opening.start(), opening.end(), len(text), len(text))
    closings = list(_CLOSING.finditer(text, opening.end()))
    return Wrapped(opening.start(), opening.end(), closings[-1].start(), closings[-1].end()) if closings else None


def suspected_names(text: str) -> tuple[str, ...]:
    """Return the names of headers in a text that is wrapped like results or begins with a `[name]` line; () for other
    texts."""
    wrapper = find_wrapper(text)
    inner = text[wrapper.inner_start : wrapper.inner_end] if wrapper else text
    first = first_name(inner)
    if first or not wrapper:
        return (first,) if first else ()
    found = [section.name for text_format in TEXT_FORMATS for section in text_format.scan(inner).sections]
    return tuple(dict.fromkeys(found))


def _outermost(sections: Iterable[FoundSection]) -> Iterator[FoundSection]:
    """Yield sections in the order of the text; one inside another is its content."""
    place = 0
    for section in sorted(sections, key=lambda each: (each.outer_start, -each.outer_end)):
        if section.outer_start >= place:
            place = section.outer_end
            yield section


def _in_whole_text(reading: _Reading, wrapper: Wrapped | None) -> TextObservation:
    """Return the results with offsets of the whole text."""
    by = wrapper.inner_start if wrapper else 0
    blocks = tuple(replace(each, start=each.start + by, end=each.end + by, outer_start=each.outer_start + by) for each in reading.blocks)
    start, end = (wrapper.start, wrapper.end) if wrapper else (blocks[0].outer_start, reading.end)
    moved = (replace(each, start=each.start + by, end=each.end + by) for each in reading.ignored)
    ignored = tuple(each for each in moved if start <= each.start and each.end <= end)
    return TextObservation(reading.convention, wrapper is not None, start, end, blocks, ignored)


def is_wrapped(convention: Convention, wrapper: Wrapper) -> bool:
    """auto wraps XML and brackets, section wraps Markdown too; raw text is never wrapped."""
    if convention == RAW or wrapper == "none":
        return False
    return convention == BRACKETS or wrapper == "section" or get_text_format(convention).is_wrapped


def write_observation(blocks: Sequence[Block], convention: Convention, wrapper: Wrapper = "auto") -> str:
    """Return the blocks as one text; contents are written as they are, so the text may read back differently."""
    text = _SEPARATORS[convention].join(write_blocks(blocks, convention, wrapper))
    if not is_wrapped(convention, wrapper):
        return text
    return get_text_format(MARKDOWN if convention == MARKDOWN else XML).format_section(OBSERVATION, text)


def write_blocks(blocks: Sequence[Block], convention: Convention, wrapper: Wrapper = "auto") -> list[str]:
    """Return each block with its header."""
    if convention == RAW:
        return [block.content for block in blocks]
    if convention == BRACKETS:
        return write_brackets(blocks, is_wrapped=is_wrapped(convention, wrapper))
    text_format = get_text_format(convention)
    return [text_format.format_section(block.name or WHOLE_ACTION, block.content) for block in blocks]


# Results under `[tool]` lines, as earlier versions of the reference wrote them. A success is the line `[tool]` and the text
# after it, a failure the single line `[tool] Error: …`. Blocks are not separated by blank lines, and the error of a whole
# action is only `Error: …`. Contents are read exactly, including blank ones.


_HEADER = re.compile(r"^\[([^\[\]\n]+)\](?:[ \t]*(?:\r?\n|\Z)| +(?=\S))", re.MULTILINE)


def read_brackets(text: str, tools: Collection[str]) -> Iterator[Block]:
    """Yield the blocks of known tools; any other word in brackets is content."""
    headers = [found for found in _HEADER.finditer(text) if found[1] in tools]
    for header, following in pairwise([*headers, None]):
        assert header is not None
        # the line break before a header belongs to the header
        end = max(header.end(), following.start() - 1) if following else len(text)
        yield Block(header[1], text[header.end() : end], header.end(), end, header.start())


def first_name(text: str) -> str:
    """Return the name in the header with which the text begins; "" if it has none."""
    found = _HEADER.match(text)
    return found[1] if found else ""


def write_brackets(blocks: Sequence[Block], *, is_wrapped: bool) -> list[str]:
    """Return each block with its header. Only a wrapped text can do without one."""
    if is_wrapped and len(blocks) == 1 and blocks[0].is_error and blocks[0].name in ("", WHOLE_ACTION):
        return [blocks[0].content]
    return [_header(block) + block.content for block in blocks]


def _header(block: Block) -> str:
    return f"[{block.name or WHOLE_ACTION}]" + (" " if block.is_error else "\n")


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
