"""Calls and results of tools that the API itself runs, one without the other: only whole pairs are taken."""

from __future__ import annotations

from chainviz.core.chain.messages import AI, HUMAN, Message, Opaque, Part, Text
from chainviz.core.dialects.blocks.server_tools import lone_calls, lone_results
from chainviz.core.operations.repair.fixes import Proposal
from chainviz.core.operations.repair.session import Worklist


def has_lone_results(message: Message) -> bool:
    return message.role == AI and any(True for found in (lone_results, lone_calls) for _ in found(message))


def fix_server_results(work: Worklist) -> None:
    """Only on demand: other APIs do not know these parts."""
    for place, message in work.read(has_lone_results):
        for i, part in lone_results(message):
            _offer(work, place, (i, part), ("server-result-without-call", "call", "server-result-to-text"))
        if place + 1 < len(work.shapes) and work.shapes[place + 1].role == HUMAN:
            for i, part in lone_calls(message):
                _offer(work, place, (i, part), ("server-call-without-result", "result", "call-to-text"))
    work.settle()


def _offer(work: Worklist, place: int, spot: tuple[int, Opaque], flaw: tuple[str, str, str]) -> None:
    """`flaw`: the rule, what is missing, and the choice."""
    (i, part), (rule, missing, choice) = spot, flaw
    about = work.about[place]
    problem = f"{work.where(about)} has a {part.kind} without its {missing}."
    told: tuple[Part, ...] = (Text(f"[{part.kind} without its {missing}]\n{part.text}"),)
    if work.offer(Proposal(rule, about, i, "", problem, (part,), {choice: told}, default=False)):
        work.edit(place).parts[i] = told
