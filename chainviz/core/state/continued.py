"""A state document as the continuation of a chain: what changes in the messages that the chain stores (issue 9)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from chainviz.core.chain.chain import Splice
from chainviz.core.chain.messages import NEW, Fragment, Message


def continuation(stored: Sequence[Message], start: int, state: Sequence[Message]) -> Iterator[Splice]:
    """Yields the changes that make the messages of `state` of the `stored` ones, which begin at `start` in the chain.

    Messages that are the same, byte for byte, stay; new ones keep the text of their source.
    """
    matcher = SequenceMatcher(None, [_words(message) for message in stored], [_words(message) for message in state])
    for kind, begin, end, first, last in matcher.get_opcodes():
        if kind != "equal":
            yield Splice(start + begin, end - begin, tuple(_new(message) for message in state[first:last]))


def _words(message: Message) -> tuple[str, ...]:
    return (message.role, *(f"{fragment.blocks} {fragment.text}" for fragment in message.source))


def _new(message: Message) -> Message:
    """Of no document yet."""
    return replace(message, source=tuple(Fragment(NEW, "", each.text, each.blocks) for each in message.source))
