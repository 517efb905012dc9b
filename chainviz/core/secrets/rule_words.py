"""Which of our rules cannot match a text, since it holds none of their words. RE2 looks for the words of all rules at once."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache
from typing import Any

from chainviz.core.secrets.rules import RULES
from chainviz.core.secrets.rules.rule import lower


class RuleWords:
    def __init__(self) -> None:
        by_word: dict[str, set[str]] = defaultdict(set, {"": set()})  # the empty word is in every text
        for rule in RULES:
            for word in rule.words:
                by_word[lower(word)].add(rule.name)
        self._with_words = frozenset(rule.name for rule in RULES if rule.words)
        self._names = list(by_word.values())
        self._search = _search(list(by_word))

    def absent_from(self, text: str) -> frozenset[str]:
        """Names of rules; none where RE2 is not installed, or gives up and so finds not even the empty word."""
        found = self._search.Match(lower(text).encode("utf-8", "surrogatepass")) if self._search is not None else None
        return self._with_words.difference(*[self._names[number] for number in found]) if found else frozenset()


@cache
def rule_words() -> RuleWords:
    return RuleWords()


def _search(words: list[str]) -> Any:
    try:
        import re2
    except ImportError:
        return None
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    search = re2.Set.SearchSet(options)
    for word in words:
        search.Add(re.escape(word.encode()))
    search.Compile()
    return search
