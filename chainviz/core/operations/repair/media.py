"""What some APIs refuse in messages beside plain text: large pictures, pictures in results, texts around results. On demand."""

from __future__ import annotations

from dataclasses import replace

from chainviz.core.chain.messages import HUMAN, TOOL, Message, Part, Text, ToolResult, is_blank
from chainviz.core.operations.repair.fixes import Proposal
from chainviz.core.operations.repair.session import Worklist
from chainviz.core.operations.repair.text_fallback import detached
from chainviz.core.pictures import Picture, bytes_and_sides, is_too_large, pictures_in


def has_pictures(message: Message) -> bool:
    return message.role in (HUMAN, TOOL) and any(map(pictures_in, message.parts))


def fix_large_pictures(work: Worklist) -> None:
    for place, message in work.read(has_pictures):
        for i, part in enumerate(message.parts):
            large = [picture for picture in pictures_in(part) if is_too_large(picture)]
            if large:
                what = "holds a picture that is too large for some APIs"
                _offer(work, place, i, "image-too-large", what, part, "image-to-text", (_told(part, large),))
    work.settle()


def _told(part: Part, large: list[Picture]) -> Part:
    words = "\n".join(map(_in_words, large))
    if not isinstance(part, ToolResult):
        return Text(words)
    kept = tuple(picture for picture in part.media if picture not in large)
    return replace(part, content="\n".join(filter(None, (part.content, words))), media=kept)


def _in_words(picture: Picture) -> str:
    count, width, height = bytes_and_sides(picture)
    return f"[A picture of {width:,} × {height:,} pixels and {count:,} bytes stood here]"


def has_result_media(message: Message) -> bool:
    return bool(message.results) and any(isinstance(part, ToolResult) and part.media for part in message.parts)


def fix_result_media(work: Worklist) -> None:
    """OpenAI's tool messages hold text only."""
    ends = {place: turn.end for turn in work.turns for place in turn.rest}
    for place, message in work.read(has_result_media):
        for i, part in enumerate(message.parts):
            if not isinstance(part, ToolResult) or not part.media:
                continue
            what = f"holds a result of the call “{part.call_id}” with pictures or files"
            human = Message(HUMAN, (Text(f"[What the call {part.call_id} gave]"), *detached(part.media)))
            after = replace(part, media=())
            if _offer(work, place, i, "result-media", what, part, "media-to-human", (after, *human.parts), (after,)):
                work.edit(max(ends[place], place)).after.append((human, work.about[place]))
    work.settle()


def has_texts_in_results(message: Message) -> bool:
    return message.role == TOOL and any(isinstance(part, Text) for part in message.parts)


def fix_texts_in_results(work: Worklist) -> None:
    """Texts of a tool message go behind its results; blank ones go."""
    for place, message in work.read(has_texts_in_results):
        last = max((result.part for result in message.results), default=-1)
        for i, part in enumerate(message.parts):
            if is_blank(part):
                _offer(work, place, i, "empty-content", "has a text that says nothing", part, "drop-empty", ())
            elif isinstance(part, Text) and i < last:
                what = "has a text before a tool result"
                if _offer(work, place, i, "result-after-text", what, part, "results-first", (part,), ()):
                    work.edit(place).added.append(part)
    work.settle()


def _offer(
    work: Worklist, place: int, index: int, rule: str, what: str, part: Part, choice: str, after: tuple[Part, ...],
    here: tuple[Part, ...] | None = None,
) -> bool:  # fmt: skip
    """Whether the part gave way to `after`, of which only `here` stands in its place."""
    about = work.about[place]
    problem = f"{work.where(about)} {what}."
    if work.offer(Proposal(rule, about, index, "", problem, (part,), {choice: after}, default=False)) is None:
        return False
    work.edit(place).parts[index] = after if here is None else here
    return True
