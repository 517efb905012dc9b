"""Turns of the user that a format keeps in one message: all results of the calls before it, and the text behind them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from chainviz.core.chain.messages import HUMAN, NEW, TOOL, Fragment, Message
from chainviz.core.documents.assemble import follows, with_items
from chainviz.core.documents.json.edit import load_array, raw_at
from chainviz.core.formats.contract import Format, Style


def with_joined_turns(format: Format, messages: Iterable[Message]) -> Iterator[Message]:
    """New messages, those of results in a row as one, and the human message behind it in the same unit."""
    results: Message | None = None
    for message in messages:
        if message.role == TOOL:
            results = replace(results, parts=(*results.parts, *message.parts)) if results else message
            continue
        if results is not None:
            yield from in_one_unit(format, (results, message)) if message.role == HUMAN else (results, message)
        else:
            yield message
        results = None
    if results is not None:
        yield results


def are_in_one_unit(one: Message, other: Message) -> bool:
    """Whether neighbouring messages are blocks of one unit."""
    if not one.source or not other.source:
        return False
    last, first = one.source[-1], other.source[0]
    is_same = last.ordinal == first.ordinal and (first.ordinal >= 0 or last.text == first.text)
    return is_same and first.blocks is not None and follows(first.blocks, last.blocks)


def in_one_unit(format: Format, messages: Sequence[Message]) -> list[Message]:
    """The messages as parts of one new unit, which has the blocks of all in order."""
    written = [(message.role, fragment) for message in messages for fragment in format.write(message, Style())]
    items = [_items(format, fragment) for _, fragment in written]
    shell = written[0][1]
    text = with_items(shell.text, format.blocks_at, [item for each in items for item in each])
    joined, start = [], 0
    for (role, _), each in zip(written, items, strict=True):
        blocks = tuple(range(start, start + len(each)))
        joined.append(format.message(role, (replace(shell, ordinal=NEW, text=text, blocks=blocks, start=-1),)))
        start += len(each)
    return joined


def has_list(format: Format, message: Message) -> bool:
    """Whether its content is a list, which can take the blocks of another message."""
    return all((raw_at(fragment.text, format.blocks_at) or "").startswith("[") for fragment in message.source)


def _items(format: Format, fragment: Fragment) -> list[str]:
    array = load_array(raw_at(fragment.text, format.blocks_at) or "[]")
    return [array.raw(index) for index in (range(len(array)) if fragment.blocks is None else fragment.blocks)]
