"""Reasoning that an API refuses as it stands: nobody can sign or restore it, so all that helps is to drop it."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate, groupby

from chainviz.core.chain.messages import AI, Message, Part, Thinking
from chainviz.core.chain.reasoning import acts_unthinking, is_emptied, is_unsigned, thinks
from chainviz.core.operations.repair.fixes import Proposal
from chainviz.core.operations.repair.session import Worklist


def reasons(message: Message) -> bool:
    return message.role == AI and thinks(message)


def fix_thinking(work: Worklist) -> None:
    """Only on demand: what one API refuses, another wants back."""
    ends = list(accumulate(len(section) for section in work.tree.sections))
    last = len(work.shapes) - 1
    unthinking = {bisect_right(ends, place) for place in work.places(acts_unthinking)}
    for number, found in groupby(work.read(reasons), lambda item: bisect_right(ends, item[0])):
        section = [(place, message, _fault(message, place == last)) for place, message in found]
        # where one call has no reasoning or loses it, the rest of its section cannot keep any
        incomplete = number in unthinking or any(message.calls and fault for _, message, fault in section)
        for place, message, fault in section:
            if fault is None and incomplete:
                fault = "thinking-missing", "reasons, while another message of its section calls tools without"
            if fault is not None:
                _offer(work, place, message, *fault)
    work.settle()


def _fault(message: Message, is_last: bool) -> tuple[str, str] | None:
    """What is wrong with the reasoning of the message itself: rule and words."""
    if any(map(is_unsigned, message.parts)):
        return "thinking-unsigned", "has reasoning without a signature"
    if any(map(is_emptied, message.parts)):
        return "thinking-emptied", "has signed reasoning without text"
    if is_last and thinks(message):
        return "thinking-final", "ends the chain with its reasoning"
    return None


def _offer(work: Worklist, place: int, message: Message, rule: str, what: str) -> None:
    about = work.about[place]
    thoughts = {i: part for i, part in enumerate(message.parts) if isinstance(part, Thinking)}
    problem = f"{work.where(about)} {what}."
    nothing: tuple[Part, ...] = ()
    outcomes = {"drop-thinking": nothing}
    if work.offer(Proposal(rule, about, None, "", problem, tuple(thoughts.values()), outcomes, default=False)):
        work.edit(place).parts.update(dict.fromkeys(thoughts, nothing))
