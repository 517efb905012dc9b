"""Build a tree by hand: constructors of nodes, and functions that return a tree with one more node."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from chainviz.core.chain.messages import AI, HUMAN, SYSTEM, TOOL, Message, Part, Reasoning, Text, ToolCall, ToolResult
from chainviz.core.chain.problems import strict_error
from chainviz.core.chain.reasoning import FAKE_SIGNATURE
from chainviz.core.chain.tool_ids import DEFAULT_TEMPLATE, parse_template
from chainviz.core.chain.tree import SUMMARIZATION_TOOL, BodyPair, ChainAST, PairType, Section, parse
from chainviz.core.errors import Refused

Tree = ChainAST[Message]


def strict_tree(messages: Iterable[Message]) -> Tree:
    """Return the tree of a chain without errors. Raises Refused with the first error of any other chain."""
    tree = parse(messages)
    error = strict_error(tree)
    if error is not None:
        raise Refused(error)
    return tree


def system(text: str) -> Message:
    return Message(SYSTEM, (Text(text),))


def human(text: str) -> Message:
    return Message(HUMAN, (Text(text),))


def header(system: Message | None = None, human: Message | None = None) -> tuple[Message, ...]:
    return tuple(message for message in (system, human) if message is not None)


def section(header: tuple[Message, ...], pairs: Iterable[BodyPair[Message]] = ()) -> Section[Message]:
    return Section(header, tuple(pairs))


def pair(ai: Message, tools: Iterable[Message] = ()) -> BodyPair[Message]:
    """Return a body pair. Its type follows from the first call of the AI message."""
    return BodyPair(ai, tuple(tools))


def pair_from_messages(messages: Sequence[Message]) -> BodyPair[Message]:
    """Return the body pair of an AI message and the tool messages after it. Raises Refused for any other list."""
    if not messages:
        raise Refused("A body pair needs at least one message.")
    if messages[0].role != AI:
        raise Refused(f"A body pair begins with an AI message, but message 1 has the role {messages[0].role}.")
    for number, message in enumerate(messages[1:], 2):
        if message.role != TOOL:
            raise Refused(f"Only tool messages follow in a body pair, but message {number} has the role {message.role}.")
    return pair(messages[0], messages[1:])


def completion(text: str) -> BodyPair[Message]:
    return BodyPair(Message(AI, (Text(text),)))


def summarization(
    text: str,
    template: str = DEFAULT_TEMPLATE,
    source: random.Random | None = None,
    *,
    fake_signature: bool = False,
    reasoning_message: Message | None = None,
) -> BodyPair[Message]:
    """Return a call of the summarization tool with the result `text`.

    `source` generates the call's id; without it the text does. Set `fake_signature` if the summarized calls were signed (Gemini).
    The parts of `reasoning_message` precede the call.
    """
    source = source or random.Random(text.encode("utf-8", "surrogatepass"))
    id = parse_template(template).generate(source, SUMMARIZATION_TOOL)
    signed = Reasoning(signature=FAKE_SIGNATURE) if fake_signature else None
    call = ToolCall(id, SUMMARIZATION_TOOL, SUMMARIZATION_ARGUMENTS, reasoning=signed)
    before: tuple[Part, ...] = reasoning_message.parts if reasoning_message is not None else ()
    return BodyPair(Message(AI, (*before, call)), (tool_message(id, SUMMARIZATION_TOOL, text),))


def tool_message(call_id: str, name: str, content: str) -> Message:
    return Message(TOOL, (ToolResult(call_id, name, content),))


def add_section(tree: Tree, section: Section[Message]) -> Tree:
    return ChainAST((*tree.sections, section))


def add_pair(section: Section[Message], pair: BodyPair[Message]) -> Section[Message]:
    return Section(section.header, (*section.body, pair))


def append_human(tree: Tree, text: str) -> Tree:
    """Return the tree with a human message at the end. It opens a section after a body; otherwise it joins the last header, and
    there a human message takes its text."""
    last = tree.sections[-1] if tree.sections else None
    if last is None or last.body:
        return add_section(tree, Section((human(text),)))
    *before, end = last.header
    if end.role == HUMAN:
        joined: tuple[Message, ...] = (*before, replace(end, parts=(*end.parts, Text(text))))
    else:
        joined = (*last.header, human(text))
    return ChainAST((*tree.sections[:-1], Section(joined)))


def add_tool_response(tree: Tree, call_id: str, name: str, content: str) -> Tree:
    """Return the tree with the result of a call: its content is replaced if it exists, otherwise the result is added to the pair.

    Searches request-response pairs for the first such call. Raises Refused if there is none.
    """
    for s, old_section in enumerate(tree.sections):
        for p, old in enumerate(old_section.body):
            if old.ai is None or old.type is not PairType.REQUEST_RESPONSE:
                continue
            if any(call.id == call_id for call in old.ai.calls):
                new = BodyPair(old.ai, _with_response(old.rest, call_id, name, content))
                body = (*old_section.body[:p], new, *old_section.body[p + 1 :])
                changed = Section(old_section.header, body)
                return ChainAST((*tree.sections[:s], changed, *tree.sections[s + 1 :]))
    raise Refused(f"tool call with ID {call_id} not found")


def _with_response(rest: tuple[Message, ...], call_id: str, name: str, content: str) -> tuple[Message, ...]:
    for i, message in enumerate(rest):
        for reference in message.results:
            if reference.id == call_id:
                result = message.parts[reference.part]
                assert isinstance(result, ToolResult)
                parts = list(message.parts)
                parts[reference.part] = replace(result, content=content)
                return (*rest[:i], replace(message, parts=tuple(parts)), *rest[i + 1 :])
    new = ToolResult(call_id, name, content)
    if rest and rest[-1].role == TOOL:
        return (*rest[:-1], replace(rest[-1], parts=(*rest[-1].parts, new)))
    return (*rest, Message(TOOL, (new,)))


def find_tool_responses(tree: Tree, call_id: str) -> Iterator[ToolResult]:
    """Yield the results with a call's id in request-response pairs, even if no such call exists."""
    for _, candidate in tree.pairs():
        if candidate.type is PairType.REQUEST_RESPONSE:
            for message in candidate.rest:
                for reference in message.results:
                    part = message.parts[reference.part]
                    if reference.id == call_id and isinstance(part, ToolResult):
                        yield part


# Texts that chainviz writes: the arguments of a call that has none, a missing result, and the arguments of a summary's call.


FALLBACK_REQUEST_ARGUMENTS = "{}"
FALLBACK_RESPONSE_CONTENT = "the call was not handled, please try again"
SUMMARIZATION_ARGUMENTS = '{"question": "delegate and execute the task, then return the summary of the result"}'
