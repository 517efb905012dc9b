"""A text taken apart: its lines, its sections, what is ignored, its calls, and the prompt that asks for these sections."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from chainviz.chains.parse.calls import ActionView, action_view, counts
from chainviz.chains.parse.settings import ParseSettings
from chainviz.chains.parse.source_lines import HUES, Labels, SourceWindow, source_window
from chainviz.chains.render.visible_text import marks, one_line
from chainviz.core.chain.messages import byte_size
from chainviz.core.errors import ChainError
from chainviz.core.text_formats import TEXT_FORMATS
from chainviz.core.text_formats.contract import FoundSection, RegisteredSection
from chainviz.core.text_formats.line_index import LineIndex
from chainviz.core.toolchain import ParsedAnswer, parse_answer
from chainviz.core.toolchain.schemas import Schema

MOST_SECTIONS = 200
"""Shown of each list."""
TEASER = 120


@dataclass(frozen=True, slots=True)
class RangeView:
    name: str
    nth: str
    hue: str
    text: str
    lines: str
    first_line: int
    size: int
    range: int


@dataclass(frozen=True, slots=True)
class Setting:
    """A section of the form."""

    section: RegisteredSection
    hue: str


@dataclass(frozen=True, slots=True)
class Panel:
    settings: ParseSettings
    format: str
    format_label: str
    is_detected: bool
    formats: Sequence[tuple[str, str]]
    registered: tuple[Setting, ...]
    source: SourceWindow
    size: int
    sections: tuple[RangeView, ...]
    sections_left: int
    missing: tuple[str, ...]
    ignored: tuple[RangeView, ...]
    ignored_left: int
    ignored_size: int
    actions: tuple[ActionView, ...]
    calls: int
    call_errors: int
    error: str
    """Why the format reads nothing: no sections, or strict mode refuses."""
    ambiguity: str
    """What strict mode would refuse, while it is off."""
    other_format: str
    """A format that finds sections where this one finds none."""
    prompt: str

    @property
    def section_count(self) -> int:
        return len(self.sections) + self.sections_left


def panel_of(text: str, settings: ParseSettings, schemas: Mapping[str, Schema], first_line: int = 0) -> Panel:
    answer = parse_answer(text, settings.options(schemas))
    lines = LineIndex(text)
    labels = _labels(answer)
    found = answer.text.sections
    sections = tuple(_range(section, index, labels, lines) for index, section in enumerate(found[:MOST_SECTIONS]))
    ignored = [FoundSection("", text, each.start, each.end, each.start, each.end) for each in answer.text.ignored]
    places = {id(section): index for index, section in enumerate(found)}
    actions = tuple(
        action_view(section, read, lines, labels.label(places[id(section)]), labels.hues[places[id(section)]])
        for section, read in answer.actions[:MOST_SECTIONS]
    )
    error = _error(answer, text)
    calls, call_errors = counts(actions)
    return Panel(
        settings=settings,
        format=answer.format.name,
        format_label=answer.format.label,
        is_detected=not settings.format,
        formats=[(each.name, each.label) for each in TEXT_FORMATS],
        registered=tuple(Setting(each, _hue(each.name, answer)) for each in settings.sections),
        source=source_window(text, answer.text, labels, first_line),
        size=byte_size(text),
        sections=sections,
        sections_left=len(found) - len(sections),
        missing=tuple(marks(name) for name in answer.missing),
        ignored=tuple(_ignored(each, lines) for each in ignored[:MOST_SECTIONS]),
        ignored_left=max(0, len(ignored) - MOST_SECTIONS),
        ignored_size=sum(byte_size(each.content) for each in ignored),
        actions=actions,
        calls=calls,
        call_errors=call_errors,
        error=error,
        ambiguity="" if settings.strict else _ambiguity(answer, lines),
        other_format="" if found else _other_format(text, answer, settings, schemas),
        prompt=answer.format.describe_structure(),
    )


def _labels(answer: ParsedAnswer) -> Labels:
    totals = Counter(section.name for section in answer.text.sections)
    seen: Counter[str] = Counter()
    places = []
    for section in answer.text.sections:
        seen[section.name] += 1
        places.append((seen[section.name], totals[section.name]))
    names = [marks(one_line(section.name, 40)) for section in answer.text.sections]
    return Labels(names, places, [_hue(section.name, answer) for section in answer.text.sections])


def _hue(name: str, answer: ParsedAnswer) -> str:
    known = [each.name for each in answer.format.sections] or list(answer.text.values())
    place = known.index(name) if name in known else 0
    return f"section-{place % HUES + 1}"


def _range(section: FoundSection, index: int, labels: Labels, lines: LineIndex) -> RangeView:
    number, count = labels.places[index]
    nth = f"{number} of {count}" if count > 1 else ""
    return replace(_ignored(section, lines), name=labels.names[index], nth=nth, hue=labels.hues[index], range=index)


def _ignored(section: FoundSection, lines: LineIndex) -> RangeView:
    first, last = lines.place(section.outer_start)[0], lines.place(max(section.outer_start, section.outer_end - 1))[0]
    shown = section.text[section.start : min(section.end, section.start + TEASER * 4)]
    where = f"{first:,}" if first == last else f"{first:,}–{last:,}"
    return RangeView("", "", "", marks(one_line(shown, TEASER)), where, first, byte_size(section.content), -1)


def _error(answer: ParsedAnswer, text: str) -> str:
    if answer.text.sections and not (answer.format.strict and answer.text.ambiguities):
        return ""
    try:
        answer.format.parse(text)
    except ChainError as error:
        return marks(str(error))
    return ""


def _ambiguity(answer: ParsedAnswer, lines: LineIndex) -> str:
    if not answer.text.ambiguities:
        return ""
    first = answer.text.ambiguities[0]
    return marks(f"Strict mode would refuse this text. Line {lines.place(first.start)[0]}: {first.section.name} holds {first.tag}.")


def _other_format(text: str, answer: ParsedAnswer, settings: ParseSettings, schemas: Mapping[str, Schema]) -> str:
    for other in TEXT_FORMATS:
        if other.name != answer.format.name:
            found = parse_answer(text, replace(settings, format=other.name).options(schemas))
            if found.text.sections:
                return other.label
    return ""
