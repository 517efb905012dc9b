"""What a person typed into the library's search field, as terms: words, “phrases”, words to leave out, and filters such as
`tool:grep`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from chainviz.store.search.lookup import SHORTEST_PREFIX, Phrase
from chainviz.store.search.words import LONGEST_PHRASE, words

FILTERS = ("tool", "model", "problem", "verdict", "format", "label", "since", "until", "folder")
MOST_TERMS = 12
_TERM = re.compile(r'(?P<minus>-?)(?:(?P<name>[a-z]+):)?(?:"(?P<phrase>[^"]*)(?P<end>"?)|(?P<plain>\S+))')
OPEN_QUOTE = "A quotation mark is not closed: everything after it counts as one phrase."


@dataclass(frozen=True, slots=True)
class Term:
    text: str
    """As it was typed, without quotation marks."""
    phrase: Phrase
    is_excluded: bool = False

    @property
    def is_indexed(self) -> bool:
        """Whether content can be searched for it; a term of signs alone is looked for in titles."""
        return bool(self.phrase.words)


@dataclass(frozen=True, slots=True)
class SearchText:
    terms: tuple[Term, ...] = ()
    filters: tuple[tuple[str, str], ...] = ()
    """Typed as `name:value`."""
    text: str = ""
    """What was typed, without these."""
    notices: tuple[str, ...] = ()
    """What was not understood as it was meant, in sentences."""


def read_search_text(typed: str) -> SearchText:
    terms: list[Term] = []
    filters: list[tuple[str, str]] = []
    kept: list[str] = []
    notices: list[str] = []
    for found in _TERM.finditer(typed):
        value = found["phrase"] if found["plain"] is None else found["plain"]
        if found["phrase"] is not None and not found["end"]:
            notices.append(OPEN_QUOTE)
        if found["name"] in FILTERS and value and not found["minus"]:
            filters.append((found["name"], value))
            continue
        kept.append(found[0])
        value = f"{found['name']}:{value}" if found["name"] else value
        if value.strip():
            terms.append(_term(value, found, notices))
    if len(terms) > MOST_TERMS:
        notices.append(f"Only the first {MOST_TERMS} words or phrases are searched for.")
    return SearchText(tuple(terms[:MOST_TERMS]), tuple(filters), " ".join(kept), tuple(dict.fromkeys(notices)))


def _term(value: str, found: re.Match[str], notices: list[str]) -> Term:
    is_prefix = found["plain"] is not None and value.endswith("*")
    phrase = Phrase.of(value, is_prefix=is_prefix)
    if not phrase.words:
        notices.append(f"“{value}” has no letters or digits, so it is only searched for in titles and file names.")
    elif is_prefix and len(phrase.words[-1]) < SHORTEST_PREFIX:
        notices.append(f"“{value}” is too short: write at least {SHORTEST_PREFIX} letters before the *.")
        phrase = Phrase(phrase.words)
    elif len(words(value)) > LONGEST_PHRASE:
        notices.append(f"Only the first {LONGEST_PHRASE} words of a phrase are searched for.")
    return Term(value.removesuffix("*") if is_prefix else value, phrase, bool(found["minus"]))
