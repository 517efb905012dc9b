"""Moves a chain into another format, saying what that format has no place for. `same` only cleans up and keeps the document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pydantic import Field

from chainviz.core.chain.chain import Chain, MemoryChain, Splice
from chainviz.core.chain.messages import Message, Part, ToolCall, ToolResult
from chainviz.core.chain.reasoning import clear_reasoning
from chainviz.core.chain.tool_ids import parse_template, renamings
from chainviz.core.errors import DocumentError, OptionsError
from chainviz.core.formats import FORMATS, get_format
from chainviz.core.formats.contract import Format
from chainviz.core.formats.conversion import Losses, moved
from chainviz.core.operations.contract import Context, Decision, Options, Outcome
from chainviz.core.progress import counted

SAME = "same"
STRETCH = 1000


class ConvertOptions(Options):
    to: str = Field(
        default=SAME,
        title="Format",
        description="The name of the format to write; same keeps the document as it is.",
        json_schema_extra={
            "choices": {SAME: "the same format", **{format.name: format.label for format in FORMATS}},
        },
    )
    tool_call_id_template: str = Field(
        default="",
        title="Tool call ids",
        description="Give calls whose id does not follow it a new one, such as call_{r:24:x}; empty keeps all ids.",
    )
    drop_reasoning: bool = Field(
        default=False, title="Drop reasoning", description="Reasoning of one provider is refused or ignored by another."
    )


class Convert:
    name = "convert"
    label = "Convert"
    Options = ConvertOptions

    def run(self, chain: Chain, options: ConvertOptions, context: Context) -> Outcome:
        format = None if options.to == SAME else _format(options.to)
        old = tuple(counted(_read(chain), len(chain), lambda done, text: context.progress(done / 2, text), "read"))
        new = [clear_reasoning(message) for message in old] if options.drop_reasoning else list(old)
        if options.tool_call_id_template:
            new = _with_new_ids(new, options.tool_call_id_template, context)
        report = tuple(_report(chain, old, new))
        if format is None:
            return Outcome(tuple(_changed(old, new)), report)
        messages = counted(new, len(new), lambda done, text: context.progress((1 + done) / 2, text), "written anew")
        there = tuple(one for message in messages for one in moved(format, message))
        splices = (Splice(0, len(old), there),) if old else ()
        return Outcome(splices, report, tuple(_losses(format, new)), (format.name, None))


def _read(chain: Chain) -> Iterator[Message]:
    for start in range(0, len(chain), STRETCH):
        yield from chain.slice(start, min(start + STRETCH, len(chain)))


def _format(name: str) -> Format:
    try:
        return get_format(name)
    except DocumentError as unknown:
        raise OptionsError(str(unknown)) from None


def _with_new_ids(messages: Sequence[Message], template: str, context: Context) -> list[Message]:
    new = list(messages)
    for renaming in renamings(MemoryChain(tuple(messages)).tree, parse_template(template), context.random):
        message = new[renaming.message]
        parts = list(message.parts)
        parts[renaming.part] = _with_id(parts[renaming.part], renaming.new)
        new[renaming.message] = replace(message, parts=tuple(parts))
    return new


def _with_id(part: Part, id: str) -> Part:
    match part:
        case ToolCall():
            return replace(part, id=id)
        case ToolResult():
            return replace(part, call_id=id)
    return part


def _changed(old: Sequence[Message], new: Sequence[Message]) -> Iterator[Splice]:
    return (Splice(i, 1, (b,)) for i, (a, b) in enumerate(zip(old, new, strict=True)) if a != b)


def _report(chain: Chain, old: Sequence[Message], new: Sequence[Message]) -> Iterator[Decision]:
    """One row for each message whose content was cleaned up."""
    changed = {splice.start for splice in _changed(old, new)}
    at = 0
    for s, section in enumerate(chain.tree.sections, 1) if changed else ():
        paths = [f"s{s}.h.m{i}" for i in range(len(section.header))]
        for p, pair in enumerate(section.body, 1):
            first = 0 if pair.ai is not None else 1
            paths += [f"s{s}.p{p}.m{first + i}" for i in range(len(pair.messages))]
        for path in paths:
            if at in changed:
                reason = "ids renamed or reasoning dropped, as the options say"
                yield Decision(path, "change", reason, old[at].size, new[at].size)
            at += 1


def _losses(format: Format, messages: Sequence[Message]) -> Iterator[str]:
    losses = Losses(format)
    for message in messages:
        losses.add(message)
    return losses.sentences()
