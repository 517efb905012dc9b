"""Random values of the types that vendors publish: typed dictionaries (as plain types), pydantic models, botocore's shapes."""

from __future__ import annotations

import types
from random import Random
from typing import Annotated, Any, Literal, NotRequired, Required, Union, get_args, get_origin, get_type_hints

from botocore.model import ListShape, MapShape, Shape, StringShape, StructureShape
from pydantic import BaseModel
from typing_extensions import is_typeddict

from tests.core.oracle.plain_types import Json

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
WORDS = {
    "data": PNG, "b64_json": PNG, "bytes": PNG, "file_data": f"data:application/pdf;base64,{PNG}", "signature": "c2ln",
    "thoughtSignature": "c2ln", "encrypted_content": "c2ln", "arguments": '{"a": 1}', "input": "run it",
    "name": "look_up", "media_type": "image/png", "mimeType": "image/png", "thinking": "hm",
}  # fmt: skip
"""Texts by the member that they stand in: the types say `str` where the API wants base64 or an address."""
ALWAYS = frozenset(("file_data", "image_url"))
"""Members that the types call optional although an API wants one of several."""
OPTIONAL = 0.2
"""The share of members that need not be there and are."""


class Maker:
    def __init__(self, random: Random) -> None:
        self.random = random
        self._count = 0

    def text(self, name: str) -> str:
        """A text for a member of that name; others than those of WORDS are never the same twice."""
        self._count += 1
        if name in WORDS:
            return WORDS[name]
        if "ur" in name and name.rpartition("_")[2].lower() in ("url", "uri"):
            return f"https://a.example/{self._count}.png"
        return f"{name or 'text'}_{self._count}"

    def value(self, annotation: Any, name: str = "") -> Any:
        """A value of a plain type or a model."""
        origin, arguments = get_origin(annotation), get_args(annotation)
        if annotation is Json:
            return {"a": self.random.randrange(9)}
        if is_typeddict(annotation):
            return self._members(get_type_hints(annotation), annotation.__required_keys__)
        if origin in (Annotated, Required, NotRequired):
            return self.value(arguments[0], name)
        if origin in (Union, types.UnionType):
            return self.value(self.random.choice([each for each in arguments if each is not type(None)]), name)
        if origin is Literal:
            return self.random.choice(arguments)
        if origin is list:
            return [self.value(arguments[0], name) for _ in range(self.random.randrange(1, 3))]
        if origin is dict:
            return {"a": self.value(arguments[1])}
        return self._simple(annotation, name)

    def _simple(self, annotation: Any, name: str) -> Any:
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            fields = annotation.model_fields
            hints = {field.alias or key: field.annotation for key, field in fields.items()}
            required = {field.alias or key for key, field in fields.items() if field.is_required()}
            return self._members(hints, required)
        if annotation is bool:
            return self.random.random() < 0.5
        if annotation in (int, float):
            return self.random.randrange(1, 9)
        return self.text(name)

    def _members(self, hints: dict[str, Any], required: Any) -> dict[str, Any]:
        return {
            key: self.value(hint, key) for key, hint in hints.items() if key in required or key in ALWAYS or self.random.random() < OPTIONAL
        }

    def shaped(self, shape: Shape, name: str = "") -> Any:
        """A value of a botocore shape."""
        if isinstance(shape, StructureShape):
            keys = [*shape.required_members]
            if shape.is_tagged_union:
                keys = [self.random.choice(list(shape.members))]
            else:
                keys += [key for key in shape.members if key not in keys and self.random.random() < OPTIONAL]
            if shape.is_document_type:
                return {"a": 1}
            return {key: self.shaped(shape.members[key], key) for key in keys}
        if isinstance(shape, ListShape):
            return [self.shaped(shape.member, name) for _ in range(self.random.randrange(1, 3))]
        if isinstance(shape, MapShape):
            return {"a": self.shaped(shape.value)}
        if isinstance(shape, StringShape):
            return self.random.choice(shape.enum) if shape.enum else self.text(name)
        return {"boolean": True, "blob": PNG}.get(shape.type_name, 1)
