"""JSON in action sections and in results."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from chainviz.core.documents.json.scan import SPACE, in_words
from chainviz.core.text_formats.line_index import LineIndex
from chainviz.core.toolchain.section_values import CallsError, Located

Decode = Callable[[str, int], tuple[Any, int]]
_GO_ESCAPED = re.compile("[<>&\u2028\u2029]")


def located_values(text: str, lines: LineIndex, *, floats: bool = False) -> Iterator[Located]:
    """The object, or the elements of the list; CallsError where the text stops being JSON.

    Integers keep their full length; with `floats` they become floats, as in Go.
    """
    decoder = json.JSONDecoder(parse_int=float if floats else None, parse_constant=_refuse)
    try:
        yield from _values(text, decoder.raw_decode)
    except json.JSONDecodeError as error:
        raise CallsError("invalid_json", in_words(error.msg), lines, error.pos) from None
    except RecursionError:
        raise CallsError("invalid_json", "values are nested too deep", lines, 0) from None
    except ValueError:
        raise CallsError("invalid_json", "a number is too long, or none that JSON has", lines, 0) from None


def _values(text: str, decode: Decode) -> Iterator[Located]:
    place = _skip_space(text, 0)
    if not text.startswith("[", place):
        value, end = decode(text, place)
        yield Located(value, place, end)
        _expect_end(text, end)
        return
    place = _skip_space(text, place + 1)
    goes_on = not text.startswith("]", place)
    while goes_on:
        value, end = decode(text, place)
        yield Located(value, place, end)
        place = _skip_space(text, end)
        goes_on = text.startswith(",", place)
        if goes_on:
            place = _skip_space(text, place + 1)
        elif not text.startswith("]", place):
            raise json.JSONDecodeError("Expecting ',' delimiter", text, place)
    _expect_end(text, place + 1)


def _skip_space(text: str, place: int) -> int:
    found = SPACE.match(text, place)
    return found.end() if found else place


def _expect_end(text: str, place: int) -> None:
    end = _skip_space(text, place)
    if end < len(text):
        raise json.JSONDecodeError("Extra data", text, end)


def _refuse(word: str) -> NoReturn:
    raise ValueError(word)


def to_json(value: Any, *, go_compatible: bool = False) -> str:
    """Compact JSON; ValueError, TypeError or RecursionError where the value has none.

    `go_compatible` escapes `<`, `>`, `&`, U+2028 and U+2029, as Go's json.Marshal does.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _GO_ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", text) if go_compatible else text
