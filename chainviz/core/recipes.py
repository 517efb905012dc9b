"""Recipes: operations with their options under one name, run one after the other on any chain by web, bulk, command line and Python."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from chainviz.core.chain.chain import Chain
from chainviz.core.errors import ChainError, OptionsError, Refused
from chainviz.core.operations import OPERATIONS
from chainviz.core.operations.compact import NO_LIMIT, USUAL_LIMITS, Compact, CompactOptions, parse_strategy, strategy_words
from chainviz.core.operations.contract import Context, Operation, Options, Outcome
from chainviz.core.operations.execute import execute, get_operation, read_options
from chainviz.core.operations.mask import MASK, MaskOptions
from chainviz.core.operations.redact import RedactOptions
from chainviz.core.operations.redact.policies import ByHand
from chainviz.core.progress import Progress
from chainviz.core.secrets.word_lists import LONGEST_NAME as LONGEST_LIST_NAME
from chainviz.core.secrets.word_lists import WordList, chosen_lists, rules_of

ALLOWED: tuple[Operation[Any], ...] = tuple(each for each in OPERATIONS if each.name != "edit")
"""The operations that a recipe may contain; an edit is about one node of one chain."""
OF_ONE_CHAIN = {"since", "enabled"}
"""Options about a place of one chain, or the environment; pages fill in hidden options."""
MOST_STEPS = 20
PURGE = "purge"
"""The name of the last step if it is a purge."""
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
    def changed_options(self) -> dict[str, Any]:
        """The options that differ from their defaults, as JSON values."""
        changed: dict[str, Any] = self.options.model_dump(mode="json", exclude_defaults=True)
        return changed

    @property
    def lists(self) -> tuple[str, ...]:
        """Names of the word lists it uses."""
        return self.options.word_lists if isinstance(self.options, MaskOptions) else ()

    @property
    def missing(self) -> str:
        """A sentence on what has to be chosen before it can run; "" if nothing has."""
        if isinstance(self.options, RedactOptions) and self.options.policy == ByHand.name:
            return BY_HAND
        return NO_LIMIT if isinstance(self.options, CompactOptions) and self.options.compactor is None else ""

    def words(self) -> Iterator[tuple[str, str]]:
        """Title and value of each option that differs from its default."""
        for name, value in self.changed_options.items():
            yield type(self.options).model_fields[name].title or name, self._value_text(name, value)

    def _value_text(self, name: str, value: Any) -> str:
        """Return the value as the page shows it."""
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
    """The word lists that its steps use."""
    purges: bool = False
    """True if the values that its steps mask are to be purged from earlier versions. A person has to confirm that after
    a run."""

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
        """Raise OptionsError if it has no step, too many, one that cannot run, or names a word list that it does not bring."""
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
    """Raise OptionsError for an operation that no recipe takes, and for options that it cannot take."""
    chosen = get_operation(operation)
    if chosen not in ALLOWED:
        raise OptionsError(f"“{chosen.label}” changes one node of one chain and cannot be part of a recipe.")
    return Step(chosen, read_options(chosen, {name: value for name, value in options.items() if not is_of_one_chain(chosen, name)}))


def new_step(operation: str) -> Step:
    """Return a step that can run, with the initial options of its form. Raises OptionsError as `make_step` does."""
    return make_step(operation, USUAL_LIMITS if operation == Compact.name else {})


def is_of_one_chain(operation: Operation[Any], name: str) -> bool:
    """Return True if an option makes no sense for another chain."""
    field = operation.Options.model_fields.get(name)
    extra = field.json_schema_extra if field is not None else None
    return name in OF_ONE_CHAIN or (isinstance(extra, dict) and bool(extra.get("hidden")))


# A recipe file is JSON, which the product writes, or TOML, which is easier to write by hand. Both contain {"recipe":
# "For the vendor", "steps": [{"operation": "mask", "options": {…}}], "word_lists": [{"name", "words", "patterns"}]}.
# Words and patterns are lists of texts. The last step may be {"operation": "purge"}.


KEYS = {"recipe", "steps", "word_lists"}
LARGEST = 2_000_000
"""The most bytes of a file."""


def write_recipe(recipe: Recipe) -> str:
    """Return the recipe as JSON that `read_recipe` reads."""
    value: dict[str, Any] = {
        "recipe": recipe.name,
        "steps": [{"operation": step.operation.name, "options": step.changed_options} for step in recipe.steps],
    }
    if recipe.purges:
        value["steps"].append({"operation": PURGE})
    if recipe.word_lists:
        value["word_lists"] = [
            {"name": each.name, "words": _lines(each.words), "patterns": _lines(each.patterns)} for each in recipe.word_lists
        ]
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


def read_recipe(source: str | bytes | Mapping[str, Any]) -> Recipe:
    """Read JSON, TOML or the object itself. Raises OptionsError, in one sentence, for what is no recipe."""
    value = source if isinstance(source, Mapping) else _parsed(source)
    if not isinstance(value, Mapping) or "steps" not in value:
        raise OptionsError("A recipe is an object with “recipe”, its name, and “steps”.")
    for key in value:
        if key not in KEYS:
            raise OptionsError(f"A recipe has no “{str(key)[:40]}”; it has {', '.join(sorted(KEYS))}.")
    lists = tuple(_list(each) for each in _sequence(value.get("word_lists", []), "word_lists"))
    written = _sequence(value["steps"], "steps")
    purges = bool(written) and written[-1] in ({"operation": PURGE}, {"operation": PURGE, "options": {}})
    steps = tuple(_step(number, each) for number, each in enumerate(written[: -1 if purges else None], 1))
    return Recipe(_name(value.get("recipe", "Recipe"), LONGEST_NAME), steps, lists, purges).checked()


def _parsed(source: str | bytes) -> Any:
    if len(source) > LARGEST:
        raise OptionsError("The recipe is larger than 2 MB.")
    try:
        text = source.decode("utf-8-sig") if isinstance(source, bytes) else source
    except UnicodeDecodeError:
        raise OptionsError("The recipe is not UTF-8 text.") from None
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        if text.lstrip()[:1] in ("{", ""):
            where = f"line {error.lineno}: {error.msg}" if isinstance(error, json.JSONDecodeError) else str(error)
            raise OptionsError(f"The recipe is not JSON: {where[:200]}.") from None
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise OptionsError(f"The recipe is not TOML: {str(error)[:200].rstrip('.')}.") from None


def _sequence(value: Any, name: str) -> Sequence[Any]:
    if not isinstance(value, list):
        raise OptionsError(f"“{name}” of a recipe must be a list.")
    return value


def _name(value: Any, longest: int) -> str:
    name = " ".join(value.split()) if isinstance(value, str) else ""
    if not name or len(name) > longest:
        raise OptionsError(f"A name has 1 to {longest} characters.")
    return name


def _step(number: int, value: Any) -> Step:
    if not isinstance(value, dict) or not isinstance(value.get("operation"), str) or value.keys() - {"operation", "options"}:
        raise OptionsError(f"Step {number} must be an object with “operation” and “options”.")
    options = value.get("options", {})
    if not isinstance(options, dict):
        raise OptionsError(f"“options” of step {number} must be an object.")
    if value["operation"] == PURGE:
        raise OptionsError(f"Step {number}: a purge is the last step of a recipe and has no options.")
    try:
        return make_step(value["operation"], options)
    except OptionsError as refused:
        raise OptionsError(f"Step {number}: {refused}") from None


def _list(value: Any) -> WordList:
    if not isinstance(value, dict) or value.keys() - {"name", "words", "patterns"}:
        raise OptionsError("A word list is an object with “name”, “words” and “patterns”.")
    return WordList(_name(value.get("name"), LONGEST_LIST_NAME), _texts(value, "words"), _texts(value, "patterns"))


def _texts(value: Mapping[str, Any], name: str) -> str:
    found = value.get(name, [])
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise OptionsError(f"“{name}” of a word list must be a list of texts.")
    return "\n".join(found)


C = TypeVar("C", bound=Chain)


def follow(recipe: Recipe, chain: C, context_of: Callable[[C], Context], take: Callable[[Step, Outcome], C]) -> tuple[Outcome, ...]:
    """Run each step on the result of the one before. `take` stores an outcome that changes something and returns the
    new chain; a step that changes nothing is skipped. Returns the outcome of each step. Raises Refused, naming the
    step, if one of them fails."""
    outcomes = []
    for number, step in enumerate(recipe.steps):
        given = context_of(chain)
        progress = _share(given.progress, number, len(recipe.steps))
        context = replace(given, word_lists={**given.word_lists, **recipe.lists}, progress=progress)
        try:
            outcome = execute(step.operation.name, step.options, chain, context)
            chain = chain if outcome.is_empty else take(step, outcome)
        except ChainError as refused:
            place = f"Step {number + 1}, {step.operation.label}: " if len(recipe.steps) > 1 else ""
            raise Refused(f"{place}{refused}") from refused
        outcomes.append(outcome)
    return tuple(outcomes)


def _share(progress: Progress, number: int, steps: int) -> Progress:
    """Return the progress of one step as progress of the recipe."""
    return lambda done, text: progress((number + done) / steps, text)
