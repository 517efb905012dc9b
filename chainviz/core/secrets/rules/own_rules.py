"""Rules a person writes. They run on RE2 alone, whose time is linear: no pattern can stop the machine."""

from __future__ import annotations

import re
from typing import Any

from chainviz.core.errors import OptionsError
from chainviz.core.secrets.rules.rule import Rule

LONGEST = 1_000
MOST = 50
"""Patterns at once: each is a walk through the whole chain."""
MEMORY = 8 << 20
_SURROGATES = re.compile("[\ud800-\udfff]")
_EXPLAINED = (
    (("(?=", "(?!", "(?<=", "(?<!"), "look-around"),
    (("(?>", "(?P>", "(?R", "(?&", "(?("), "atomic groups, recursion and conditions"),
    (("(?P=", "(?#"), "back-references and comments"),
    (("*+", "++", "?+"), "possessive repetition"),
)


def own_rule(name: str, pattern: str, label: str = "") -> Rule:
    """OptionsError, in one sentence, where RE2 is absent or cannot take the pattern."""
    compiled = _compiled(pattern)
    return Rule(name, label or name, "own", compiled, value=compiled.value)


def own_rules(text: str) -> tuple[Rule, ...]:
    """A rule a line, named by its number; empty lines are none."""
    lines = [(number, line.rstrip("\r")) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if len(lines) > MOST:
        raise OptionsError(f"There are {len(lines):,} own patterns; at most {MOST} can be used at once.")
    return tuple(_of_line(number, line) for number, line in lines)


def _of_line(number: int, pattern: str) -> Rule:
    try:
        return own_rule(f"own-{number}", pattern, f"Own pattern {number}")
    except OptionsError as refused:
        raise OptionsError(f"Own pattern, line {number}: {refused}") from None


def _compiled(pattern: str) -> _Linear:
    if not pattern or len(pattern) > LONGEST:
        raise OptionsError(f"A rule needs a pattern of 1 to {LONGEST:,} characters.")
    try:
        import re2
    except ImportError:
        raise OptionsError("Own rules need RE2, which is not installed here: pip install google-re2.") from None
    options = re2.Options()
    options.log_errors = False
    options.max_mem = MEMORY
    try:
        compiled = re2.compile(pattern, options)
        empty = compiled.match("") is not None
    except re2.error as refused:
        raise OptionsError(_explained(pattern, refused)) from None
    except UnicodeEncodeError:
        raise OptionsError("The pattern contains half of a surrogate pair, which no text can match.") from None
    if empty:
        raise OptionsError(f"The pattern “{pattern[:60]}” matches the empty text, so it would be found everywhere.")
    return _Linear(compiled)


def _explained(pattern: str, refused: Exception) -> str:
    said = refused.args[0] if refused.args else ""
    reason = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
    for signs, name in _EXPLAINED:
        if any(sign in pattern for sign in signs):
            return f"The pattern cannot be used: RE2, which keeps searching fast, has no {name} ({reason})."
    if re.search(r"(?<!\\)(?:\\\\)*\\[1-9]", pattern):
        return f"The pattern cannot be used: RE2, which keeps searching fast, has no back-references ({reason})."
    return f"The pattern cannot be used: {reason}."


class _Linear:
    """RE2 refuses half surrogate pairs, which transcripts do hold; another character in their place keeps all offsets."""

    def __init__(self, compiled: Any) -> None:
        self._compiled = compiled
        # matches of RE2 know groups by number only
        self.value: int = compiled.groupindex.get("value", 0)

    def finditer(self, text: str, /) -> Any:
        found: Any = self._compiled.finditer(_SURROGATES.sub("\ufffd", text))
        return found
