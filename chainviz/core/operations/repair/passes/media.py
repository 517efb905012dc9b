"""Fix images, files and misplaced texts that some APIs refuse. On demand."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from chainviz.core.chain.messages import AI, HUMAN, TOOL, Binary, Image, Message, Part, Text, ToolCall, ToolResult, detached, is_blank
from chainviz.core.operations.repair.fixes import Proposal
from chainviz.core.operations.repair.session import Worklist
from chainviz.core.pictures import (
    Picture,
    PicturePlace,
    file_of,
    in_words,
    is_broken,
    is_empty,
    is_odd,
    is_out_of_reach,
    is_too_large,
    noted,
    pictures_in,
    refused_among_many,
    with_true_type,
)


def has_pictures(message: Message) -> bool:
    return any(map(pictures_in, message.parts))


def fix_pictures(work: Worklist) -> None:
    """Offer fixes for images that are empty, unreachable or broken, or whose type or size some APIs refuse. If a request has
    too many large images, offer to drop the surplus. GIF only on demand, since nearly every API accepts it."""
    is_asked = work.options.asks_for("image-to-text")
    refused = refused_among_many(work.read(has_pictures))
    for place, message in work.read(has_pictures):
        for i, part in enumerate(message.parts):
            held = list(enumerate(pictures_in(part)))
            empty = [number for number, picture in held if is_empty(picture)]
            lost = [number for number, picture in held if is_out_of_reach(picture)]
            broken = [number for number, picture in held if is_broken(picture)]
            odd = [n for n, picture in held if is_odd(picture) and (is_asked or not _is_gif(picture))]
            large = [n for n, picture in held if is_too_large(picture) or PicturePlace(place, i, n) in refused]
            if empty:
                _offer(work, _Spot(place, i, part), _EMPTY, (_with_words(part, empty),))
            elif lost:
                _offer(work, _Spot(place, i, part), _LOST, (_with_words(part, lost),))
            elif broken:
                _offer(work, _Spot(place, i, part), _BROKEN, (_with_words(part, broken),))
            elif odd:
                _offer(work, _Spot(place, i, part), _ODD, (_with_words(part, odd),))
            elif large:
                _offer(work, _Spot(place, i, part), _TOO_LARGE, (_with_words(part, large),))
    work.settle()


def _is_gif(picture: Picture) -> bool:
    found = file_of(picture)
    return found is not None and found.type == "image/gif"


def fix_media_types(work: Worklist) -> None:
    for place, message in work.read(has_pictures):
        for i, part in enumerate(message.parts):
            named = tuple(map(with_true_type, pictures_in(part)))
            if named != pictures_in(part):
                after = replace(part, media=named) if isinstance(part, ToolResult) else named[0]
                gone = [number for number, picture in enumerate(pictures_in(part)) if picture != named[number]]
                _offer_name(work, _Spot(place, i, part), after, _with_words(part, gone))
    work.settle()


def _offer_name(work: Worklist, spot: _Spot, named: Part, told: Part) -> None:
    """Offer to correct the media type to that of the image's bytes, or to put a note in its place."""
    about = work.about[spot.place]
    outcomes: dict[str, tuple[Part, ...]] = {_MISLABELLED.choice: (named,), "image-to-text": (told,)}
    problem = f"{work.where(about)} {_MISLABELLED.what}."
    proposal = Proposal(_MISLABELLED.rule, about, spot.number, "", problem, (spot.part,), outcomes, default=False)
    choice = work.offer(proposal)
    if choice is not None:
        work.edit(spot.place).parts[spot.number] = outcomes[choice]


def _with_words(part: Part, gone: list[int]) -> Part:
    """Return the part with a text in place of the images with these numbers."""
    words = "\n".join(in_words(pictures_in(part)[number]) for number in gone)
    if not isinstance(part, ToolResult):
        return Text(words)
    kept = tuple(picture for number, picture in enumerate(part.media) if number not in gone)
    return replace(part, content="\n".join(filter(None, (part.content, words))), media=kept)


def has_answer_media(message: Message) -> bool:
    return message.role == AI and any(isinstance(part, Image | Binary) for part in message.parts)


def fix_answer_media(work: Worklist) -> None:
    """Offer to replace images and files of AI messages, since Anthropic's API accepts them only from the user."""
    for place, message in work.read(has_answer_media):
        for i, part in enumerate(message.parts):
            if isinstance(part, Image | Binary):
                _offer(work, _Spot(place, i, part), _BY_MODEL, (Text(noted(part)),))
    work.settle()


def has_result_media(message: Message) -> bool:
    return bool(message.results) and any(isinstance(part, ToolResult) and part.media for part in message.parts)


def fix_result_media(work: Worklist) -> None:
    """Offer to move media out of results, since OpenAI's tool messages contain only text."""
    ends = {place: turn.end for turn in work.turns for place in turn.rest}
    for place, message in work.read(has_result_media):
        for i, part in enumerate(message.parts):
            if not isinstance(part, ToolResult) or not part.media:
                continue
            what = f"has a result of the call “{part.call_id}” with images or files"
            flaw = _Flaw("result-media", what, "media-to-human")
            human = Message(HUMAN, (Text(f"[What the call {part.call_id} gave]"), *detached(part.media)))
            after = replace(part, media=())
            if _offer(work, _Spot(place, i, part), flaw, (after, *human.parts), (after,)):
                work.edit(max(ends[place], place)).after.append((human, work.about[place]))
    work.settle()


def has_media(message: Message) -> bool:
    return has_result_media(message) or any(isinstance(part, Image | Binary) for part in message.parts)


def fix_media(work: Worklist) -> None:
    """Offer to replace all images and files, for a model that takes none. Only on demand."""
    if not work.options.asks_for(_ANY.choice):
        return
    for place, message in work.read(has_media):
        for i, part in enumerate(message.parts):
            if isinstance(part, Image | Binary):
                _offer(work, _Spot(place, i, part), _ANY, (Text(noted(part)),))
            elif isinstance(part, ToolResult) and part.media:
                words = (part.content, *map(noted, part.media))
                _offer(work, _Spot(place, i, part), _ANY, (replace(part, content="\n".join(filter(None, words)), media=()),))
    work.settle()


def has_texts_in_results(message: Message) -> bool:
    return message.role == TOOL and any(isinstance(part, Text) for part in message.parts)


def fix_texts_in_results(work: Worklist) -> None:
    """Move texts of a tool message after its results, and drop blank ones."""
    for place, message in work.read(has_texts_in_results):
        last = max((result.part for result in message.results), default=-1)
        for i, part in enumerate(message.parts):
            if is_blank(part):
                _offer(work, _Spot(place, i, part), _BLANK, ())
            elif isinstance(part, Text) and i < last and _offer(work, _Spot(place, i, part), _TEXT_FIRST, (part,), ()):
                work.edit(place).added.append(part)
    work.settle()


def has_calls_between(message: Message) -> bool:
    calls = [isinstance(part, ToolCall) for part in message.parts]
    return message.role == AI and calls != sorted(calls)


def fix_calls_between(work: Worklist) -> None:
    """Move the calls of a model's message behind its texts and reasoning. Only on demand, since most APIs take them in any order."""
    for place, message in work.read(has_calls_between) if work.options.asks_for(_CALLS_BETWEEN.choice) else ():
        calls = [(i, part) for i, part in enumerate(message.parts) if isinstance(part, ToolCall)]
        if _offer(work, _Spot(place, *calls[0]), _CALLS_BETWEEN, (calls[0][1],), ()):
            work.edit(place).parts |= dict.fromkeys((i for i, _ in calls), ())
            work.edit(place).added += [part for _, part in calls]
    work.settle()


class _Flaw(NamedTuple):
    rule: str
    what: str
    """The rest of the sentence that begins with the name of the message."""
    choice: str


_TOO_LARGE = _Flaw("image-too-large", "contains an image that is too large for some APIs", "image-to-text")
_BY_MODEL = _Flaw("part-role", "is an AI message and contains an image or a file", "image-to-text")
_EMPTY = _Flaw("image-empty", "contains an image without content", "image-to-text")
_LOST = _Flaw("image-address", "contains an image at an address that no API can open", "image-to-text")
_BROKEN = _Flaw("image-broken", "contains an image that cannot be read", "image-to-text")
_ODD = _Flaw("image-type", "contains an image of a type that some APIs do not take", "image-to-text")
_ANY = _Flaw("part-type", "contains an image or a file", "media-to-text")
_MISLABELLED = _Flaw("image-mislabelled", "contains an image with the wrong media type", "respell-media-type")
_BLANK = _Flaw("empty-content", "has an empty text", "drop-empty")
_CALLS_BETWEEN = _Flaw("text-between-calls", "calls a tool before its texts and reasoning end", "calls-last")
_TEXT_FIRST = _Flaw("result-after-text", "has a text before a tool result", "results-first")


class _Spot(NamedTuple):
    place: int
    number: int
    part: Part


def _offer(work: Worklist, spot: _Spot, flaw: _Flaw, after: tuple[Part, ...], here: tuple[Part, ...] | None = None) -> bool:
    """Offer a fix, and return whether the part was replaced by `after`, or by `here` if the rest of `after` goes elsewhere."""
    about = work.about[spot.place]
    problem = f"{work.where(about)} {flaw.what}."
    proposal = Proposal(flaw.rule, about, spot.number, "", problem, (spot.part,), {flaw.choice: after}, default=False)
    if work.offer(proposal) is None:
        return False
    work.edit(spot.place).parts[spot.number] = after if here is None else here
    return True
