"""Rules as values: what an API refuses, in which words, and which repairs help.

A `SectionRule` is broken beside other messages: reasoning that the rest of the section has, signatures of the current turn, ids
of a form that is judged once a chain. A message is marked once (`Mark`); the rule says which mark breaks it, and where.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from enum import IntFlag
from functools import cache, reduce
from operator import or_

from chainviz.core.chain.messages import AI, Message, Opaque, Text, Thinking, ToolCall
from chainviz.core.chain.problems import Problem, Severity
from chainviz.core.chain.reasoning import acts_unsigned, acts_unthinking, thinks_signed
from chainviz.core.chain.tool_ids import SHORT_ID
from chainviz.core.providers.request import Request
from chainviz.core.providers.server_blocks import lone_calls, lone_results

ALL_MODELS = "all models"
VARIABLE = re.compile(r"\{[a-z_]+\}")
"""A part of a sentence that differs from request to request, such as `{id}` or `{index}`."""


def rule_anchor(provider: str, rule: str) -> str:
    """Return the fragment of the help page about provider rules that leads to a rule of a provider."""
    return f"{provider.replace('.', '-')}-{rule}"


@dataclass(frozen=True, slots=True)
class Rule:
    """error: certainly rejected; warning: depends on model, version or server; info: odd but legal; unchecked: nobody here
    knows, so the chain is not fully checked."""

    id: str
    severity: Severity
    says: str
    """The API's own sentence, with a VARIABLE for each part that differs between requests; "" for an info without one."""
    source: str
    """The page, issue or recorded request that contains the sentence."""
    fixes: tuple[str, ...] = ()
    """Names of repairs, the smallest first. Empty if the tree's finding has its own, or none helps (WITHOUT_FIX)."""
    _: KW_ONLY
    models: str
    """The models that the rule applies to, as text; ALL_MODELS if the API treats all alike."""
    since: str
    """The month (YYYY-MM) since which the API, or its documentation, is known to refuse this."""
    checked: str
    """The day (YYYY-MM-DD) on which the rule was last compared with its source."""
    note: str = ""
    """When the API refuses it although the sentence does not say so, or why it is accepted: a clause without a full stop."""

    @property
    def quote(self) -> str:
        """Return the API's sentence for people, with an ellipsis for each variable part."""
        return VARIABLE.sub("…", self.says)


_JSON = "edit the message in its source"
_FORM = f"The intended content is unknown: {_JSON}, or convert the chain to this API's format."

WITHOUT_FIX: Mapping[str, str] = {
    "arguments-type": "The arguments have another API's type: convert the chain to this API's format.",
    "assistants-alternate": "A merge would change who said what in which turn: merge the messages by hand.",
    "call-after-model": "Something may be missing before the call: insert or move a message by hand.",
    "call-without-text": "Only a text helps, and only the model can say what it called the tool for: write one into the message.",
    "call-stored": "The call is not in this file, so there is nothing to fix.",
    "call-id-reused": "It is accepted, so there is nothing to fix.",
    "content-type": _FORM,
    "document-without-text": "Only you know what the document is for: add a text to the message.",
    "field-type": _FORM,
    "image-large": "It is refused only in requests with many images: replace it if yours has more than 20.",
    "tools-undefined-in-list": "A list of messages has no place for toolConfig: add it to the request that sends them.",
    "last-role": "It depends on the next request: append a human message before you send the chain.",
    "member-missing": f"The missing content is not in the chain: {_JSON}.",
    "messages-missing": "Add the message that the model should answer.",
    "part-empty": _FORM,
    "part-role": _FORM,
    "part-twofold": f"The intended content is unknown: {_JSON}.",
    "part-type": _FORM,
    "parts-too-many": "Only you know which ones to remove: delete some, or split the message.",
    "result-without-name": "It is accepted, so there is nothing to fix.",
    "text-too-long": "Only you know which part matters: shorten the text, or replace the result by what you need of it.",
    "thinking-enabled": "Only the API can write a thinking block: send the request without the member `thinking`.",
    "tool-calls-too-many": "The order of the results is yours to keep: divide the message, and give each half its results.",
    "tool-calls-empty": f"An empty list of calls says nothing: {_JSON}.",
}


NO_REPAIR = f"No repair is known: {_JSON}."
"""The reason for a rule without a reason of its own."""


def reason_without_fix(problem: Problem) -> str:
    """Return a sentence on why no repair is offered, or "" if one is offered or there is no problem that could be
    repaired."""
    return "" if problem.fixes else WITHOUT_FIX.get(problem.rule, "")


@dataclass(frozen=True, slots=True)
class Wording:
    """A wording of an error beside the sentences that rules quote, and the rules that mean the same."""

    says: str
    """The sentence as in a rule, with variables such as `{id}`."""
    providers: tuple[str, ...]
    """The providers with this wording, the likeliest first."""
    rules: tuple[str, ...]
    """Ids of the rules with this meaning, the likeliest first."""
    unseen: tuple[str, ...] = ()
    """Fixes of the message that the error names, for a cause that no rule can see in the chain."""


class Mark(IntFlag):
    """Facts about an AI message that the rules of a section use."""

    THINKS = 1
    UNTHINKING = 2
    """Calls tools and has no reasoning."""
    NOT_FIRST = 4
    """Calls tools and does not begin with reasoning."""
    UNSIGNED = 8
    """Calls tools, and neither its first call nor the reasoning before it is signed."""
    ODD_ID = 16
    """Calls a tool with an id that is not nine letters and digits."""
    SIGNED = 32
    """Contains reasoning that its provider signed."""
    CALLS = 64
    """Calls tools."""
    SERVER_OPEN = 128
    """Calls a tool of the API itself, without its result in the message."""
    SERVER_LATE = 256
    """Contains a result of a tool of the API itself, without its call in the message."""


NO_MARK = Mark(0)


def marks_of(message: Message) -> Mark:
    if message.role != AI:
        return NO_MARK
    kinds = set(map(type, message.parts))
    has_odd_id = not all(map(SHORT_ID.fullmatch, [call.id for call in message.calls]))
    if kinds <= _SAID:  # nearly every message
        return _OF_CALLS[acts_unsigned(message), has_odd_id] if message.calls else NO_MARK
    found: list[Mark] = []
    if Thinking in kinds:
        found = [Mark.SIGNED, Mark.THINKS] if thinks_signed(message) else [Mark.THINKS]
    if Opaque in kinds:
        found += [Mark.SERVER_OPEN] if next(lone_calls(message), None) else []
        found += [Mark.SERVER_LATE] if next(lone_results(message), None) else []
    if message.calls:
        found += [Mark.CALLS] if Mark.THINKS in found else [Mark.CALLS, Mark.UNTHINKING]
        found += [Mark.NOT_FIRST] if acts_unthinking(message) else []
        found += [Mark.UNSIGNED] if acts_unsigned(message) else []
        found += [Mark.ODD_ID] if has_odd_id else []
    return join_marks(frozenset(found))


_SAID = frozenset((Text, ToolCall))
_OF_CALLS = {
    (unsigned, odd): Mark.CALLS | Mark.UNTHINKING | Mark.NOT_FIRST | Mark.UNSIGNED * unsigned | Mark.ODD_ID * odd
    for unsigned in (False, True)
    for odd in (False, True)
}
"""The marks of a message of texts and calls, by whether its calls are unsigned and whether one has an odd id."""


@cache
def join_marks(marks: frozenset[Mark]) -> Mark:
    """Join the marks. They are few, and an IntFlag is slow."""
    return reduce(or_, marks, NO_MARK)


def marked_part(message: Message) -> int:
    """Return the part that a mark is about: the first result of a tool of the API itself without its call, else the
    first call."""
    late = next(lone_results(message), None)
    if late is not None:
        return late[0]
    return message.calls[0].part if message.calls else 0


@dataclass(frozen=True, slots=True)
class SectionRule:
    rule: Rule
    mark: Mark
    what: str
    """What a marked message does, for a sentence."""
    where_thinking: bool = False
    """True to check only sections in which a message has reasoning."""
    in_last: bool = False
    """True to check only the last section of the chain."""
    at_end: bool = False
    """True to check only the last pair of the chain."""
    of_part: bool = False
    """True if the rule is about one part of the message (`marked_part`)."""
    once: bool = False
    """True to report only the first marked message of the chain."""
    unless: Mark = NO_MARK
    """Marks that exclude a section if one of its messages has them."""
    in_own_form: bool = False
    """True to check only the API's own JSON, since programs that write it from another form add what is missing."""
    when: Callable[[Request], bool] = lambda request: True
    """Returns True for requests to which the rule applies."""

    def applies(self, marks: Mark, *, is_last: bool) -> bool:
        """Return True if messages of a section can break the rule. `marks` are those of all its messages."""
        if self.where_thinking and not marks & Mark.THINKS:
            return False
        return not marks & self.unless and (is_last or not (self.in_last or self.at_end))

    def most(self, seen: Mark) -> int | None:
        """Return how many messages of a section can break the rule behind messages with these marks; None: any number."""
        return None if not self.once else 0 if seen & self.mark else 1


def reasoning_missing(rule: Rule) -> SectionRule:
    """Return the rule of servers that require the reasoning of every turn."""
    what = "calls tools without reasoning, while another message of its section has some"
    return SectionRule(rule, Mark.UNTHINKING, what, where_thinking=True)
