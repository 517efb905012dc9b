"""Word lists: words and patterns that a person keeps under a name and looks for in many chains."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from chainviz.core.errors import OptionsError
from chainviz.core.secrets.rules.own_rules import own_rule, own_rules
from chainviz.core.secrets.rules.own_words import own_words
from chainviz.core.secrets.rules.rule import Rule

LONGEST_NAME = 60


@dataclass(frozen=True, slots=True)
class WordList:
    name: str
    """Empty for what was typed into a form."""
    words: str = ""
    """One a line; whole words, upper and lower case alike."""
    patterns: str = ""
    """One a line, in the syntax of RE2."""

    def rules(self) -> tuple[Rule, ...]:
        """Raises OptionsError, in one sentence, for a word or a pattern that cannot be looked for."""
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
    """Raises OptionsError for a name that no list has."""
    for name in names:
        if name not in known:
            there = f"there are {', '.join(sorted(known))}" if known else "there are none here"
            raise OptionsError(f"There is no word list “{name[:40]}”; {there}.")
    return tuple(known[name] for name in names)


def rules_of(lists: Iterable[WordList]) -> tuple[Rule, ...]:
    return tuple(rule for each in lists for rule in each.rules())


def packed(lists: Iterable[WordList]) -> str:
    """As one text, for the arguments of a job; empty where nothing is looked for."""
    rows = [[each.name, each.words, each.patterns] for each in lists if each.words.strip() or each.patterns.strip()]
    return json.dumps(rows) if rows else ""


def unpacked(text: str) -> tuple[WordList, ...]:
    """Raises OptionsError for what `packed` did not make."""
    try:
        rows = json.loads(text) if text else []
        lists = tuple(WordList(*row) for row in rows)
    except (ValueError, TypeError, RecursionError):
        raise OptionsError("The word lists cannot be read.") from None
    if any(not isinstance(each, str) for row in rows for each in row):
        raise OptionsError("The word lists cannot be read.")
    return lists
