"""ReAct logs: one chain for each question, byte-identical unless edited, an edit in its place only."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainviz.core.chain.messages import AI, HUMAN, SYSTEM, TOOL, Image, Message, Text, ToolCall, ToolResult
from chainviz.core.chain.problems import strict_error
from chainviz.core.chain.tree import parse
from chainviz.core.documents.assemble import whole_file
from chainviz.core.documents.source import open_source
from chainviz.core.errors import DocumentError
from chainviz.core.formats import get_format
from chainviz.core.formats.contract import Style
from chainviz.core.load import LoadedChain, document_in, load_file, restyle
from tests.core.formats.chains import exported
from tests.core.formats.test_round_trip import round_trip
from tests.core.text_formats.hostile import LINES
from tests.cpu import cpu_seconds
from tests.examples import examples

FORM = get_format("react_log")
LOG = """------------- BEGIN CORRECT AGENTS -------------

Question: Which lighthouse of Kvarholm was lit first?
Thought 1: I need to search Kvarholm.
Action 1: Search[Kvarholm]
Observation 1: An island with two lighthouses.

The Old Tower was lit in 1842.
Thought 2: So it is the Old Tower.
Action 2: Finish[Old Tower]
Observation 2: Answer is CORRECT
Correct answer: Old Tower

Question: How long is the tunnel?You have failed before.
Reflections:
- I should search the tunnel by name.
Thought 1: The Dale Tunnel may be it.
Action 1: Lookup[length
Observation 1: Invalid Action.
Thought 2: I search [it].
Action 2: Search[{"q": "Dale]"}]
Observation 2: 4,620 metres.
Thought 3: That is it.
Action 3: Finish[4 km]
Observation 3: Answer is INCORRECT
Correct answer: 4,620 metres

------------- BEGIN HALTED AGENTS -----------

Question: Where?
Thought 1: Nowhere
"""


def shown(chain: LoadedChain) -> list[tuple[str, ...]]:
    return [(message.role, *(_shown(part) for part in message.parts)) for message in chain.messages]


def _shown(part: object) -> str:
    match part:
        case Text(text):
            return text
        case ToolCall(id, name, arguments):
            return f"{id} {name} {arguments}"
        case ToolResult(id, _, content):
            return f"{id}: {content}"
    return str(part)


def test_each_question_is_a_chain() -> None:
    chains = load_file(LOG.encode())
    assert {chain.format for chain in chains} == {"react_log"}
    assert [shown(chain) for chain in chains] == [
        [
            (HUMAN, "Which lighthouse of Kvarholm was lit first?"),
            (AI, "I need to search Kvarholm.", 'call_1 Search {"input": "Kvarholm"}'),
            (TOOL, "call_1: An island with two lighthouses.\n\nThe Old Tower was lit in 1842."),
            (AI, "So it is the Old Tower.", "Old Tower"),
        ],
        [
            (SYSTEM, "- I should search the tunnel by name."),
            (HUMAN, "How long is the tunnel?You have failed before."),
            (AI, "The Dale Tunnel may be it.\nAction 1: Lookup[length"),
            (HUMAN, "Invalid Action."),
            (AI, "I search [it].", 'call_2 Search {"q": "Dale]"}'),
            (TOOL, "call_2: 4,620 metres."),
            (AI, "That is it.", "4 km"),
        ],
        [(HUMAN, "Where?"), (AI, "Nowhere")],
    ]
    assert [chain.messages[-1].note for chain in chains] == [
        "Answer is CORRECT; correct answer: Old Tower", "Answer is INCORRECT; correct answer: 4,620 metres", "",
    ]  # fmt: skip
    assert all(strict_error(parse(chain.messages)) is None for chain in chains)
    assert [chain.title for chain in chains][2] == "question 3 · Where?"


READINGS = ("react_log", "react_log:text", "react_log:call", "react_log:omit", "react_log:text,call,omit")


def test_what_results_finish_and_reflections_become_is_chosen() -> None:
    as_text = [shown(chain) for chain in load_file(LOG.encode(), "react_log:text")]
    assert as_text[0][1:3] == [
        (AI, "I need to search Kvarholm.\nAction 1: Search[Kvarholm]"),
        (HUMAN, "An island with two lighthouses.\n\nThe Old Tower was lit in 1842."),
    ]
    assert as_text[0][-1] == (AI, "So it is the Old Tower.", "Old Tower")
    called = [shown(chain) for chain in load_file(LOG.encode(), "react_log:call")]
    assert called[0][-2:] == [
        (AI, "So it is the Old Tower.", 'call_2 Finish {"input": "Old Tower"}'), (TOOL, "call_2: Answer is CORRECT"),
    ]  # fmt: skip
    (_, omitted, _) = load_file(LOG.encode(), "react_log:omit")
    assert shown(omitted)[0] == (HUMAN, "How long is the tunnel?You have failed before.")
    for reading in READINGS:
        chains = load_file(LOG.encode(), reading)
        assert [strict_error(parse(chain.messages)) for chain in chains] == [None] * 3
        assert b"Reflections:" in exported(LOG.encode(), chains[1])


def test_an_unknown_choice_is_refused_in_a_sentence() -> None:
    with pytest.raises(DocumentError, match="no choice “notes”; choose from answer, call, omit, system, text, tool"):
        get_format("react_log:notes")
    with pytest.raises(DocumentError, match="no choice “text”; it is read in one way only"):
        get_format("openai_chat:text")


def test_a_question_without_its_reflections_and_reflections_without_their_question() -> None:
    (_, chain, _) = load_file(LOG.encode())
    reflections, question, *rest = chain.messages
    asked = exported(LOG.encode(), chain, (question, *rest))
    assert asked.startswith(b"Question: How long is the tunnel?You have failed before.\nThought 1")
    assert exported(LOG.encode(), chain, (reflections, *rest)).startswith(b"Reflections:\n- I should")


VARIANTS = {
    "as it is": LOG,
    "no line break at the end": LOG.rstrip(),
    "CRLF": LOG.replace("\n", "\r\n"),
    "blank lines": LOG.replace("\n\n", "\n\n\n \n"),
    "a preamble": "########\nBEGIN TRIAL 2\n########\n\n" + LOG,
    "no numbers": "Question: q\nThought: t\nAction: Search[x]\nObservation: o\nThought: u\nAction: Finish[y]\n",
    "no question": "Thought 1: t\nAction 1: Search[x]\nObservation 1: o\n",
    "key words in a numbered log": LOG.replace("two lighthouses.", "two lighthouses.\nAction: a film\nThought: a band"),
    "no space": "Question:q\nThought 1:t\nAction 1:Search[x]\nObservation 1:o\n",
    "umlauts and pictures": LOG.replace("Kvarholm", "Kvarhölm 🏠"),
    "a line break in an argument": LOG.replace("Search[Kvarholm]", "Search[Kvar\nholm]"),
}


@pytest.mark.parametrize("name", VARIANTS)
def test_a_log_comes_back_byte_for_byte(name: str) -> None:
    assert round_trip(VARIANTS[name].encode()) > 1
    assert {chain.format for chain in load_file(VARIANTS[name].encode())} == {"react_log"}


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_other_encodings_come_back_too(encoding: str) -> None:
    content = LOG.encode(encoding)
    chains = load_file(content)
    assert len(chains) == 3
    assert chains[0].messages[0].parts == (Text("Which lighthouse of Kvarholm was lit first?"),)


def test_the_numbers_say_which_lines_are_steps() -> None:
    (chain, *_) = load_file(VARIANTS["key words in a numbered log"].encode())
    assert "Action: a film\nThought: a band" in shown(chain)[2][1]
    (unnumbered,) = load_file(VARIANTS["no numbers"].encode())
    assert shown(unnumbered) == [
        (HUMAN, "q"), (AI, "t", 'call Search {"input": "x"}'), (TOOL, "call: o"), (AI, "u", "y"),
    ]  # fmt: skip


NO_LOGS = ["only words", "Question: what?\nAnswer: this", "Thought: a diary\nmore", '{"messages": []}', "", "Action: a film"]


@pytest.mark.parametrize("text", NO_LOGS)
def test_other_texts_are_not_taken_for_logs(text: str) -> None:
    with open_source(text.encode()) as source:
        found = FORM.find(source)
        assert not found or FORM.confidence(found[0].sample) == 0


STEPS = ("Thought 2: no", "Action 1: Search[x]", "Question: q", "Observation 1: o", "]", "-----")
WORDS = st.lists(st.sampled_from((*LINES, *STEPS)), max_size=3).map("\n".join)


@given(st.data(), WORDS)
@examples(300)
def test_an_edit_stays_in_its_place_and_reads_back(data: st.DataObject, words: str) -> None:
    content = LOG.encode()
    form = get_format(data.draw(st.sampled_from(READINGS)))
    chains = load_file(content, form.name)
    number = data.draw(st.integers(0, len(chains) - 1))
    chain = chains[number]
    at = data.draw(st.integers(0, len(chain.messages) - 1))
    message = chain.messages[at]
    place = data.draw(st.integers(0, len(message.parts) - 1))
    part = message.parts[place]
    match part:
        case Text():
            new = replace(part, text=words)
        case ToolResult():
            new = replace(part, content=words)
        case _:
            new = replace(part, arguments=words)  # type: ignore[call-arg]
    changed = replace(message, parts=(*message.parts[:place], new, *message.parts[place + 1 :]))
    styled = restyle(chain.messages, at, changed, form, chain.envelope)
    assert styled.role == message.role
    assert form.write(styled, Style()) == styled.source
    messages = (*chain.messages[:at], styled, *chain.messages[at + 1 :])
    document = exported(content, chain, messages)
    first = message.source[0]
    size = len(first.text.encode())
    original = content[chain.envelope.region.start : chain.envelope.region.end]
    start = first.start - chain.envelope.region.start
    assert document[:start] == original[:start]
    assert document.endswith(original[start + size :])
    if "\ud800" in words:
        return
    (again,) = load_file(document, form.name)
    assert [(m.role, m.parts) for m in again.messages] == [(m.role, m.parts) for m in messages]
    with open_source(content) as source:
        regions = [(each.envelope.region, [exported(content, each)]) for each in chains]
        regions[number] = (chain.envelope.region, [document])
        whole = b"".join(whole_file(source.size, regions, source.read))
    assert len(load_file(whole)) == len(chains)


def test_plain_edits_are_held_as_they_are() -> None:
    (chain, *_) = load_file(LOG.encode())
    call = chain.messages[1].parts[1]
    assert isinstance(call, ToolCall)
    changed = replace(chain.messages[1], parts=(chain.messages[1].parts[0], replace(call, arguments='{"input": "Dale"}')))
    styled = restyle(chain.messages, 1, changed, FORM, chain.envelope)
    assert styled == changed
    assert styled.source[0].text == "Thought 1: I need to search Kvarholm.\nAction 1: Search[Dale]"


NEW = (
    Message(HUMAN, (Text("q"),)),
    Message(AI, (Text("t"), ToolCall("call_7", "Search", '{"input": "x"}'), ToolCall("toolu_1", "read", '{"path": "a"}'))),
    Message(TOOL, (ToolResult("call_7", "Search", "found"),)),
    Message(TOOL, (ToolResult("toolu_1", "read", "text\nThought 9: hm"),)),
    Message(HUMAN, (Text("and then?"),)),
    Message(AI, (Text("yes"),)),
)


def test_messages_of_other_formats_are_written_in_the_nearest_form() -> None:
    document = b"".join(document_in(FORM, NEW))
    (chain,) = load_file(document, "react_log")
    assert [message.role for message in chain.messages] == [message.role for message in NEW]
    assert [call.name for call in chain.messages[1].calls] == ["Search", "read"]
    assert [call.id for call in chain.messages[1].calls] == [message.results[0].id for message in chain.messages[2:4]]
    assert shown(chain)[3][1].endswith("text\n Thought 9: hm")
    assert strict_error(parse(chain.messages)) is None


def test_losses_name_what_has_no_place() -> None:
    assert FORM.losses(NEW[0]) == ()
    assert any("ids become numbers" in loss for loss in FORM.losses(NEW[1]))
    assert any("role system" in loss for loss in FORM.losses(Message(SYSTEM, (Text("s"),))))
    assert any("only texts" in loss for loss in FORM.losses(Message(HUMAN, (Image("u"),))))


def test_a_changed_role_gets_a_step_of_its_own() -> None:
    (chain, *_) = load_file(LOG.encode())
    styled = restyle(chain.messages, 0, replace(chain.messages[0], role=AI), FORM, chain.envelope)
    assert styled.role == AI
    assert styled.source[0].text.startswith("Thought ")
    assert styled.parts == chain.messages[0].parts


def test_reading_is_linear() -> None:
    small, large = (cpu_seconds(lambda count=count: load_file((LOG * count).encode())) for count in (10, 80))  # type: ignore[misc]
    assert large < 24 * max(small, 0.001)
