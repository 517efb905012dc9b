"""The page of bytes by node: a chart of one level, bars of its content, and the selection."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.http import require_safe

from chainviz.accounts.permissions import requires
from chainviz.chains.bytes.level import CALL, RESULT, TEXTS, Address, Group, Level, NodeSize, PartSize, groups_of, level_of, read_address
from chainviz.chains.bytes.strips import NARROWEST, Scale, section_strip, strip_blocks, strips_below, trail
from chainviz.chains.explorer.subject import Subject
from chainviz.chains.render.charts import Block, bytes_svg
from chainviz.chains.render.visible_text import marks, one_line
from chainviz.core.chain.paths import Path
from chainviz.core.counts import count_text
from chainviz.web.formatting import byte_text, share_text, size_and_share, token_text
from chainviz.web.http import wants_fragment

MOST_OF_GROUP = 24
MOST_DRAWN = 60
"""The most nodes with a block of their own."""
PART_WORDS = {CALL: "call", RESULT: "result"}


@dataclass(frozen=True, slots=True)
class Detail:
    """The scale and addresses with which the groups of a level are drawn."""

    scale: Scale
    row: int
    address: Address
    is_node: bool
    """True for one node, whose blocks are its parts and lead to the chain."""
    explorer: str

    def blocks(self, groups: Sequence[Group]) -> Iterator[Block]:
        at, left = self.scale.start, MOST_DRAWN
        for group in groups:
            picks = replace(self.address, tool=group.name if group.is_tool else None, part="" if group.is_tool else group.role)
            is_picked = picks == self.address or (group.is_tool and self.address.part in (CALL, RESULT))
            count = f" · {group.count}" if group.is_tool else ""
            name = marks(one_line(group.name, 60)) or "no name"
            labels = (f"{name}{count} · {self.scale.text(group.size)}", f"{name} · {self.scale.text(group.size)}", name)
            words = self.scale.words(f"{name}{count.replace(' ·', ',')}", group.size)
            place = self.scale.place(at, group.size)
            yield Block(*place, self.row, group.role, labels, words, picks.url, select_url=picks.url)
            drawn = list(self._nodes(group, at, min(left, MOST_OF_GROUP), is_picked))
            left -= sum(block.row == self.row + 1 for block in drawn)
            yield from drawn
            at += group.size

    def _nodes(self, group: Group, at: int, most: int, is_picked: bool) -> Iterator[Block]:
        nodes = sorted(group.nodes, key=lambda node: -node.size)
        own = [node for node in nodes[:most] if self.scale.width(node.size) >= NARROWEST]
        for node in own:
            where = self.address.of(node.path, node.path)
            words = self.scale.words(f"{_node_name(node.path)}", node.size)
            url, select = ("", "") if self.is_node else (where.url, replace(where, part=RESULT).url)
            place = self.scale.place(at, node.size)
            yield Block(*place, self.row + 1, group.role, (node.path.number, ""), words, url, select_url=select)
            yield from self._parts(node, at, is_picked)
            at += node.size
        rest = nodes[len(own) :]
        size = sum(node.size for node in rest)
        if size:
            words = count_text(len(rest), "smaller node")
            labels = (f"{len(rest):,} smaller · {self.scale.text(size)}", f"{len(rest):,} smaller")
            yield Block(*self.scale.place(at, size), self.row + 1, group.role, labels, self.scale.words(words, size))
            yield from self._kinds([part for node in rest for part in node.parts], at, is_picked)

    def _parts(self, node: NodeSize, at: int, is_picked: bool) -> Iterator[Block]:
        parts = sorted(node.parts, key=lambda part: (part.kind == CALL, -part.size))
        own = [part for part in parts[:MOST_OF_GROUP] if self.scale.width(part.size) >= NARROWEST]
        for part in own:
            word = PART_WORDS.get(part.kind, "text")
            words = self.scale.words(f"{word.capitalize()} of {_node_name(node.path)}", part.size)
            url = f"{self.explorer}at/{part.path}#{part.path.dom_id}"
            block = Block(*self.scale.place(at, part.size), self.row + 2, _role(part.kind), (word,), words, url)
            yield replace(block, part=str(part.path), kind=part.kind, size=part.size, is_picked=self._has(part.kind, is_picked))
            at += part.size
        yield from self._kinds([part for part in parts if part not in own], at, is_picked)

    def _kinds(self, parts: Sequence[PartSize], at: int, is_picked: bool) -> Iterator[Block]:
        """Yield the parts without a block of their own, by kind."""
        for kind in (RESULT, *TEXTS, CALL):
            sizes = [part.size for part in parts if part.kind == kind]
            if sum(sizes):
                word = PART_WORDS.get(kind, "text")
                words = self.scale.words(count_text(len(sizes), f"smaller {word}"), sum(sizes))
                place = self.scale.place(at, sum(sizes))
                has = self._has(kind, is_picked)
                yield Block(*place, self.row + 2, _role(kind), (f"{word}s",), words, is_picked=has)
                at += sum(sizes)

    def _has(self, kind: str, is_picked: bool) -> bool:
        if self.address.tool is not None:
            return is_picked and kind == RESULT
        return bool(self.address.part) and kind == self.address.part


def _role(kind: str) -> str:
    """Return the role that gives a kind of part its colour; texts have the colour of their message."""
    return {CALL: "ai", RESULT: "tool"}.get(kind, kind)


def _node_name(path: Path) -> str:
    return f"Pair {path.number}" if path.pair else path.number


# What is selected in the chart of bytes, and the redaction that it leads to: by rule, so that no address grows with
# it.


REDACTED = {RESULT: "result", CALL: "arguments"}
"""The names of parts in Redact; anything else is a text of its role."""


@dataclass(frozen=True, slots=True)
class Selection:
    title: str
    words: str
    action: str
    redact_url: str
    """The address of Redact; "" if nothing can be redacted."""
    clear_url: str


def redact_page(subject: Subject) -> str:
    """Return the address at which a selection is redacted; "" for a person who may not."""
    return subject.change_url("drafts:operation", "redact")


def selection_of(subject: Subject, level: Level, address: Address, groups: Sequence[Group]) -> Selection | None:
    count, size, name = _picked(address, groups)
    clear = replace(address, tool=None, part="").url
    if not size:
        return Selection(f"No results of {name} here", "", "", "", clear) if address.tool is not None else None
    noun = "result" if address.tool is not None or address.part == RESULT else "call" if address.part == CALL else ""
    title = f"{count_text(count, noun)} selected" if noun else f"{name} selected"
    where = f"{name} in {level.name}" if level.name else name
    return Selection(
        title,
        f"{where} · {size_and_share(size, subject.snapshot.size)} of the chain",
        _action(count, noun),
        _redact_url(subject, level, address),
        clear,
    )


def _picked(address: Address, groups: Sequence[Group]) -> tuple[int, int, str]:
    """Return the number, size and name of the selected parts."""
    tools = [group for group in groups if group.is_tool and address.tool in (None, group.name)]
    if address.tool is not None:
        name = marks(one_line(address.tool, 60)) or "no name"
        return sum(tool.results for tool in tools), sum(tool.result_size for tool in tools), name
    if address.part == RESULT:
        return sum(tool.results for tool in tools), sum(tool.result_size for tool in tools), "Results"
    if address.part == CALL:
        return sum(tool.calls for tool in tools), sum(tool.call_size for tool in tools), "Calls"
    texts = [group for group in groups if not group.is_tool and group.role == address.part]
    return 0, sum(group.size for group in texts), TEXTS.get(address.part, "")


def _action(count: int, noun: str) -> str:
    if not noun:
        return "Redact these texts"
    return f"Redact these {count:,} {noun}s" if count > 1 else f"Redact this {noun}"


def _redact_url(subject: Subject, level: Level, address: Address) -> str:
    page = redact_page(subject)
    if not page:
        return ""
    part = RESULT if address.tool is not None else address.part
    rule = {"policy": "every", "parts": REDACTED.get(part, "text")}
    if part in TEXTS:
        rule["roles"] = part
    if address.tool is not None:
        rule["only"] = address.tool
    if level.first is not None:
        rule |= {"from": str(level.first), "to": str(level.last)}
    return f"{page}&{urlencode(rule, errors='surrogatepass')}"


MOST_BARS = 12


@dataclass(frozen=True, slots=True)
class Crumb:
    text: str
    url: str
    """The address of the level; "" if it is the level that is shown."""


@dataclass(frozen=True, slots=True)
class Bar:
    name: str
    is_code: bool
    role: str
    amount: str
    width: float
    """The width in hundredths of the longest."""
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
    """False if the level is so large that only its sections or pairs are known."""
    selection: Selection | None
    redact_url: str


def bytes_page(subject: Subject, address: Address) -> BytesPage:
    """Raise PathError if the chain has no such level."""
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


# Where the bytes of a chain go, as a page or as the fragment that the explorer shows.


@requires("read")
@require_safe
def bytes_view(request: HttpRequest, subject: Subject) -> HttpResponse:
    template = "chains/bytes/_bytes.html" if wants_fragment(request) else "chains/bytes/bytes.html"
    shown = bytes_page(subject, read_address(f"{subject.base_url}bytes", request.GET))
    response = render(request, template, {"subject": subject, "bytes": shown})
    response["Vary"] = "HX-Request"
    return response
