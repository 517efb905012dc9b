"""Reasoning that an API refuses as it stands: nobody can sign or restore it, so all that helps is to drop it."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate, groupby

from chainviz.core.messages import AI, Message, Part, Thinking
from chainviz.core.operations.repair.fixes import Proposal
from chainviz.core.operations.repair.worklist import Worklist
from chainviz.core.reasoning import acts_unthinking, is_emptied, is_unsigned, thinks


def fix_thinking(work: Worklist) -> None:
    """Only on demand: what one API refuses, another wants back."""
    ends = list(accumulate(len(section) for section in work.tree.sections))
    ai = work.read(lambda shape: shape.role == AI)
    for _, found in groupby(ai, lambda item: bisect_right(ends, item[0])):
        section = list(found)
        # a call that loses unsigned reasoning has none, so the rest of its section cannot keep any
        incomplete = any(acts_unthinking(m) or (m.calls and is_unsigned(m.parts[0])) for _, m in section)
        for place, message in section:
            if not thinks(message):
                continue
            if any(map(is_unsigned, message.parts)):
                _offer(work, place, message, "thinking-unsigned", "has reasoning without a signature")
            elif incomplete:
                what = "reasons, while another message of its section calls tools without signed reasoning"
                _offer(work, place, message, "thinking-missing", what)
            elif any(map(is_emptied, message.parts)):
                _offer(work, place, message, "thinking-emptied", "has signed reasoning without text")
            elif place == len(work.shapes) - 1:
                _offer(work, place, message, "thinking-final", "ends the chain with its reasoning")
    work.settle()


def _offer(work: Worklist, place: int, message: Message, rule: str, what: str) -> None:
    about = work.about[place]
    thoughts = {i: part for i, part in enumerate(message.parts) if isinstance(part, Thinking)}
    problem = f"{work.where(about)} {what}."
    nothing: tuple[Part, ...] = ()
    outcomes = {"drop-thinking": nothing}
    if work.offer(Proposal(rule, about, None, "", problem, tuple(thoughts.values()), outcomes, default=False)):
        work.edit(place).parts.update(dict.fromkeys(thoughts, nothing))
