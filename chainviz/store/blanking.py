"""Blanks values out of bytes: as many bytes stand there afterwards, so that every place in a document stays what it was."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from chainviz.core.secrets.spellings import spelled

_DIGITS = re.compile(rb"[0-9.]+")


class Blanks:
    """Values in every spelling: as they are, escaped in JSON, in an address, in HTML, in base64."""

    def __init__(self, values: Iterable[str]) -> None:
        found: dict[bytes, bytes] = {}
        for value in values:
            for spelling in spelled(value):
                for errors in ("surrogatepass", "surrogateescape"):
                    try:
                        word = spelling.text.encode("utf-8", errors)
                    except UnicodeEncodeError:
                        continue
                    found.setdefault(word, _blank(word, spelling.readable))
        self._words = sorted(found.items(), key=lambda item: (-len(item[0]), item[0]))
        self.longest = max(map(len, found), default=1)

    def blank(self, content: bytes) -> bytes:
        for word, blank in self._words:
            if word in content:
                content = content.replace(word, blank)
        return content

    def text(self, text: str) -> str:
        content = text.encode("utf-8", "surrogatepass")
        blanked = self.blank(content)
        return text if blanked == content else blanked.decode("utf-8", "surrogatepass")

    def plain(self, value: object) -> object:
        """Texts inside JSON values, keys too."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.plain(item) for item in value]
        if isinstance(value, dict):
            return {self.plain(key): self.plain(item) for key, item in value.items()}
        if isinstance(value, int | float) and not isinstance(value, bool):
            return value if self.text(str(value)) == str(value) else 0
        return value

    def count(self, content: bytes) -> int:
        """Places, those inside longer ones once."""
        places = 0
        for word, blank in self._words:
            here = content.count(word)
            if here:
                places += here
                content = content.replace(word, blank)
        return places

    def stream(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        """The same bytes, blanked also where a value lies across pieces; pieces come out in other lengths."""
        held = b""
        room = max(self.longest - 1, 1)
        for piece in pieces:
            held = self.blank(held + piece)
            yield held[:-room]
            held = held[-room:]
        yield held


def _blank(word: bytes, is_readable: bool) -> bytes:
    """What may stand wherever the word stood: in a JSON text, as a bare number, in an address, in base64."""
    if not is_readable:
        return b"A" * len(word)
    return (b"1" if _DIGITS.fullmatch(word) else b"x") * len(word)
