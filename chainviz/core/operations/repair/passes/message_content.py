"""What only a message's content shows: invalid JSON in arguments, and blank texts. A fix loses nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from chainviz.core.chain.calls.arguments import fix_json, is_json, is_json_object
from chainviz.core.chain.messages import AI, FREE_FORM, HUMAN, SYSTEM, Message, Part, Text, Thinking, ToolCall, is_blank
from chainviz.core.chain.surrogates import has_escaped_surrogate, has_lone_surrogate, without_surrogates
from chainviz.core.operations.repair.fixes import Proposal
from chainviz.core.operations.repair.session import Worklist


def has_odd_arguments(message: Message) -> bool:
    return next(_odd_arguments(message), None) is not None


def _odd_arguments(message: Message) -> Iterator[tuple[int, ToolCall]]:
    for call in message.calls:
        part = message.parts[call.part]
        if isinstance(part, ToolCall) and not is_json_object(part.arguments):
            yield call.part, part


def fix_arguments(work: Worklist) -> None:
    for place, message in work.read(has_odd_arguments):
        for index, call in _odd_arguments(message):
            if is_json(call.arguments):
                _wrap(work, place, index, call)
            else:
                _fix_call(work, place, index, call)
    work.settle()


def _fix_call(work: Worklist, place: int, index: int, call: ToolCall) -> None:
    fixed = fix_json(call.arguments)
    new = replace(call, arguments=fixed.text)
    after: tuple[Part, ...] = (new,)
    if fixed.how == "replaced":
        kept = f"[The arguments of the call {call.name or call.id} were not valid JSON: {call.arguments}]"
        after = (Text(kept), new)
    about = work.about[place]
    problem = f"{work.where(about)} calls {call.name or 'a tool'} with invalid JSON arguments."
    # empty arguments are what many transcripts write for a call without any
    default = fixed.how != "empty" and call.type != FREE_FORM
    rule = "empty-arguments" if fixed.how == "empty" else "bad-arguments"
    proposal = Proposal(rule, about, index, call.id, problem, (call,), {"mend-arguments": after}, default)
    if work.offer(proposal):
        work.edit(place).parts[index] = after


def _wrap(work: Worklist, place: int, index: int, call: ToolCall) -> None:
    """Only on demand: some APIs take any JSON."""
    about = work.about[place]
    problem = f"{work.where(about)} calls {call.name or 'a tool'} with arguments that are JSON but not an object."
    new = replace(call, arguments=f'{{"value": {call.arguments.strip()}}}')
    proposal = Proposal("arguments-no-object", about, index, call.id, problem, (call,), {"wrap-arguments": (new,)}, False)
    if work.offer(proposal):
        work.edit(place).parts[index] = (new,)


def says_nothing(message: Message) -> bool:
    """Somewhere in it, or with all that it holds."""
    if message.role not in (SYSTEM, HUMAN, AI):
        return False
    return any(map(is_blank, message.parts)) or all(isinstance(part, Thinking) for part in message.parts)


def fix_empty(work: Worklist) -> None:
    """Only on demand: most APIs take empty texts, Anthropic's refuses them. OpenAI's refuses a message of reasoning alone. A document
    that is one message, such as a provider's response, keeps it."""
    if len(work.shapes) == 1 and work.chain.surroundings.is_single:
        return
    for place, message in work.read(says_nothing):
        blank = [i for i, part in enumerate(message.parts) if is_blank(part)]
        what = "has an empty text" if len(blank) < len(message.parts) else "has no content"
        if message.parts and all(is_blank(part) or isinstance(part, Thinking) for part in message.parts):
            what = what if len(blank) == len(message.parts) else "has only reasoning"
            blank = list(range(len(message.parts)))
        about = work.about[place]
        left = tuple(part for i, part in enumerate(message.parts) if i not in blank)
        proposal = Proposal(
            "empty-content", about, None, "", f"{work.where(about)} {what}.", message.parts, {"drop-empty": left}, False
        )
        if work.offer(proposal):
            _drop(work, place, message, blank)
    work.settle()


def has_surrogates(message: Message) -> bool:
    return any(has_lone_surrogate(part) or has_escaped_surrogate(part) for part in message.parts)


def fix_surrogates(work: Worklist) -> None:
    """Only on demand: many programs write them as U+FFFD without being asked."""
    for place, message in work.read(has_surrogates):
        about = work.about[place]
        for i, part in enumerate(message.parts):
            if not (has_lone_surrogate(part) or has_escaped_surrogate(part)):
                continue
            problem = f"{work.where(about)} has half of a character."
            whole = (without_surrogates(part),)
            if work.offer(Proposal("text-surrogate", about, i, "", problem, (part,), {"respell-text": whole}, False)):
                work.edit(place).parts[i] = whole
    work.settle()


def fix_end(work: Worklist) -> None:
    """Only on demand: Anthropic's API refuses white space at the end of a message that it is to go on with."""
    place = len(work.shapes) - 1
    if place < 0 or work.shapes[place].role != AI:
        return
    message = work.message(place)
    part = message.parts[-1] if message.parts else None
    if not isinstance(part, Text) or is_blank(part) or not part.text[-1:].isspace():
        return
    about = work.about[place]
    problem = f"{work.where(about)} ends the chain with white space."
    trimmed: tuple[Part, ...] = (replace(part, text=part.text.rstrip()),)
    index = len(message.parts) - 1
    if work.offer(Proposal("trailing-space", about, index, "", problem, (part,), {"trim-end": trimmed}, default=False)):
        work.edit(place).parts[index] = trimmed
    work.settle()


def _drop(work: Worklist, place: int, message: Message, blank: list[int]) -> None:
    edit = work.edit(place)
    edit.removed = len(blank) == len(message.parts)
    edit.parts.update(dict.fromkeys(blank, ()))
