"""Fix problems that only a message's content shows, such as invalid JSON in arguments and blank texts, without loss."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import count

from chainviz.core.chain.arguments import fix_json, is_json, is_json_object
from chainviz.core.chain.messages import (
    AI,
    FREE_FORM,
    HUMAN,
    SYSTEM,
    CallRef,
    Message,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    is_blank,
)
from chainviz.core.chain.surrogates import has_escaped_surrogate, has_lone_surrogate, without_surrogates
from chainviz.core.chain.tool_ids import SHORT_ID
from chainviz.core.chain.tree import misnamed_results
from chainviz.core.documents.json.edit import parse
from chainviz.core.formats import get_format
from chainviz.core.operations.repair.fixes import Proposal
from chainviz.core.operations.repair.session import Turn, Worklist
from chainviz.core.providers.server_blocks import odd_server_ids, with_server_id


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
    # many transcripts write empty arguments for a call without arguments
    default = fixed.how != "empty" and call.type != FREE_FORM
    rule = "empty-arguments" if fixed.how == "empty" else "bad-arguments"
    proposal = Proposal(rule, about, index, call.id, problem, (call,), {"mend-arguments": after}, default)
    if work.offer(proposal):
        work.edit(place).parts[index] = after


def _wrap(work: Worklist, place: int, index: int, call: ToolCall) -> None:
    """Wrap arguments that are not an object, or take the object out of a text. Only on demand, since some APIs accept any JSON."""
    about = work.about[place]
    problem = f"{work.where(about)} calls {call.name or 'a tool'} with arguments that are JSON but not an object."
    value = parse(call.arguments)
    inside = isinstance(value, str) and is_json_object(value)
    new = replace(call, arguments=value if inside else f'{{"value": {call.arguments.strip()}}}')
    proposal = Proposal("arguments-no-object", about, index, call.id, problem, (call,), {"wrap-arguments": (new,)}, False)
    if work.offer(proposal):
        work.edit(place).parts[index] = (new,)


def says_nothing(message: Message) -> bool:
    """Return True if a text of the message is blank, or if it consists of reasoning only."""
    if message.role not in (SYSTEM, HUMAN, AI):
        return False
    return any(map(is_blank, message.parts)) or all(isinstance(part, Thinking) for part in message.parts)


def fix_empty(work: Worklist) -> None:
    """Drop empty texts, and messages with only reasoning. Only on demand: Anthropic's API refuses empty texts and OpenAI's
    refuses messages with only reasoning. If the document is a single message, such as a provider's response, it is kept."""
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
        proposal = Proposal("empty-content", about, None, "", f"{work.where(about)} {what}.", message.parts, {"drop-empty": left}, False)
        if work.offer(proposal):
            _drop(work, place, message, blank)
    work.settle()


def has_empty_errors(message: Message) -> bool:
    return bool(message.results) and any(isinstance(part, ToolResult) and _is_empty_error(part) for part in message.parts)


def _is_empty_error(result: ToolResult) -> bool:
    return result.is_error and not result.content and not result.media


def fix_empty_errors(work: Worklist) -> None:
    """Give results of failed calls a text. Only on demand, since most APIs accept an empty result."""
    for place, message in work.read(has_empty_errors):
        about = work.about[place]
        for i, part in enumerate(message.parts):
            if isinstance(part, ToolResult) and _is_empty_error(part):
                problem = f"{work.where(about)} has the result of a failed call without a text."
                new: tuple[Part, ...] = (replace(part, content=NO_TEXT),)
                if work.offer(Proposal("result-empty", about, i, part.call_id, problem, (part,), {"note-result": new}, False)):
                    work.edit(place).parts[i] = new
    work.settle()


NO_TEXT = "[The call failed. The tool returned no text.]"


def has_surrogates(message: Message) -> bool:
    return any(has_lone_surrogate(part) or has_escaped_surrogate(part) for part in message.parts)


def fix_surrogates(work: Worklist) -> None:
    """Replace halves of characters. Only on demand, since many programs write them as U+FFFD anyway."""
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
    """Trim white space at the end of the chain. Only on demand: Anthropic's API refuses it in a message that it has to continue."""
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


# Some APIs refuse call ids and tool names by their spelling. These fixes run only on demand, because other APIs
# accept the names unchanged.


ID, LONGEST_ID = re.compile(r"[a-zA-Z0-9_-]{1,40}"), 40
NAME, LONGEST_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}"), 64
"""Ids and names that every API accepts."""
_REFUSED = re.compile(r"[^a-zA-Z0-9_-]")


@dataclass(frozen=True, slots=True)
class Spelling:
    rule: str
    fix: str
    words: str
    read: Callable[[CallRef], str]
    call: Callable[[ToolCall, str], ToolCall]
    result: Callable[[ToolResult, str], ToolResult]


_IDS = Spelling(
    "call-id-spelling", "respell-id", "id", lambda ref: ref.id,
    lambda call, new: replace(call, id=new), lambda result, new: replace(result, call_id=new),
)  # fmt: skip
_SHORT_IDS = replace(_IDS, rule="call-id-form", fix="shorten-id")
_NAMES = Spelling(
    "tool-name-spelling", "respell-name", "tool name", lambda ref: ref.name,
    lambda call, new: replace(call, name=new), lambda result, new: replace(result, name=new),
)  # fmt: skip


def fix_ids(work: Worklist) -> None:
    """Respell an id within its pair, with a spelling that no other call of the chain has."""
    taken: set[str] | None = None
    for turn in work.turns:
        for old in dict.fromkeys(call.id for call in turn.calls if not ID.fullmatch(call.id)):
            if taken is None:
                taken = {call.id for shape in work.shapes for call in shape.calls}
            new = _free(old, taken)
            if _respell(work, turn, _IDS, old, new):
                taken.add(new)
    work.settle()


def fix_short_ids(work: Worklist) -> None:
    """Give calls ids of nine letters and digits. Only on demand, for older models of Mistral."""
    if not work.options.asks_for(_SHORT_IDS.fix):
        return
    taken = {call.id for shape in work.shapes for call in shape.calls}
    for turn in work.turns:
        for old in dict.fromkeys(call.id for call in turn.calls if not SHORT_ID.fullmatch(call.id)):
            names = (hashlib.sha256(f"{old} {number}".encode("utf-8", "surrogatepass")).hexdigest()[:9] for number in count())
            new = next(name for name in names if name not in taken)
            if _respell(work, turn, _SHORT_IDS, old, new):
                taken.add(new)
    work.settle()


def fix_server_ids(work: Worklist) -> None:
    """Give calls of the API's own tools, and their results, ids of the API's form."""
    for place, message in work.read(has_odd_server_ids):
        _respell_server_ids(work, place, message)
    work.settle()


def has_odd_server_ids(message: Message) -> bool:
    return message.role == AI and any(True for _ in odd_server_ids(message))


def _respell_server_ids(work: Worklist, place: int, message: Message) -> None:
    about = work.about[place]
    for id, parts in odd_server_ids(message):
        problem = f"{work.where(about)} has the id “{id[:80]}” for a call of the API's own tool, which the API refuses."
        new = {i: with_server_id(part, id) for i, part in parts}
        before = tuple(part for _, part in parts)
        outcomes: dict[str, tuple[Part, ...]] = {"respell-id": tuple(new.values())}
        if work.offer(Proposal("server-call-id", about, parts[0][0], id, problem, before, outcomes, default=False)):
            for i, part in new.items():
                work.edit(place).parts[i] = (part,)


def fix_names(work: Worklist) -> None:
    """Respell tool names; a tool gets the same new name everywhere."""
    for turn in work.turns:
        for old in dict.fromkeys(call.name for call in turn.calls if not NAME.fullmatch(call.name)):
            _respell(work, turn, _NAMES, old, _name(old))
    work.settle()


def fix_result_names(work: Worklist) -> None:
    """Add the function name of the call to a result that lacks it, in formats whose results have one."""
    if not get_format(work.chain.format).names_results:
        return
    for turn in work.turns:
        names = {call.id: call.name for call in turn.calls if call.name}
        for place in turn.rest:
            for ref in work.shapes[place].results:
                if not ref.name and ref.id in names:
                    _name_result(work, place, ref, (ref.id, names[ref.id]))
        results = ((place, ref) for place in turn.rest for ref in work.shapes[place].results)
        for (at, ref), call in misnamed_results(turn.calls, results):
            _name_result(work, at, ref, (call.id, call.name))
    work.settle()


def _name_result(work: Worklist, place: int, ref: CallRef, call: tuple[str, str]) -> None:
    """Give a result the id and the name of its call."""
    result, about = work.message(place).parts[ref.part], work.about[place]
    assert isinstance(result, ToolResult)
    problem = f"{work.where(about)} has a result without the name of its function."
    after: tuple[Part, ...] = (replace(result, call_id=call[0], name=call[1]),)
    proposal = Proposal("result-name", about, ref.part, ref.id, problem, (result,), {"name-result": after}, default=False)
    if work.offer(proposal) is not None:
        work.edit(place).parts[ref.part] = after


def _name(old: str) -> str:
    plain = _REFUSED.sub("_", old) or "unknown_tool"
    return (plain if plain[0].isalpha() or plain[0] == "_" else f"_{plain}")[:LONGEST_NAME]


def _free(old: str, taken: set[str]) -> str:
    plain = _REFUSED.sub("_", old)[:LONGEST_ID] or "call"
    new, number = plain, 2
    while new in taken:
        new = f"{plain[: LONGEST_ID - 8]}_{number}"
        number += 1
    return new


def _respell(work: Worklist, turn: Turn, spelling: Spelling, old: str, new: str) -> bool:
    assert turn.ai is not None
    message, about = work.message(turn.ai), work.about[turn.ai]
    calls = [call for call in turn.calls if spelling.read(call) == old]
    before = tuple(message.parts[call.part] for call in calls)
    after = tuple(spelling.call(part, new) for part in before if isinstance(part, ToolCall))
    problem = f"{work.where(about)} has the {spelling.words} “{old[:80]}”, which some APIs refuse."
    outcomes: dict[str, tuple[Part, ...]] = {spelling.fix: after}
    proposal = Proposal(spelling.rule, about, calls[0].part, calls[0].id, problem, before, outcomes, default=False)
    if work.offer(proposal) is None:
        return False
    for call, part in zip(calls, after, strict=True):
        work.edit(turn.ai).parts[call.part] = (part,)
    for place in turn.rest:
        for ref in work.shapes[place].results:
            if spelling.read(ref) == old:
                result = work.message(place).parts[ref.part]
                assert isinstance(result, ToolResult)
                work.edit(place).parts[ref.part] = (spelling.result(result, new),)
    return True
