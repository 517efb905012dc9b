"""Texts as words. Case and accents do not count; `read_file` is two words; in Chinese, Japanese and Korean each letter is one.

Arguments and results often hold JSON inside strings, where the word behind a line break reads `\\nword`. Escapes are read as
what they mean; a path such as `C:\\new` is also read literally.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

RULES = 2
"""Increase this if words are cut or stored differently, or other texts are indexed, so that all chains are indexed again."""
LONGEST_WORD = 64
"""The longest word, in characters; a longer one, as in base64, is cut."""
LONGEST_PHRASE = 16
"""The most words of a phrase that count; neighbouring blocks overlap by as many."""
AT_ONCE = 100_000
"""The number of characters that are cut into words together."""
_KEPT = "\\_"
"""Characters that belong to the following word."""
_EACH = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
"""Scripts without spaces between words."""
_ESCAPES = re.compile(r"\\+(?:u[0-9a-fA-F]{4}(?:\\+u[0-9a-fA-F]{4})*|[nrtbf])")
_UNITS = re.compile(r"u([0-9a-fA-F]{4})")
_RUNS = re.compile(r"[\x00-\x7f]+|[^\x00-\x7f]+")
"""Runs of ASCII, which needs no tables, and of other characters; most of a text with other letters is ASCII."""
_WRITTEN = re.compile(r"\\([nrtbfu]\w+)")
SPELLED = re.compile(rf"[^\W_{_EACH}]")
"""A letter of a word with several letters."""
WORD = re.compile(rf"[{_EACH}]|{SPELLED.pattern}+")


def folded(text: str) -> str:
    if text.isascii():
        return text.lower()
    return "".join(run.lower() if run.isascii() else _without_accents(run) for run in _RUNS.findall(text))


def _without_accents(text: str) -> str:
    letters = unicodedata.normalize("NFKD", text.casefold())
    # what is left of Hangul is its letters; they are put together again
    kept = "".join(letter for letter in letters if not unicodedata.combining(letter))
    return unicodedata.normalize("NFC", kept).casefold()


def meant(text: str) -> str:
    """Return the text with the escapes of JSON read as what they mean."""
    return _ESCAPES.sub(_escape, text) if "\\" in text else text


def _escape(found: re.Match[str]) -> str:
    units = _UNITS.findall(found[0])
    return bytes.fromhex("".join(units)).decode("utf-16-be", "replace") if units else " "


def words(text: str) -> list[str]:
    return [word[:LONGEST_WORD] for word in WORD.findall(folded(meant(text)))]


def words_as_written(text: str) -> Iterator[str]:
    """Yield the words that begin like an escape, as in `C:\\new`."""
    if "\\" in text:
        for found in _WRITTEN.finditer(text):
            yield from (word[:LONGEST_WORD] for word in WORD.findall(folded(found[1])))


def words_of_long(text: str) -> Iterator[list[str]]:
    """Yield the words of a text of any length, some at a time. It is cut behind a word, or after very many letters."""
    start = 0
    while start < len(text):
        end = start + AT_ONCE
        while end < min(len(text), start + 2 * AT_ONCE) and (text[end].isalnum() or text[end] in _KEPT):
            end += 1
        yield words(text[start:end])
        start = end
