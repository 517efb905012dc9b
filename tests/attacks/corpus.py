"""The hostile strings: those written by hand in strings.json and those made here, dealt into rounds that hold some of each kind.

In a string RUN stands for JavaScript that reports itself, with the string's number, and SINK for the host of another origin.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from itertools import chain, product, zip_longest
from pathlib import Path

WRITTEN: dict[str, list[str]] = json.loads((Path(__file__).parent / "strings.json").read_text(encoding="utf-8"))
"""By context."""
IN_A_ROUND = 30
IS_TORTURE = bool(os.environ.get("CHAINVIZ_TEST_TORTURE"))

TAGS = ("img src=x", "svg", "video src=x", "input autofocus", "details open", "body", "x tabindex=0 autofocus", "iframe")
HANDLERS = ("onerror", "onload", "onfocus", "ontoggle", "onpointerover", "onanimationend")
SCHEMES = ("javascript", "data", "vbscript")
INSIDE = ("\t", "\n", "\r", "\0", "\x01", "\x0b", "\xad", "\u200b", "\u202e", "\ufeff", "&#9;", "&NewLine;", "%0a", "\\")
SPELLINGS = ("<", "&lt;", "&LT", "&#60;", "&#x3c;", "&#0000060", "%3C", "%253C", "\\x3c", "\\u003c", "＜", "\xc0\xbc", "\udcc0\udcbc")
INVISIBLE = [*range(0x20), *range(0x7F, 0xA0), 0xAD, *range(0x200B, 0x2010), *range(0x2028, 0x202F), *range(0x2066, 0x206A), 0xFEFF]


def generated() -> dict[str, list[str]]:
    """By context, as strings.json."""
    return {
        "tag and handler": [f"<{tag} {handler}=RUN>" for tag, handler in product(TAGS, HANDLERS)],
        "hidden scheme": [f"[x]({each[:4]}{sign}{each[4:]}:RUN)" for each, sign in product(SCHEMES, INSIDE)],
        "spelling": [f"{sign}script>RUN{sign}/script>" for sign in SPELLINGS[1:]],
        "control character": [f"a{chr(code)}b<img{chr(code)}src=x{chr(code)}onerror=RUN>" for code in INVISIBLE],
        "length": list(_long()),
    }


def _long() -> Iterator[str]:
    yield "A" * 20_000
    yield "<b>" * 3_000
    yield "[" * 3_000 + "x](javascript:RUN)"
    yield "> " * 2_000 + "<img src=x onerror=RUN>"
    yield "*_" * 3_000
    yield "```\n" * 2_001 + "<script>RUN</script>"
    yield "&lt;" * 3_000
    yield '{"a":' * 900 + "1" + "}" * 900
    yield "\u202e" * 500 + "x"
    yield "e" + "\u0301" * 2_000


def strings() -> dict[str, list[str]]:
    """All of them by context."""
    return {**WRITTEN, **generated()}


def everything() -> list[str]:
    """All of them, one of each context after the other: the number of a string is its place here."""
    dealt: Iterable[str | None] = chain.from_iterable(zip_longest(*strings().values()))
    return list(dict.fromkeys(each for each in dealt if each is not None))


def rounds() -> list[range]:
    """The numbers of the strings that are stored together; only the first round unless this is torture."""
    last = len(everything()) if IS_TORTURE else IN_A_ROUND
    return [range(start, min(start + IN_A_ROUND, last)) for start in range(0, last, IN_A_ROUND)]


def armed(numbers: Iterable[int], sink: str) -> list[str]:
    """The strings as they are stored. `sink`: host and port of the other origin."""
    every = everything()
    return [every[number].replace("RUN", f"pwned({number})").replace("SINK", sink) for number in numbers]
