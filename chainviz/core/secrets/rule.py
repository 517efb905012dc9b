"""The contract of a rule: a pattern as data, hints that make scanning fast, and a check for what a pattern cannot express, such as
checksums, randomness, or whether a value is only an example (`your-api-key`).
"""

from __future__ import annotations

import base64
import ipaddress
import math
import re
from collections import Counter
from collections.abc import Callable, Container, Iterator
from copy import copy
from dataclasses import dataclass, field
from typing import Literal, Protocol

Group = Literal["secret", "personal", "own"]


Found = re.Match[str]
"""The match that a check receives. RE2's matches have the same methods."""


class Pattern(Protocol):
    def finditer(self, text: str, /) -> Iterator[Found]: ...


def lower(text: str) -> str:
    """Return the text in lower case with all offsets unchanged: one letter would grow."""
    return text.replace("\u0130", "i").lower()


def sign_of(word: str) -> str:
    """Return the RE2 pattern that finds the word in a text in lower case."""
    return re.escape(lower(word))


class Anchored:
    """A pattern whose matches begin with one of a few words: finding the words first is many times faster."""

    def __init__(self, words: tuple[str, ...], pattern: str, *, ignore_case: bool = False, follow: str = "") -> None:
        """Compile the pattern. `follow` is the lower-case pattern of what comes after the word in every match; a word
        that is common in prose should have one."""
        self.words = words
        self._pattern = re.compile(pattern, re.ASCII | (re.IGNORECASE if ignore_case else 0))
        self._starts = [re.compile(re.escape(word) + follow, re.ASCII) for word in words]
        self._ignore_case = ignore_case

    def among(self, signs: Container[str]) -> Anchored:
        """Return the pattern for texts that contain none but these of its words. `signs` are the words as `Rule.signs` has them."""
        narrowed = copy(self)
        kept = [(word, start) for word, start in zip(self.words, self._starts, strict=True) if sign_of(word) in signs]
        narrowed.words, narrowed._starts = tuple(word for word, _ in kept), [start for _, start in kept]
        return narrowed

    def finditer(self, text: str, /) -> Iterator[Found]:
        searched = lower(text) if self._ignore_case else text
        for start in self._starts:
            at = start.search(searched)
            while at:
                found = self._pattern.match(text, at.start())
                if found:
                    yield found
                at = start.search(searched, found.end() if found else at.start() + 1)


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    name: str
    """The name of the rule. It must not change, because decisions and the audit log contain it."""
    label: str
    group: Group
    pattern: Pattern = field(repr=False)
    hints: tuple[str, ...] = ()
    """Every text with a match contains one of these; if empty, every text is searched."""
    near: str = field(default="", repr=False)
    """An RE2 pattern that every text with a match contains in lower case, for a form without words or with common ones."""
    check: Callable[[str, Found], bool] = field(default=lambda value, found: True, repr=False)
    value: str | int = 0
    """The group of the match that is the secret; 0 for the whole match."""
    head: int = 0
    """The number of characters at the start that a mask keeps: a public prefix."""
    tail: int = 0
    """The number of characters at the end that a mask keeps."""
    ignores_case: bool = False
    """True if values that differ only in upper and lower case are equal."""

    def same(self, value: str) -> str:
        """Return a text that is the same for equal values."""
        return value.casefold() if self.ignores_case else value

    @property
    def words(self) -> tuple[str, ...]:
        """Words of which every text with a match contains one, in upper or lower case; empty if none are known."""
        return self.pattern.words if isinstance(self.pattern, Anchored) else self.hints

    @property
    def signs(self) -> tuple[str, ...]:
        """RE2 patterns, in lower case, of which every text with a match contains one; empty if none are known."""
        return (self.near,) if self.near else tuple(map(sign_of, self.words))


_STANDS_FOR = re.compile(
    r"""(?ix) ^(?: [*x•.#_-]+ | <.*> | \[.*\] | \{.*\} | \$.* | %.*% | @.* | null | none | true | false | undefined | your.*
    | (?:.*[^a-z])? (?:your|example|placeholder|change[-_]?me|dummy|redacted|removed|insert|replace) (?:[^a-z].*)?
    | .*(?:xxxx|\.\.\.|…).*
    | (?:my|the|a|some|new|old|test|fake)?[-_]?(?:user|pass|password|passwd|pwd|secret|token|key|api[-_]?key|credentials?|string)
    )$"""
)
_CODE = re.compile(r"[a-z_][\w.]*\(|^[A-Za-z_]+(?:\.[A-Za-z_]+)+$|^(?:os|process|env|self|config|settings|secrets)\.", re.ASCII)


def stands_for_one(value: str) -> bool:
    """Return True for a placeholder of a secret, such as `<token>`, `$TOKEN`, `your-key-here` or `****`."""
    return bool(_STANDS_FOR.match(value)) or len(set(value)) < 3


def is_code(value: str) -> bool:
    """Return True for code that returns a secret, such as `getpass.getpass()` or `os.environ`."""
    return bool(_CODE.search(value))


def entropy(text: str) -> float:
    """Return the entropy in bits per character, by Shannon."""
    return -sum(n / len(text) * math.log2(n / len(text)) for n in Counter(text).values()) if text else 0.0


def is_real(value: str, found: Found) -> bool:
    return not stands_for_one(value)


def is_filled(value: str, found: Found) -> bool:
    """Return True for anything but placeholders of x and dots. Used if the form alone is proof enough."""
    return len(set(value)) > 8 and not re.search(r"(?i)xxxx|\.\.\.", value)


def is_random(value: str, found: Found) -> bool:
    """Return True for a key of letters and digits that no person would write."""
    return is_real(value, found) and _mixed(value) and entropy(value) >= 3.0


def is_assigned(value: str, found: Found) -> bool:
    """Could be a password: not code, not a word of a sentence, not a plain number."""
    if stands_for_one(value) or is_code(value):
        return False
    classes = sum(bool(re.search(kind, value)) for kind in ("[a-z]", "[A-Z]", "[0-9]", "[^A-Za-z0-9_.-]"))
    if not re.search("[A-Za-z]", value):
        return False
    return entropy(value) >= 2.5 and (classes >= 3 or (classes == 2 and bool(re.search("[0-9]", value))))


_ELEMENT_BEFORE = re.compile(r"(?:<|&lt;|\\u003c)(?:[\w.-]*:)?(?P<prefix>[\w.-]*)$", re.ASCII | re.IGNORECASE)


def is_element(value: str, found: Found) -> bool:
    """Return True for the content of an XML element whose name ends in this name: `<adminPassword>`, `<ns:token>`. A
    longer name of a token or key needs more proof, since many of them name something stored elsewhere."""
    before = _ELEMENT_BEFORE.search(found.string[max(0, found.start() - 60) : found.start()])
    if before is None:
        return False
    is_password = found["name"].lower().startswith(("pass", "pwd"))
    return is_real(value, found) if is_password or not before["prefix"] else is_assigned(value, found)


def is_login(value: str, found: Found) -> bool:
    """Return True for base64 of `name:password`."""
    try:
        name, colon, password = base64.b64decode(value, validate=True).decode("utf-8").partition(":")
    except ValueError:
        return False
    return bool(name and colon and len(password) >= 3 and password.isprintable())


def _mixed(value: str) -> bool:
    return bool(re.search("[0-9]", value)) and bool(re.search("[A-Za-z]", value))


def is_card(value: str, found: Found) -> bool:
    digits = re.sub(r"\D", "", value)
    return _issued(digits) and len(set(digits)) > 1 and luhn(digits)


def luhn(digits: str) -> bool:
    total = 0
    for place, digit in enumerate(reversed(digits)):
        number = int(digit) * (1 + place % 2)
        total += number - 9 if number > 9 else number
    return total % 10 == 0


_ISSUERS = re.compile(
    r"4\d{12}(?:\d{3}){0,2}|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|3[47]\d{13}"
    r"|6(?:011|5\d\d|4[4-9]\d)\d{12}|3(?:0[0-5]|[68]\d)\d{11}|35\d{14}|62\d{14,17}"
)


def _issued(digits: str) -> bool:
    return bool(_ISSUERS.fullmatch(digits))


_IBAN_LENGTHS = {
    "AD": 24, "AE": 23, "AT": 20, "BE": 16, "BG": 22, "CH": 21, "CY": 28, "CZ": 24, "DE": 22, "DK": 18, "EE": 20,
    "ES": 24, "FI": 18, "FR": 27, "GB": 22, "GR": 27, "HR": 21, "HU": 28, "IE": 22, "IL": 23, "IS": 26, "IT": 27,
    "LI": 21, "LT": 20, "LU": 20, "LV": 21, "MC": 27, "MT": 31, "NL": 18, "NO": 15, "PL": 28, "PT": 25, "RO": 24,
    "RS": 22, "SA": 24, "SE": 24, "SI": 19, "SK": 24, "SM": 27, "TR": 26, "UA": 29,
}  # fmt: skip


def is_iban(value: str, found: Found) -> bool:
    plain = value.replace(" ", "")
    if _IBAN_LENGTHS.get(plain[:2]) != len(plain):
        return False
    return int("".join(str(int(letter, 36)) for letter in plain[4:] + plain[:4])) % 97 == 1


def is_address(value: str, found: Found) -> bool:
    """Return True for an address of a machine, except this machine, a mask and a version number."""
    try:
        address = ipaddress.ip_address(value)
    except ValueError:
        return False
    before = found.string[max(0, found.start() - 10) : found.start()].lower()
    if re.search(r"(?:(?:version|ver\.?|v|==|>=|<=|~=)\s?|[a-z]/)$", before):
        return False
    return not (address.is_loopback or address.is_unspecified or address.is_multicast or value.startswith("255."))


def is_address_6(value: str, found: Found) -> bool:
    return value.count(":") >= 3 and any(letter.isdigit() for letter in value) and is_address(value, found)


def is_phone(value: str, found: Found) -> bool:
    digits = re.sub(r"\D", "", value)
    spaced = bool(re.search(r"\d[ .()-]+\d", value))
    return 8 <= len(digits) <= 15 and len(set(digits)) > 2 and (spaced or len(digits) >= 10)


_NOBODY = re.compile(r"(?i)^(?:git|noreply|no-reply)@|\.(?:png|jpe?g|gif|svg|webp|py|js|ts|css|local)$")


def is_mailbox(value: str, found: Found) -> bool:
    """Return True for the address of a person: not git@host, no placeholder, and not a file name that looks like one."""
    return not _NOBODY.search(value)
