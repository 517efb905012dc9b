"""Templates of tool-call ids, such as `call_{r:24:x}`: parse one, check ids against it, generate ids, and rename those of a chain.

`{r:N:C}` is N random characters of charset C, `{f}` is the function's name, and everything else is literal. Renaming needs only
shapes: it returns the new id of each call and result by index.
"""

from __future__ import annotations

import random
import re
import string
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

from chainviz.core.chain.messages import CallRef, Shape
from chainviz.core.chain.tree import BodyPair, ChainAST, match_results
from chainviz.core.errors import OptionsError, Refused

M = TypeVar("M", bound=Shape)

DEFAULT_TEMPLATE = "call_{r:24:x}"
SHORT_ID = re.compile(r"[a-zA-Z0-9]{9}")
"""The only ids that older models of Mistral accept."""
MOST_CHARACTERS = 256

_DIGITS, _LOWER, _UPPER = string.digits, string.ascii_lowercase, string.ascii_uppercase
CHARSETS: dict[str, tuple[str, str]] = {
    "d": (_DIGITS, "[0-9]"), "digit": (_DIGITS, "[0-9]"),
    "l": (_LOWER, "[a-z]"), "lower": (_LOWER, "[a-z]"),
    "u": (_UPPER, "[A-Z]"), "upper": (_UPPER, "[A-Z]"),
    "a": (_LOWER + _UPPER, "[a-zA-Z]"), "alpha": (_LOWER + _UPPER, "[a-zA-Z]"),
    "x": (_LOWER + _UPPER + _DIGITS, "[a-zA-Z0-9]"), "alnum": (_LOWER + _UPPER + _DIGITS, "[a-zA-Z0-9]"),
    "h": (_DIGITS + "abcdef", "[0-9a-f]"), "hex": (_DIGITS + "abcdef", "[0-9a-f]"),
    "H": (_DIGITS + "ABCDEF", "[0-9A-F]"), "HEX": (_DIGITS + "ABCDEF", "[0-9A-F]"),
    "b": (_DIGITS + _UPPER + _LOWER, "[0-9A-Za-z]"), "base62": (_DIGITS + _UPPER + _LOWER, "[0-9A-Za-z]"),
}  # fmt: skip
"""The characters of each charset, and their name in errors. x is alphanumeric, not hexadecimal."""

_TOKEN = re.compile(r"\{r:([0-9]+):(" + "|".join(sorted(CHARSETS, key=len, reverse=True)) + r")\}|\{f\}")
_NEARLY = re.compile(r"\{\s*[rR]\s*:[^{}]*\}|\{\s*[fF]\s*\}")


@dataclass(frozen=True, slots=True)
class Literal:
    text: str


@dataclass(frozen=True, slots=True)
class Random:
    count: int
    charset: str


@dataclass(frozen=True, slots=True)
class FunctionName:
    pass


Token = Literal | Random | FunctionName


@dataclass(frozen=True, slots=True)
class Mismatch:
    """The reason why an id does not follow a template. `position` is the first wrong byte, or -1 if the length is wrong."""

    position: int
    expected: str
    got: str
    text: str


@dataclass(frozen=True, slots=True)
class Template:
    tokens: tuple[Token, ...]

    def generate(self, source: random.Random, name: str = "") -> str:
        return "".join(_spell(token, source, name) for token in self.tokens)

    def accepts(self, id: str, name: str = "") -> bool:
        return self.mismatch(id, name) is None

    def capacity(self, name: str = "") -> int:
        """Return the number of different ids that the template can make for one function."""
        size = 1
        for token in self.tokens:
            if isinstance(token, Random):
                size *= len(CHARSETS[token.charset][0]) ** token.count
        return size

    def mismatch(self, id: str, name: str = "") -> Mismatch | None:
        given = id.encode("utf-8", "surrogatepass")
        wanted = list(_expected_bytes(self.tokens, name))
        if len(given) != len(wanted):
            text = f"validation failed for '{id}': incorrect length: expected {len(wanted)}, got {len(given)}"
            return Mismatch(-1, f"length {len(wanted)}", f"length {len(given)}", text)
        for position, (byte, (allowed, expected)) in enumerate(zip(given, wanted, strict=True)):
            if byte not in allowed:
                got = chr(byte)
                text = f"validation failed for '{id}' at position {position}: expected {expected}, got '{got}': pattern mismatch"
                return Mismatch(position, expected, got, text)
        return None


def _spell(token: Token, source: random.Random, name: str) -> str:
    match token:
        case Literal(text):
            return text
        case Random(count, charset):
            return "".join(source.choices(CHARSETS[charset][0], k=count))
        case _:
            return name or "function"


def _expected_bytes(tokens: Iterable[Token], name: str) -> Iterator[tuple[bytes, str]]:
    """Yield the allowed bytes, and their name in errors, for each byte of a valid id."""
    for token in tokens:
        if isinstance(token, Random):
            characters, shown = CHARSETS[token.charset]
            yield from [(characters.encode(), f"character from charset {shown}")] * token.count
            continue
        text, shown = (token.text, "") if isinstance(token, Literal) else (name or "function", "function name ")
        for byte in text.encode("utf-8", "surrogatepass"):
            yield bytes([byte]), f"{shown}'{text}'"


def parse_template(text: str, *, least: int = 1, lenient: bool = False) -> Template:
    """Parse a template. Raises OptionsError if a count is out of range or a placeholder is misspelt.

    `lenient` reads misspelt placeholders as literals, and `least=0` allows empty ones; PentAGI does both.
    """
    tokens: list[Token] = []
    place = 0
    for found in _TOKEN.finditer(text):
        tokens.append(_literal(text[place : found.start()], lenient))
        count, charset = found.groups()
        if charset is None:
            tokens.append(FunctionName())
        else:
            tokens.append(Random(_count(count, least), charset))
        place = found.end()
    tokens.append(_literal(text[place:], lenient))
    return Template(tuple(token for token in tokens if token != Literal("")))


def _literal(text: str, lenient: bool) -> Literal:
    odd = None if lenient else _NEARLY.search(text)
    if odd:
        raise OptionsError(
            f"The id template has “{odd[0][:40]}”, which is not a placeholder; write {{f}} or {{r:N:C}} "
            f"with a count and one of the charsets {', '.join(CHARSETS)}."
        )
    return Literal(text)


def _count(digits: str, least: int) -> int:
    if len(digits) > 4 or not least <= int(digits) <= MOST_CHARACTERS:
        raise OptionsError(f"The id template asks for {digits[:12]} random characters; a placeholder has {least} to {MOST_CHARACTERS}.")
    return int(digits)


@dataclass(frozen=True, slots=True)
class Renaming:
    """A new id for one call or result: part `part` of message `message` (index in the flat list)."""

    message: int
    part: int
    old: str
    new: str


def renamings(tree: ChainAST[M], template: Template, source: random.Random, *, unique: bool = False) -> Iterator[Renaming]:
    """Yield new ids for calls whose id does not follow the template, or repeats within its pair (with `unique`: within the chain).

    Results are renamed with their call by position, so a repeated id never moves a result to another call. New ids avoid all ids
    of the chain. A template with too few ids repeats them across pairs. Raises Refused if it has too few for one pair.
    """
    everywhere = {call.id for _, pair in tree.pairs() if pair.ai is not None for call in pair.ai.calls}
    taken: set[str] = set()
    index = 0
    for section in tree.sections:
        index += len(section.header)
        for pair in section.body:
            if not unique:
                taken = set()
            for call, result, new in _pair_ids(pair, template, source, taken, everywhere):
                yield Renaming(index, call.part, call.id, new)
                if result is not None:
                    yield Renaming(index + 1 + result[0], result[1].part, call.id, new)
            index += len(pair.rest) + (pair.ai is not None)


def _pair_ids(
    pair: BodyPair[M], template: Template, source: random.Random, taken: set[str], everywhere: set[str]
) -> list[tuple[CallRef, tuple[int, CallRef] | None, str]]:
    """Return the calls of a pair that need a new id, each with its result and the new id. Adds the ids to `taken` and
    `everywhere`."""
    if pair.ai is None or not pair.ai.calls:
        return []
    waiting = []
    for call, result in match_results(pair):
        if call.id not in taken and template.accepts(call.id, call.name):
            taken.add(call.id)
        else:
            waiting.append((call, result))
    changed = []
    for call, result in waiting:
        new = _fresh(template, source, call.name, taken, everywhere)
        taken.add(new)
        everywhere.add(new)
        changed.append((call, result, new))
    return changed


def _fresh(template: Template, source: random.Random, name: str, forbidden: set[str], avoided: set[str]) -> str:
    """Return an id that is not in `forbidden` and, as long as the template has one, not in `avoided`."""
    if template.capacity(name) <= 2 * (len(forbidden) + len(avoided)):
        return _fresh_of_few(template, source, name, forbidden, avoided)
    while True:
        id = template.generate(source, name)
        if id not in forbidden and id not in avoided:
            return id


def _fresh_of_few(template: Template, source: random.Random, name: str, forbidden: set[str], avoided: set[str]) -> str:
    every = _all_ids(template, name)
    free = [id for id in every if id not in forbidden]
    if not free:
        raise Refused(
            f"The id template makes only {len(every)} different ids for calls of {name or 'a tool'}, "
            "and one more is needed; use a template with more random characters."
        )
    return source.choice([id for id in free if id not in avoided] or free)


@lru_cache(maxsize=8)
def _all_ids(template: Template, name: str) -> list[str]:
    every = [""]
    for token in template.tokens:
        if isinstance(token, Random):
            characters = CHARSETS[token.charset][0]
            for _ in range(token.count):
                every = [id + character for id in every for character in characters]
        else:
            text = token.text if isinstance(token, Literal) else name or "function"
            every = [id + text for id in every]
    return every
