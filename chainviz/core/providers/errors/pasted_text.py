"""What people paste when an API has refused a request: its message is taken out of JSON, of what an SDK prints and of lines of logs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from html import unescape
from itertools import islice
from typing import Any

from chainviz.core.dialects.api_errors import error_in
from chainviz.core.documents.wrapped.values import SearchEnded, read_json, values_in

_COLOURS = re.compile(r"(?:\x1b|\\u001b|\\x1b|\\033|\\e)\[[0-9;]*[A-Za-z]", re.IGNORECASE)
_CODES = re.compile(r"\\+u00([2-7][0-9a-f])", re.IGNORECASE)
"""Signs as .NET and Go spell them in JSON."""
_SPACES = re.compile(r"\\+[nrt]")
_QUOTES = re.compile(r"\\+(?=[\"'/`])")
_HOLDERS = ("message", "responseBody", "body", "response", "data", "exception", "msg", "detail", "text")
"""Members in which SDKs and logs keep what an API answered."""
MOST_LEVELS = 6
MOST_VALUES = 8


def plain_text(pasted: str) -> str:
    """The text without colours of a terminal, and without escapes of HTML and of strings inside strings."""
    spelled = _CODES.sub(lambda found: chr(int(found[1], 16)), unescape(_COLOURS.sub("", pasted)))
    return _QUOTES.sub("", _SPACES.sub(" ", spelled))


def message_in(pasted: str) -> str:
    """The API's own sentence; where no JSON holds it, all of the text in one line."""
    plain = plain_text(pasted)
    found = (next(_messages_in(text, MOST_LEVELS), "") for text in (_COLOURS.sub("", pasted), plain))
    return " ".join(next(filter(None, found), plain).split())


def _messages_in(text: str, levels: int) -> Iterator[str]:
    """The messages of the errors in a text, the deepest one of each first."""
    with suppress(SearchEnded):
        for _, value in islice(values_in(text), MOST_VALUES) if levels else ():
            for message in _messages_of(read_json(value)):
                yield next(_messages_in(message, levels - 1), message)


def _messages_of(value: Any) -> Iterator[str]:
    """The message of an error, or that of an object in which an SDK or a log keeps it as text."""
    error = error_in(value)
    if error is not None and error.message:
        yield error.message
    elif isinstance(value, dict):
        texts = (each for key in _HOLDERS if (each := value.get(key)))
        for each in texts:
            if isinstance(each, str):
                yield each
            else:
                yield from _messages_of(each)
