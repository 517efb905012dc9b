"""Problems that only a message's content shows; the tree's own rules judge shapes (problems)."""

from __future__ import annotations

from collections.abc import Iterator

from chainviz.core.chain.calls.arguments import is_json
from chainviz.core.chain.messages import FREE_FORM, Message, ToolCall, is_blank
from chainviz.core.chain.paths import Path
from chainviz.core.chain.problems import Problem, place_in_words
from chainviz.core.chain.tree import Section


def content_problems(section: Section[Message], number: int, first_message: int) -> Iterator[Problem]:
    index = first_message + len(section.header)
    for p, pair in enumerate(section.body, 1):
        if pair.ai is not None:
            yield from _ai_problems(pair.ai, Path(number, p, 0), index)
        index += len(pair.rest) + (pair.ai is not None)


def _ai_problems(message: Message, path: Path, index: int) -> Iterator[Problem]:
    where = place_in_words(path, index)
    if all(map(is_blank, message.parts)):
        why = f" ({message.note})" if message.note else ""
        text = f"{where} is an AI message without content{why}."
        yield Problem("empty-content", "info", path, index, None, text, ("drop-empty",))
    for call in message.calls:
        part = message.parts[call.part]
        if isinstance(part, ToolCall) and part.type != FREE_FORM and not is_json(part.arguments):
            at = Path(path.section, path.pair, path.message, call.part)
            what = f"{where} calls {call.name or 'a tool'} with arguments that are"
            if part.arguments.strip():
                yield Problem("bad-arguments", "warning", at, index, call.part, f"{what} not valid JSON.", ("mend-arguments",))
            else:
                text = f"{what} empty, which most APIs read as {{}}."
                yield Problem("empty-arguments", "info", at, index, call.part, text, ("mend-arguments",))
