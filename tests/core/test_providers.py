"""What each API would refuse, rule by rule; the texts name the place and quote the API."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given

from chainviz.core.chain.messages import Image, Message, Opaque, Text, Thinking, ToolCall, ToolResult
from chainviz.core.chain.tree import parse
from chainviz.core.dialects.values import data_url
from chainviz.core.formats.vendors import PROVIDERS, verdicts
from chainviz.core.operations.repair import CHOICES
from chainviz.core.providers.check import call_ids_with_results, calls_of, check, excerpts, joined_call_ids
from tests.core.pictures import ai, call, h, odd, s, tool
from tests.core.strategies import chains

ANTHROPIC = next(p for p in PROVIDERS if p.name == "anthropic")
OPENAI = next(p for p in PROVIDERS if p.name == "openai-chat")
LONG = "x" * 41
SERVER_CALL = Opaque("server_tool_use", '{"type": "server_tool_use", "id": "srvtoolu_1"}')
SERVER_RESULT = Opaque("web_search_tool_result", '{"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1"}')


def picture(width: int, mime: str = "image/png") -> Message:
    head = b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + width.to_bytes(4, "big") + (9).to_bytes(4, "big")
    return Message("human", (Image(data_url(mime, head + bytes(20) + b"IEND\xaeB`\x82")), Text("look")))


@pytest.mark.parametrize(
    ("messages", "openai", "anthropic"),
    [
        ([s(), h(), ai(call("a")), tool("a"), ai("ok")], [], []),
        ([h(), ai(call("a")), h()], ["result-missing error"], ["result-missing error"]),
        ([h(), ai(call("a"))], ["result-missing error"], ["result-missing-at-end warning"]),
        ([h(), ai(call("a")), ai("x")], ["result-missing error"], ["result-missing error"]),
        ([h(), ai(call("a")), ai(call("b"))],
         ["result-missing error"] * 2, ["result-missing error", "result-missing-at-end warning"]),
        ([h(), ai(call("a", "submit"))], ["result-missing error"], ["result-missing-at-end warning"]),
        ([h(), ai(call("a", "submit"), call("b")), tool("b")], ["result-missing error"], ["result-missing error"]),
        ([h(), ai(call("a"), call("b")), tool("a")], ["result-missing error"], ["result-missing error"]),
        ([h(), ai("x"), tool("a")], ["result-without-call error"], ["result-without-call error"]),
        ([h(), ai(call("a")), tool("a", "a")], ["result-repeated error"], ["result-repeated error"]),
        ([h(), ai(call("a")), tool("a"), h(), ai(call("a")), tool("a")], ["call-id-reused info"], ["call-id-reused warning"]),
        ([h(), ai(call("a"), call("a")), tool("a")], ["call-id-shared warning", "call-id-reused info"], ["call-id-reused error"]),
        (
            [h(), ai(call("a"), call("a")), tool("a"), tool("a")],
            ["call-id-shared error", "call-id-reused info"],
            ["call-id-reused error"],
        ),
        ([h(), h(), ai("x")], [], []),
        ([ai("x"), h()], [], ["first-role warning"]),
        ([s(), ai("x")], [], ["first-role warning"]),
        ([h(), ai("x"), s(), ai("y")], [], ["system-in-messages warning"]),
        ([h(), ai("x"), odd("exit")], ["role-unknown error"], ["role-unknown error"]),
        ([h(""), ai("x")], [], ["text-empty error"]),
        ([h(" \n"), ai("x")], [], ["text-blank error"]),
        ([h(), ai(), h()], ["content-missing error"], ["content-missing error"]),
        ([h(), ai("x ")], [], ["trailing-space warning"]),
        ([h(), ai(call("a:1")), tool("a:1")], [], ["call-id-pattern error"]),
        ([h(), ai(call(LONG)), tool(LONG)], ["call-id-long warning"], []),
        ([h(), ai(call(LONG * 2)), tool(LONG * 2)], ["call-id-too-long error"], []),
        ([h(), ai(call("a", "my tool")), tool("a")], ["tool-name error"], ["tool-name error"]),
        ([h(), ai(call("a", arguments="{")), tool("a")], ["arguments-no-json warning"], ["arguments-no-json error"]),
        ([h(), ai(call("a", arguments="[1]")), tool("a")], ["arguments-no-object warning"], ["arguments-no-object error"]),
        ([h(), ai(call("a", arguments="")), tool("a")], [], []),
        ([Message("human", (call("a"),)), tool("a")],
         ["result-without-call error", "call-by-user warning"], ["result-without-call error", "call-by-user error"]),
        ([h(), ai(call("a")), tool(Text("note"), "a"), ai("x")], [], ["result-after-text error"]),
        ([h(), ai(Thinking("hm"), "x"), h()], [], ["thinking-unsigned error"]),
        ([h(), ai(Thinking("", "s"), "x"), h()], [], ["thinking-emptied info"]),
        ([h(), ai(Thinking("hm", "s"), "x")], [], ["thinking-final info"]),
        ([h(), ai(Thinking("hm", "s"), call("a")), tool("a"), ai(call("b")), tool("b")],
         ["reasoning-missing info"], ["thinking-missing warning"]),
        ([h(), ai(ToolCall("a", "py", "print(1)", "custom")), tool("a")], [], ["arguments-no-json error"]),
        ([h(), ai(SERVER_CALL, SERVER_RESULT)], ["not-understood unchecked"] * 2, []),
        ([h(), ai(SERVER_CALL), ai(SERVER_RESULT)], ["not-understood unchecked"] * 2, []),
        ([h(), ai(SERVER_CALL), h(), ai(SERVER_RESULT)], ["not-understood unchecked"] * 2,
         ["server-call-without-result error", "server-result-without-call error"]),
        ([picture(8001)], [], ["image-too-large error"]),
        ([picture(2001)], [], ["image-large info"]),
        ([picture(2000)], [], []),
        ([picture(9, "image/jpeg")], ["image-mislabelled warning"], ["image-mislabelled error"]),
        ([Message("human", (Image("data:image/png;base64,"), Text("look")))], ["not-understood unchecked", "image-empty error"],
         ["not-understood unchecked", "image-empty error"]),
        ([h("a \ud83d b")], ["text-surrogate error"], ["text-surrogate error"]),
        ([h("\U0001f600 \udc80")], [], []),
        ([h(), ai(Thinking("hm", "s")), h()], ["content-missing error"], ["thinking-last-block error"]),
        ([h(), ai(Thinking("hm", "s")), ai("x")], ["content-missing error"], []),
        ([h(), ai(Thinking("", "x", redacted=True), call("a")), tool("a")], [], []),
    ],
)  # fmt: skip
def test_rules(messages: list[Message], openai: list[str], anthropic: list[str]) -> None:
    tree = parse(messages)
    assert [f"{p.rule} {p.severity}" for p in check(OPENAI, tree)] == openai
    assert [f"{p.rule} {p.severity}" for p in check(ANTHROPIC, tree)] == anthropic


def test_a_problem_quotes_the_api_and_names_the_place() -> None:
    problem = next(check(ANTHROPIC, parse([h(), ai("hm", call("a")), h()])))
    assert problem.text.startswith("A message in pair 1.1 calls search as “a”, but no result follows.")
    assert "Anthropic: “tool_use ids were found without tool_result blocks immediately after”" in problem.text
    assert problem.provider == "anthropic" and problem.source and str(problem.path) == "s1.p1.m0.c1"


def test_verdicts_count_errors_and_warnings() -> None:
    tree = parse([h(), ai(call("a")), tool("a"), h(), ai(call("a")), tool("a"), ai("x ")])
    found = verdicts(tree)
    assert found["openai-chat"].state == found["anthropic"].state == "accepted"
    assert (found["openai-chat"].warnings, found["anthropic"].warnings) == (0, 2)


def test_what_was_not_understood_is_never_accepted() -> None:
    tree = parse([h(), ai("x", Opaque("hologram", '{"type": "hologram"}'))])
    assert {verdict.text for verdict in verdicts(tree).values()} == {"not fully checked"}
    assert verdicts(parse([h(), ai("x", Opaque("hologram", "{}"), call("a")), h()]))["anthropic"].text == "1 error"


def test_a_system_message_alone_is_no_request_where_it_is_no_message() -> None:
    alone, asked = verdicts(parse([s()])), verdicts(parse([s(), h()]))
    refusing = {"anthropic", "bedrock", "gemini-2.5", "gemini-3"}
    assert {name for name, verdict in alone.items() if verdict.state == "rejected"} == refusing
    assert {asked[name].state for name in refusing} == {"accepted"}


@pytest.mark.parametrize(
    ("address", "is_said"), [("attachment://deadbeef", True), ("https://example.org/a.png", False), ("gs://bucket/a", False)]
)
def test_an_image_where_no_api_can_reach_it_is_never_accepted(address: str, is_said: bool) -> None:
    found = verdicts(parse([Message("human", (Image(address),)), ai("ok")]))
    assert (found["openai-chat"].text == "not fully checked") is is_said


@given(chains)
def test_places_exist_and_fixes_are_known(messages: list[Message]) -> None:
    tree = parse(messages)
    for provider in PROVIDERS:
        for problem in check(provider, tree):
            assert 0 <= problem.message < len(messages)
            assert problem.part is None or problem.part < len(messages[problem.message].parts)
            assert problem.path.part == problem.part
            assert set(problem.fixes) <= set(CHOICES)


@given(chains)
def test_sections_alone_give_the_same_as_the_whole(messages: list[Message]) -> None:
    """Of the other sections a store tells it only which calls have their result there."""
    tree = parse(messages)
    answered = call_ids_with_results(pair for _, pair in tree.pairs())
    for provider in PROVIDERS:
        alone = (replace(excerpt, paired=answered, joined=joined_call_ids(tree)) for excerpt in excerpts(tree))
        apart = [problem for excerpt in alone for problem in provider.check_section(excerpt)]
        assert [*apart, *provider.check_ids(calls_of(tree))] == list(check(provider, tree))


def test_a_result_object_with_media_is_only_odd() -> None:
    (shot, _) = picture(9).parts
    assert isinstance(shot, Image)
    message = tool(ToolResult("a", "shot", "", media=(shot,)))
    assert [p.rule for p in check(OPENAI, parse([h(), ai(call("a")), message]))] == ["result-media"]
