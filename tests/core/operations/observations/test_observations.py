"""Converting tool results: what changes, what is refused, what comes back, in every format."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainviz.core.chain.chain import MemoryChain, apply_splices
from chainviz.core.chain.messages import AI, HUMAN, TOOL, Binary, Image, Message, Part, Reasoning, Text, Thinking, ToolCall, ToolResult
from chainviz.core.chain.problems import strict_error
from chainviz.core.chain.tree import parse
from chainviz.core.errors import Refused
from chainviz.core.load import load_file, restyle
from chainviz.core.operations.contract import Context, Outcome
from chainviz.core.operations.observations import ConvertObservations, ObservationsOptions, plan_conversion
from tests.core.formats.chains import chains, exported
from tests.core.observations.strategies import contents
from tests.core.pictures import ai, h
from tests.core.strategies import chains as broken_chains
from tests.examples import examples

PNG = Image("data:image/png;base64,AAAA")
ACTION = '<thinking>t</thinking>\n<action>\n[{"tool": "a", "args": {"n": 1.50}}, {"tool": "b"}]\n</action>'
BRACKETS = "<observation>\n[a]\none\n[b] Error: boom\n</observation>"


TEXTS = (h("go"), ai(ACTION), h(f"Here:\n{BRACKETS}\nGo on.", PNG), ai("done"))
NATIVE = (
    h("go"),
    ai(Thinking("hm"), "I look.", ToolCall("1", "a", '{"n": 1.50}'), ToolCall("2", "b", "")),
    Message(TOOL, (ToolResult("2", "", "boom", is_error=True),)),
    Message(TOOL, (ToolResult("1", "", "one", media=(PNG,)),)),
    ai("done"),
)


def run(messages: tuple[Message, ...], **options: Any) -> tuple[tuple[Message, ...], Outcome]:
    outcome = ConvertObservations().run(MemoryChain(messages), ObservationsOptions(**options), Context())
    return apply_splices(messages, outcome.changes), outcome


def text_of(message: Message, place: int = 0) -> str:
    part = message.parts[place]
    assert isinstance(part, Text)
    return part.text


def test_results_change_their_form_and_nothing_else_does() -> None:
    new, outcome = run(TEXTS, to="xml")
    assert text_of(new[2]) == "Here:\n<observation>\n<a>\none\n</a>\n<b>\nError: boom\n</b>\n</observation>\nGo on."
    assert new[2].parts[1:] == (PNG,)
    assert [*new[:2], new[3]] == [*TEXTS[:2], TEXTS[3]]
    (row,) = outcome.report
    assert (row.path, row.action, row.reason) == ("s2.h.m0", "rewrite", "Brackets to XML")
    assert row.bytes_after - row.bytes_before == new[2].size - TEXTS[2].size
    assert outcome.warnings == ()


@pytest.mark.parametrize("to", ["brackets", "markdown", "xml"])
def test_converting_there_and_back_is_the_identity(to: str) -> None:
    wrapped = (*TEXTS[:2], h(BRACKETS, PNG), TEXTS[3])
    there, _ = run(wrapped, to=to)
    assert run(there, to=to)[1].changes == ()
    assert run(there, to="brackets")[0] == wrapped


def test_a_loss_is_refused_unless_forced() -> None:
    lossy = (*TEXTS[:2], h("<observation>\n<a>\none\n# Changes\ntwo\n</a>\n<b>\n2\n</b>\n</observation>"))
    with pytest.raises(Refused, match=r"1 of 2 results would read back unchanged: s2\.h\.m0 a would be cut short: line 2"):
        run(lossy, to="markdown")
    new, outcome = run(lossy, to="markdown", force=True)
    assert text_of(new[2]) == "# a\none\n# Changes\ntwo\n\n# b\n2"
    assert [row.action for row in outcome.report] == ["rewrite", "lose"]
    assert outcome.warnings


def test_raw_text_loses_every_name() -> None:
    with pytest.raises(Refused, match="0 of 2 results"):
        run(TEXTS, to="raw")
    new, _ = run(TEXTS, to="raw", force=True)
    assert text_of(new[2]) == "Here:\none\n\nError: boom\nGo on."


def test_raw_text_after_one_call_is_its_result_when_chosen_as_a_source() -> None:
    chain = (h("go"), ai('<action>{"tool":"a"}</action>'), h("just text"))
    assert run(chain, to="xml")[1].changes == ()
    new, _ = run(chain, to="xml", sources=("raw",))
    assert text_of(new[2]) == "<observation>\n<a>\njust text\n</a>\n</observation>"


def test_sources_names_and_wrapper_are_options() -> None:
    assert run(TEXTS, to="xml", sources=("markdown",))[1].changes == ()
    unknown = (h("go"), ai("hm"), h("[read_file]\nx"))
    assert run(unknown, to="xml")[1].changes == ()
    assert text_of(run(unknown, to="markdown", names=("read_file",))[0][2]) == "# read_file\nx"
    assert text_of(run(TEXTS, to="brackets", wrapper="none", force=True)[0][2]).startswith("Here:\n[a]\none\n[b] Error:")


def test_a_plan_counts_what_survives_in_each_convention() -> None:
    chain = MemoryChain((*TEXTS[:2], h(BRACKETS)))
    plans = {to: plan_conversion(chain, ObservationsOptions(to=to), Context()) for to in ("raw", "brackets", "markdown", "xml")}  # type: ignore[arg-type]
    assert {to: (plan.results, plan.survived) for to, plan in plans.items()} == {
        "raw": (2, 0), "brackets": (0, 0), "markdown": (2, 2), "xml": (2, 2),
    }  # fmt: skip


def test_tool_messages_become_text_only_when_the_loss_of_ids_is_accepted() -> None:
    with pytest.raises(Refused, match="2 call ids are dropped"):
        run(NATIVE, roles="to_text")
    new, outcome = run(NATIVE, roles="to_text", force=True)
    assert [message.role for message in new] == [HUMAN, AI, HUMAN, AI]
    assert new[1].parts == (
        Thinking("hm"),
        Text('I look.\n\n<action>\n[\n  {"tool": "a", "args": {"n": 1.50}},\n  {"tool": "b", "args": {}}\n]\n</action>'),
    )
    assert new[2].parts == (Text("<observation>\n<a>\none\n</a>\n<b>\nError: boom\n</b>\n</observation>"), PNG)
    assert any("call ids are dropped" in warning for warning in outcome.warnings)
    (row,) = outcome.report
    assert (row.path, row.until) == ("s1.p1.m0", "s1.p1.m2")


def test_a_call_without_a_result_becomes_an_error_unless_none_of_them_has_one() -> None:
    half = (*NATIVE[:2], NATIVE[3])
    assert "<b>\nError: no result is stored for this call\n</b>" in text_of(run(half, roles="to_text", force=True)[0][2])
    none = NATIVE[:2]
    assert [message.role for message in run(none, roles="to_text", force=True)[0]] == [HUMAN, AI]


def test_what_cannot_become_text_stays_and_says_why() -> None:
    odd = (h("go"), ai(ToolCall("1", "a", "not json")), Message(TOOL, (ToolResult("1", "", "x"),)))
    new, outcome = run(odd, roles="to_text")
    assert new == odd
    assert [(row.action, row.reason) for row in outcome.report] == [("keep", "the arguments of a are not a JSON object")]
    orphan = (h("go"), ai(ToolCall("1", "a", "{}")), Message(TOOL, (ToolResult("2", "", "x"),)))
    assert run(orphan, roles="to_text")[1].report[0].reason == "a result answers none of its calls"


def test_arguments_that_break_out_of_the_action_are_a_loss() -> None:
    chain = (h("go"), ai(ToolCall("1", "a", '{"x": "</action>"}')), Message(TOOL, (ToolResult("1", "", "x"),)))
    with pytest.raises(Refused, match=r"calls that would not be read back.*1 call id is dropped"):
        run(chain, roles="to_text")
    signed = (h("go"), ai(ToolCall("1", "a", "{}", reasoning=Reasoning(signature="s"))), chain[2])
    with pytest.raises(Refused, match="loses the reasoning"):
        run(signed, roles="to_text")


def test_text_becomes_tool_messages() -> None:
    new, outcome = run(TEXTS, roles="to_tools")
    assert [message.role for message in new] == [HUMAN, AI, TOOL, TOOL, HUMAN, AI]
    calls = [part for part in new[1].parts if isinstance(part, ToolCall)]
    assert text_of(new[1]) == "<thinking>t</thinking>"
    assert [(call.name, call.arguments) for call in calls] == [("a", '{"n": 1.50}'), ("b", "{}")]
    assert new[2].parts == (ToolResult(calls[0].id, "a", "one", media=(PNG,)),)
    assert new[3].parts == (ToolResult(calls[1].id, "b", "Error: boom", is_error=True),)
    assert new[4].parts == (Text("Here:\n\nGo on."),)
    assert outcome.warnings == ("2 call ids are new.",)
    assert strict_error(parse(new)) is None
    assert ACTION in text_of(run(TEXTS, roles="to_tools", action_text="keep")[0][1])


STAYS = [
    ("a failed action", (ai("<action>{bad</action>"), h("<observation>\nError: bad\n</observation>")), "cannot be read"),
    ("a missing result", (ai(ACTION), h("[a]\n1")), "one by one"),
    ("a result too many", (ai(ACTION), h("[a]\n1\n[b]\n2\n[a]\n3")), "one by one"),
    ("no calls", (ai("hm"), h("[a]\n1")), "no calls are written"),
    ("native calls", (ai(ToolCall("1", "a", "{}")), h("[a]\n1")), "no calls are written"),
    ("another message between", (ai(ACTION), h("wait"), h("[a]\n1\n[b]\n2")), "no calls are written"),
]  # fmt: skip


@pytest.mark.parametrize(("messages", "why"), [each[1:] for each in STAYS], ids=[each[0] for each in STAYS])
def test_an_action_without_all_its_results_stays_text(messages: tuple[Message, ...], why: str) -> None:
    chain = (h("go"), *messages)
    new, outcome = run(chain, roles="to_tools", names=("a",))
    assert new == chain
    assert [row.action for row in outcome.report] == ["keep"]
    assert why in outcome.report[0].reason


names = st.sampled_from(["a", "b", "get_weather"])
objects = st.sampled_from(["{}", '{"n": 1.50}', '{ "q":"x y" }', '{"deep": {"list": [1, 12345678901234567890]}}', '{"t": "<b>"}'])


@st.composite
def native_chains(draw: st.DrawFn) -> tuple[Message, ...]:
    messages = [h("go")]
    for turn in range(draw(st.integers(1, 3))):
        calls = [ToolCall(f"{turn}.{i}", draw(names), draw(objects)) for i in range(draw(st.integers(1, 3)))]
        messages.append(ai(*([draw(st.sampled_from(["look", "# heading", "a\n\nb"]))] if draw(st.booleans()) else []), *calls))
        for call in calls:
            content = draw(contents.filter(lambda text: text.strip()))
            messages.append(Message(TOOL, (ToolResult(call.id, call.name, content, content.startswith("Error:")),)))
    return (*messages, ai("done"))


def said(messages: tuple[Message, ...]) -> list[Message]:
    """Everything but the ids."""
    return [replace(message, parts=tuple(map(without_id, message.parts))) for message in messages]


def without_id(part: Part) -> Part:
    match part:
        case ToolCall():
            return replace(part, id="")
        case ToolResult():
            return replace(part, call_id="")
    return part


@given(native_chains(), st.sampled_from(["brackets", "markdown", "xml"]))
@examples(150)
def test_tool_messages_without_losses_come_back_from_text(messages: tuple[Message, ...], to: Any) -> None:
    plan = plan_conversion(MemoryChain(messages), ObservationsOptions(to=to, roles="to_text"), Context())
    if plan.losses:
        return
    there, _ = run(messages, to=to, roles="to_text", force=True)
    assert not any(message.role == TOOL or message.calls for message in there)
    back, _ = run(there, roles="to_tools")
    assert said(back) == said(messages)
    assert strict_error(parse(back)) is None


@given(broken_chains, st.sampled_from(["raw", "brackets", "markdown", "xml"]), st.sampled_from(["keep", "to_text", "to_tools"]))
@examples(200)
def test_no_chain_is_too_broken(messages: list[Message], to: Any, roles: Any) -> None:
    new, outcome = run(tuple(messages), to=to, roles=roles, force=True)
    assert apply_splices(tuple(messages), outcome.changes) == new
    if roles == "to_text":
        again = plan_conversion(MemoryChain(new), ObservationsOptions(to=to, roles=roles), Context())
        assert all(isinstance(each.reason, str) for each in again.kept) and not again.rewrites


def test_the_change_is_written_and_read_again_in_every_format() -> None:
    converted = 0
    for _, content, chain in chains():
        given = MemoryChain(chain.messages, chain.format)
        options = ObservationsOptions(roles="to_text", force=True)
        outcome = ConvertObservations().run(given, options, Context())
        new = list(apply_splices(chain.messages, outcome.changes))
        for place, message in enumerate(new):
            styled = restyle(chain.messages, min(place, len(chain.messages) - 1), message, chain.format, chain.envelope)
            if message not in chain.messages and not any(isinstance(part, Binary) for part in message.parts):
                assert styled == message
                converted += 1
            new[place] = styled
        document = exported(content, chain, tuple(new))
        read = [each for each in load_file(document, chain.format) if each.pointer == chain.pointer or chain.envelope.inside]
        again = [message for each in read for message in each.messages]
        assert [message for message in again if message.calls] == [message for message in new if message.calls]
    assert converted >= 8
