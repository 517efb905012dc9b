"""How sections begin: a chain needs an opening human message, and two human messages in a row are one."""

from __future__ import annotations

from chainviz.core.chain.messages import AI, HUMAN, SYSTEM, Message, Part, Text
from chainviz.core.chain.problems import are_two_turns
from chainviz.core.operations.repair.fixes import Proposal
from chainviz.core.operations.repair.parts_as_text import detached
from chainviz.core.operations.repair.session import Worklist
from chainviz.core.providers.request import REFERENCE

OPENING = "[The conversation begins with the assistant's message]"


def fix_opening(work: Worklist) -> None:
    """Only on demand: chains that begin with an AI message, or with one after the system message. A document that holds one
    message, such as a provider's response, stays one."""
    first_human = next((i for i, shape in enumerate(work.shapes) if shape.role in (HUMAN, SYSTEM) and i > 0), None)
    first_ai = next((i for i, shape in enumerate(work.shapes) if shape.role == AI), None)
    if first_ai is None or work.chain.surroundings.is_single:
        return
    opening = Message(HUMAN, (Text(OPENING),))
    outcomes: dict[str, tuple[Part, ...]] = {"insert-opening": opening.parts}
    if first_ai == 0:
        rule, outcomes["drop-leading"] = "first-message", ()
        what = "is an AI message and begins the chain; some APIs want a human message first."
    elif work.shapes[first_ai - 1].role != SYSTEM:
        return
    elif first_human is not None and work.shapes[first_human].role == HUMAN:
        rule, outcomes["move-human"] = "missing-human", ()
        what = "is an AI message before any human message, though a human message comes later."
    else:
        rule, what = "first-role", "is an AI message directly after the system message; some APIs want a human message first."
    about = work.about[first_ai]
    choice = work.offer(Proposal(rule, about, None, "", f"{work.where(about)} {what}", (), outcomes, default=False))
    if choice == "insert-opening":
        work.edit(first_ai).before.append((opening, about))
    elif choice == "drop-leading":
        for place in range(first_human if first_human is not None else len(work.shapes)):
            work.edit(place).removed = True
    elif choice == "move-human":
        assert first_human is not None
        work.edit(first_ai).before.append((work.message(first_human), work.about[first_human]))
        work.edit(first_human).removed = True
    work.settle()


def fix_double_humans(work: Worklist) -> None:
    first: int | None = None
    for place, shape in enumerate(work.shapes):
        if shape.role != HUMAN:
            first = None
            continue
        if first is None or not are_two_turns(work.shapes[place - 1], shape):
            first = place
            continue
        message = work.message(place)
        about = work.about[place]
        problem = f"{work.where(about)} is a human message directly after another human message."
        if work.offer(
            Proposal(
                "double-human", about, None, "", problem, message.parts, {"merge-human": message.parts},
                default=work.request.stored != REFERENCE,
            )
        ):  # fmt: skip
            work.edit(first).added += detached(message.parts)
            work.edit(place).removed = True
        else:
            first = place
    work.settle()
