"""What a person can choose about masking."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, field_validator

from chainviz.core.errors import OptionsError
from chainviz.core.operations.contract import Options
from chainviz.core.secrets import RULES, Rule, Strategy, WordList, get_rule
from chainviz.core.secrets.word_lists import chosen_lists, rules_of

STRATEGIES: dict[str, str] = {
    "pseudonym": "A numbered name for each value, such as [EMAIL_1]",
    "replace": "One word for all values of a kind, such as [EMAIL]",
    "mask": "Stars, except a public prefix or the last digits",
}
_RULE_LABELS: dict[str, Any] = {rule.name: rule.label for rule in RULES}


class MaskOptions(Options):
    strategy: Strategy = Field(
        "pseudonym",
        title="Replace with",
        description="pseudonym [EMAIL_1] keeps values distinct; replace [EMAIL] does not; mask keeps a prefix or the last digits.",
        json_schema_extra={"choices": {**STRATEGIES}, "hint": "The same value gets the same placeholder everywhere."},
    )
    look_for: Literal["everything", "secrets", "personal"] = Field(
        "everything",
        title="Look for",
        description="Secrets, personal data, or both.",
        json_schema_extra={
            "choices": {"everything": "Secrets and personal data", "secrets": "Secrets", "personal": "Personal data"},
            "hint": "",
        },
    )
    rules: tuple[str, ...] = Field(
        (),
        title="Only these rules",
        description="Names such as openai-key; empty: all.",
        json_schema_extra={"choices": _RULE_LABELS, "hint": "None ticked means all."},
    )
    skip_rules: tuple[str, ...] = Field(
        (), title="Not these rules", description="Names such as ip.", json_schema_extra={"choices": _RULE_LABELS, "hint": ""}
    )
    own_patterns: str = Field(
        "",
        title="Your own patterns",
        description="One per line, in RE2 syntax. A group named “value” is the secret.",
        json_schema_extra={"long": True},
    )
    own_words: str = Field(
        "",
        title="Your own words",
        description="One per line, for example customer names; whole words only. Upper and lower case are one word.",
        json_schema_extra={"long": True},
    )
    word_lists: tuple[str, ...] = Field(
        (), title="Word lists", description="Names of saved word lists. A recipe brings its own."
    )
    decline: tuple[str, ...] = Field(
        (),
        title="Do not mask these",
        description="Ids of findings that are not secrets.",
        json_schema_extra={"hidden": True},
    )

    @field_validator("rules", "skip_rules")
    @classmethod
    def _known(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            if get_rule(name) is None:
                raise ValueError(f"there is no rule “{name[:40]}”; there are {', '.join(rule.name for rule in RULES)}")
        return names

    @field_validator("own_patterns")
    @classmethod
    def _usable(cls, text: str) -> str:
        return _checked(WordList("", patterns=text), text)

    @field_validator("own_words")
    @classmethod
    def _findable(cls, text: str) -> str:
        return _checked(WordList("", text), text)

    def without_secrets(self) -> MaskOptions:
        return self.model_copy(update={"own_patterns": "", "own_words": ""})

    def chosen(self, known_lists: Mapping[str, WordList]) -> tuple[Rule, ...]:
        """Raises OptionsError for a word list that is not known."""
        group = {"secrets": "secret", "personal": "personal"}.get(self.look_for)
        known = (
            rule
            for rule in RULES
            if group in (None, rule.group)
            and (not self.rules or rule.name in self.rules)
            and rule.name not in self.skip_rules
        )
        # behind the known ones, so that a short pattern never takes a whole key out of what is found
        return (*known, *rules_of(self.own_lists(known_lists)))

    def own_lists(self, known: Mapping[str, WordList]) -> tuple[WordList, ...]:
        """What is looked for beside the known rules. Raises OptionsError for a word list that is not known."""
        return (WordList("", self.own_words, self.own_patterns), *chosen_lists(self.word_lists, known))


def _checked(typed: WordList, text: str) -> str:
    try:
        typed.rules()
    except OptionsError as refused:
        raise ValueError(str(refused).rstrip(".")) from None
    return text
