"""What the command line says about a chain: as one JSON object, or as lines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from chainviz.core.chain.content_problems import content_problems
from chainviz.core.chain.messages import HUMAN, SYSTEM, Message, Text, ToolCall, ToolResult
from chainviz.core.chain.parse import parse
from chainviz.core.chain.paths import Path
from chainviz.core.chain.problems import Problem, section_problems, strict_error
from chainviz.core.chain.tree import BodyPair, ChainAST, Section
from chainviz.core.terminal import excerpt, visible

Tree = ChainAST[Message]


def print_json(value: dict[str, Any]) -> None:
    """One object on one line; lone surrogates stay escapes."""
    print(json.dumps(value))


def describe(messages: Sequence[Message], format: str, source: str) -> dict[str, Any]:
    """The object that `--json` prints for a chain."""
    tree = parse(messages)
    return {
        "format": format,
        "source": source,
        "size": tree.size,
        "messages": len(messages),
        "sections": [_section(section, Path(s)) for s, section in enumerate(tree.sections, 1)],
        "problems": [problem_object(problem) for problem in all_problems(tree)],
        "strict_error": strict_error(tree),
    }


def all_problems(tree: Tree) -> Iterator[Problem]:
    """What is wrong in the tree and in the contents, section by section."""
    index, last = 0, len(tree.sections)
    for number, section in enumerate(tree.sections, 1):
        yield from section_problems(section, number, index, number < last)
        yield from content_problems(section, number, index)
        index += len(section)


def _section(section: Section[Message], path: Path) -> dict[str, Any]:
    roles = [message.role for message in section.header]
    return {
        "path": str(path),
        "size": section.size,
        "header": {"size": section.header_size, "system": roles.count(SYSTEM), "human": roles.count(HUMAN)},
        "body": [_pair(pair, Path(path.section, p)) for p, pair in enumerate(section.body, 1)],
    }


def _pair(pair: BodyPair[Message], path: Path) -> dict[str, Any]:
    calls = pair.tool_calls
    return {
        "path": str(path),
        "type": str(pair.type),
        "size": pair.size,
        "valid": pair.is_valid,
        "pending": list(calls.pending),
        "unmatched": list(calls.unmatched),
        "completed": list(calls.completed),
        "messages": len(pair.messages),
    }


def problem_object(problem: Problem) -> dict[str, Any]:
    return {
        "rule": problem.rule,
        "severity": problem.severity,
        "path": str(problem.path),
        "message": problem.message,
        "part": problem.part,
        "text": problem.text,
    }


def problem_line(problem: Problem) -> str:
    provider = f"{problem.provider} " if problem.provider else ""
    return f"{problem.severity}: {provider}{problem.rule} at {problem.path}: {visible(problem.text)}"


def lines(messages: Sequence[Message], format: str, source: str) -> Iterator[str]:
    """The tree, a row a line, then its problems."""
    tree = parse(messages)
    yield f"{visible(source)}: {format}, {_count(len(messages), 'message')}, {tree.size:,} bytes"
    for s, section in enumerate(tree.sections, 1):
        yield f"s{s}  section, {section.size:,} bytes"
        for m, message in enumerate(section.header):
            yield f"  s{s}.h.m{m}  {visible(message.role)}, {message.size:,} bytes  {_teaser([message])}"
        for p, pair in enumerate(section.body, 1):
            yield f"  s{s}.p{p}  {pair.type}, {pair.size:,} bytes{_calls(pair)}  {_teaser(pair.messages)}"
    problems = list(all_problems(tree))
    yield _count(len(problems), "problem") if problems else "no problems"
    yield from (f"  {problem_line(problem)}" for problem in problems)


def _calls(pair: BodyPair[Message]) -> str:
    states = pair.tool_calls
    found = [
        (len(states.completed), "completed"),
        (len(states.pending), "pending"),
        (len(states.unmatched), "unmatched"),
    ]
    return "".join(f", {count} {what}" for count, what in found if count)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _teaser(messages: Iterable[Message]) -> str:
    for message in messages:
        for part in message.parts:
            match part:
                case Text() if part.text.strip():
                    return excerpt(part.text, 60)
                case ToolCall():
                    return excerpt(f"{part.name}({part.arguments})", 60)
                case ToolResult():
                    return excerpt(part.content, 60)
    return ""
