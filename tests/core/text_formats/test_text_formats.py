"""What the reference's cases do not cover: places, ignored text, ambiguities, and texts that try to break out."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainviz.core.errors import OptionsError
from chainviz.core.text_formats import TEXT_FORMATS, get_text_format
from chainviz.core.text_formats.contract import AmbiguousTags, LineIndex, Section, TextFormat
from tests.core.text_formats.hostile import LINES
from tests.cpu import cpu_seconds
from tests.examples import examples

NAMES = ("a", "b", "my tool", "Réponse")
texts = st.lists(st.sampled_from((*LINES, "# my tool", "<my tool>", "</my tool>", "# RÉPONSE")), max_size=12).map("\n".join)
formats = st.sampled_from([text_format.register_all(names) for text_format in TEXT_FORMATS for names in ((), NAMES)])
plain = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="<#"), min_size=1).map(str.strip)


@given(formats, texts)
@examples(400)
def test_sections_and_ignored_ranges_cover_the_text_once(text_format: TextFormat, text: str) -> None:
    parsed = text_format.scan(text)
    covered = bytearray(len(text))
    for section in parsed.sections:
        assert text[section.start : section.end] == section.content == section.content.strip() != ""
        assert 0 <= section.outer_start < section.start <= section.end <= section.outer_end <= len(text)
        covered[section.outer_start : section.outer_end] = b"x" * (section.outer_end - section.outer_start)
    for ignored in parsed.ignored:
        assert text[ignored.start : ignored.end].strip() == text[ignored.start : ignored.end] != ""
        assert not any(covered[ignored.start : ignored.end])
        covered[ignored.start : ignored.end] = b"x" * (ignored.end - ignored.start)
    uncovered = "".join(char for char, is_covered in zip(text, covered, strict=True) if not is_covered)
    assert not uncovered.strip()
    if parsed.sections:
        assert text_format.parse(text) == parsed.values()


@given(st.sampled_from(TEXT_FORMATS), st.lists(st.tuples(st.sampled_from(NAMES), plain.filter(bool)), min_size=1, max_size=5))
def test_plain_sections_read_back_as_they_were_written(text_format: TextFormat, sections: list[tuple[str, str]]) -> None:
    registered = replace(text_format.register_all(NAMES), strict=True)
    written = registered.format_sections([Section(*each) for each in sections])
    assert [(each.name, each.content) for each in registered.scan(written).sections] == sections
    assert registered.scan(written).ignored == ()
    values = registered.parse(written)
    assert all(values[name] == [content for other, content in sections if other == name] for name, _ in sections)


def test_registering_returns_a_new_format_and_never_changes_one() -> None:
    empty = get_text_format("xml")
    one = empty.register("Answer", "Say it.").register("ANSWER", "other")
    assert empty.sections == ()
    assert [(each.name, each.guidance) for each in one.sections] == [("Answer", "Say it.")]
    assert [each.name for each in one.register_all(["answer", "b", "B", "c"]).sections] == ["Answer", "b", "c"]


def test_an_unknown_format_is_refused_in_a_sentence() -> None:
    with pytest.raises(OptionsError, match="choose one of markdown, xml"):
        get_text_format("yaml")


def test_an_ignored_range_has_the_name_of_its_header() -> None:
    text = "intro\n# Action\nrun:\n# install deps\nnpm i\n# Answer\n\n# Answer\ndone"
    parsed = get_text_format("markdown").register_all(["action", "answer"]).scan(text)
    assert [(text[each.start : each.end], each.header) for each in parsed.ignored] == [
        ("intro", ""), ("# install deps\nnpm i", "install deps"), ("# Answer", "Answer"),
    ]  # fmt: skip


def test_strict_names_the_section_and_the_tag() -> None:
    text = "<thinking>I check <Answer> later</thinking><answer>42</answer>"
    strict = replace(get_text_format("xml").register_all(["thinking", "answer"]), strict=True)
    (ambiguity,) = strict.scan(text).ambiguities
    assert (ambiguity.section.name, ambiguity.tag, ambiguity.start) == ("thinking", "<Answer>", 18)
    with pytest.raises(AmbiguousTags, match="thinking holds <Answer>"):
        strict.parse(text)
    assert replace(strict, strict=False).parse(text) == {"thinking": ["I check <Answer> later"], "answer": ["42"]}


def test_lines_and_columns_count_from_one() -> None:
    lines = LineIndex("ab\n\ncd")
    assert [lines.place(offset) for offset in (0, 2, 3, 4, 6)] == [(1, 1), (1, 3), (2, 1), (3, 1), (3, 3)]
    assert LineIndex("").place(0) == (1, 1)


@pytest.mark.parametrize("make", [
    lambda count: "<a>" * count + "</a>" * count,
    lambda count: "<a><b>" * count + "</b></a>" * count,
    lambda count: "<" * count + "#\n" * count,
    lambda count: "# a\nx\n" * count,
    lambda count: "#" + "\n" * count,
])  # fmt: skip
def test_scanning_is_linear(make) -> None:  # type: ignore[no-untyped-def]
    for text_format in TEXT_FORMATS:
        strict = replace(text_format.register_all(["a", "b"]), strict=True)
        small, large = (_scanned(strict, make(count)) for count in (75, 600))
        assert large < 24 * max(small, 0.001)


def _scanned(text_format: TextFormat, text: str) -> float:
    return cpu_seconds(lambda: text_format.scan(text))
