"""A recipe as a file: JSON, which the product writes, or TOML, which is easier to write by hand. Both hold

    {"recipe": "For the vendor", "steps": [{"operation": "mask", "options": {…}}], "word_lists": [{"name", "words", "patterns"}]}

Words and patterns are lists of texts. The last step may be {"operation": "purge"}.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from chainviz.core.errors import OptionsError
from chainviz.core.recipes.recipe import LONGEST_NAME, PURGE, Recipe, Step, make_step
from chainviz.core.secrets.word_lists import LONGEST_NAME as LONGEST_LIST_NAME
from chainviz.core.secrets.word_lists import WordList

KEYS = {"recipe", "steps", "word_lists"}
LARGEST = 2_000_000
"""Bytes of a file."""


def write_recipe(recipe: Recipe) -> str:
    """As JSON that `read_recipe` reads."""
    value: dict[str, Any] = {
        "recipe": recipe.name,
        "steps": [{"operation": step.operation.name, "options": step.said} for step in recipe.steps],
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
    """Reads JSON, TOML or the object itself. Raises OptionsError, in one sentence, for what is no recipe."""
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
