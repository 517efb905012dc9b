"""Pictures by their own first bytes: what they are, how wide and how high."""

from __future__ import annotations

import re
import struct
from base64 import b64decode
from binascii import Error
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from typing import Literal, NamedTuple

from chainviz.core.chain.messages import Binary, Image, Message, Part, ToolResult
from chainviz.core.dialects.values import decode_base64, split_data_url

# Picture files are judged by their headers and their structure: nothing is decoded into pixels, and few bytes are
# read.


Fault = Literal["", "base64", "unknown", "cut"]
"""The fault of an image's content: it is not base64, no known image, or an image that is cut off."""

_HEAD, _TAIL = 4_096, 65_536
"""The number of bytes at the start and at the end of a file that are read."""
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]*={0,2}")
_SPACE = re.compile(r"\s")
_STARTS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF87a", "image/gif"), (b"GIF89a", "image/gif"),
    (b"BM", "image/bmp"), (b"II*\x00", "image/tiff"), (b"MM\x00*", "image/tiff"), (b"II+\x00", "image/tiff"),
    (b"\x00\x00\x01\x00", "image/x-icon"), (b"8BPS", "image/vnd.adobe.photoshop"), (b"\xff\x0a", "image/jxl"),
    (b"\x00\x00\x00\x0cJXL ", "image/jxl"), (b"%PDF-", "application/pdf"),
)  # fmt: skip
_BRANDS = {
    b"heic": "image/heic", b"heix": "image/heic", b"hevc": "image/heic", b"heim": "image/heic", b"heis": "image/heic",
    b"mif1": "image/heif", b"msf1": "image/heif", b"avif": "image/avif", b"avis": "image/avif",
}  # fmt: skip
"""Types by the brand of an ISO media file."""
_SVG = re.compile(rb"\s*(?:<\?xml[^>]*>|<!--.*?-->|<!DOCTYPE[^>]*>|\s)*<svg[\s>]", re.DOTALL | re.IGNORECASE)


def type_of(head: bytes) -> str:
    """Return the media type that the first bytes of a file show; "" for a file of another kind."""
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    if head[4:8] == b"ftyp":
        return _BRANDS.get(head[8:12], "")
    if _SVG.match(head.removeprefix(b"\xef\xbb\xbf")):
        return "image/svg+xml"
    return next((mime for start, mime in _STARTS if head.startswith(start)), "")


@lru_cache(maxsize=256)
def judge_base64(text: str) -> tuple[str, Fault]:
    """Return the media type of an image in base64, or "" if it is unknown, and the fault of the image. Accepts both
    alphabets, and white space."""
    plain = _SPACE.sub("", text) if _SPACE.search(text) else text
    digits = plain.rstrip("=")
    if not _BASE64.fullmatch(plain) or len(digits) % 4 == 1 or (len(plain) % 4 in (1, 2, 3) and "=" in plain):
        head = _decoded(digits[: min(_HEAD, len(digits) // 4 * 4)]) if _BASE64.match(plain) else b""
        return type_of(head), "base64"
    start = max(0, (len(digits) - _TAIL) // 4 * 4)
    return judge(_decoded(digits[: 2 * _HEAD // 4 * 4]), _decoded(digits[start:]), len(digits) * 3 // 4)


def judge(head: bytes, tail: bytes, length: int) -> tuple[str, Fault]:
    """Return the media type and the fault of a file of so many bytes, by its first and its last ones."""
    mime = type_of(head)
    return mime, "unknown" if not mime else "cut" if _is_cut(mime, head, tail, length) else ""


def _is_cut(mime: str, head: bytes, tail: bytes, length: int) -> bool:
    """Return True if a file is cut off. A file may have other bytes after its image."""
    if mime == "image/png":
        end = tail.rfind(b"IEND")
        return length < 45 or end < 0 or end + 8 > len(tail)  # a checksum follows
    if mime == "image/jpeg":
        return b"\xff\xd9" not in tail
    if mime == "image/gif":
        return length < 14
    if mime == "image/webp":
        return length < 30 or int.from_bytes(head[4:8], "little") + 8 > length + 1
    return False


def _decoded(digits: str) -> bytes:
    """Return the decoded bytes of base64 without padding, or b"" if it is invalid."""
    try:
        return b64decode(digits.translate(_PLAIN) + "=" * (-len(digits) % 4))
    except (Error, ValueError):
        return b""


_PLAIN = str.maketrans("-_", "+/")


Picture = Image | Binary

MOST_BYTES, LONGEST_SIDE, LONGEST_OF_MANY, MANY = 5 * 1024 * 1024, 8000, 2000, 20
"""The most bytes and pixels that Anthropic's API accepts of an image, the most pixels in a request with many, and how
many are many."""
_FETCHED = re.compile(r"(?:https?|gs|s3)://|data:|$", re.IGNORECASE)
_ENDS = 65_536
"""The number of bytes at the start and at the end of a file that are read."""
_BEGINNING = 200
"""The number of characters that distinguish base64 from other text."""
_DIGITS = re.compile(r"[A-Za-z0-9+/_\s-]+={0,2}\s*")
_ENOUGH = 200_000
"""The number of base64 characters that contain the size of nearly every image; that of a JPEG follows its preview."""


def pictures_in(part: Part) -> tuple[Picture, ...]:
    """Return the images of a part: the part itself, or those of a tool result."""
    if isinstance(part, ToolResult):
        return part.media
    return (part,) if isinstance(part, Picture) else ()


def measured(content: bytes) -> tuple[str, int, int] | None:
    """Return the media type, width and height of a PNG, JPEG, GIF or WebP, recognised by its bytes; None for any other
    file."""
    for mime, read in (("image/png", _png), ("image/gif", _gif), ("image/webp", _webp), ("image/jpeg", _jpeg)):
        found = read(content)
        if found:
            return mime, *found
    return None


class PicturePlace(NamedTuple):
    message: int
    part: int
    number: int
    """Its index among the images of its part."""


def refused_among_many(messages: Iterable[tuple[int, Message]]) -> frozenset[PicturePlace]:
    """The fewest pictures without which Anthropic's API takes the others, the oldest ones: it takes many pictures, or large ones.
    Those that it takes in no request are not counted, for they have to go anyhow. Messages come with their places."""
    found = [
        (PicturePlace(place, i, number), picture)
        for place, message in messages
        for i, part in enumerate(message.parts)
        for number, picture in enumerate(pictures_in(part))
    ]
    if len(found) <= MANY:
        return frozenset()  # none has to be decoded
    found = [(place, picture) for place, picture in found if not is_empty(picture) and not is_too_large(picture)]
    excess = max(0, len(found) - MANY)
    return frozenset(islice((place for place, picture in found if is_large(picture)), excess))


def bytes_and_sides(part: Picture) -> tuple[int, int, int]:
    """Return the bytes, width and height of an image in the message; zeros if it is only an address or cannot be read."""
    if isinstance(part, Binary):
        count, content = len(part.content), part.content
    else:
        split = split_data_url(part.url)
        if split is None:
            return 0, 0, 0
        text = split[1]
        count, content = len(text) * 3 // 4, decode_base64(text[:_ENOUGH]) or b""
    found = measured(content)
    return (count, found[1], found[2]) if found else (0, 0, 0)


def is_too_large(part: Picture) -> bool:
    """Return True if the image is too large for Anthropic's API, which has the strictest limits."""
    count, width, height = bytes_and_sides(part)
    return count > MOST_BYTES or max(width, height) > LONGEST_SIDE


def is_large(part: Picture) -> bool:
    """Too large among many."""
    return max(bytes_and_sides(part)[1:]) > LONGEST_OF_MANY


COMMON = frozenset(("image/png", "image/jpeg", "image/gif", "image/webp"))
"""Types that nearly every API accepts."""


class PictureFile(NamedTuple):
    """The media type that a message gives for an image, and the type that its bytes show."""

    named: str
    """The media type that the message gives."""
    mime: str
    """The media type that the first bytes show; "" if it is unknown."""
    fault: Fault

    @property
    def type(self) -> str:
        return self.mime or self.named

    @property
    def is_mislabelled(self) -> bool:
        """True if it is a whole picture of a common type under another name: naming the right one is enough."""
        return self.mime in COMMON and not self.fault and _plain_type(self.named) != self.mime


def _plain_type(named: str) -> str:
    return {"image/jpg": "image/jpeg"}.get(named.lower(), named.lower())


def file_of(part: Picture) -> PictureFile | None:
    """Return the picture as a file; None for an address, an empty picture, a file of another kind and text in place of
    the data."""
    if isinstance(part, Binary):
        if not part.mime.startswith("image/") or not part.content:
            return None
        content = part.content
        return PictureFile(part.mime, *judge(content[:_ENDS], content[-_ENDS:], len(content)))
    split = split_data_url(part.url)
    if split is None or not split[1].strip() or not _DIGITS.fullmatch(split[1][:_BEGINNING]):
        return None
    return PictureFile(split[0], *judge_base64(split[1]))


def is_broken(part: Picture) -> bool:
    """Return True if no API can decode it: it is no base64, no picture, or breaks off."""
    found = file_of(part)
    return found is not None and bool(found.fault)


def is_odd(part: Picture) -> bool:
    """Return True if some API takes no pictures of its type."""
    found = file_of(part)
    return found is not None and not found.fault and found.type not in ("image/png", "image/jpeg", "image/webp")


def is_empty(part: Picture) -> bool:
    return isinstance(part, Image) and (split := split_data_url(part.url)) is not None and not split[1].strip()


def is_out_of_reach(part: Picture) -> bool:
    """Return True if no API can fetch it: its address is neither one of the web or a bucket, nor the picture itself."""
    return isinstance(part, Image) and not _FETCHED.match(part.url)


def with_true_type(picture: Picture) -> Picture:
    """Return the picture under the media type that its bytes show."""
    found = file_of(picture)
    if found is None or not isinstance(picture, Image) or found.mime not in COMMON or found.mime == found.named:
        return picture
    return replace(picture, url=f"data:{found.mime}{picture.url.removeprefix(f'data:{found.named}')}")


def in_words(picture: Picture) -> str:
    """Return the text that takes the place of a picture."""
    count, width, height = bytes_and_sides(picture)
    if is_empty(picture):
        return "[A picture without content was here]"
    if is_out_of_reach(picture):
        return noted(picture)
    if is_broken(picture):
        return "[A picture that cannot be read was here]"
    if not width and (found := file_of(picture)) is not None:
        return f"[A {found.type.rpartition('/')[2].removeprefix('x-')[:40].upper()} picture was here]"
    return f"[A picture of {width:,} × {height:,} pixels and {count:,} bytes was here]"


def noted(part: Picture) -> str:
    """Return the text that takes the place of a picture or file; an address is kept."""
    if isinstance(part, Binary):
        return f"[A file of the type {part.mime} and {len(part.content):,} bytes was here]"
    return in_words(part) if not part.url or part.url.startswith("data:") else f"[A picture was here: {part.url}]"


def _png(content: bytes) -> tuple[int, int] | None:
    if content[:8] != b"\x89PNG\r\n\x1a\n" or len(content) < 24:
        return None
    return struct.unpack(">II", content[16:24])


def _gif(content: bytes) -> tuple[int, int] | None:
    if content[:6] not in (b"GIF87a", b"GIF89a") or len(content) < 10:
        return None
    return struct.unpack("<HH", content[6:10])


def _webp(content: bytes) -> tuple[int, int] | None:
    if content[:4] != b"RIFF" or content[8:12] != b"WEBP" or len(content) < 30:
        return None
    kind = content[12:16]
    if kind == b"VP8 ":
        width, height = struct.unpack("<HH", content[26:30])
        return width & 0x3FFF, height & 0x3FFF
    if kind == b"VP8L":
        bits = int.from_bytes(content[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8X":
        return int.from_bytes(content[24:27], "little") + 1, int.from_bytes(content[27:30], "little") + 1
    return None


def _jpeg(content: bytes) -> tuple[int, int] | None:
    if content[:3] != b"\xff\xd8\xff":
        return None
    place = 2
    while place + 9 < len(content) and content[place] == 0xFF:
        marker = content[place + 1]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", content[place + 5 : place + 9])
            return width, height
        place += 2 + int.from_bytes(content[place + 2 : place + 4], "big")
    return None
