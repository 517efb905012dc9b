"""The results of a chain, each linked to its call; windows, laziness, media."""

from __future__ import annotations

import random

from chainviz.core.chain.chain import MemoryChain
from chainviz.core.chain.messages import Binary, Image, Message, Text, ToolCall, ToolResult
from chainviz.core.observations.contract import CallPlace
from chainviz.core.observations.index import Medium, media_in
from chainviz.core.observations.reader import Recognition, called_tools, observe, walk
from tests.core.pictures import ai, h, tool
from tests.cpu import cpu_seconds

PNG = Image("data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAYAAAC56t6B")
REMOTE = Image("https://example.invalid/x.png")
ACTION = '<thinking>t</thinking>\n<action>[{"tool":"a","args":{"n":1}},{"tool":"b"},{"tool":"a","args":{"n":2}}]</action>'


CHAIN = (
    h("# a\nis a heading of the task, no result"),
    ai(ACTION),
    h("<observation>\n[a]\n1\n[b] Error: no\n[a]\n3\n[a]\n4\n</observation>", PNG),
    ai("# action\ntool: b\nargs:\n  q: x\n"),
    h("# b\n2"),
    ai("<action>{bad</action>"),
    h("<observation>\n<error>\nError: invalid JSON\n</error>\n</observation>"),
    ai(ToolCall("1", "c", "{}"), ToolCall("1", "d", "{}"), ToolCall("2", "e", "{}")),
    tool(ToolResult("2", "", "E", is_error=True), ToolResult("1", "", "C")),
    tool(ToolResult("1", "", "Error: D", media=(REMOTE,)), ToolResult("9", "x", "orphan")),
    ai("done"),
    h("[INFO] started"),
    h("thanks <a>"),
)
RECOGNITION = Recognition(called_tools(MemoryChain(CHAIN)))


def test_tools_are_those_that_the_chain_calls_natively_or_in_text() -> None:
    assert RECOGNITION.tools == {"a", "b", "c", "d", "e"}


def test_each_result_is_linked_to_its_call_by_id_or_by_order() -> None:
    found = list(observe(MemoryChain(CHAIN), RECOGNITION))
    assert [(each.message, each.convention, each.answers) for each in found] == [
        (2, "brackets", 1), (4, "markdown", 3), (6, "xml", 5), (8, "native", 7), (9, "native", 7), (11, "unknown", 10),
    ]  # fmt: skip
    calls = [result.call for each in found for result in each.results]
    texts = [(CHAIN[call.message].parts[call.part].text[call.start : call.end]) for call in calls if call and call.start >= 0]  # type: ignore[union-attr]
    assert texts == ['{"tool":"a","args":{"n":1}}', '{"tool":"b"}', '{"tool":"a","args":{"n":2}}', "tool: b\nargs:\n  q: x"]
    native = [CallPlace(7, 2, "e", "id"), CallPlace(7, 0, "c", "id"), CallPlace(7, 1, "d", "id"), None]
    assert calls[3:] == [None, calls[4], None, *native]
    assert [(result.tool, result.is_error) for each in found for result in each.results] == [
        ("a", False), ("b", True), ("a", False), ("a", False), ("b", False), ("error", True),
        ("e", True), ("c", False), ("d", True), ("x", False),
    ]  # fmt: skip


def test_ranges_and_sizes_are_those_of_the_source() -> None:
    for each in observe(MemoryChain(CHAIN), RECOGNITION):
        for result in each.results:
            part = CHAIN[each.message].parts[result.part]
            text = part.text if isinstance(part, Text) else part.content  # type: ignore[union-attr]
            assert text[result.start : result.end] == result.content
            assert result.size == len(result.content.encode())
        assert each.size >= sum(result.size for result in each.results)


def test_unknown_names_are_listed_for_a_text_that_only_looks_like_results() -> None:
    (unknown,) = [each for each in observe(MemoryChain(CHAIN), RECOGNITION) if each.convention == "unknown"]
    assert (unknown.message, unknown.names, unknown.results) == (11, ("INFO",), ())


def test_a_text_without_headers_is_a_result_where_one_says_so() -> None:
    chain = MemoryChain((h("q"), ai('<action>{"tool":"a"}</action>'), h("just text"), h("and more")))
    assert not list(observe(chain, Recognition(frozenset("a"))))
    (found,) = observe(chain, Recognition(frozenset("a"), raw=True))
    assert (found.convention, found.results[0].tool, found.results[0].content) == ("raw", "a", "just text")


def media_of(chain: MemoryChain) -> list[Medium]:
    return [medium for place, message, observed in walk(chain, RECOGNITION) for medium in media_in(place, message, observed)]


def test_media_are_listed_with_their_tool_and_nothing_is_loaded() -> None:
    found = media_of(MemoryChain(CHAIN))
    assert [(each.message, each.part, each.tool, each.mime, each.width, each.height, each.url) for each in found] == [
        (2, 1, "a", "image/png", 2, 3, ""), (9, 0, "d", "", 0, 0, REMOTE.url),
    ]  # fmt: skip
    other = MemoryChain((h("look", Binary("application/pdf", b"12345")),))
    (pdf,) = media_of(other)
    assert (pdf.tool, pdf.mime, pdf.size) == ("", "application/pdf", 5)


def test_media_of_a_text_belong_to_its_results_in_order_and_never_to_a_failed_one() -> None:
    second = Binary("image/png", b"x")
    chain = (h("q"), ai(ACTION), h("[b] Error: no\n[a]\n1\n[a]\n2", PNG, second))
    (found,) = observe(MemoryChain(chain), RECOGNITION)
    assert [result.media for result in found.results] == [(), (PNG,), (second,)]


def mixed(count: int) -> list[Message]:
    chance = random.Random(1)
    block = (
        h("go"), ai(ACTION), h("<observation>\n<a>\n1\n</a>\n<b>\n2\n</b>\n<a>\n3\n</a>\n</observation>"),
        ai(ToolCall("1", "c", "{}")), tool(ToolResult("1", "c", "x" * chance.randrange(300))),
    )  # fmt: skip
    return list(block) * (count // len(block))


def read_all(messages: list[Message]) -> None:
    chain = MemoryChain(tuple(messages))
    found = sum(len(each.results) for each in observe(chain, Recognition(called_tools(chain))))
    assert found == len(messages) // 5 * 4


def test_reading_is_linear() -> None:
    small, large = cpu_seconds(lambda: read_all(mixed(1_000))), cpu_seconds(lambda: read_all(mixed(10_000)))
    assert large < 30 * max(small, 0.001)
