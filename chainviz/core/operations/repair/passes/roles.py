"""Messages whose role is not allowed in their place: roles the tree does not know, and system messages in the middle."""

from __future__ import annotations

from dataclasses import replace

from chainviz.core.chain.messages import AI, HUMAN, SYSTEM, TOOL, Message, Text
from chainviz.core.operations.repair.fixes import Proposal
from chainviz.core.operations.repair.parts_as_text import as_human, detached
from chainviz.core.operations.repair.session import Worklist
from chainviz.core.state.export import is_state_format

KNOWN = frozenset({SYSTEM, HUMAN, AI, TOOL})


def fix_unknown_roles(work: Worklist) -> None:
    """All but those at the very end, which may mark the end of a run."""
    for place in range(_trailing(work)):
        _fix_role(work, place, default=True)
    work.settle()


def fix_trailing_roles(work: Worklist) -> None:
    """They mark the end of a run, which is complete as it is: nothing is done by default."""
    for place in range(_trailing(work), len(work.shapes)):
        _fix_role(work, place, default=False)
    work.settle()


def _trailing(work: Worklist) -> int:
    """Where the messages of unknown roles begin that end the chain."""
    start = len(work.shapes)
    while start and work.shapes[start - 1].role not in KNOWN:
        start -= 1
    return start


def _fix_role(work: Worklist, place: int, default: bool) -> None:
    role = work.shapes[place].role
    if role in KNOWN:
        return
    message = work.message(place)
    about = work.about[place]
    note = as_human(message, f"[Message of the role “{message.label or role}”]")
    problem = f"{work.where(about)} has the role “{role[:40]}”, which is unknown."
    outcomes = {"note-role": note.parts, "drop-message": ()}
    choice = work.offer(Proposal("unknown-role", about, None, "", problem, message.parts, outcomes, default))
    _apply(work, place, choice, note)


def fix_mid_systems(work: Worklist) -> None:
    joined: list[tuple[int, Message]] = []
    leading, is_state = True, is_state_format(work.chain.format)
    for place, shape in enumerate(work.shapes):
        leading = leading and shape.role == SYSTEM
        if shape.role != SYSTEM or (place == 0 and not is_state):
            continue
        message = work.message(place)
        note = as_human(message, "[System message]")
        note = _in_one_text(note) if is_state else note
        if place == 0:
            _apply(work, place, _offer_of_state(work, message, note), note)
            continue
        outcomes = {"note-system": note.parts, "system-to-start": message.parts}
        if leading:
            # right behind the first system message, joining it reorders nothing
            outcomes = dict(reversed(outcomes.items()))
        problem = f"{work.where(work.about[place])} is a system message in the middle of the chain."
        choice = work.offer(
            Proposal(
                "mid-system", work.about[place], None, "", problem, message.parts, {**outcomes, "drop-message": ()}
            )
        )
        if choice == "system-to-start":
            work.edit(place).removed = True
            joined.append((work.about[place], message))
        else:
            _apply(work, place, choice, note)
    if joined:
        _join_to_start(work, joined)
    work.settle()


def _in_one_text(message: Message) -> Message:
    """Programs that keep states read no content of several parts."""
    texts = [part.text for part in message.parts if isinstance(part, Text)]
    return message if len(texts) < len(message.parts) else replace(message, parts=(Text("\n".join(texts)),))


def _offer_of_state(work: Worklist, message: Message, note: Message) -> str | None:
    """Kept unless a person wants it otherwise: seed 3 sends the system messages of each call, and stores none that lead."""
    problem = f"{work.where(work.about[0])} is a system message at the start of a state; each call brings its own."
    outcomes = {"note-system": note.parts, "drop-message": ()}
    return work.offer(Proposal("system-in-state", work.about[0], None, "", problem, message.parts, outcomes, default=False))


def _join_to_start(work: Worklist, joined: list[tuple[int, Message]]) -> None:
    """The parts of later system messages join the first one, or become it."""
    parts = tuple(part for _, message in joined for part in detached(message.parts))
    if work.shapes[0].role == SYSTEM:
        work.edit(0).added += parts
    else:
        about, first = joined[0]
        work.edit(0).before.append((first if len(joined) == 1 else Message(SYSTEM, parts), about))


def _apply(work: Worklist, place: int, choice: str | None, note: Message) -> None:
    if choice == "drop-message":
        work.edit(place).removed = True
    elif choice is not None:
        work.edit(place).whole = note
