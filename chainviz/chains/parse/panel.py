"""A parsed text: its lines, its sections, what is ignored, its calls, and the prompt that asks for these sections."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from django.http import QueryDict
from django.utils.safestring import SafeString, mark_safe

from chainviz.chains.parse.source_lines import HUES, Labels, SourceWindow, source_window
from chainviz.chains.render.json_text import paint
from chainviz.chains.render.visible_text import marks, one_line
from chainviz.core.chain.messages import byte_size
from chainviz.core.errors import ChainError
from chainviz.core.text_formats import TEXT_FORMATS
from chainviz.core.text_formats.contract import FoundSection, LineIndex, RegisteredSection
from chainviz.core.toolchain import CallsError, Entry, ParsedAnswer, ParseOptions, ReadCalls, parse_answer
from chainviz.core.toolchain.calls import ACTION, USUAL
from chainviz.core.usage.document_usage import Schema

# The calls of action sections: each entry alone with its error, also where one of them rejects the whole section.


MOST_CALLS = 100
"""The most calls that are shown of a section."""
LONGEST = 4_000
"""The most characters that are shown of the arguments of a call."""


@dataclass(frozen=True, slots=True)
class CallView:
    number: int
    name: str
    line: int
    error: str
    arguments: SafeString
    does_not_run: bool


@dataclass(frozen=True, slots=True)
class ActionView:
    label: str
    hue: str
    calls: tuple[CallView, ...]
    calls_left: int
    count: int
    errors: int
    fault: str
    """Why the text contains no calls, if no single entry is the reason."""
    is_rejected: bool


def action_view(section: FoundSection, read: ReadCalls, lines: LineIndex, label: str, hue: str) -> ActionView:
    calls = tuple(
        _call(number, entry, section, lines, is_rejected=read.error is not None)
        for number, entry in enumerate(read.entries[:MOST_CALLS], 1)
    )
    is_of_entry = any(entry.error is read.error for entry in read.entries)
    return ActionView(
        label=label,
        hue=hue,
        calls=calls,
        calls_left=len(read.entries) - len(calls),
        count=len(read.entries),
        errors=sum(entry.error is not None for entry in read.entries),
        fault=_sentence(read.error, section, lines) if read.error and not is_of_entry else "",
        is_rejected=read.error is not None,
    )


def _call(number: int, entry: Entry, section: FoundSection, lines: LineIndex, *, is_rejected: bool) -> CallView:
    text = entry.call.text if entry.call else section.content[entry.start : entry.end]
    shown = text if len(text) <= LONGEST else f"{text[:LONGEST]}… {len(text) - LONGEST:,} more characters"
    return CallView(
        number=number,
        name=marks(one_line(entry.name, 80)),
        line=lines.place(section.start + entry.start)[0],
        error=_sentence(entry.error, section, lines) if entry.error else "",
        arguments=mark_safe(paint(shown)),  # escapes
        does_not_run=is_rejected and entry.error is None,
    )


def _sentence(error: CallsError, section: FoundSection, lines: LineIndex) -> str:
    """Describe an error with the line and column of the whole text."""
    line, column = lines.place(section.start + error.offset)
    return marks(f"Line {line}, column {column}: {error.what}.")


def counts(actions: Sequence[ActionView]) -> tuple[int, int]:
    """Return the number of calls and of errors of all sections."""
    faults = sum(bool(action.fault) for action in actions)
    return sum(action.count for action in actions), sum(action.errors for action in actions) + faults


# How a text is to be parsed, as the form says it: format, sections with guidance, where the calls are.


MOST_LISTED_SECTIONS = 40
LONGEST_NAME, LONGEST_GUIDANCE = 100, 2_000


@dataclass(frozen=True, slots=True)
class ParseSettings:
    format: str = ""
    """The name of the format; "" to detect it."""
    sections: tuple[RegisteredSection, ...] = USUAL
    any_section: bool = False
    strict: bool = False
    calls_in: str = ACTION
    syntax: str = "json"

    def options(self, schemas: Mapping[str, Schema]) -> ParseOptions:
        return ParseOptions(
            format=self.format,
            sections=() if self.any_section else self.sections,
            strict=self.strict,
            calls_in=self.calls_in,
            syntax="yaml" if self.syntax == "yaml" else "json",
            schemas=schemas,
        )


def settings_in(form: QueryDict) -> ParseSettings:
    """Read the settings. Blank or repeated names are left out; a form without names was not sent yet."""
    format, calls_in = form.get("format", ""), form.get("calls", ACTION)
    return ParseSettings(
        format=format if any(each.name == format for each in TEXT_FORMATS) else "",
        sections=_sections(form) if "section" in form else USUAL,
        any_section="any" in form,
        strict="strict" in form,
        calls_in=calls_in.strip()[:LONGEST_NAME],
        syntax="yaml" if form.get("syntax") == "yaml" else "json",
    )


def _sections(form: QueryDict) -> tuple[RegisteredSection, ...]:
    found: dict[str, RegisteredSection] = {}
    for name, guidance in zip_longest(form.getlist("section"), form.getlist("guidance"), fillvalue=""):
        name = name.strip()[:LONGEST_NAME]
        if name and len(found) < MOST_LISTED_SECTIONS:
            found.setdefault(name.lower(), RegisteredSection(name, guidance[:LONGEST_GUIDANCE]))
    return tuple(found.values())


MOST_SECTIONS = 200
"""The most sections that are shown of each list."""
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
    """Why the format finds nothing: there are no sections, or strict mode refuses the text."""
    ambiguity: str
    """What strict mode would refuse; set only while it is off."""
    other_format: str
    """Another format that finds sections, if this one finds none."""
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
