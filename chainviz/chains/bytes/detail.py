"""A level of the chart of bytes that can be read: its tools and texts, their nodes and parts, each sorted by size.
Entries that are too narrow are combined into one block with their number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from chainviz.chains.bytes.groups import CALL, RESULT, TEXTS, Group, NodeSize, PartSize
from chainviz.chains.bytes.level import Address
from chainviz.chains.bytes.strips import NARROWEST, Scale
from chainviz.chains.render.charts import Block
from chainviz.chains.render.visible_text import marks, one_line
from chainviz.core.chain.paths import Path
from chainviz.core.counts import count_text

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
