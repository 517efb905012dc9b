"""Fix problems of a whole request: its end, its system text, texts beside results, its tool definitions.

All fixes are on demand: each is for one provider, and a finished conversation needs none of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from chainviz.core.chain.messages import AI, HUMAN, SLOT, SYSTEM, TOOL, Message, Opaque, Part, Text, ToolCall, detached
from chainviz.core.chain.surroundings import Rewrite
from chainviz.core.documents.json.edit import load_object, parse, raw_at, replace_at
from chainviz.core.documents.json.scan import open_brackets
from chainviz.core.documents.units import Pointer
from chainviz.core.formats import get_format
from chainviz.core.formats.vendors.anthropic.rules import PROVIDER
from chainviz.core.operations.repair.fixes import Proposal
from chainviz.core.operations.repair.session import Worklist
from chainviz.core.providers.request import request_of
from chainviz.core.providers.server_blocks import KEY, MOST, is_programmatic, marked_beside, marked_blocks

GO_ON = "Continue."
APPEND, DROP_LAST, TO_SLOT, TO_START = "append-human", "drop-last", "system-to-slot", "text-to-turn-start"
REFERENCE, FIRST, DEFINE = "reference-to-text", "compaction-first", "define-tools"


def fix_answer_at_end(work: Worklist) -> None:
    """Fix a request that ends with the assistant's words, since newer models do not continue them."""
    place = len(work.shapes) - 1
    if place < 0 or work.shapes[place].role != AI or work.shapes[place].calls or work.chain.surroundings.ends_single:
        return
    if not (work.options.asks_for(APPEND) or work.options.asks_for(DROP_LAST)):
        return
    about, message = work.about[place], work.message(place)
    human = Message(HUMAN, (Text(GO_ON),))
    problem = f"{work.where(about)} ends the request with the assistant's words."
    outcomes: dict[str, tuple[Part, ...]] = {APPEND: (*message.parts, *human.parts), DROP_LAST: ()}
    choice = work.offer(Proposal("last-role", about, None, "", problem, message.parts, outcomes, default=False))
    if choice == APPEND:
        work.edit(place).after.append((human, about))
    elif choice == DROP_LAST:
        work.edit(place).removed = True
    work.settle()


def fix_leading_system(work: Worklist) -> None:
    """Move a leading system message out of the list, for APIs that have a separate member for it."""
    if not work.shapes or work.shapes[0].role != SYSTEM or not work.options.asks_for(TO_SLOT):
        return
    message = work.message(0)
    has_slot = get_format(work.chain.format).slot_key and next(work.chain.surroundings.holders(), None) is not None
    if not has_slot or not message.source or message.source[0].ordinal == SLOT:
        return
    about = work.about[0]
    problem = f"{work.where(about)} is a system message in the list of messages."
    outcomes = {TO_SLOT: message.parts}
    if work.offer(Proposal("system-first", about, None, "", problem, message.parts, outcomes, default=False)):
        work.edit(0).whole = Message(SYSTEM, detached(message.parts))
    work.settle()


def calls_from_code(message: Message) -> bool:
    return message.role == AI and is_programmatic(message)


def fix_texts_beside_results(work: Worklist) -> None:
    """Move the user's texts out of a turn that answers programmatic calls, since the API accepts only results there."""
    if not work.options.asks_for(TO_START):
        return
    for place in list(work.places(calls_from_code)):
        last = place
        while last + 1 < len(work.shapes) and work.shapes[last + 1].role == TOOL:
            last += 1
            _move_texts(work, place, last)
        after = last + 1
        if last > place and after < len(work.shapes) and work.shapes[after].role == HUMAN:
            message = work.message(after)
            if _offer_start(work, last, None, message.parts):
                work.edit(after).removed = True
                _add_to_start(work, place, message.parts)
    work.settle()


def _move_texts(work: Worklist, ai: int, place: int) -> None:
    for i, part in enumerate(work.message(place).parts):
        if isinstance(part, Text) and _offer_start(work, place, i, (part,)):
            work.edit(place).parts[i] = ()
            _add_to_start(work, ai, (part,))


def _offer_start(work: Worklist, place: int, part: int | None, parts: tuple[Part, ...]) -> bool:
    about = work.about[place]
    problem = f"{work.where(about)} has text beside the results of programmatic calls."
    return bool(work.offer(Proposal("text-beside-result", about, part, "", problem, parts, {TO_START: parts}, default=False)))


def _add_to_start(work: Worklist, ai: int, parts: tuple[Part, ...]) -> None:
    """Add parts to the human message that began the turn, or to a new one before the turn."""
    start = next((place for place in range(ai - 1, -1, -1) if work.shapes[place].role == HUMAN), None)
    if start is not None:
        work.edit(start).added += detached(parts)
    else:
        work.edit(ai).before.append((Message(HUMAN, detached(parts)), work.about[ai]))


SPLIT_CALLS = "split-calls"


def has_text_beside_calls(message: Message) -> bool:
    return message.role == AI and {Text, ToolCall} <= {*map(type, message.parts)}


def fix_texts_beside_calls(work: Worklist) -> None:
    """Put the calls of a message into one of their own, after its texts and a short human message. Only on demand, for models that take
    either texts or calls in a message."""
    for place, message in work.read(has_text_beside_calls) if work.options.asks_for(SPLIT_CALLS) else ():
        about = work.about[place]
        others = {i: part for i, part in enumerate(message.parts) if not isinstance(part, ToolCall)}
        problem = f"{work.where(about)} has a text beside its calls."
        outcomes = {SPLIT_CALLS: (*message.parts, Text(GO_ON))}
        if work.offer(Proposal("text-beside-call", about, None, "", problem, message.parts, outcomes, default=False)):
            said = Message(AI, detached(tuple(others.values())))
            work.edit(place).parts |= dict.fromkeys(others, ())
            work.edit(place).before += [(said, about), (Message(HUMAN, (Text(GO_ON),)), about)]
    work.settle()


def refers_to_tools(message: Message) -> bool:
    return message.role == TOOL and any('"tool_reference"' in fragment.text for fragment in message.source)


def fix_references(work: Worklist) -> None:
    """Turn references to tools that the request does not define into texts with the tool's name."""
    known = request_of(work.chain.surroundings).tools if work.options.asks_for(REFERENCE) else None
    if known is None:
        return
    for place, message in work.read(refers_to_tools):
        source = list(message.source)
        for i, fragment in enumerate(source):
            for at, name in _unknown(parse(fragment.text), known):
                note = json.dumps({"type": "text", "text": f"[Reference to the tool {name}, which is not available]"})
                fragment = fragment.with_text(replace_at(fragment.text, at, note))
            source[i] = fragment
        if tuple(source) == message.source:
            continue
        about = work.about[place]
        told = get_format(work.chain.format).message(message.role, tuple(source))
        problem = f"{work.where(about)} refers to tools that the request does not define."
        if work.offer(Proposal("tool-reference-unknown", about, None, "", problem, message.parts, {REFERENCE: told.parts}, default=False)):
            work.edit(place).whole = told
    work.settle()


def _unknown(value: Any, known: tuple[str, ...]) -> Iterator[tuple[Pointer, str]]:
    content = value.get("content") if isinstance(value, dict) else None
    for b, block in enumerate(content if isinstance(content, list) else ()):
        inside = block.get("content") if isinstance(block, dict) else None
        for e, each in enumerate(inside if isinstance(inside, list) else ()):
            name = each.get("tool_name") if isinstance(each, dict) and each.get("type") == "tool_reference" else None
            if isinstance(name, str) and name not in known:
                yield ("content", b, "content", e), name


def has_late_compaction(message: Message) -> bool:
    return message.role == AI and any(map(_is_compaction, message.parts[1:]))


def _is_compaction(part: Part) -> bool:
    return isinstance(part, Opaque) and part.kind == "compaction"


def fix_compactions(work: Worklist) -> None:
    """Move a compaction block to the start of its message."""
    for place, message in work.read(has_late_compaction):
        about = work.about[place]
        ordered = tuple(sorted(message.parts, key=lambda part: not _is_compaction(part)))
        problem = f"{work.where(about)} has a compaction block behind other content."
        if work.offer(Proposal("compaction-not-first", about, None, "", problem, message.parts, {FIRST: ordered}, default=False)):
            work.edit(place).whole = replace(message, parts=ordered)
    work.settle()


def fix_undefined_tools(work: Worklist) -> None:
    """Define the called tools in `toolConfig` if a request to Bedrock calls tools and defines none."""
    if work.chain.format != "bedrock_converse" or not work.options.asks_for(DEFINE):
        return
    called = next((place for place, shape in enumerate(work.shapes) if shape.calls), None)
    texts = work.chain.surroundings.document_texts()
    braces = [at for at, mark in open_brackets(texts[0]).items() if mark == "{"] if texts else []
    if called is None or "toolConfig" in request_of(work.chain.surroundings).members or not braces:
        return
    about, parts = work.about[called], work.message(called).parts
    problem = f"{work.where(about)} calls a tool, and the request has no toolConfig."
    if work.offer(Proposal("tools-undefined", about, None, "", problem, parts, {DEFINE: parts}, default=False)):
        work.around = _with_tools(texts[0], braces[-1], _called(work))


def _called(work: Worklist) -> list[str]:
    return list(dict.fromkeys(call.name for shape in work.shapes for call in shape.calls))


def _with_tools(head: str, brace: int, names: list[str]) -> Rewrite:
    tools = [{"toolSpec": {"name": name, "inputSchema": {"json": {"type": "object"}}}} for name in names]
    member = f'"toolConfig": {json.dumps({"tools": tools})}, '
    new = f"{head[: brace + 1]}{member}{head[brace + 1 :].lstrip(' ')}"
    return lambda text: new if text == head else text


DROP = "drop-cache-marks"


def has_marks(message: Message) -> bool:
    return next(marked_blocks(message), None) is not None


def fix_cache_marks(work: Worklist) -> None:
    """Remove surplus cache marks. Only on demand, since only one API counts them. Marks of tools count but are kept."""
    if not PROVIDER.limits_marks(work.chain.format) or not work.options.asks_for(DROP):
        return
    marked = [(place, *block) for place, message in work.read(has_marks) for block in marked_blocks(message)]
    beside = marked_beside(work.chain.surroundings.document_texts())
    number = len(marked) + beside
    surplus = marked[: max(0, number - MOST)]
    if not surplus:
        return
    problem = f"The request has {number:,} cache_control blocks; {MOST} are allowed."
    first = work.message(0).parts
    if work.offer(Proposal("cache-marks", work.about[0], None, "", problem, first, {DROP: first}, default=False)):
        for place in dict.fromkeys(place for place, _, _ in surplus):
            blocks = [(fragment, at) for each, fragment, at in surplus if each == place]
            work.edit(place).whole = _without(work.message(place), blocks, work.chain.format)
    work.settle()


def _without(message: Message, blocks: list[tuple[int, Pointer]], format: str) -> Message:
    source = list(message.source)
    for place, at in blocks:
        text = source[place].text
        block = load_object(raw_at(text, at) or "{}")
        block.remove(KEY)
        source[place] = source[place].with_text(replace_at(text, at, str(block)))
    return get_format(format).message(message.role, tuple(source))
