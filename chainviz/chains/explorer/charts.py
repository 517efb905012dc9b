"""Chooses what the charts of a chain show: what is wide enough to be seen, the rest together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.safestring import SafeString, mark_safe

from chainviz.chains.explorer.minimap import ROLES
from chainviz.chains.explorer.subject import Subject
from chainviz.chains.render.charts import Slice, ToolBar, icicle_svg, tools_svg
from chainviz.chains.render.numbers import count_text
from chainviz.core.chain.paths import Path
from chainviz.store.outline.measures import unpack_charts
from chainviz.store.outline.reader import RowPlace, SectionPlace
from chainviz.web.formatting.byte_text import byte_text

SEEN = 1 / 360
"""Share of the chain that is two of the drawing's 720 units: narrower blocks are drawn together."""
WORTH_PARTS = 1 / 36
MOST_ROWS = 2_048
MOST_TOOLS = 20
PART_WORDS = {
    "text": "text", "image": "image", "binary": "file", "thinking": "reasoning", "tool_call": "call",
    "tool_result": "result", "opaque": "part",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class BytesPage:
    icicle: SafeString
    tools: SafeString
    tools_left: int


def bytes_page(subject: Subject) -> BytesPage:
    whole = subject.snapshot.size
    slices = list(_slices(subject, whole)) if whole else []
    bars = sorted(_bars(subject), key=lambda bar: -bar.size)
    return BytesPage(
        mark_safe(icicle_svg(slices, whole, subject.base_url)) if slices else SafeString(),  # the renderer escapes
        mark_safe(tools_svg(bars[:MOST_TOOLS])),
        max(0, len(bars) - MOST_TOOLS),
    )


def _bars(subject: Subject) -> Iterator[ToolBar]:
    for name, (calls, call_bytes, results, result_bytes) in unpack_charts(subject.outline.charts).tools.items():
        yield ToolBar(name, call_bytes + result_bytes, calls, results)


def _slices(subject: Subject, whole: int) -> Iterator[Slice]:
    outline = subject.stored.outline
    outline.blocks.load_sections(entry.digest for entry in outline.listing.sections)
    rows_left = MOST_ROWS
    waiting: list[SectionPlace] = []
    for place in outline.sections(1, outline.listing.section_count + 1):
        if place.measure.size < whole * SEEN:
            waiting.append(place)
            continue
        yield from _together([(each.before.size, each.measure.size) for each in waiting], 0, "section")
        waiting = []
        title = f"Section {place.number}"
        label = f"§{place.number} · {byte_text(place.measure.size)}"
        yield Slice(place.before.size, place.measure.size, 0, "", label, title, f"s{place.number}")
        if place.measure.rows <= rows_left:
            rows_left -= place.measure.rows
            yield from _rows(subject, place, whole)
    yield from _together([(each.before.size, each.measure.size) for each in waiting], 0, "section")


def _rows(subject: Subject, section: SectionPlace, whole: int) -> Iterator[Slice]:
    first = section.before.rows
    places = subject.stored.outline.rows(range(first, first + section.measure.rows))
    start = section.before.size
    waiting: list[tuple[int, int]] = []
    for number, place in places.items():
        size = place.row.size
        if size < whole * SEEN:
            waiting.append((start, size))
        else:
            yield from _together(waiting, 1, "node")
            waiting = []
            path = section.path_of(number)
            yield Slice(start, size, 1, ROLES[place.row.kind], *_names(path, place), str(path))
            if size >= whole * WORTH_PARTS:
                yield from _parts(subject, place, start, whole)
        start += size
    yield from _together(waiting, 1, "node")


def _names(path: Path, place: RowPlace) -> tuple[str, str]:
    if path.pair:
        return f"{path.section}.{path.pair}", f"Pair {path.section}.{path.pair}"
    role = ROLES[place.row.kind]
    return role, f"{role.capitalize()} message of section {path.section}"


def _parts(subject: Subject, place: RowPlace, start: int, whole: int) -> Iterator[Slice]:
    waiting: list[tuple[int, int]] = []
    for found in subject.stored.rows(place.start, place.start + place.row.messages):
        role = found.shape.role if found.shape.role in ("system", "human", "ai") else "tool"
        for part in found.shape.parts:
            if part.size >= whole * SEEN:
                yield from _together(waiting, 2, "part")
                waiting = []
                words = f"{PART_WORDS[part.kind]} {part.name}".strip()
                yield Slice(start, part.size, 2, role, f"{words} · {byte_text(part.size)}", words)
            elif part.size:
                waiting.append((start, part.size))
            start += part.size
    yield from _together(waiting, 2, "part")


def _together(waiting: list[tuple[int, int]], level: int, word: str) -> Iterator[Slice]:
    """What is too narrow to be seen, in one block if it has any bytes."""
    if not waiting:
        return
    start, last = waiting[0][0], waiting[-1]
    size = last[0] + last[1] - start
    if size:
        words = count_text(len(waiting), f"smaller {word}")
        yield Slice(start, size, level, "", words, words)
