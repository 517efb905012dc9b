"""Typed dictionaries of provider SDKs as types of plain JSON: pydantic checks them at once, and hypothesis makes values of them.

An SDK also takes iterables that are read later, files and its own models; a request that is sent holds lists and text.
"""

from __future__ import annotations

import types
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Annotated, Any, Literal, NotRequired, Required, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, JsonValue
from typing_extensions import TypedDict, is_typeddict

Json = JsonValue
"""What takes the place of values that may be anything, such as a tool's arguments."""
_LISTS = (list, Sequence, Iterable)


@cache
def plain(annotation: Any) -> Any:
    """Return the type with lists for iterables, without files and models, down to its last member."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if annotation in (object, Any):
        return Json
    if is_typeddict(annotation):
        return _plain_dict(annotation)
    if origin in (Annotated, Required, NotRequired):
        return plain(arguments[0])
    if origin in (Union, types.UnionType):
        return Union[tuple(plain(each) for each in arguments if not _is_of_sdk(each))]  # noqa: UP007
    if origin in _LISTS:
        return list[plain(arguments[0])]  # type: ignore[misc]
    if origin in (dict, Mapping):
        return dict[str, plain(arguments[1])]  # type: ignore[misc]
    return annotation


def _plain_dict(annotation: Any) -> Any:
    """Return the dictionary type; `__required_keys__` knows no `Required` of a postponed annotation."""
    hints = get_type_hints(annotation, include_extras=True)
    members = {key: Required[plain(hint)] if _is_required(annotation, hint) else NotRequired[plain(hint)] for key, hint in hints.items()}
    return TypedDict(annotation.__name__, members)  # type: ignore[operator]


def _is_required(annotation: Any, hint: Any) -> bool:
    return get_origin(hint) is Required or (annotation.__total__ and get_origin(hint) is not NotRequired)


def _is_of_sdk(annotation: Any) -> bool:
    """Whether it is a model of a response, or a file, which no JSON holds."""
    if get_origin(annotation) in (Union, types.UnionType):
        return all(map(_is_of_sdk, get_args(annotation)))
    if get_origin(annotation) is Annotated:
        return _is_of_sdk(get_args(annotation)[0])
    if get_origin(annotation) in (Literal, *_LISTS):
        return False
    found = get_origin(annotation) or annotation
    if not isinstance(found, type) or is_typeddict(annotation):
        return False
    return issubclass(found, BaseModel) or found.__module__ in ("typing", "os", "io") or found is bytes
