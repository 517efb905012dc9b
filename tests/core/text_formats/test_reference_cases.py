"""Formatting, parsing and describing, case by case: the reference's behaviour and, by default, the recommended one."""

from __future__ import annotations

from dataclasses import replace
from operator import itemgetter
from typing import Any

import pytest

from chainviz.core.text_formats import get_text_format
from chainviz.core.text_formats.contract import LEAD, AmbiguousTags, NoSections, ReferencePanic, Section, TextFormat
from tests.cases import cases


def section(case: dict[str, Any]) -> Section:
    return Section(case["name"], case["content"], tuple(map(section, case.get("children", ()))))


def registered(case: dict[str, Any]) -> TextFormat:
    return replace(get_text_format(case["format"]), strict=case["strict"]).register_all(case["sections"])


def outcome(text_format: TextFormat, text: str) -> dict[str, Any]:
    try:
        return {"sections": text_format.parse(text)}
    except NoSections:
        return {"error": "no_sections_found"}
    except AmbiguousTags:
        return {"error": "ambiguous_tags"}
    except ReferencePanic:
        return {"panic": "regexp does not compile (back-reference)"}


@pytest.mark.parametrize("case", cases("toolchain/format_sections.json"), ids=itemgetter("id"))
def test_formatting_equals_the_reference(case: dict[str, Any]) -> None:
    text_format = replace(get_text_format(case["format"]), reference=True)
    assert text_format.format_sections([section(each) for each in case["sections"]]) == case["expected"]["head"]


@pytest.mark.parametrize("case", cases("toolchain/format_sections.json"), ids=itemgetter("id"))
def test_formatting_follows_the_seed(case: dict[str, Any]) -> None:
    text_format, expected = get_text_format(case["format"]), case["expected"]
    sections = [section(each) for each in case["sections"]]
    wanted = expected["head"] if expected["seed_literal"] is None else expected["seed_literal"]
    assert text_format.format_sections(sections) == wanted
    if "f691162_format_section_each" in expected:
        each = [text_format.format_section(one.name, one.content) for one in sections]
        assert each == expected["f691162_format_section_each"]


@pytest.mark.parametrize("case", cases("toolchain/parse.json"), ids=itemgetter("id"))
def test_parsing_equals_the_reference(case: dict[str, Any]) -> None:
    assert outcome(replace(registered(case), reference=True), case["output"]) == case["expected"]["head"]


@pytest.mark.parametrize("case", cases("toolchain/parse.json"), ids=itemgetter("id"))
def test_parsing_follows_the_recommendation(case: dict[str, Any]) -> None:
    expected = case["expected"]
    assert outcome(registered(case), case["output"]) == expected.get("recommended", expected["head"])


@pytest.mark.parametrize("case", cases("toolchain/describe_structure.json"), ids=itemgetter("id"))
def test_the_structure_is_described(case: dict[str, Any]) -> None:
    text_format = get_text_format(case["format"])
    for name, guidance in case["sections"]:
        text_format = text_format.register(name, guidance)
    assert text_format.describe_structure() == case["expected"]["text"].replace("{LEAD}:", LEAD)
    assert LEAD.endswith(":")
