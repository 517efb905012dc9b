"""Fix turns: roles in the wrong place, sections without an opening human message, and user turns that an API requires to be one
message. Parts that cannot keep their type become text."""

from __future__ import annotations

from dataclasses import replace

from chainviz.core.chain.messages import AI, HUMAN, SYSTEM, TOOL, Message, Part, Text, Thinking, ToolCall, ToolResult, detached, is_blank
from chainviz.core.chain.problems import are_two_turns
from chainviz.core.formats import get_format
from chainviz.core.formats.conversion import are_in_one_unit, has_list, in_one_unit
from chainviz.core.operations.repair.fixes import Proposal
from chainviz.core.operations.repair.session import Worklist
from chainviz.core.providers.request import REFERENCE
from chainviz.core.state.export import is_state_format

JOIN = "join-turns"


def fix_turns(work: Worklist) -> None:
    """Join the user's messages of a turn. Only in the API's own JSON, since Convert writes turns of other formats as one message."""
    if not get_format(work.chain.format).joins_turns:
        return
    _join_results(work)
    work.settle()
    _join_texts(work)
    work.settle()


def _join_results(work: Worklist) -> None:
    first = -1
    for place, shape in enumerate(work.shapes):
        if shape.role != TOOL or not place or work.shapes[place - 1].role != TOOL:
            first = place
        elif _offer(work, place, "has results separate from those before it."):
            work.edit(first).added += detached(work.message(place).parts)
            work.edit(place).removed = True


def _join_texts(work: Worklist) -> None:
    for place in range(1, len(work.shapes)):
        if (work.shapes[place - 1].role, work.shapes[place].role) != (TOOL, HUMAN):
            continue
        if _offer(work, place, "is a user message directly after one with results."):
            both = in_one_unit(get_format(work.chain.format), (work.message(place - 1), work.message(place)))
            work.edit(place - 1).whole, work.edit(place).whole = both


def _offer(work: Worklist, place: int, what: str) -> bool:
    message, about = work.message(place), work.about[place]
    format, before = get_format(work.chain.format), work.message(place - 1)
    if are_in_one_unit(before, message) or not (has_list(format, before) and has_list(format, message)):
        return False
    outcomes = {JOIN: message.parts}
    return bool(work.offer(Proposal("turns-apart", about, None, "", f"{work.where(about)} {what}", message.parts, outcomes)))


KNOWN = frozenset({SYSTEM, HUMAN, AI, TOOL})


def fix_unknown_roles(work: Worklist) -> None:
    """Fix messages of unknown roles, except those at the very end, which may mark the end of a run."""
    for place in range(_trailing(work)):
        _fix_role(work, place, default=True)
    work.settle()


def fix_trailing_roles(work: Worklist) -> None:
    """Offer fixes for messages of unknown roles at the end. They may mark the end of a run, so nothing is done by default."""
    for place in range(_trailing(work), len(work.shapes)):
        _fix_role(work, place, default=False)
    work.settle()


def _trailing(work: Worklist) -> int:
    """Return the index of the first of the messages of unknown roles that end the chain."""
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
            # it directly follows the first system message, so joining them reorders nothing
            outcomes = dict(reversed(outcomes.items()))
        problem = f"{work.where(work.about[place])} is a system message in the middle of the chain."
        choice = work.offer(Proposal("mid-system", work.about[place], None, "", problem, message.parts, {**outcomes, "drop-message": ()}))
        if choice == "system-to-start":
            work.edit(place).removed = True
            joined.append((work.about[place], message))
        else:
            _apply(work, place, choice, note)
    if joined:
        _join_to_start(work, joined)
    work.settle()


def _in_one_text(message: Message) -> Message:
    """Join the message's parts, since the programs that store states cannot read several parts."""
    texts = [part.text for part in message.parts if isinstance(part, Text)]
    return message if len(texts) < len(message.parts) else replace(message, parts=(Text("\n".join(texts)),))


def _offer_of_state(work: Worklist, message: Message, note: Message) -> str | None:
    """Offer to change a leading system message of a state. Not by default: each call sends its own system messages, and a state
    does not store leading ones."""
    problem = f"{work.where(work.about[0])} is a system message at the start of a state; each call brings its own."
    outcomes = {"note-system": note.parts, "drop-message": ()}
    return work.offer(Proposal("system-in-state", work.about[0], None, "", problem, message.parts, outcomes, default=False))


def _join_to_start(work: Worklist, joined: list[tuple[int, Message]]) -> None:
    """Append the parts of later system messages to the first one, or create it from them."""
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


OPENING = "[The conversation begins with the assistant's message]"


def fix_opening(work: Worklist) -> None:
    """Insert a human message before an AI message that opens the chain or follows the system message. Only on demand. A document
    with a single message, such as a provider's response, is left unchanged."""
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


INSERT_ANSWER = "insert-answer"
NO_ANSWER = "[The results were not answered]"


def fix_unanswered_results(work: Worklist) -> None:
    """Fix human messages that directly follow results, which some APIs refuse. Only on demand."""
    if not work.options.asks_for(INSERT_ANSWER):
        return
    answer = Message(AI, (Text(NO_ANSWER),))
    for place in range(1, len(work.shapes)):
        if (work.shapes[place - 1].role, work.shapes[place].role) == (TOOL, HUMAN):
            about = work.about[place]
            problem = f"{work.where(about)} is a human message directly after a tool result."
            outcomes = {INSERT_ANSWER: answer.parts}
            if work.offer(Proposal("user-after-result", about, None, "", problem, (), outcomes, default=False)):
                work.edit(place).before.append((answer, about))
    work.settle()


def as_human(message: Message, mark: str) -> Message:
    """Return a new human message that begins with `mark` and contains everything that `message` says."""
    return Message(HUMAN, (Text(mark), *(said for part in message.parts for said in readable(part))))


def readable(part: Part) -> tuple[Part, ...]:
    """Return the part in a form for human messages: calls, results and reasoning as text, everything else unchanged."""
    match part:
        case ToolResult():
            return (Text(result_text(part)), *part.media)
        case ToolCall():
            return (Text(call_text(part)),)
        case Thinking():
            return (Text(f"[Reasoning]\n{part.content}"),) if part.content else ()
        case Text() if is_blank(part):
            return ()
        case _:
            return (replace(part, origin=-1),)


def result_text(result: ToolResult) -> str:
    kind = "Error result" if result.is_error else "Result"
    return f"[{kind} of the call {called(result.name, result.call_id)}, which is not in this chain]\n{result.content}"


def call_text(call: ToolCall) -> str:
    return f"[Call {called(call.name, call.id)} with {call.arguments or 'no arguments'}: never answered]"


def as_user_text(part: ToolCall | ToolResult) -> tuple[Part, ...]:
    """Return a call that the user made, or its result, as text; it does not claim that an answer follows."""
    if isinstance(part, ToolCall):
        return (Text(f"[Call {called(part.name, part.id)} by the user with {part.arguments or 'no arguments'}]"),)
    return (Text(f"[Result of the user's call {called(part.name, part.call_id)}]\n{part.content}"), *part.media)


def called(name: str, id: str) -> str:
    return f"of {name} ({id})" if name else f"({id})"
