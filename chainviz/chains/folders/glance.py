"""What a file seems to be: its format and first request, from its beginning alone. Kept while that stays the same."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from chainviz.chains.render.visible_text import marks, one_line
from chainviz.chains.uploads.local_files import state_of
from chainviz.core.chain.messages import HUMAN
from chainviz.core.documents import event_folder
from chainviz.core.documents.compressed import beginning
from chainviz.core.documents.source import Source, open_source
from chainviz.core.documents.unfinished_line import end_of_lines
from chainviz.core.errors import ChainError
from chainviz.core.formats.offers import Offer, offers_of
from chainviz.core.formats.reader import read_chain
from chainviz.core.usage.title_from_content import request_of

HEAD = 1 << 16
"""Bytes that are read of a file."""
LOOKED_AT = 40
"""Messages among which the first request is looked for."""
WORDS = 120
HELD = 20_000


@dataclass(frozen=True, slots=True)
class Glance:
    format: str = ""
    """Its label; "" where the beginning tells none."""
    begins: str = ""
    """The first request."""


_Seen = tuple[int, int, int]
_glances: OrderedDict[str, tuple[_Seen, Glance]] = OrderedDict()
_lock = threading.Lock()


def glance(path: Path, *, is_new: bool = True) -> Glance | None:
    """None where the file was not looked at before and may not be now (`is_new`)."""
    try:
        inode, (size, modified) = path.stat().st_ino, state_of(path)
    except OSError:
        return Glance()
    # a file that only grows keeps its beginning
    seen = (inode, min(size, HEAD), modified if size < HEAD else 0)
    with _lock:
        known = _glances.get(str(path))
    if known is not None and known[0] == seen:
        return known[1]
    if not is_new:
        return None
    found = _look(path)
    with _lock:
        _glances[str(path)] = seen, found
        while len(_glances) > HELD:
            _glances.popitem(last=False)
    return found


def _look(path: Path) -> Glance:
    try:
        head = _head(path)
        with open_source(_whole_lines(head, is_all=len(head) < HEAD)) as source:
            offer = offers_of(source, salvage=True)[0]
            return Glance(offer.formats[0].label, _begins(source, offer))
    except (ChainError, OSError, ValueError, KeyError, TypeError, AttributeError):
        return Glance()


def _head(path: Path) -> bytes:
    if path.is_dir():
        return b"\n".join(islice(event_folder.lines(path), LOOKED_AT))[:HEAD]
    return beginning(path, HEAD)


def _whole_lines(head: bytes, *, is_all: bool) -> bytes:
    return head if is_all else head[: end_of_lines(lambda start, end: head[start:end], len(head))]


def _begins(source: Source, offer: Offer) -> str:
    messages = islice(read_chain(source, offer.found, offer.formats[0], salvage=True), LOOKED_AT)
    asked = (request_of(each) for each in messages if each.role == HUMAN)
    return marks(one_line(next(filter(None, asked), ""), WORDS))
