"""A model's answer as the parse panel shows it."""

from __future__ import annotations

from chainviz.core.text_formats.contract import LEAD, RegisteredSection
from chainviz.core.toolchain import ParseOptions, parse_answer

ANSWER = """I do both at once.
<thinking>
I check before <answer> names a time.
</thinking>
<action>
[{"tool": "hold", "args": {"n": 1}}, {"args": {}}]
</action>
<note>later</note>
<action>
{"tool": "get_flight"}
</action>"""


def test_sections_ignored_text_and_calls_of_each_action() -> None:
    parsed = parse_answer(ANSWER)
    assert parsed.format.name == "xml"
    assert [section.name for section in parsed.text.sections] == ["thinking", "action", "action"]
    assert [ANSWER[each.start : each.end] for each in parsed.text.ignored] == ["I do both at once.", "<note>later</note>"]
    assert parsed.missing == ("answer",)
    assert [ambiguity.tag for ambiguity in parsed.text.ambiguities] == ["<answer>"]
    (first, broken), (_, whole) = parsed.actions
    assert broken.error is not None and broken.calls == ()
    assert [ANSWER[first.start + entry.start : first.start + entry.end] for entry in broken.entries] == [
        '{"tool": "hold", "args": {"n": 1}}', '{"args": {}}',
    ]  # fmt: skip
    assert [call.name for call in whole.calls] == ["get_flight"]


def test_the_format_that_finds_more_is_taken_unless_one_is_chosen() -> None:
    text = "# Thinking\nx\n# Answer\n<answer>42</answer>"
    assert parse_answer(text).format.name == "markdown"
    chosen = parse_answer(text, ParseOptions("xml"))
    assert chosen.format.parse(text) == {"answer": ["42"]}


def test_any_section_is_found_where_none_is_registered() -> None:
    parsed = parse_answer("<plan>x</plan><Act>y</Act>", ParseOptions(sections=()))
    assert [section.name for section in parsed.text.sections] == ["plan", "act"]


def test_the_prompt_describes_the_registered_sections() -> None:
    sections = (RegisteredSection("answer", "Say it."),)
    parsed = parse_answer("", ParseOptions("markdown", sections))
    assert parsed.format.describe_structure() == f"{LEAD}\n\n# answer\nSay it.\n\n"


def test_calls_are_read_once_where_actions_are_nested() -> None:
    text = '<action>first <action>{"tool": "ping"}</action> then</action>'
    (_, inner), (outer, none) = parse_answer(text).actions
    assert [call.name for call in inner.calls] == ["ping"]
    assert outer.content.startswith("first") and none.entries == () and none.error is not None


def test_the_syntax_is_chosen() -> None:
    text = "# action\ntool: a\nargs:\n  d: 2026-01-20"
    options = ParseOptions("markdown", syntax="yaml", schemas={"a": {"properties": {"d": {"type": "string"}}}})
    ((_, calls),) = parse_answer(text, options).actions
    assert calls.calls[0].arguments == {"d": "2026-01-20"}
