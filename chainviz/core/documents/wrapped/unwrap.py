"""Read files in which JSON is embedded in something else.

The JSON is extracted and read; the original file is kept beside it, in the layout of an archive (packed_files.py).
"""

from __future__ import annotations

import base64
import json
import re
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import IO

from chainviz.core.documents.packed_files import MAGIC, MARK
from chainviz.core.documents.wrapped import kinds
from chainviz.core.documents.wrapped.kinds import HOLDS_MESSAGES, KINDS, STREAMED
from chainviz.core.documents.wrapped.values import SearchEnded

WRAPPED = "wrapped-json"
"""The encoding of a source whose JSON was extracted from another file."""
HEAD = 1 << 16
CHUNK = 1 << 20
_SEAL = re.compile(rb'"sha256": "([0-9a-f]{64})"\}\n')
_SEAL_LENGTH = 78


@dataclass(frozen=True, slots=True)
class Unwrapped:
    kind: str
    """The kind of file for a sentence, such as “a cURL command”."""
    documents: tuple[tuple[str, str], ...]
    """The name and the JSON text of each document."""
    is_all: bool = True

    @property
    def notice(self) -> str:
        left = "" if self.is_all else " The end was not searched, because too much text only looks like JSON."
        return (
            f"This is {self.kind}; the JSON in it was unwrapped. An unedited file is exported unchanged, "
            f"a changed one as the JSON alone.{left}"
        )


def may_be_wrapped(head: bytes, tail: bytes) -> bool:
    """Check the ends of a file. Most files contain no wrapped JSON and are not read further."""
    text, end = head.decode("utf-8", "replace").removeprefix("\ufeff"), tail.decode("utf-8", "replace")
    return any(is_likely(_looked_at(kind, text, end)) for kind, is_likely, _ in (*kinds.kinds_of_formats, *KINDS))


def _looked_at(kind: str, head: str, tail: str) -> str:
    """Return what tells whether a file is of a kind. A streamed answer may follow a long request."""
    return head + tail if kind == STREAMED else head


def read_wrapped(file: IO[bytes]) -> tuple[IO[bytes], Unwrapped] | None:
    """Return the text of a file with JSON inside, and what the file is; None for every other file."""
    file.seek(0)
    content = file.read()
    found = unwrapped(content.decode("utf-8", "surrogateescape").removeprefix("\ufeff"))
    if found is None:
        return None
    text: IO[bytes] = tempfile.SpooledTemporaryFile(max_size=1 << 24)  # noqa: SIM115
    text.write(MARK + base64.b64encode(content) + b'",\n"names": ')
    text.write(json.dumps([name for name, _ in found.documents]).encode() + b',\n"samples": [\n')
    text.write(b",\n".join(each.encode("utf-8", "surrogateescape") for _, each in found.documents))
    text.write(b'],\n"members": [],\n')
    text.write(b'"sha256": "%s"}\n' % _digest(text, text.tell()).encode())
    return text, found


def wrapping_of(beginning: bytes) -> bytes:
    """Return the file from which JSON was extracted, from the text before its documents; b"" for other texts."""
    content, _, names = beginning.removeprefix(MARK).partition(b'"')
    if not beginning.startswith(MARK) or not names:
        return b""
    found = base64.b64decode(content)
    return b"" if found.startswith(MAGIC) else found


def is_as_read(archive: IO[bytes], text: IO[bytes]) -> bool:
    """Return True if the text was extracted from a file and is unchanged. The text itself records this, since later
    versions may extract other texts."""
    end = max(0, text.seek(0, 2) - _SEAL_LENGTH)
    text.seek(end)
    seal = _SEAL.fullmatch(text.read())
    return _digest(text, end) == seal[1].decode() if seal else _has_no_seal(archive, text)


def _has_no_seal(archive: IO[bytes], text: IO[bytes]) -> bool:
    again = read_wrapped(archive)
    if again is None:
        return False
    again[0].seek(0)
    content = again[0].read()
    text.seek(0)
    return content[: -_SEAL_LENGTH - 2] + b"}\n" == text.read()


def _digest(text: IO[bytes], end: int) -> str:
    digest = sha256()
    text.seek(0)
    for start in range(0, end, CHUNK):
        digest.update(text.read(min(CHUNK, end - start)))
    text.seek(end)
    return digest.hexdigest()


def write_documents(file: IO[bytes], documents: Iterable[tuple[str, Iterator[bytes]]]) -> None:
    """Write the JSON alone: one document unchanged, several as JSON Lines."""
    listed = [b"".join(pieces) for _, pieces in documents]
    lines = [each.replace(b"\n", b"") for each in listed] if len(listed) > 1 else listed
    file.writelines(each + b"\n" for each in lines)


def unwrapped(text: str) -> Unwrapped | None:
    """Return the JSON documents inside a text that is not itself a JSON document of messages, or None if there are none."""
    for kind, is_likely, documents in (*kinds.kinds_of_formats, *KINDS):
        if is_likely(_looked_at(kind, text[:HEAD], text[HEAD:][-HEAD:])):
            found: list[tuple[str, str]] = []
            is_all = True
            try:
                found += (each for each in documents(text) if HOLDS_MESSAGES.search(each[1]))
            except SearchEnded:
                is_all = False
            if found:
                return Unwrapped(kind, tuple(found), is_all)
    return None
