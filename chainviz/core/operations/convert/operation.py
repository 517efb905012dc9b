"""The operation Convert: its options, and a run on a chain, its call ids, and the tools and settings of its request."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from pydantic import Field, field_validator

from chainviz.core.chain.chain import Chain, MemoryChain, Splice
from chainviz.core.chain.messages import Message, Part, ToolCall, ToolResult
from chainviz.core.chain.reasoning import FAKE_SIGNATURE, acts_unsigned, clear_reasoning, with_signed_call
from chainviz.core.chain.tool_ids import Template, parse_template, renamings
from chainviz.core.chain.tree import ChainAST, M_co, flatten, message_paths, parse
from chainviz.core.dialects.values import reasoning_of
from chainviz.core.errors import DocumentError, OptionsError
from chainviz.core.formats import WRITTEN, get_format
from chainviz.core.formats.contract import Format
from chainviz.core.formats.conversion import Losses, moving
from chainviz.core.formats.cross_provider import Crossed, Route, crossed
from chainviz.core.formats.requests.convert_request import called_names, read_request, write_document
from chainviz.core.formats.requests.settings import sentences
from chainviz.core.formats.traces.inspect_log import filled_in
from chainviz.core.formats.vendors import PROVIDERS, get_provider
from chainviz.core.operations.contract import Badge, Context, Decision, NewFormat, Options, Outcome
from chainviz.core.operations.convert.losses import FieldsLeftOut
from chainviz.core.progress import counted
from chainviz.core.providers.contract import CallIds, Provider

ANY = CallIds(pattern="(?s).+")
"""The ids of formats without an API. An empty id is refused, because a call without an id would lose its result."""


@dataclass(frozen=True, slots=True)
class Accepting(Template):
    """A template that accepts every id that matches a pattern."""

    pattern: str

    def accepts(self, id: str, name: str = "") -> bool:
        return re.fullmatch(self.pattern, id) is not None


def ids_of(format: Format) -> CallIds:
    """Return the ids that the API of a format accepts."""
    found = (provider.call_ids for provider in PROVIDERS if format.name in provider.formats | provider.clients)
    return next(found, ANY)


NewIds = Mapping[int, Mapping[int, str]]
"""The new ids by message and part."""


def accepted_ids(tree: ChainAST[M_co], ids: CallIds) -> NewIds:
    """Return new ids for calls, and their results, whose ids the API refuses."""
    template = Accepting(parse_template(ids.template).tokens, ids.pattern)
    return _new_ids(tree, template, unique=ids.unique)


def ids_of_template(tree: ChainAST[M_co], template: str) -> NewIds:
    """Return new ids for calls, and their results, whose ids do not follow the template."""
    return _new_ids(tree, parse_template(template), unique=False)


def words_for(renamed: int) -> Iterator[str]:
    """Yield a sentence about the calls that get another id."""
    if renamed:
        yield f"{renamed:,} call {'id becomes a new one' if renamed == 1 else 'ids become new ones'}, with their results."


def renamed(messages: Iterable[Message], ids: NewIds) -> Iterator[Message]:
    for index, message in enumerate(messages):
        new = ids.get(index, {})
        parts = (_with_id(part, new[place]) if place in new else part for place, part in enumerate(message.parts))
        yield replace(message, parts=tuple(parts)) if new else message


def _new_ids(tree: ChainAST[M_co], template: Template, *, unique: bool) -> NewIds:
    found: dict[int, dict[int, str]] = {}
    source = random.Random(repr([message.calls for message in flatten(tree)]))
    for renaming in renamings(tree, template, source, unique=unique):
        found.setdefault(renaming.message, {})[renaming.part] = renaming.new
    return found


def _with_id(part: Part, id: str) -> Part:
    match part:
        case ToolCall():
            return replace(part, id=id)
        case ToolResult():
            return replace(part, call_id=id)
    return part


def wants_signatures(provider: Provider, format: str) -> bool:
    """Return True if the provider requires signed calls in this format."""
    return any("sign-calls" in each.rule.fixes for each in provider.rules_of_sections(format))


def with_signed_calls(messages: Sequence[Message]) -> list[Message]:
    """Return the messages with a fake signature on every unsigned call of the last section. APIs check only the current turn."""
    sections = MemoryChain(tuple(messages)).tree.sections
    start = len(messages) - len(sections[-1]) if sections else 0
    return [*messages[:start], *(with_signed_call(each) if acts_unsigned(each) else each for each in messages[start:])]


SAME = "same"


class ConvertOptions(Options):
    to: str = Field(
        default=SAME,
        title="Format",
        description="The name of the format to write; same keeps the document as it is.",
        json_schema_extra={
            "choices": {SAME: "The same format", **{format.name: format.label for format in WRITTEN}},
            "hint": "What the format cannot hold is listed before anything changes.",
        },
    )
    provider: str = Field(
        default="",
        title="Provider",
        description="Call ids follow the provider's template, another provider's reasoning is dropped, and calls are marked where "
        "the provider requires its signature.",
        json_schema_extra={
            "choices": {"": "Any", **{provider.name: provider.label for provider in PROVIDERS}},
            "hint": "Writes call ids as this API expects them, and removes the reasoning of other APIs.",
        },
    )
    tool_call_id_template: str = Field(
        default="",
        title="Tool call ids",
        description="A template such as call_{r:24:x}; calls whose ids do not match it get new ones. "
        "Empty keeps every id that the format accepts.",
    )
    model: str = Field(
        default="",
        title="Model",
        max_length=200,
        description="The model that the request names. Empty keeps it where both formats are of one provider, and leaves it out elsewhere.",
    )
    fine_tuning: bool = Field(
        default=False,
        title="Line for fine-tuning",
        description="OpenAI Chat only: writes messages and tools as one line of a file for fine-tuning.",
    )
    drop_reasoning: bool = Field(
        default=False, title="Drop reasoning", description="Providers refuse or ignore another provider's reasoning."
    )

    @field_validator("provider")
    @classmethod
    def _is_known(cls, name: str) -> str:
        return get_provider(name).name if name else ""


class Convert:
    name = "convert"
    label = "Convert"
    doing = "Converting"
    badge = Badge("Converted", "convert", "changed")
    nothing = "These choices change nothing."
    Options = ConvertOptions

    def run(self, chain: Chain, options: ConvertOptions, context: Context) -> Outcome:
        format = None if options.to == SAME else _format(options.to)
        if options.fine_tuning and (format is None or format.training is None):
            raise OptionsError("Only openai_chat has lines for fine-tuning; choose it as the format.")
        old = tuple(counted(chain.stream(0, len(chain)), len(chain), lambda done, text: context.progress(done / 2, text), "read"))
        if format is None:
            new = _with_ids(_cleared(old, options), options, None)
            return Outcome(tuple(_changed(old, new)), tuple(_report(chain, old, new)))
        route = Route(get_format(chain.format) if chain.format else None, format)
        filled = tuple(filled_in(old, chain.surroundings.texts))
        cleared = _cleared(filled, options)
        passed = [crossed(route, message) for message in cleared]
        new = _with_ids([each.message for each in passed], options, format)
        before = [each.message if each.losses else message for each, message in zip(passed, old, strict=True)]
        report = (*_loss_rows(chain, passed), *_report(chain, before, new))
        messages = counted(new, len(new), lambda done, text: context.progress((1 + done) / 2, text), "rewritten")
        there = tuple(moving(route, messages))
        splices = (Splice(0, len(old), there),) if old else ()
        document, said = new_request(chain, format, model=options.model, is_line=options.fine_tuning)
        losses = _losses(route, chain, _Stages(filled, cleared, new))
        return Outcome(splices, report, (*losses, *said), NewFormat(format.name, document, options.provider))


class _Stages(NamedTuple):
    """The messages at three stages: with their attachments, after reasoning was dropped, and with new ids and signatures."""

    filled: Sequence[Message]
    cleared: Sequence[Message]
    new: Sequence[Message]


def _format(name: str) -> Format:
    try:
        return get_format(name)
    except DocumentError as unknown:
        raise OptionsError(str(unknown)) from None


def _cleared(messages: Sequence[Message], options: ConvertOptions) -> Sequence[Message]:
    clears = options.drop_reasoning or options.provider
    return [clear_reasoning(message) for message in messages] if clears else messages


def _with_ids(messages: Sequence[Message], options: ConvertOptions, format: Format | None) -> Sequence[Message]:
    """Return the messages with ids and signatures of calls that the provider requires, or the format if no provider is chosen."""
    provider = get_provider(options.provider) if options.provider else None
    template = options.tool_call_id_template or (provider.call_ids.template if provider else "")
    if provider is not None and format is not None and wants_signatures(provider, format.name):
        messages = with_signed_calls(messages)
    if template:
        return list(renamed(messages, ids_of_template(parse(messages), template)))
    return list(renamed(messages, accepted_ids(parse(messages), ids_of(format)))) if format is not None else messages


def _changed(old: Sequence[Message], new: Sequence[Message]) -> Iterator[Splice]:
    return (Splice(i, 1, (b,)) for i, (a, b) in enumerate(zip(old, new, strict=True)) if a != b)


def _loss_rows(chain: Chain, passed: Sequence[Crossed]) -> Iterator[Decision]:
    """Yield a row for each part that the target leaves out or turns into text."""
    for path, each in zip(message_paths(chain.tree), passed, strict=True):
        for loss in each.losses:
            place = str(path) if loss.part is None else f"{path}.c{loss.part}"
            yield Decision(place, "leave_out" if loss.is_left_out else "change", str(loss), loss.size, loss.size_after)


def _report(chain: Chain, old: Sequence[Message], new: Sequence[Message]) -> Iterator[Decision]:
    """Yield a row for each message whose content was cleaned up."""
    changed = {splice.start for splice in _changed(old, new)}
    for at, path in enumerate(message_paths(chain.tree)) if changed else ():
        if at in changed:
            yield Decision(str(path), "change", _difference(old[at], new[at]), old[at].size, new[at].size)


def _difference(old: Message, new: Message) -> str:
    ids = list(_renamed(old, new))
    renamed = [f"call id “{a}” becomes “{b}”" for a, b in ids[:1]]
    if len(ids) > 1:
        renamed = [f"{len(ids):,} call ids become new ones"]
    dropped = ["reasoning dropped"] if _has_lost_reasoning(old, new) else []
    return ", ".join([*renamed, *dropped]) or "attached text written in place"


def _renamed(old: Message, new: Message) -> Iterator[tuple[str, str]]:
    return ((a, b) for a, b in zip(_ids(old), _ids(new), strict=True) if a != b)


def _ids(message: Message) -> list[str]:
    return [part.id if isinstance(part, ToolCall) else part.call_id for part in message.parts if isinstance(part, ToolCall | ToolResult)]


def _has_lost_reasoning(old: Message, new: Message) -> bool:
    return bool(reasoning_of(old)) and not reasoning_of(new)


def _losses(route: Route, chain: Chain, stages: _Stages) -> Iterator[str]:
    losses, left_out = Losses(route), FieldsLeftOut(get_format(chain.format))
    new_ids = dropped = signed = 0
    for filled, cleared, new in zip(*stages, strict=True):
        losses.add(cleared)
        left_out.add(filled)
        new_ids += sum(1 for _ in _renamed(cleared, new)) if new.calls else 0
        dropped += _has_lost_reasoning(filled, cleared)
        signed += acts_unsigned(cleared) and not acts_unsigned(new)
    yield from words_for(new_ids)
    if dropped:
        yield f"Reasoning is dropped from {dropped:,} {'message' if dropped == 1 else 'messages'}."
    if signed:
        yield f"{signed:,} {'call gets' if signed == 1 else 'calls get'} the mark {FAKE_SIGNATURE} in place of a signature."
    if found := list(losses.each_kind()):
        paths = list(message_paths(chain.tree))
        yield from (loss.sentence(paths[loss.first]) for loss in found)
    yield from left_out.sentences()


def new_request(chain: Chain, format: Format, *, model: str = "", is_line: bool = False) -> tuple[str, tuple[str, ...]]:
    """Return the new document without messages ("" for the format's template), and a sentence for each loss.

    `model` is the model in the new request; "" keeps the old one within a provider's formats.
    """
    old = read_request(chain, get_format(chain.format))
    settings = old.settings
    if model and format.request is not None:
        settings = replace(settings, model=model, family=format.request.family)
    new = write_document(format, settings, called_names(chain), is_line=is_line)
    return new.text, (*sentences((*new.changes, *old.left_out), format.label), *_other_lines(old.lines))


def _other_lines(count: int) -> Iterator[str]:
    if count:
        yield f"{count:,} {'other line of the file is' if count == 1 else 'other lines of the file are'} left out."
