"""Word lists: words and patterns that a person keeps under a name and looks for in many chains."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from chainviz.core.errors import OptionsError
from chainviz.core.secrets.rule import Rule

LONGEST_NAME = 60


@dataclass(frozen=True, slots=True)
class WordList:
    name: str
    """The name of the list; empty if it was typed into a form."""
    words: str = ""
    """Words, one a line; they match whole words in upper or lower case."""
    patterns: str = ""
    """The patterns in the syntax of RE2, one on each line."""

    def rules(self) -> tuple[Rule, ...]:
        """Raise OptionsError, in one sentence, for a word or a pattern that cannot be looked for."""
        if not self.name:
            return (*own_rules(self.patterns), *own_words("own-words", self.words, "Own word"))
        try:
            # one name for all: placeholders number the values of the list
            name = f"own-{re.sub('[^a-z0-9]+', '-', self.name.lower()).strip('-') or 'list'}"
            lines = [line for line in self.patterns.splitlines() if line.strip()]
            own_rules(self.patterns)
            patterns = tuple(own_rule(name, line, self.name) for line in lines)
            return (*patterns, *own_words(name, self.words, self.name))
        except OptionsError as refused:
            raise OptionsError(f"Word list “{self.name[:40]}”: {refused}") from None


def chosen_lists(names: Iterable[str], known: Mapping[str, WordList]) -> tuple[WordList, ...]:
    """Raise OptionsError for a name that no list has."""
    for name in names:
        if name not in known:
            there = f"there are {', '.join(sorted(known))}" if known else "there are none here"
            raise OptionsError(f"There is no word list “{name[:40]}”; {there}.")
    return tuple(known[name] for name in names)


def rules_of(lists: Iterable[WordList]) -> tuple[Rule, ...]:
    return tuple(rule for each in lists for rule in each.rules())


def packed(lists: Iterable[WordList]) -> str:
    """Return the lists as one text, for the arguments of a job; empty if there is nothing to search for."""
    rows = [[each.name, each.words, each.patterns] for each in lists if each.words.strip() or each.patterns.strip()]
    return json.dumps(rows) if rows else ""


def unpacked(text: str) -> tuple[WordList, ...]:
    """Raise OptionsError for what `packed` did not make."""
    try:
        rows = json.loads(text) if text else []
        lists = tuple(WordList(*row) for row in rows)
    except (ValueError, TypeError, RecursionError):
        raise OptionsError("The word lists cannot be read.") from None
    if any(not isinstance(each, str) for row in rows for each in row):
        raise OptionsError("The word lists cannot be read.")
    return lists


# Rules that a person writes run on RE2 alone, whose time is linear: no pattern can stop the machine.


LONGEST_RULE = 1_000
MOST_RULES = 50
"""The most patterns at once, since each searches the whole chain."""
MEMORY = 8 << 20
_SURROGATES = re.compile("[\ud800-\udfff]")
_EXPLAINED = (
    (("(?=", "(?!", "(?<=", "(?<!"), "look-around"),
    (("(?>", "(?P>", "(?R", "(?&", "(?("), "atomic groups, recursion and conditions"),
    (("(?P=", "(?#"), "back-references and comments"),
    (("*+", "++", "?+"), "possessive repetition"),
)


def own_rule(name: str, pattern: str, label: str = "") -> Rule:
    """Return the rule of a pattern. Raises OptionsError, with one sentence, if RE2 is missing or refuses the pattern."""
    compiled = _compile_rule(pattern)
    return Rule(name, label or name, "own", compiled, value=compiled.value)


def own_rules(text: str) -> tuple[Rule, ...]:
    """Read rules of a person, one a line and named by its number. Empty lines are skipped."""
    lines = [(number, line.rstrip("\r")) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if len(lines) > MOST_RULES:
        raise OptionsError(f"There are {len(lines):,} own patterns; at most {MOST_RULES} can be used at once.")
    return tuple(_of_line(number, line) for number, line in lines)


def _of_line(number: int, pattern: str) -> Rule:
    try:
        return own_rule(f"own-{number}", pattern, f"Own pattern {number}")
    except OptionsError as refused:
        raise OptionsError(f"Own pattern, line {number}: {refused}") from None


def _compile_rule(pattern: str) -> _Linear:
    if not pattern or len(pattern) > LONGEST_RULE:
        raise OptionsError(f"A rule needs a pattern of 1 to {LONGEST_RULE:,} characters.")
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
    """A pattern of RE2 that accepts half surrogate pairs, which transcripts contain: another character in their place
    keeps all offsets."""

    def __init__(self, compiled: Any) -> None:
        self._compiled = compiled
        # matches of RE2 know groups by number only
        self.value: int = compiled.groupindex.get("value", 0)

    def finditer(self, text: str, /) -> Any:
        found: Any = self._compiled.finditer(_SURROGATES.sub("\ufffd", text))
        return found


# RE2 finds where the first word of each entry begins; the text there is compared with the entries, the longest first.
# So the time does not grow with their number. Case is ignored.


MOST_WORDS = 2_000
"""The most words of a list."""
LONGEST_WORD = 200
_TOKEN = re.compile(r"[^\W_]+")


def words_in(text: str) -> tuple[str, ...]:
    """Return the words of a list, one a line, each once. Raises OptionsError, with one sentence, for a word that cannot
    be searched."""
    words = tuple(dict.fromkeys(" ".join(line.split()) for line in text.splitlines() if line.strip()))
    if len(words) > MOST_WORDS:
        raise OptionsError(f"There are {len(words):,} words; one list has at most {MOST_WORDS:,}.")
    for word in words:
        if len(word) > LONGEST_WORD:
            raise OptionsError(f"A word has at most {LONGEST_WORD} characters; “{word[:40]}…” is longer.")
        if len(_TOKEN.sub("", word)) == len(word) or len(word) < 2:
            raise OptionsError(f"“{word[:40]}” has too few letters or digits to search for.")
    return words


def own_words(name: str, text: str, label: str = "") -> tuple[Rule, ...]:
    """Return one rule for all words of a text; none if it has no words. Raises OptionsError."""
    words = words_in(text)
    return (Rule(name, label or name, "own", _Words(words), ignores_case=True),) if words else ()  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class _Span:
    """The members of a match that scanning needs."""

    start: int
    end: int

    def span(self, group: str | int = 0) -> tuple[int, int]:
        return self.start, self.end


class _Words:
    def __init__(self, words: tuple[str, ...]) -> None:
        self._by_token: dict[str, list[tuple[int, str]]] = defaultdict(list)
        """By the first run of letters and digits of a word: its offset in the word, and the word."""
        for word in sorted(words, key=len, reverse=True):
            first = _TOKEN.search(word)
            assert first is not None
            self._by_token[first[0].casefold()].append((first.start(), word.casefold()))
        self._begins = _compile_words(self._by_token)

    def finditer(self, text: str, /) -> Iterator[_Span]:
        end = 0
        for found in self._begins.finditer(_SURROGATES.sub("\ufffd", text)):
            token = _TOKEN.match(text, found.start(1))
            if token is None or token.start() < end:
                continue
            for before, word in self._by_token.get(token[0].casefold(), ()):
                start = token.start() - before
                stop = start + len(word)
                if start >= end and text[start:stop].casefold() == word and not _is_inside(text, stop):
                    yield _Span(start, stop)
                    end = stop
                    break


def _is_inside(text: str, place: int) -> bool:
    """Return True if a run of letters and digits continues across a place."""
    return 0 < place < len(text) and text[place - 1].isalnum() and text[place].isalnum()


def _compile_words(tokens: Any) -> Any:
    """Compile a pattern that finds tokens at the beginning of a run of letters and digits, since a short one is inside
    of many."""
    words = "|".join(map(re.escape, sorted(tokens)))
    try:
        import re2
    except ImportError:
        return re.compile(rf"(?i)(?<![^\W_])({words})")
    options = re2.Options()
    options.log_errors = False
    options.max_mem = MEMORY * 8
    return re2.compile(rf"(?i)(?:^|[^\pL\pN])({words})", options)
