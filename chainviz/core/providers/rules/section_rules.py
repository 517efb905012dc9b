"""Rules that a message breaks only beside others: reasoning that the rest of its section has, signatures of the current turn,
ids of a form that is judged once a chain. A message is marked once; a provider's rule says which mark breaks it, and where."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntFlag

from chainviz.core.chain.messages import AI, Message, Opaque
from chainviz.core.chain.reasoning import acts_unsigned, acts_unthinking, thinks, thinks_signed
from chainviz.core.dialects.blocks.server_tools import lone_calls, lone_results
from chainviz.core.providers.request import Request
from chainviz.core.providers.rules.rule import Rule

_NINE = re.compile(r"[a-zA-Z0-9]{9}")


class Mark(IntFlag):
    """What a section's rules want to know of an AI message."""

    THINKS = 1
    UNTHINKING = 2
    """Calls tools, and reasons nowhere."""
    NOT_FIRST = 4
    """Calls tools, and does not begin with reasoning."""
    UNSIGNED = 8
    """Calls tools, and neither its first call nor a thought before it is signed."""
    ODD_ID = 16
    """Calls a tool with an id that is not nine letters and digits."""
    SIGNED = 32
    """Holds reasoning that its provider signed."""
    CALLS = 64
    """Calls tools."""
    SERVER_OPEN = 128
    """Calls a tool of the API itself whose result is not in the message."""
    SERVER_LATE = 256
    """Holds a result of a tool of the API itself whose call is not in the message."""


NO_MARK = Mark(0)


def marks_of(message: Message) -> Mark:
    if message.role != AI:
        return NO_MARK
    found = Mark.THINKS if thinks(message) else NO_MARK
    found |= Mark.SIGNED if found and thinks_signed(message) else NO_MARK
    if any(isinstance(part, Opaque) for part in message.parts):
        found |= Mark.SERVER_OPEN if next(lone_calls(message), None) else NO_MARK
        found |= Mark.SERVER_LATE if next(lone_results(message), None) else NO_MARK
    if message.calls:
        found |= Mark.CALLS
        found |= NO_MARK if found & Mark.THINKS else Mark.UNTHINKING
        found |= Mark.NOT_FIRST if acts_unthinking(message) else NO_MARK
        found |= Mark.UNSIGNED if acts_unsigned(message) else NO_MARK
        found |= NO_MARK if all(_NINE.fullmatch(call.id) for call in message.calls) else Mark.ODD_ID
    return found


def marked_part(message: Message) -> int:
    """The part that a mark is about: the first result of a tool of the API itself without its call, else the first call."""
    late = next(lone_results(message), None)
    if late is not None:
        return late[0]
    return message.calls[0].part if message.calls else 0


@dataclass(frozen=True, slots=True)
class SectionRule:
    rule: Rule
    mark: Mark
    what: str
    """What a marked message does."""
    where_thinking: bool = False
    """Only in sections where a message reasons."""
    in_last: bool = False
    """Only in the chain's last section."""
    at_end: bool = False
    """Only in the chain's last pair."""
    of_part: bool = False
    """It is about one part of the message (`marked_part`)."""
    once: bool = False
    """Only the first marked message of the chain."""
    unless: Mark = NO_MARK
    """Only in sections where no message has one of these marks."""
    in_own_form: bool = False
    """Only in the API's own JSON: programs that write it from another form add what is wanted."""
    when: Callable[[Request], bool] = lambda request: True
    """Only in chains whose document records such a request."""

    def applies(self, marks: Mark, *, is_last: bool) -> bool:
        """Whether messages of a section can break it. `marks`: those of all its messages."""
        if self.where_thinking and not marks & Mark.THINKS:
            return False
        return not marks & self.unless and (is_last or not (self.in_last or self.at_end))

    def most(self, seen: Mark) -> int | None:
        """How many messages of a section behind messages with these marks can break it; None: any number."""
        return None if not self.once else 0 if seen & self.mark else 1


def reasoning_missing(rule: Rule) -> SectionRule:
    """The rule of servers that want the reasoning of every turn back."""
    what = "calls tools without reasoning, while another message of its section has some"
    return SectionRule(rule, Mark.UNTHINKING, what, where_thinking=True)
