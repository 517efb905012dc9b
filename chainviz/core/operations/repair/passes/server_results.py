"""Results of tools that the API itself runs, without the call before them: only whole pairs are taken."""

from __future__ import annotations

from chainviz.core.chain.messages import AI, Message, Part, Text
from chainviz.core.dialects.blocks.server_tools import lone_results
from chainviz.core.operations.repair.fixes import Proposal
from chainviz.core.operations.repair.session import Worklist


def has_lone_results(message: Message) -> bool:
    return message.role == AI and next(lone_results(message), None) is not None


def fix_server_results(work: Worklist) -> None:
    """Only on demand: other APIs do not know these parts."""
    for place, message in work.read(has_lone_results):
        if place and work.shapes[place - 1].role == AI:
            continue
        for i, part in lone_results(message):
            about = work.about[place]
            problem = f"{work.where(about)} holds a {part.kind} without its call before it."
            told: tuple[Part, ...] = (Text(f"[{part.kind} without its call]\n{part.text}"),)
            outcomes = {"server-result-to-text": told}
            if work.offer(Proposal("server-result-without-call", about, i, "", problem, (part,), outcomes, default=False)):
                work.edit(place).parts[i] = told
    work.settle()
