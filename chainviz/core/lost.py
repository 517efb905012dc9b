"""Messages of a session that its agent does not send again when it resumes the session, and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from chainviz.core.chain.messages import Message
from chainviz.core.chain.tree import message_paths, parse
from chainviz.core.counts import count_text
from chainviz.core.formats.contract import Format
from chainviz.core.load import without_shared
from chainviz.core.operations.repair.goal import sent_places

Reason = Literal["compaction", "branch", "left out"]
WORDS: dict[Reason, str] = {
    "compaction": "before its last compaction",
    "branch": "on branches that a rewind left",
    "left out": "that the agent leaves out",
}


class Lost(NamedTuple):
    """Messages that are lost for one reason."""

    reason: Reason
    messages: int
    size: int
    """Size of their content in bytes."""
    first: str
    """The path of the first one in the chain; for branches, the title of the first branch."""
    last: str


class Branch(NamedTuple):
    """A branch of the session that the agent does not go on with."""

    title: str
    messages: Sequence[Message]


def lost_on_resume(format: Format, messages: Sequence[Message], branches: Iterable[Branch] = ()) -> tuple[Lost, ...]:
    """Return what a resumed session lacks of the main chain and of the branches beside it; () if the agent sends everything."""
    sent = set(sent_places(format, messages))
    start = format.sent_from(messages)
    before = range(start)
    left_out = [place for place in range(start, len(messages)) if place not in sent]
    found = [*_in_chain("compaction", messages, before), *_in_chain("left out", messages, left_out)]
    return (*found, *_on_branches(messages, branches))


def _in_chain(reason: Reason, messages: Sequence[Message], places: Sequence[int]) -> Iterator[Lost]:
    if places:
        paths = list(message_paths(parse(messages)))
        size = sum(messages[place].size for place in places)
        yield Lost(reason, len(places), size, str(paths[places[0]]), str(paths[places[-1]]))


def _on_branches(messages: Sequence[Message], branches: Iterable[Branch]) -> Iterator[Lost]:
    """Count the messages of branches that are not part of the main chain, each once."""
    branches = tuple(branches)
    _, *own = without_shared((messages, *(branch.messages for branch in branches)))
    titles = [branch.title for branch, left in zip(branches, own, strict=True) if left]
    found = [message for left in own for message in left]
    if found:
        yield Lost("branch", len(found), sum(message.size for message in found), titles[0], titles[-1])


def describe_lost(lost: Lost) -> str:
    """Return how much is lost for one reason, and where it is."""
    where = lost.first if lost.first == lost.last else f"{lost.first} to {lost.last}"
    return f"{count_text(lost.messages, 'message')} {WORDS[lost.reason]} ({lost.size:,} bytes, {where})"
