"""One message that two sides changed: changes of different parts are all kept, and arguments stay JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainviz.core.chain.messages import AI, HUMAN, Message, Part, Text, ToolCall
from chainviz.core.diff.merge.items import Merged
from chainviz.core.diff.merge.messages import merge_messages
from chainviz.core.formats import get_format
from chainviz.core.formats.contract import Format, Style

FORMATS = ["openai_chat", "anthropic", "gemini", "openai_responses", "neutral", "bedrock_converse", "langchain", "claude_code"]


def stored(format: Format, message: Message) -> Message:
    """As it is read again after it was saved."""
    near = message.source[0].text if message.source else ""
    return format.message(message.role, format.write(message, Style(near, near.isascii())))


def side(format: Format, base: Message, *steps: Callable[[Sequence[Part]], Sequence[Part]]) -> Message:
    for step in steps:
        base = stored(format, replace(base, parts=tuple(step(base.parts))))
    return base


def texts(message: Message | None) -> list[str]:
    assert message is not None
    return [part.text if isinstance(part, Text) else getattr(part, "name", "?") for part in message.parts]


def merged(base: Message, mine: Message, theirs: Message, format: Format) -> Merged[Message]:
    found = merge_messages(base, mine, theirs, format)
    assert found is not None
    return found


def settled(base: Message, mine: Message, theirs: Message, format: Format) -> Message:
    found = merged(base, mine, theirs, format)
    assert not found.has_conflicts and found.mine == found.theirs == found.both
    return found.mine


def changed(place: int, text: str) -> Callable[[Sequence[Part]], Sequence[Part]]:
    return lambda parts: [replace(part, text=text) if i == place else part for i, part in enumerate(parts)]


def removed(place: int) -> Callable[[Sequence[Part]], Sequence[Part]]:
    return lambda parts: [*parts[:place], *parts[place + 1 :]]


def added(place: int, part: Part) -> Callable[[Sequence[Part]], Sequence[Part]]:
    return lambda parts: [*parts[:place], part, *parts[place:]]


@pytest.mark.parametrize("name", FORMATS)
def test_a_part_that_one_side_added_and_the_text_that_the_other_changed(name: str) -> None:
    format = get_format(name)
    base = stored(format, Message(HUMAN, (Text("Look at this."),)))
    mine, theirs = side(format, base, added(1, Text("And that."))), side(format, base, changed(0, "Look at this now."))
    for one, other in ((mine, theirs), (theirs, mine)):
        found = settled(base, one, other, format)
        assert texts(found) == ["Look at this now.", "And that."]
        assert format.message(HUMAN, found.source) == found


@pytest.mark.parametrize("name", FORMATS)
def test_a_part_that_one_side_removed_and_another_that_the_other_changed(name: str) -> None:
    format = get_format(name)
    base = stored(format, Message(HUMAN, (Text("one"), Text("two"), Text("three"))))
    mine, theirs = side(format, base, removed(0)), side(format, base, changed(2, "THREE"))
    assert texts(settled(base, mine, theirs, format)) == ["two", "THREE"]


@pytest.mark.parametrize("name", FORMATS)
def test_parts_that_both_added_are_mine_and_then_theirs(name: str) -> None:
    format = get_format(name)
    base = stored(format, Message(HUMAN, (Text("one"),)))
    mine, theirs = side(format, base, added(1, Text("mine"))), side(format, base, added(1, Text("theirs")))
    assert texts(merged(base, mine, theirs, format).both) == ["one", "mine", "theirs"]
    assert texts(merged(base, theirs, mine, format).both) == ["one", "theirs", "mine"]


@pytest.mark.parametrize("name", FORMATS)
def test_a_change_follows_its_part_where_the_other_side_moved_it(name: str) -> None:
    format = get_format(name)
    base = stored(format, Message(HUMAN, (Text("one"), Text("two"), Text("three"))))
    mine, theirs = side(format, base, removed(0), added(2, Text("more"))), side(format, base, changed(1, "two, edited"))
    assert texts(settled(base, mine, theirs, format)) == ["two, edited", "three", "more"]


@pytest.mark.parametrize("name", FORMATS)
def test_a_call_that_one_side_added_and_the_text_that_the_other_changed(name: str) -> None:
    format = get_format(name)
    base = stored(format, Message(AI, (Text("I look."),)))
    mine = side(format, base, added(1, ToolCall("call_1", "find", '{"q": 1}')))
    theirs = side(format, base, changed(0, "I look there."))
    assert texts(settled(base, mine, theirs, format)) == ["I look there.", "find"]


def test_a_part_that_one_side_removed_and_the_other_changed_is_chosen() -> None:
    format = get_format("anthropic")
    base = stored(format, Message(HUMAN, (Text("one"), Text("two"))))
    mine, theirs = side(format, base, removed(1)), side(format, base, changed(1, "TWO"))
    for found in (merged(base, mine, theirs, format), merged(base, theirs, mine, format)):
        assert found.has_conflicts and found.both is None
        assert [texts(each) for each in (found.mine, found.theirs)] in ([["one"], ["one", "TWO"]], [["one", "TWO"], ["one"]])


def test_with_one_side_chosen_the_other_parts_merge() -> None:
    format = get_format("openai_chat")
    base = stored(format, Message(AI, (Text("one two"), ToolCall("call_1", "find", '{"q": 1}'), ToolCall("call_2", "read", "{}"))))
    mine = side(format, base, changed(0, "one 2"), removed(2))
    theirs = side(format, base, changed(0, "one TWO"), lambda parts: [parts[0], replace(parts[1], name="seek"), parts[2]])
    found = merged(base, mine, theirs, format)
    assert found.has_conflicts and found.both is None
    assert (texts(found.mine), texts(found.theirs)) == (["one 2", "seek"], ["one TWO", "seek"])
    twice = merge_messages(base, mine, theirs, format, may_repeat=True)
    assert twice is not None and texts(twice.both) == ["one 2", "one TWO", "seek"]


def test_the_same_words_that_both_changed_are_chosen() -> None:
    format = get_format("anthropic")
    base = stored(format, Message(HUMAN, (Text("one two"),)))
    mine = side(format, base, changed(0, "one 2"), added(1, Text("more")))
    found = merged(base, mine, side(format, base, changed(0, "one TWO")), format)
    assert found.both is None and (texts(found.mine), texts(found.theirs)) == (["one 2", "more"], ["one TWO", "more"])
    found = merged(base, mine, side(format, base, changed(0, "1 two")), format)
    assert found.has_conflicts and texts(found.both) == ["1 2", "more"]


def test_a_call_id_is_never_there_twice() -> None:
    format = get_format("openai_chat")
    base = stored(format, Message(AI, (Text("I look."),)))
    mine, theirs = (side(format, base, added(1, ToolCall("call_1", name, "{}"))) for name in ("find", "read"))
    found = merged(base, mine, theirs, format)
    assert found.both is None and (found.mine, found.theirs) == (mine, theirs)


def test_a_field_that_no_part_shows_is_never_lost() -> None:
    format = get_format("anthropic")
    base = stored(format, Message(HUMAN, (Text("one"),)))
    marked = replace(base.source[0], text=base.source[0].text[:-1] + ', "secret": "[MASKED]"}')
    theirs = format.message(HUMAN, (marked,))
    mine = side(format, base, added(1, Text("two")))
    for sides in ((mine, theirs), (theirs, mine)):
        found = settled(base, *sides, format)
        assert texts(found) == ["one", "two"]
        assert '"[MASKED]"' in found.source[0].text


WORDS = st.lists(st.sampled_from(("red", "blue", "green", "ü", "3")), min_size=1, max_size=3).map(" ".join)


@st.composite
def cases(draw: st.DrawFn) -> tuple[str, list[str], list[str | None], list[str | None]]:
    """A format, the texts of a message, and for each of them what either side makes of it: None removes it."""
    count = draw(st.integers(1, 4))
    base = [f"part {i}: {draw(WORDS)}" for i in range(count)]
    sides: list[list[str | None]] = []
    for _ in range(2):
        sides.append([draw(st.sampled_from((text, text, f"{text} edited", None))) for text in base])
    for i, text in enumerate(base):
        if sides[0][i] != text:
            sides[1][i] = text
    return draw(st.sampled_from(FORMATS)), base, sides[0], sides[1]


@given(cases(), st.booleans(), st.booleans())
def test_changes_of_different_parts_are_all_kept(
    case: tuple[str, list[str], list[str | None], list[str | None]], mine_adds: bool, theirs_add: bool
) -> None:
    name, before, *sides = case
    format = get_format(name)
    base = stored(format, Message(HUMAN, tuple(map(Text, before))))
    made = []
    for after, more in zip(sides, (["mine"] * mine_adds, ["theirs"] * theirs_add), strict=True):
        steps = [changed(i, text) for i, text in enumerate(after) if text is not None and text != before[i]]
        steps += [added(len(before), Text(text)) for text in more]
        steps += [removed(i) for i in reversed(range(len(before))) if after[i] is None]
        made.append(side(format, base, *steps))
    # a message without parts is an empty text in some formats; a part removed before an added one looks like a changed one
    if not all(map(any, sides)) or base in made or (mine_adds and sides[0][-1] is None) or (theirs_add and sides[1][-1] is None):
        return
    expected = [own if own != old else other for old, own, other in zip(before, *sides, strict=True)]
    kept = [each for each in expected if each is not None]
    if not kept and not (mine_adds or theirs_add):
        return
    result = merged(base, *made, format)
    found = texts(result.both)
    assert result.has_conflicts <= (mine_adds and theirs_add)
    assert found[: len(kept)] == kept
    # behind a removed part, an added one may look like what the part before it became
    order = sorted if None in sides[0] + sides[1] else list
    assert order(found[len(kept) :]) == ["mine"] * mine_adds + ["theirs"] * theirs_add


Change = Callable[[ToolCall], ToolCall | None]
CHANGES: dict[str, Change] = {
    "another value": lambda call: replace(call, arguments=call.arguments.replace("one", "uno")),
    "another number": lambda call: replace(call, arguments=call.arguments.replace("1", "2")),
    "a member more": lambda call: replace(call, arguments=call.arguments.replace("}", ', "more": [true]}')),
    "another member more": lambda call: replace(call, arguments=call.arguments.replace("{", '{"first": null, ')),
    "a member less": lambda call: replace(call, arguments='{"q": "one two"}'),
    "no member": lambda call: replace(call, arguments="{}"),
    "another name": lambda call: replace(call, name="seek"),
    "removed": lambda call: None,
    "unchanged": lambda call: call,
}


def made(format: Format, base: Message, names: Sequence[str]) -> Message:
    """The calls of a message, which come behind a text, changed as `names` say."""
    calls = [CHANGES[name](part) for name, part in zip(names, base.parts[1:], strict=True) if isinstance(part, ToolCall)]
    return side(format, base, lambda parts: [parts[0], *(call for call in calls if call is not None)])


def base_of(format: Format, count: int) -> Message:
    calls = [ToolCall(f"call_{i}", "find", '{"q": "one two", "n": 1}') for i in range(count)]
    return stored(format, Message(AI, (Text("I look."), *calls)))


def invalid_arguments(message: Message) -> list[str]:
    found = []
    for part in message.parts:
        if isinstance(part, ToolCall):
            try:
                json.loads(part.arguments)
            except ValueError:
                found.append(part.arguments)
    return found


NAMES = st.sampled_from(sorted(CHANGES))


@given(st.sampled_from(FORMATS), st.lists(st.tuples(NAMES, st.booleans()), min_size=1, max_size=4), st.booleans())
def test_random_changes_of_different_calls_are_all_kept_in_either_order(
    name: str, changes: list[tuple[str, bool]], edits_text: bool
) -> None:
    format = get_format(name)
    base = base_of(format, len(changes))
    own = made(format, base, [change if is_mine else "unchanged" for change, is_mine in changes])
    other = made(format, base, ["unchanged" if is_mine else change for change, is_mine in changes])
    if edits_text:
        other = side(format, other, changed(0, "I look there."))
    expected = made(format, base, [change for change, _ in changes])
    if edits_text:
        expected = side(format, expected, changed(0, "I look there."))
    one, two = settled(base, own, other, format), settled(base, other, own, format)
    assert one.parts == two.parts == expected.parts


@given(st.sampled_from(FORMATS), st.lists(st.tuples(NAMES, NAMES), min_size=1, max_size=3))
def test_random_changes_of_the_same_calls_never_make_invalid_arguments(name: str, changes: list[tuple[str, str]]) -> None:
    format = get_format(name)
    base = base_of(format, len(changes))
    sides = [made(format, base, [each[i] for each in changes]) for i in (0, 1)]
    one, two = merged(base, sides[0], sides[1], format), merged(base, sides[1], sides[0], format)
    assert one.has_conflicts is two.has_conflicts and one.mine.parts == two.theirs.parts
    for each in filter(None, (one.mine, one.theirs, one.both)):
        assert not invalid_arguments(each)
