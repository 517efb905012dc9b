"""A recipe: named steps, each an operation with its options, and the word lists that they use."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from chainviz.core.errors import OptionsError
from chainviz.core.operations import OPERATIONS
from chainviz.core.operations.compact import (
    NO_LIMIT,
    USUAL_LIMITS,
    Compact,
    CompactOptions,
    parse_strategy,
    strategy_words,
)
from chainviz.core.operations.contract import Operation, Options
from chainviz.core.operations.execute import get_operation, read_options
from chainviz.core.operations.mask import MASK, MaskOptions
from chainviz.core.operations.redact import RedactOptions
from chainviz.core.operations.redact.policies.by_hand import ByHand
from chainviz.core.secrets.word_lists import WordList, chosen_lists, rules_of

ALLOWED: tuple[Operation[Any], ...] = tuple(each for each in OPERATIONS if each.name != "edit")
"""An edit is about one node of one chain."""
OF_ONE_CHAIN = {"since", "enabled"}
"""Options that mean a place of one chain, or the environment; hidden options are filled in by a page."""
MOST_STEPS = 20
PURGE = "purge"
"""What the last step of a recipe may be called beside the operations."""
PURGE_LABEL = "Purge masked values"
NO_MASK = "A recipe that purges what was masked needs a step that masks before it."
NOT_PURGED = (
    "The purge of the recipe was not carried out: a file has no earlier versions. To purge, run the recipe on a chain in "
    "chainviz, where an owner confirms it."
)
BY_HAND = "What is chosen by hand is of one chain: choose a rule, such as old results."
LONGEST_NAME = 80


@dataclass(frozen=True, slots=True)
class Step:
    operation: Operation[Any]
    options: Options

    @property
    def said(self) -> dict[str, Any]:
        """The options that differ from their defaults, as JSON values."""
        said: dict[str, Any] = self.options.model_dump(mode="json", exclude_defaults=True)
        return said

    @property
    def lists(self) -> tuple[str, ...]:
        """Names of the word lists it uses."""
        return self.options.word_lists if isinstance(self.options, MaskOptions) else ()

    @property
    def missing(self) -> str:
        """What has to be chosen before it can run, in a sentence; "" where nothing has."""
        if isinstance(self.options, RedactOptions) and self.options.policy == ByHand.name:
            return BY_HAND
        return NO_LIMIT if isinstance(self.options, CompactOptions) and self.options.compactor is None else ""

    def words(self) -> Iterator[tuple[str, str]]:
        """Title and value of each option that differs from its default."""
        for name, value in self.said.items():
            yield type(self.options).model_fields[name].title or name, self._said(name, value)

    def _said(self, name: str, value: Any) -> str:
        """The value as its page says it."""
        if isinstance(self.options, CompactOptions) and name == "strategy":
            return strategy_words(parse_strategy(value))
        extra = type(self.options).model_fields[name].json_schema_extra
        choices = extra.get("choices") if isinstance(extra, dict) else None
        labels: Mapping[str, Any] = choices if isinstance(choices, dict) else {}
        if isinstance(value, list):
            return ", ".join(str(labels.get(each, each)) for each in value)
        return str(labels.get(value, value)) if isinstance(value, str) else json.dumps(value)


@dataclass(frozen=True, slots=True)
class Recipe:
    name: str
    steps: tuple[Step, ...]
    word_lists: tuple[WordList, ...] = ()
    """Those that its steps name."""
    purges: bool = False
    """What its steps masked is to be purged from earlier versions. Somebody confirms that after a run; no run does it."""

    @property
    def labels(self) -> tuple[str, ...]:
        return (*(step.operation.label for step in self.steps), *([PURGE_LABEL] if self.purges else ()))

    @property
    def masks(self) -> bool:
        return any(step.operation.name == MASK.name for step in self.steps)

    @property
    def lists(self) -> Mapping[str, WordList]:
        return {each.name: each for each in self.word_lists}

    def checked(self) -> Recipe:
        """Raises OptionsError where it has no step, too many, one that cannot run, or names a word list that it does not bring."""
        if not self.steps:
            raise OptionsError("A recipe needs at least one step.")
        if len(self.steps) > MOST_STEPS:
            raise OptionsError(f"A recipe has at most {MOST_STEPS} steps; this one has {len(self.steps)}.")
        for number, step in enumerate(self.steps, start=1):
            if step.missing:
                raise OptionsError(f"Step {number}, {step.operation.label}: {step.missing}")
            chosen_lists(step.lists, self.lists)
        if self.purges and not self.masks:
            raise OptionsError(NO_MASK)
        rules_of(self.word_lists)
        return self


def make_step(operation: str, options: Mapping[str, Any]) -> Step:
    """Raises OptionsError for an operation that no recipe takes, and for options that it cannot take."""
    chosen = get_operation(operation)
    if chosen not in ALLOWED:
        raise OptionsError(f"“{chosen.label}” changes one node of one chain and cannot be part of a recipe.")
    return Step(chosen, read_options(chosen, {name: value for name, value in options.items() if not is_of_one_chain(chosen, name)}))


def new_step(operation: str) -> Step:
    """A step that can run, with the options that its form begins with. Raises OptionsError as `make_step` does."""
    return make_step(operation, USUAL_LIMITS if operation == Compact.name else {})


def is_of_one_chain(operation: Operation[Any], name: str) -> bool:
    """Whether an option makes no sense on another chain."""
    field = operation.Options.model_fields.get(name)
    extra = field.json_schema_extra if field is not None else None
    return name in OF_ONE_CHAIN or (isinstance(extra, dict) and bool(extra.get("hidden")))
