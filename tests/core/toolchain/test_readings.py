"""Where the seed and its reference implementation disagree: the reading taken, one test for each, with its option."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chainviz.core.text_formats import get_text_format
from chainviz.core.text_formats.contract import AmbiguousTags, NoSections, Section
from chainviz.core.toolchain import Call, Failure, Output, ResultOptions, execute, format_results

XML, MARKDOWN = get_text_format("xml"), get_text_format("markdown")
CALLS = (Call("a"), Call("b"))
OUTPUTS = (Output({"x": 1}), Failure("no seat"))


def text(outputs=OUTPUTS, text_format=MARKDOWN, calls=CALLS, **options) -> str:  # type: ignore[no-untyped-def]
    return format_results(calls, outputs, text_format, ResultOptions(**options)).text


def test_the_wrapper_stands_around_xml_and_not_around_markdown() -> None:
    assert text(text_format=XML).startswith("<observation>\n<a>\n")
    assert text(text_format=MARKDOWN).startswith("# a\n")
    assert text(text_format=XML, wrapper="none").startswith("<a>\n")
    assert text(text_format=MARKDOWN, wrapper="section").startswith("# observation\n# a\n")


def test_markdown_sections_are_separated_by_a_blank_line() -> None:
    assert text() == '# a\n{"x":1}\n\n# b\nError: no seat'


def test_xml_sections_end_with_a_line_break_that_the_wrapper_does_not_double() -> None:
    assert XML.format_sections([Section("a", "1"), Section("b", "2")]) == "<a>\n1\n</a>\n<b>\n2\n</b>\n"
    assert text(text_format=XML).endswith("</b>\n</observation>")


def test_errors_always_stand_in_the_text_unless_the_option_says_otherwise() -> None:
    failed = (Failure("x"), Failure("y"))
    assert text(failed) == "# a\nError: x\n\n# b\nError: y"
    assert text(failed, empty_when_all_failed=True) == ""
    assert text(failed, XML, empty_when_all_failed=True) == ""
    assert text(empty_when_all_failed=True) == text()
    assert text((), XML, ()) == ""


def test_each_result_is_formatted_once() -> None:
    assert text((Output(1),), XML, CALLS[:1]).count("<a>") == 1


@pytest.mark.parametrize(("syntax", "value"), [("json", float("nan")), ("json", {1, 2}), ("yaml", object())])
def test_an_output_that_cannot_be_written_is_an_error_in_both_places(syntax, value) -> None:  # type: ignore[no-untyped-def]
    result = format_results(CALLS[:1], (Output(value, media=()),), MARKDOWN, ResultOptions(syntax=syntax))
    assert result.text == f"# a\nError: the output cannot be written as {syntax.upper()}"
    assert result.raw.errors == (f"the output cannot be written as {syntax.upper()}",)
    assert result.raw.results == (None,)


def test_one_section_and_many_can_be_formatted() -> None:
    assert MARKDOWN.format_section("a", "1") == "# a\n1"
    assert XML.format_section("a", "1") == "<a>\n1\n</a>"
    assert MARKDOWN.format_sections([Section("a", "1")]) == "# a\n1"


def test_xml_without_registered_sections_returns_every_tag_in_lower_case() -> None:
    assert XML.parse("<Foo>x</foo><bar>y</bar><2>z</2>") == {"foo": ["x"], "bar": ["y"]}


def test_names_are_no_patterns_and_upper_case_is_no_other_name() -> None:
    with pytest.raises(NoSections):
        XML.register("a.b").parse("<axb>v</axb>")
    assert XML.register("a.b").parse("<A.B>v</a.b>") == {"a.b": ["v"]}
    strict = replace(XML.register("Answer"), strict=True)
    nested = "<Answer>a <answer>b</answer> c</Answer>"
    assert strict.parse(nested) == {"Answer": ["b", "a <answer>b</answer> c"]}
    with pytest.raises(AmbiguousTags):
        replace(strict, reference=True).parse(nested)


def test_json_is_not_escaped_for_html_unless_asked() -> None:
    outputs = (Output({"h": "<b>&\u2028"}),)
    assert text(outputs, calls=CALLS[:1]) == '# a\n{"h":"<b>&\u2028"}'
    assert text(outputs, calls=CALLS[:1], go_compatible=True) == '# a\n{"h":"\\u003cb\\u003e\\u0026\\u2028"}'


def test_instructions_are_a_child_beside_the_result() -> None:
    outputs = (Output("r", instructions="Next: verify."),)
    assert text(outputs, calls=CALLS[:1]) == '# a\n## result\n"r"\n\n## instructions\nNext: verify.'


def test_an_unknown_tool_is_an_error_of_its_call_only() -> None:
    result = execute('[{"tool":"nope"},{"tool":"a"}]', {"a": Output(1)}, MARKDOWN)
    assert result.text == "# nope\nError: unknown tool: nope\n\n# a\n1"
    assert result.raw.errors == ("unknown tool: nope", None)
