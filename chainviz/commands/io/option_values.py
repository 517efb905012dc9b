"""The options of an operation as words of a command line: what `--help` says about them, and what `--set` gives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt
from pydantic.fields import FieldInfo

from chainviz.core.errors import OptionsError
from chainviz.core.operations.contract import Operation, Options

_KINDS = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}
_LIMITS = {Ge: "at least {0.ge}", Gt: "more than {0.gt}", Le: "at most {0.le}", Lt: "less than {0.lt}"}


def described_options(operation: Operation[Any]) -> Iterator[str]:
    """Each option with its values, its default and its meaning."""
    yield "options, each given as --set KEY=VALUE; for JSON, KEY=@FILE reads the value from a file:"
    for name, field in operation.Options.model_fields.items():
        yield f"  {name}: {_values(field)}; default {_default(field.default)}"
        title, meaning = field.title or "", field.description or ""
        yield f"      {f'{title}: ' if title and meaning else title}{meaning}"


def option_values(model: type[Options], settings: Sequence[str]) -> dict[str, Any]:
    """Returns values by the name of their option. Raises OptionsError for words that are not `key=value`, or
    for a file that cannot be read."""
    values: dict[str, Any] = {}
    for setting in settings:
        key, sign, value = setting.partition("=")
        if not sign:
            raise OptionsError(f"--set needs key=value, not “{setting[:40]}”.")
        field = model.model_fields.get(key)
        if field is not None and _is_long(field):
            value = value_of(key, value)
        values[key] = _words(value) if field is not None and _is_list(field.annotation) else value
    return values


def value_of(key: str, given: str) -> str:
    """The text that is given, or with @FILE that of a file. Raises OptionsError where it cannot be read."""
    if not given.startswith("@"):
        return given
    name = given[1:]
    try:
        return Path(name).read_text("utf-8")
    except OSError as error:
        raise OptionsError(f"{key}: {name} cannot be read: {error.strerror or error}.") from None
    except UnicodeDecodeError:
        raise OptionsError(f"{key}: {name} is not UTF-8 text.") from None


def _values(field: FieldInfo) -> str:
    extra = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
    choices = extra.get("choices")
    if isinstance(choices, dict) and not _is_list(field.annotation):
        return f"one of {', '.join(filter(None, choices))}"
    kind = "JSON or lines of text" if _is_long(field) else _kind(field.annotation)
    limits = [words.format(each) for each in field.metadata for type, words in _LIMITS.items() if isinstance(each, type)]
    unit = [str(extra["unit"])] if "unit" in extra else []
    return ", ".join((kind, *limits, *unit))


def _kind(annotation: Any) -> str:
    if get_origin(annotation) is Literal:
        return f"one of {', '.join(map(str, get_args(annotation)))}"
    if _is_list(annotation):
        inner = [each for each in get_args(annotation) if each is not Ellipsis]
        return f"a list with commas, {_kind(inner[0]).removeprefix('a ')} each" if inner else "a list with commas"
    known = [_KINDS[each] for each in (annotation, *get_args(annotation)) if each in _KINDS]
    return known[0] if known else "text"


def _default(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    words = ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
    return words or "empty"


def _is_long(field: FieldInfo) -> bool:
    return isinstance(field.json_schema_extra, dict) and bool(field.json_schema_extra.get("long"))


def _is_list(annotation: Any) -> bool:
    if get_origin(annotation) in (tuple, list, set, frozenset):
        return True
    return get_origin(annotation) is not Literal and any(_is_list(inner) for inner in get_args(annotation))


def _words(value: str) -> list[str]:
    return [word.strip() for word in value.split(",") if word.strip()]
