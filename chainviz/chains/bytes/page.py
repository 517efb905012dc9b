"""The page of where the bytes go: a chart of one level, bars of what it holds, and what is selected in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.utils.safestring import SafeString, mark_safe

from chainviz.chains.bytes.detail import Detail
from chainviz.chains.bytes.groups import CALL, RESULT, Group, groups_of
from chainviz.chains.bytes.level import Address, Level, level_of
from chainviz.chains.bytes.selection import Selection, redact_page, selection_of
from chainviz.chains.bytes.strips import Scale, section_strip, strip_blocks, strips_below, trail
from chainviz.chains.explorer.subject import Subject
from chainviz.chains.render.drawings.charts import Block, bytes_svg
from chainviz.chains.render.numbers import share_text
from chainviz.chains.render.visible_text import marks, one_line
from chainviz.web.formatting.byte_text import byte_text
from chainviz.web.formatting.token_estimate import token_text

MOST_BARS = 12


@dataclass(frozen=True, slots=True)
class Crumb:
    text: str
    url: str
    """"" where it is the level shown."""


@dataclass(frozen=True, slots=True)
class Bar:
    name: str
    is_code: bool
    role: str
    amount: str
    width: float
    """In hundredths of the longest."""
    note: str
    url: str
    is_picked: bool


@dataclass(frozen=True, slots=True)
class BytesPage:
    chart: SafeString
    crumbs: tuple[Crumb, ...]
    by: str
    bytes_url: str
    tokens_url: str
    tools: tuple[Bar, ...]
    tools_left: int
    parts: tuple[Bar, ...]
    is_read: bool
    """False where the level is so large that only its sections or pairs are known."""
    selection: Selection | None
    redact_url: str


def bytes_page(subject: Subject, address: Address) -> BytesPage:
    """Raises PathError where the chain has no such level."""
    chain = subject.stored
    level = level_of(chain, address.at, address.to)
    groups = groups_of(chain, subject.outline, level)
    tools = _tool_bars(address, groups or [])
    return BytesPage(
        mark_safe(_chart(subject, level, address, groups or [])),  # the renderer escapes
        _crumbs(subject, address, level),
        address.by,
        replace(address, by="bytes").url,
        replace(address, by="tokens").url,
        tools[:MOST_BARS],
        max(0, len(tools) - MOST_BARS),
        _part_bars(address, groups or []),
        groups is not None,
        selection_of(subject, level, address, groups or []),
        redact_page(subject),
    )


def _text(address: Address, size: int) -> str:
    return token_text(size) if address.by == "tokens" else byte_text(size)


def _chart(subject: Subject, level: Level, address: Address, groups: Sequence[Group]) -> str:
    whole = subject.snapshot.size
    if not whole:
        return ""

    def text(size: int) -> str:
        return _text(address, size)

    all_of_it, shown = Scale(0, whole, whole, text), Scale(level.start, level.size, whole, text)
    total = replace(level, first=None, last=None, rows=range(0), start=0, size=whole)
    blocks = list(strip_blocks(section_strip(subject.stored, total), all_of_it, 0, address, level))
    blocks += _second_strip(subject, level, address, shown)
    row = 1 + max(block.row for block in blocks)
    detail = Detail(shown, row, address, level.is_node or level.is_inside, subject.base_url)
    blocks += detail.blocks(groups)
    zoom = (all_of_it.x(level.start), all_of_it.x(level.start + level.size)) if level.first is not None else None
    name = level.name or "The chain"
    return bytes_svg(blocks, zoom, f"{name} by section, tool, node and part, in {address.by}")


def _second_strip(subject: Subject, level: Level, address: Address, shown: Scale) -> list[Block]:
    strips = strips_below(subject.stored, level)
    return [replace(block, is_here=False) for block in strip_blocks(strips, shown, 1, address, level)]


def _crumbs(subject: Subject, address: Address, level: Level) -> tuple[Crumb, ...]:
    if not level.name:
        return (Crumb("All sections", ""),)
    above = (Crumb(strip.name, address.of(strip.first, strip.last).url) for strip in trail(subject.stored, level))
    return Crumb("All sections", address.of(None).url), *above, Crumb(f"{level.name} · {_text(address, level.size)}", "")


def _tool_bars(address: Address, groups: Sequence[Group]) -> tuple[Bar, ...]:
    tools = [group for group in groups if group.is_tool]
    most = max((tool.size for tool in tools), default=0)
    return tuple(
        Bar(
            marks(one_line(tool.name, 60)) or "no name",
            True,
            "tool",
            _text(address, tool.size),
            _width(tool.size, most),
            tool.count,
            replace(address, tool=tool.name, part="").url,
            address.tool == tool.name,
        )
        for tool in tools
    )


def _part_bars(address: Address, groups: Sequence[Group]) -> tuple[Bar, ...]:
    tools = [group for group in groups if group.is_tool]
    sizes = [("Results", RESULT, "tool", sum(tool.result_size for tool in tools))]
    sizes.append(("Calls", CALL, "ai", sum(tool.call_size for tool in tools)))
    sizes += [(group.name, group.role, group.role, group.size) for group in groups if not group.is_tool]
    sizes = sorted((each for each in sizes if each[-1]), key=lambda each: -each[-1])
    whole = sum(size for *_, size in sizes)
    return tuple(
        Bar(
            name,
            False,
            role,
            _text(address, size),
            _width(size, sizes[0][-1]),
            share_text(size, whole),
            replace(address, tool=None, part=part).url,
            address.part == part,
        )
        for name, part, role, size in sizes
    )


def _width(size: int, most: int) -> float:
    return round(max(1.0, 100 * size / most), 1) if size and most else 0.0
