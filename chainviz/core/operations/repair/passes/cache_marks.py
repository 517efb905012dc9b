"""More blocks with `cache_control` than Anthropic's API takes: the last ones of the request keep theirs."""

from __future__ import annotations

from dataclasses import replace

from chainviz.core.chain.messages import Message
from chainviz.core.documents.json.edit import load_object, raw_at, replace_at
from chainviz.core.documents.units import Pointer
from chainviz.core.formats import get_format
from chainviz.core.operations.repair.fixes import Proposal
from chainviz.core.operations.repair.session import Worklist
from chainviz.core.providers.anthropic import PROVIDER
from chainviz.core.providers.rules.cache_marks import KEY, MOST, marked_beside, marked_blocks

DROP = "drop-cache-marks"


def has_marks(message: Message) -> bool:
    return next(marked_blocks(message), None) is not None


def fix_cache_marks(work: Worklist) -> None:
    """Only on demand: just one API counts them. Those of tools stay where they are, and count."""
    if not PROVIDER.limits_marks(work.chain.format) or not work.options.asks_for(DROP):
        return
    marked = [(place, *block) for place, message in work.read(has_marks) for block in marked_blocks(message)]
    beside = marked_beside(work.chain.surroundings)
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
        source[place] = replace(source[place], text=replace_at(text, at, str(block)), start=-1)
    return get_format(format).message(message.role, tuple(source))
