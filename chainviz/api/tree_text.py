"""A chain, its problems and what an operation did in words, as lines; `visible_lines` makes a text of them for a terminal.

Nodes have the names that the rows of the explorer have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from chainviz.chains.explorer.message_words import NAME, header_words, pair_words
from chainviz.core.chain.messages import Message, Text, ToolCall, ToolResult
from chainviz.core.chain.problems import Problem, content_problems, section_problems
from chainviz.core.chain.surroundings import Unread, unread_problems
from chainviz.core.chain.tree import BodyPair, ChainAST, parse
from chainviz.core.counts import count_text
from chainviz.core.errors import excerpt
from chainviz.core.operations.contract import Decision
from chainviz.core.operations.repair.fixes import FIX_LABELS
from chainviz.core.providers.request import NO_REQUEST, Request, without_stored
from chainviz.store.content.message_shapes import shape_of

TEASER = 60
CountTokens = Callable[[Iterable[Message]], int]


def tree_lines(
    messages: Sequence[Message],
    document: tuple[str, Request],
    source: str,
    count_tokens: CountTokens | None = None,
    unread: Sequence[Unread] = (),
) -> Iterator[str]:
    """The tree, a row a line, then its problems. `document`: the format, and what it records beside the messages;
    `count_tokens` gives an estimate for each node; `unread`: what of the file was not read."""
    format, request = document

    def sized(held: Sequence[Message], size: int) -> str:
        return f"{count_text(size, 'byte')}{f', ≈ {count_tokens(held):,} tokens' if count_tokens else ''}"

    tree = parse(messages)
    yield f"{source}: {format}, {count_text(len(messages), 'message')}, {count_text(tree.size, 'byte')}"
    for s, section in enumerate(tree.sections, 1):
        yield f"s{s}  Section, {sized(tuple(section.messages), section.size)}"
        for m, message in enumerate(section.header):
            _, name, _ = header_words(shape_of(message))
            yield f"  s{s}.h.m{m}  {name}, {sized([message], message.size)}  {_teaser(message)}"
        for p, pair in enumerate(section.body, 1):
            _, name, teaser = pair_words(pair.type, [shape_of(each) for each in pair.messages[:2]], has_ai=pair.ai is not None)
            node = f"{excerpt(name, NAME)}, {sized(pair.messages, pair.size)}{_calls(pair)}"
            yield f"  s{s}.p{p}  {node}  {excerpt(teaser, TEASER)}"
    problems = list(all_problems(tree, request))
    counted = sum(problem.is_counted for problem in problems)
    found = count_text(counted, "structure problem") if counted else "" if unread else "structure valid"
    notes = count_text(len(problems) - counted, "note") if len(problems) > counted else ""
    yield ", ".join(filter(None, ("not fully read" if unread else "", found, notes)))
    yield from (f"  {problem_line(problem)}" for problem in (*unread_problems(unread), *problems))


def all_problems(tree: ChainAST[Message], request: Request = NO_REQUEST) -> Iterator[Problem]:
    """Yield the problems in the tree and in the contents, section by section. `request`: what is recorded beside the
    messages."""
    return without_stored(_problems(tree), enumerate(tree.sections, 1), request)


def _problems(tree: ChainAST[Message]) -> Iterator[Problem]:
    index, last = 0, len(tree.sections)
    for number, section in enumerate(tree.sections, 1):
        yield from section_problems(section, number, index, number < last)
        yield from content_problems(section, number, index)
        index += len(section)


def problem_line(problem: Problem) -> str:
    provider = f"{problem.provider} " if problem.provider else ""
    return f"{problem.severity}: {provider}{problem.rule} at {problem.path}: {problem.text}"


def report_line(row: Decision) -> str:
    place = f"{row.path}{f' to {row.until}' if row.until else ''}: " if row.path else ""
    return f"{place}{change_line(row)}"


def change_line(row: Decision) -> str:
    """Return what was done and why, without the place."""
    grown = f" ({row.bytes_after - row.bytes_before:+,} bytes)" if row.bytes_after != row.bytes_before else ""
    return f"{FIX_LABELS.get(row.action, row.action)}: {row.reason}{grown}"


def _calls(pair: BodyPair[Message]) -> str:
    states = pair.tool_calls
    found = [(len(states.completed), "completed"), (len(states.pending), "pending"), (len(states.unmatched), "unmatched")]
    return "".join(f", {count} {what}" for count, what in found if count)


def _teaser(message: Message) -> str:
    for part in message.parts:
        match part:
            case Text() if part.text.strip():
                return excerpt(part.text, TEASER)
            case ToolCall():
                return excerpt(f"{part.name}({part.arguments})", TEASER)
            case ToolResult():
                return excerpt(part.content, TEASER)
    return ""
