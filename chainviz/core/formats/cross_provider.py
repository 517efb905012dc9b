"""Adapt messages to another provider's API: what only the old API understands becomes text, or is left out.

Every conversion calls `crossed`. It keeps parts that all APIs share (texts, images, calls, results) and those that the target
declares in `Accepts`. Signatures, encrypted reasoning and a provider's own kinds of parts are kept only between formats of the
same API.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal

from chainviz.core.chain.messages import (
    AI,
    FREE_FORM,
    HUMAN,
    ROLE_NAMES,
    SYSTEM,
    TOOL,
    Binary,
    Image,
    Message,
    Opaque,
    Part,
    Reasoning,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from chainviz.core.chain.reasoning import FAKE_SIGNATURE
from chainviz.core.dialects.values import image_of, is_object, split_data_url
from chainviz.core.documents.json.edit import dump, parse
from chainviz.core.formats.contract import Accepts, Format
from chainviz.core.pictures import noted, with_true_type

What = Literal["part", "reasoning", "signature", "media", "free-form-call", "role"]


@dataclass(frozen=True, slots=True)
class Loss:
    """The loss of one part in another format, or of the whole message if `part` is None."""

    what: What
    part: int | None
    detail: str = ""
    """The type of the part, the media type of the file, or the role."""
    size: int = 0
    size_after: int = 0

    @property
    def is_left_out(self) -> bool:
        return self.what in ("part", "reasoning", "signature")

    def __str__(self) -> str:
        return _SENTENCES[self.what].format(self.detail[:60])


_SENTENCES: dict[What, str] = {
    "part": "a part of the type {} is left out",
    "reasoning": "reasoning is left out",
    "signature": "the signature of reasoning is left out",
    "media": "a file or picture ({}) becomes text",
    "free-form-call": "a call with plain text becomes a function call",
    "role": "a message with the role {} becomes a user message",
}


@dataclass(frozen=True, slots=True)
class Route:
    """The formats of a conversion. `source` is None for messages of unknown origin."""

    source: Format | None
    target: Format

    @property
    def is_within_api(self) -> bool:
        """True if both formats belong to the same API."""
        if self.source is None:
            return False
        return self.source.name == self.target.name or bool(self.target.api and self.source.api == self.target.api)


@dataclass(frozen=True, slots=True)
class Crossed:
    message: Message
    losses: tuple[Loss, ...] = ()


def crossed(route: Route, message: Message) -> Crossed:
    """Return the message with parts that the target accepts, and its losses. Idempotent."""
    if route.target is route.source:
        return Crossed(message)
    role, losses = message.role, []
    if route.target.accepts is not None and role not in ROLE_NAMES:
        role = HUMAN
        losses.append(Loss("role", None, message.role))
    new: list[Part] = []
    for place, part in enumerate(message.parts):
        passed = [part] if route.is_within_api and _is_known(route.target, part) else list(_passed(route.target, role, part))
        losses += _losses(place, part, passed)
        new += passed
    if tuple(new) == message.parts:
        return Crossed(message if role == message.role else replace(message, role=role), tuple(losses))
    if message.parts and not new and route.target.accepts is not None:
        new += _note_for(losses)
    return Crossed(replace(message, role=role, parts=tuple(new)), tuple(losses))


def _is_known(target: Format, part: Part) -> bool:
    """Return True if the target's API knows a part. Sessions of agents also contain marks that no API knows."""
    return not isinstance(part, Opaque) or target.accepts is None or part.kind in target.accepts.kinds


def _passed(target: Format, role: str, part: Part) -> Iterator[Part]:
    """Yield the parts that replace this one in the target."""
    accepts = target.accepts
    match part:
        case Opaque():
            if target.carries_parts:
                yield part
            elif (text := parse(part.text)) and isinstance(text, str):
                yield Text(text)
        case Thinking():
            if accepts is None:
                yield part
            elif accepts.reasoning and part.content:
                yield part if _keeps(target, part.signature) else replace(part, signature="", redacted=False)
        case Text() | ToolCall():
            yield from _text_or_call(target, part)
        case ToolResult():
            yield part if accepts is None else _result(accepts, part)
        case _:
            yield part if accepts is None else _media(accepts, role, part) or Text(_as_text(part))


def _keeps(target: Format, signature: str) -> bool:
    """Return True for a missing signature and, in Gemini's API, for the fake one."""
    return not signature or (signature == FAKE_SIGNATURE and target.api == "gemini")


def _text_or_call(target: Format, part: Text | ToolCall) -> Iterator[Text | ToolCall]:
    accepts = target.accepts
    if accepts is None:
        yield part
        return
    hung = part.reasoning
    if hung is not None:
        signature = hung.signature if _keeps(target, hung.signature) else ""
        kept = Reasoning(hung.content if accepts.reasoning else "", signature)
        part = replace(part, reasoning=None if kept.is_empty else kept)
    if isinstance(part, ToolCall) and part.type == FREE_FORM and not accepts.free_form_calls:
        arguments = part.arguments if is_object(part.arguments) else dump({"input": part.arguments})
        part = replace(part, type="function", arguments=arguments)
    if not (isinstance(part, Text) and hung is not None and part.reasoning is None and not part.text):
        yield part


def _media(accepts: Accepts, role: str, part: Image | Binary) -> Image | Binary | None:
    """Return the image or file in a form that the API accepts; None if there is none."""
    if role == SYSTEM or (role == AI and not accepts.media_of_model):
        return None
    if isinstance(part, Binary) and not part.mime.startswith("image/"):
        return part if part.mime in accepts.files else None
    split = split_data_url(image_of(part).url)
    if split is None:
        return part if image_of(part).url.partition("://")[0].lower() in accepts.addresses else None
    if split[0] in accepts.images:
        return part
    named = with_true_type(image_of(part))
    return named if named != part and _media(accepts, role, named) else None


def _as_text(part: Image | Binary) -> str:
    """Return the text of a text file, or a note that replaces any other file or image."""
    if isinstance(part, Binary) and part.mime.startswith("text/"):
        with suppress(UnicodeDecodeError):
            return part.content.decode()
    return noted(part)


def _result(accepts: Accepts, part: ToolResult) -> ToolResult:
    kept = [_media(accepts, TOOL, item) for item in part.media]
    notes = [_as_text(item) for item, passed in zip(part.media, kept, strict=True) if passed is None]
    media = tuple(item for item in kept if item is not None)
    return replace(part, content="\n".join(filter(None, (part.content, *notes))), media=media)


def _losses(place: int, part: Part, passed: Sequence[Part]) -> Iterator[Loss]:
    if list(passed) == [part]:
        return
    after = passed[0] if passed else None
    size = after.size if after is not None else 0
    match part:
        case Opaque():
            yield Loss("part", place, part.kind)
        case Thinking():
            yield Loss("signature" if after is not None else "reasoning", place)
        case ToolResult():
            left = after.media if isinstance(after, ToolResult) else ()
            if len(left) < len(part.media):
                mimes = dict.fromkeys(_mime(item) for item in part.media if item not in left)
                yield Loss("media", place, ", ".join(mimes), part.size, size)
        case Image() | Binary():
            if isinstance(after, Text):
                yield Loss("media", place, _mime(part), part.size, size)
        case _:
            yield from _call_losses(place, part, after)


def _call_losses(place: int, part: Text | ToolCall, after: Part | None) -> Iterator[Loss]:
    was, now = part.reasoning, after.reasoning if isinstance(after, Text | ToolCall) else None
    if was is not None and was.content and (now is None or not now.content):
        yield Loss("reasoning", place)
    elif was is not None and was.signature and (now is None or not now.signature):
        yield Loss("signature", place)
    if isinstance(part, ToolCall) and isinstance(after, ToolCall) and part.type != after.type:
        yield Loss("free-form-call", place, part.type, part.size, after.size)


def _mime(part: Image | Binary) -> str:
    return part.mime if isinstance(part, Binary) else "image"


def _note_for(losses: Sequence[Loss]) -> tuple[Text]:
    """Return a note for a message that lost all its parts, because APIs refuse an empty message."""
    last = losses[-1]
    word = "Reasoning" if last.what in ("reasoning", "signature") else f"A part of the type {last.detail}"
    return (Text(f"[{word} was here]"),)


def with_media_behind(format: Format, messages: Iterable[Message]) -> Iterator[Message]:
    """Yield the messages, with the images of results in a user message after them if the API's results are text only."""
    if format.accepts is None or format.accepts.media_in_results:
        yield from messages
        return
    waiting: list[Part] = []
    for message in messages:
        if waiting and message.role != TOOL:
            yield Message(HUMAN, tuple(waiting))
            waiting = []
        waiting += _media_of_results(message)
        yield replace(message, parts=tuple(map(_without_media, message.parts))) if message.results else message
    if waiting:
        yield Message(HUMAN, tuple(waiting))


def _media_of_results(message: Message) -> Iterator[Part]:
    for part in message.parts:
        if isinstance(part, ToolResult) and part.media and message.role == TOOL:
            yield Text(f"[What the call {part.call_id} gave]")
            yield from (replace(item, origin=-1) for item in part.media)


def _without_media(part: Part) -> Part:
    return replace(part, media=()) if isinstance(part, ToolResult) and part.media else part
