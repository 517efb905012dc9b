"""Read the error message that a person pastes: which rules say the same, and what it names.

The message is taken out of JSON, of what an SDK prints and of lines of logs. A rule's sentence is recognised in any text by its
words alone: they follow one another, with anything in place of each variable; numbers, signs and steps of a path such as
`messages.3.content.0` are passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from html import unescape
from itertools import islice
from typing import Any

from chainviz.core.dialects.api_errors import error_in
from chainviz.core.documents.wrapped.values import SearchEnded, read_json, values_in
from chainviz.core.formats.vendors import PROVIDERS, SERVERS, WORDINGS
from chainviz.core.providers.contract import UNKNOWN_MEMBER

_WORD = re.compile(r"[A-Za-z_]+")
_STEPS = re.compile(
    r"\b\w+(?:\.?\[(?:\d+|\{\w+\})\]|\.(?:\d+|\{\w+\})(?![\w-]))\.?|\b(?:messages|contents|content|parts|input|body)\.(?=[A-Za-z_{])"
)
"""Steps of a path with an index, and names of lists before a further step."""
_PREFIX = re.compile(r"\A[\w.\[\]{}'’`]+:\s+")
_PIECES = re.compile(r"[^\s,'\"`“”‘’()\[\]{}<>]+")
_SENTENCE_END = re.compile(r"\.\s|\n")
_IDS = frozenset(("id", "ids", "call_id", "item_id"))
"""Names of variables that stand for ids."""
FEWEST_LETTERS = 10
"""A shorter sentence is not used to recognise errors."""
TRUNCATED_AFTER = 8
"""The number of words after which a sentence may be cut off at the end of the text."""


@dataclass(frozen=True)
class Words:
    """A text as its words in lower case."""

    text: str

    @cached_property
    def _matches_of_words(self) -> list[re.Match[str]]:
        return list(_WORD.finditer(_without_steps(self.text)))

    @cached_property
    def words(self) -> tuple[str, ...]:
        return tuple(word[0].lower() for word in self._matches_of_words)

    @cached_property
    def places(self) -> Mapping[str, Sequence[int]]:
        """The places of each word."""
        places: dict[str, list[int]] = {}
        for place, word in enumerate(self.words):
            places.setdefault(word, []).append(place)
        return places

    def between(self, first: int, last: int) -> str:
        """Return the text after the word before `first`, up to the word `last`."""
        start = self._matches_of_words[first - 1].end() if first else 0
        return self.text[start : self._matches_of_words[last].start() if last < len(self._matches_of_words) else None]

    def behind(self, last: int) -> str:
        """Return the text after a word, up to the end of its sentence."""
        return _SENTENCE_END.split(self.text[self._matches_of_words[last].end() :], maxsplit=1)[0]


@dataclass(frozen=True, slots=True)
class Match:
    score: int
    """The number of words of the sentence that were found."""
    ids: tuple[str, ...]
    """Ids in place of its variables."""


@dataclass(frozen=True)
class Sentence:
    """A sentence with variables such as `{id}`."""

    says: str

    @cached_property
    def _prefix(self) -> tuple[str, ...]:
        found = _PREFIX.match(self.says)
        return Words(found[0]).words if found else ()

    @cached_property
    def _texts(self) -> list[str]:
        """Return the texts between the variables and the names of the variables, in turn."""
        return re.split(r"\{([a-z_]+)\}", _without_steps(_PREFIX.sub("", self.says, count=1)))

    @cached_property
    def _steps(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The words between variables, each with the name of the variable in front of them."""
        texts = ["", *self._texts]
        named = [(texts[place], Words(texts[place + 1]).words) for place in range(0, len(texts), 2)]
        return tuple((name, words) for name, words in named if words)

    @property
    def can_tell(self) -> bool:
        """True if it is long enough to recognise anything."""
        return sum(len(word) for _, words in self._steps for word in words) >= FEWEST_LETTERS

    def match(self, text: Words) -> Match | None:
        """Return the range of the sentence in the text, or None if it is not there."""
        starts = text.places.get(self._steps[0][1][0], ()) if self._steps else ()
        return next((found for start in starts if (found := self._match_at(text, start))), None)

    def _match_at(self, text: Words, start: int) -> Match | None:
        place, score = start, 0
        ids: list[str] = []
        for number, (variable, words) in enumerate(self._steps):
            begin = _place_of(words, text, place) if number else start
            size = _common(words, text.words, begin)
            ids += _ids(variable, text.between(place, begin)) if number else []
            place, score = begin + size, score + size
            if size < len(words):
                if place < len(text.words) or score < TRUNCATED_AFTER:
                    return None
                break
        if len(self._texts) > 1 and not self._texts[-1].strip(" .'\"`"):
            ids += _ids(self._texts[-2], text.behind(place - 1))
        if self._prefix and text.words[max(0, start - len(self._prefix)) : start] == self._prefix:
            score += len(self._prefix)
        return Match(score, tuple(ids))


def _ids(variable: str, written: str) -> list[str]:
    """Return the ids that a text has in place of a variable for an id or a list of ids."""
    if variable not in _IDS:
        return []
    pieces = [piece.strip(".:;") for piece in _PIECES.findall(written)]
    found = [piece for piece in pieces if piece]
    return found if variable == "ids" else found[:1]


def _without_steps(text: str) -> str:
    """Return the text with spaces in place of steps of paths, so that places stay."""
    return _STEPS.sub(lambda found: " " * len(found[0]), text)


def _place_of(words: Sequence[str], text: Words, start: int) -> int:
    """Return the position of the words from `start` on: of all words, or of as many as the text has. Return its end if
    they are missing."""
    for place in text.places.get(words[0], ()):
        if place >= start and (size := _common(words, text.words, place)) in (len(words), len(text.words) - place):
            return place if size else len(text.words)
    return len(text.words)


def _common(expected: Sequence[str], words: Sequence[str], start: int) -> int:
    """Return how many of the expected words follow one another from `start` on."""
    pairs = zip(expected, words[start : start + len(expected)], strict=False)
    return next((size for size, (one, other) in enumerate(pairs) if one != other), min(len(expected), len(words) - start))


MOST = 20_000
"""The number of characters of a pasted text that are searched."""
SURE = 4
"""The number of words of a sentence that distinguish an error of an API from other text."""


@dataclass(frozen=True, slots=True)
class KnownSentence:
    """A sentence of one API, and the rule that says it."""

    sentence: Sentence
    provider: str
    rule: str
    unseen: tuple[str, ...] = ()
    """Fixes of the message that the error names, for a cause that no rule can see in the chain."""


@dataclass(frozen=True, slots=True)
class ErrorMessage:
    """The content of a pasted message."""

    text: str
    """The API's own words, without what was around them."""
    known: tuple[KnownSentence, ...]
    """The sentences that it contains, the longest first; empty for an unknown message."""
    ids: tuple[str, ...]
    """Ids of calls and items in the message."""
    message: int | None
    """Index of the message of the request that the error names, from 0."""
    part: int | None
    """Index of the part in that message."""
    is_sure: bool = False
    """True if it is certainly a known error, and not a text with a few of its words."""
    looks_like_error: bool = False
    """True if the text has words of an error, known or not."""
    looks_like_ids: tuple[str, ...] = ()
    """Other words that may be ids; those that occur in the chain are."""

    @property
    def providers(self) -> tuple[str, ...]:
        """Names of the providers with this wording, the likeliest first."""
        return tuple(dict.fromkeys(each.provider for each in self.known))

    @property
    def rules(self) -> tuple[str, ...]:
        """Ids of the rules that say the same, the likeliest first."""
        return tuple(dict.fromkeys(each.rule for each in self.known))

    @property
    def unseen(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(fix for each in self.known for fix in each.unseen))


@cache
def known_sentences() -> tuple[KnownSentence, ...]:
    """Return every sentence that a rule of a provider quotes, and further wordings."""
    rules = [(provider.name, rule) for provider in (*PROVIDERS, *SERVERS) for rule in provider.all_rules if rule.says]
    own = dict.fromkeys(KnownSentence(Sentence(rule.says), name, rule.id) for name, rule in rules)
    every = ((provider, rule) for provider in (*PROVIDERS, *SERVERS) for rule in (*provider.all_rules, UNKNOWN_MEMBER))
    ids = {(provider.name, rule.id) for provider, rule in every}
    others = [
        KnownSentence(Sentence(wording.says), provider, rule, wording.unseen)
        for wording in WORDINGS
        for rule in wording.rules
        for provider in wording.providers
        if (provider, rule) in ids
    ]
    return tuple(each for each in (*own, *others) if each.sentence.can_tell)


_PLACES = (
    r"\bmessages\.?\[(\d+)\](?:\.content\[(\d+)\])?",
    r"\bmessages\.(\d+)(?!\.member)(?:\.content\.(\d+))?",
    r"\binput\[(\d+)\](?:\.content\[(\d+)\])?",
    r"\binput\.(\d+)(?:\.content\.(\d+))?",
    r"\bcontents\[(\d+)\](?:\.parts\[(\d+)\])?",
    r"\bcontents\.(\d+)(?:\.parts\.(\d+))?",
    r"[\"']messages[\"'], ?(\d+)(?:, ?[\"']\w+[\"'])?(?:, ?[\"']content[\"'], ?(\d+))?",
    r"\bmessage (?:at )?(?:index|position) (\d+)()",
)
_PLACES_FROM_1 = (r"\bposition (\d+)\b", r"\b(\d+)\. content block", r"\bmessages\.(\d+)\.member\b")
"""Gemini counts the turns of a request from 1, and so do the constraints of Amazon's APIs."""
_NAMED = re.compile(r"(?:with id|with call_id|for function call|for tool call)\W+([^\s'\"`,]+[^\s'\"`,.])")
_ID = re.compile(r"[A-Za-z0-9_][\w:|./@-]*\w")
_NO_ID = re.compile(r"\d{4}-\d\d-\d\d|0x|https?:|req_|\d+[a-z]{1,2}$|\w+\.\d+(?:\.|$)|a-z", re.IGNORECASE)
"""Dates, addresses, ids of requests, paths and patterns."""
_ERROR = re.compile(r"error|exception|\b[45]\d\d\b", re.IGNORECASE)
SHORTEST_ID = 5
SHORTEST_HASH = 8


def read_error(pasted: str) -> ErrorMessage:
    """Read a pasted text: the message alone, the JSON of the response, the output of an SDK, or a line of a log that
    contains it."""
    plain = plain_text(pasted[:MOST])
    text = message_in(pasted[:MOST])
    found = _matches(text) or _matches(plain)
    message, part = next((place for each in (text, plain) for place in _places_in(each)), (None, None))
    named = dict.fromkeys([id for _, match in found for id in match.ids] or _NAMED.findall(plain))
    score = found[0][1].score if found else 0
    looks_like_error = message is not None or _ERROR.search(plain) is not None
    is_sure = score >= SURE or (score > 0 and looks_like_error)
    known = tuple(each for each, match in found if 2 * match.score > score)
    return ErrorMessage(text, known, tuple(named), message, part, is_sure, looks_like_error, tuple(_like_ids(plain)))


def _matches(plain: str) -> list[tuple[KnownSentence, Match]]:
    """Return the sentences in a text, the longest first."""
    words = Words(plain)
    found = [(each, match) for each in known_sentences() if (match := each.sentence.match(words)) is not None]
    return sorted(found, key=lambda pair: (-pair[1].score, _ranks().get((pair[0].provider, pair[0].rule), (0, 0))))


@cache
def _ranks() -> dict[tuple[str, str], tuple[int, int]]:
    """Return the rank of each provider and rule among those that a wording may mean; 0 is the most likely."""
    return {
        (provider, rule): (place, rank)
        for wording in reversed(WORDINGS)
        for place, provider in enumerate(wording.providers)
        for rank, rule in enumerate(wording.rules)
    }


def _places_in(text: str) -> Iterator[tuple[int, int | None]]:
    for pattern in _PLACES:
        found = re.search(pattern, text, re.IGNORECASE)
        if found:
            yield int(found[1][:9]), int(found[2][:9]) if found[2] else None
    for pattern in _PLACES_FROM_1:
        found = re.search(pattern, text)
        if found and int(found[1][:9]):
            yield int(found[1][:9]) - 1, None


def _like_ids(text: str) -> Iterator[str]:
    """Return words with letters and digits that may be ids, each once: those with a character that names of models and
    versions do not have, or with a part as long as a hash."""
    for word in dict.fromkeys(found[0].rstrip(".:/|-") for found in _ID.finditer(text)):
        has_sign = any(sign in word for sign in "_:|")
        is_mixed = _has_both(word) and (has_sign or any(len(part) >= SHORTEST_HASH and _has_both(part) for part in re.split("[-.]", word)))
        if is_mixed and len(word) >= SHORTEST_ID and not _NO_ID.match(word):
            yield word


def _has_both(word: str) -> bool:
    return any(map(str.isdigit, word)) and any(map(str.isalpha, word))


_COLOURS = re.compile(r"(?:\x1b|\\u001b|\\x1b|\\033|\\e)\[[0-9;]*[A-Za-z]", re.IGNORECASE)
_CODES = re.compile(r"\\+u00([2-7][0-9a-f])", re.IGNORECASE)
"""Characters that .NET and Go escape in JSON."""
_SPACES = re.compile(r"\\+[nrt]")
_QUOTES = re.compile(r"\\+(?=[\"'/`])")
_HOLDERS = ("message", "responseBody", "body", "response", "data", "exception", "msg", "detail", "text")
"""Members in which SDKs and logs store the answer of an API."""
MOST_LEVELS = 6
MOST_VALUES = 8


def plain_text(pasted: str) -> str:
    """Return the text without colours of a terminal, and without escapes of HTML and of strings inside strings."""
    spelled = _CODES.sub(lambda found: chr(int(found[1], 16)), unescape(_COLOURS.sub("", pasted)))
    return _QUOTES.sub("", _SPACES.sub(" ", spelled))


def message_in(pasted: str) -> str:
    """Return the API's own sentence, or the whole text in one line if it contains no JSON with one."""
    plain = plain_text(pasted)
    found = (next(_messages_in(text, MOST_LEVELS), "") for text in (_COLOURS.sub("", pasted), plain))
    return " ".join(next(filter(None, found), plain).split())


def _messages_in(text: str, levels: int) -> Iterator[str]:
    """Yield the messages of the errors in a text, the deepest message of each first."""
    with suppress(SearchEnded):
        for _, value in islice(values_in(text), MOST_VALUES) if levels else ():
            for message in _messages_of(read_json(value)):
                yield next(_messages_in(message, levels - 1), message)


def _messages_of(value: Any) -> Iterator[str]:
    """Yield the message of an error, or that of an object in which an SDK or a log keeps it as text."""
    error = error_in(value)
    if error is not None and error.message:
        yield error.message
    elif isinstance(value, dict):
        texts = (each for key in _HOLDERS if (each := value.get(key)))
        for each in texts:
            if isinstance(each, str):
                yield each
            else:
                yield from _messages_of(each)
