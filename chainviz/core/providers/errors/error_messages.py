"""A message with which an API refused a chain, as people paste it: which rules say the same, and what it names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from chainviz.core.providers import PROVIDERS
from chainviz.core.providers.errors.pasted_text import message_in, plain_text
from chainviz.core.providers.errors.sentences import Match, Sentence, Words
from chainviz.core.providers.errors.wordings import WORDINGS

MOST = 20_000
"""Characters of a pasted text that are looked at."""
SURE = 4
"""Words of a sentence that tell an error of an API from other text."""


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
    """What a pasted message says."""

    text: str
    """The API's own words, without what was around them."""
    known: tuple[KnownSentence, ...]
    """The sentences that it holds, the longest first; empty for a message that is not known."""
    ids: tuple[str, ...]
    """Ids of calls and items that it names."""
    message: int | None
    """Index of the message in the request that it names, from 0."""
    part: int | None
    """Index of the part in that message."""
    is_sure: bool = False
    """Whether it is certainly a known error, and not a text with a few of its words."""
    looks_like_error: bool = False
    """Whether the text has words of an error, known or not."""
    looks_like_ids: tuple[str, ...] = ()
    """Other words that may be ids; one that is in a chain is."""

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
    """Every sentence that a rule of a provider quotes, and further wordings."""
    rules = [(provider.name, rule) for provider in PROVIDERS for rule in provider.all_rules if rule.says]
    own = dict.fromkeys(KnownSentence(Sentence(rule.says), name, rule.id) for name, rule in rules)
    ids = {(name, rule.id) for name, rule in rules}
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
    r"\bmessages\.(\d+)(?:\.content\.(\d+))?",
    r"\binput\[(\d+)\](?:\.content\[(\d+)\])?",
    r"\binput\.(\d+)(?:\.content\.(\d+))?",
    r"\bcontents\[(\d+)\](?:\.parts\[(\d+)\])?",
    r"\bcontents\.(\d+)(?:\.parts\.(\d+))?",
    r"[\"']messages[\"'], ?(\d+)(?:, ?[\"']\w+[\"'])?(?:, ?[\"']content[\"'], ?(\d+))?",
    r"\bmessage (?:at )?index (\d+)()",
)
_PLACES_FROM_1 = (r"\bposition (\d+)\b", r"\b(\d+)\. content block")
"""Gemini counts the turns of a request from 1."""
_NAMED = re.compile(r"(?:with id|with call_id|for function call|for tool call)\W+([^\s'\"`,]+[^\s'\"`,.])")
_ID = re.compile(r"[A-Za-z0-9_][\w:|./@-]*\w")
_NO_ID = re.compile(r"\d{4}-\d\d-\d\d|0x|https?:|req_|\d+[a-z]{1,2}$|\w+\.\d+(?:\.|$)|a-z", re.IGNORECASE)
"""Dates, addresses, ids of requests, paths and patterns."""
_ERROR = re.compile(r"error|exception|\b[45]\d\d\b", re.IGNORECASE)
SHORTEST_ID = 5
SHORTEST_HASH = 8


def read_error(pasted: str) -> ErrorMessage:
    """`pasted`: the message alone, the JSON of the response, what an SDK prints, or a line of a log that holds it."""
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
    """The sentences in a text, the longest first."""
    words = Words(plain)
    found = [(each, match) for each in known_sentences() if (match := each.sentence.match(words)) is not None]
    return sorted(found, key=lambda pair: (-pair[1].score, _ranks().get((pair[0].provider, pair[0].rule), (0, 0))))


@cache
def _ranks() -> dict[tuple[str, str], tuple[int, int]]:
    """How likely each provider and rule is among those that a wording may mean, from 0."""
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
    """Words with letters and digits that may be ids, each once: those with a sign that names of models and versions do not have, or with
    a part as long as a hash."""
    for word in dict.fromkeys(found[0].rstrip(".:/|-") for found in _ID.finditer(text)):
        has_sign = any(sign in word for sign in "_:|")
        is_mixed = _has_both(word) and (has_sign or any(len(part) >= SHORTEST_HASH and _has_both(part) for part in re.split("[-.]", word)))
        if is_mixed and len(word) >= SHORTEST_ID and not _NO_ID.match(word):
            yield word


def _has_both(word: str) -> bool:
    return any(map(str.isdigit, word)) and any(map(str.isalpha, word))
