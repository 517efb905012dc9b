"""A value is found and blanked however it is spelled, at any depth and across pieces; nothing else is touched."""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Callable
from itertools import pairwise
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainviz.core.secrets.spellings import Decoded
from chainviz.store.purge import blanking
from chainviz.store.purge.blanking import Blanks

VALUE = 'pä<ss>+w&rd/"7\\n 😀'


def escaped(text: str) -> str:
    """Every character as its UTF-16 code units."""
    units = text.encode("utf-16-be")
    return "".join(f"\\u{units[at]:02X}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def go(text: str) -> str:
    """Return JSON as Go's encoding/json writes it, with escaped HTML characters and plain other letters."""
    written = json.dumps(text, ensure_ascii=False)[1:-1]
    return written.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


SPELLINGS: dict[str, Callable[[str], str]] = {
    "JSON": lambda text: json.dumps(text)[1:-1],
    "JSON with letters as they are": lambda text: json.dumps(text, ensure_ascii=False)[1:-1],
    "JSON with escaped slashes": lambda text: json.dumps(text)[1:-1].replace("/", "\\/"),
    "all escaped": escaped,
    "Go": go,
    "address": lambda text: quote(text, safe=""),
    "address in lower case": lambda text: quote(text, safe="").replace("%2B", "%2b").replace("%2F", "%2f"),
    "form": quote_plus,
    "HTML": html.escape,
    "HTML by numbers": lambda text: "".join(f"&#x{ord(letter):x};" for letter in text),
    "bytes": lambda text: "".join(f"\\x{byte:02x}" for byte in text.encode()),
}
CODES: dict[str, Callable[[str], str]] = {
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "base64 for addresses": lambda text: base64.urlsafe_b64encode(text.encode()).decode(),
    "base64 behind something": lambda text: base64.b64encode(b"u:" + text.encode()).decode(),
    "base64 in lines": lambda text: base64.encodebytes(b"-" * 40 + text.encode() + b"-" * 70).decode(),
    "base64 in lines of JSON": lambda text: json.dumps(base64.encodebytes(b"." * 47 + text.encode()).decode())[1:-1],
    "hex": lambda text: text.encode().hex(),
    "HEX": lambda text: text.encode().hex().upper(),
}


@pytest.mark.parametrize("outer", [None, *SPELLINGS])
@pytest.mark.parametrize("inner", SPELLINGS)
def test_two_spellings_in_each_other_are_blanked_whole(inner: str, outer: str | None) -> None:
    written = SPELLINGS[inner](VALUE)
    written = SPELLINGS[outer](written) if outer else written
    content = f"before {written} after".encode()
    blanked = Blanks((VALUE,)).blank(content)
    assert blanked == b"before " + b"x" * (len(content) - 13) + b" after"


@pytest.mark.parametrize("code", CODES)
def test_codes_are_blanked_as_far_as_the_value_reaches(code: str) -> None:
    content = f"before {CODES[code](VALUE)} after".encode()
    blanks = Blanks((VALUE,))
    blanked = blanks.blank(content)
    assert blanks.count((content,)) == 1 and blanks.count((blanked,)) == 0
    assert len(blanked) == len(content) and blanked.startswith(b"before ") and blanked.endswith(b" after")


def test_a_bare_number_stays_one() -> None:
    assert Blanks(("4711.5",)).blank(b'{"pin": 4711.5}') == b'{"pin": 111111}'


@given(st.lists(st.sampled_from(["value-", "17", "\\u0031", "\\", "\\\\n", "%2D", "&amp;", "x" * 9, "é"]), max_size=40), st.data())
def test_pieces_give_the_same_places_as_the_whole(words: list[str], data: st.DataObject) -> None:
    content = "".join(words).encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(content)), max_size=6)))
    pieces = [content[start:end] for start, end in pairwise([0, *cuts, len(content)])]
    blanks = Blanks(("value-17", "é\\"))
    whole = list(blanks.find((content,)))
    old, blanking.LONGEST_ESCAPE = blanking.LONGEST_ESCAPE, 40
    try:
        assert list(Blanks(("value-17", "é\\")).find(pieces)) == whole
    finally:
        blanking.LONGEST_ESCAPE = old


@given(st.text(alphabet='a\\u0041nx%25&amp;"é😀', max_size=60), st.data())
def test_a_stretch_of_decoded_bytes_leads_back_to_its_source(text: str, data: st.DataObject) -> None:
    content = text.encode()
    decoded = Decoded(content)
    start = data.draw(st.integers(0, len(decoded.content)))
    end = data.draw(st.integers(start, len(decoded.content)))
    first, last = decoded.source(start, end)
    if start < end:
        assert decoded.content[start:end] in Decoded(content[first:last]).content
    assert decoded.source(0, len(decoded.content)) == (0, len(content))
