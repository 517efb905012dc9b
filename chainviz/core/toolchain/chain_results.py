"""The results that a chain holds for the calls of one AI message, as outputs and failures."""

from __future__ import annotations

import json
from typing import Any

from chainviz.core.chain.messages import Message, ToolCall, ToolResult
from chainviz.core.chain.tree import BodyPair, match_results
from chainviz.core.toolchain.results import ERROR, Failure, Output
from chainviz.core.toolchain.schemas import NO_SCHEMAS, Schema, ToolSchemas, allows_text

MISSING = Failure("no result is stored for this call")


def stored_outputs(
    pair: BodyPair[Message], schemas: ToolSchemas = NO_SCHEMAS
) -> tuple[tuple[ToolCall, ...], tuple[Output | Failure, ...]]:
    """The pair's calls and what each returned, in call order; a call without a stored result is a failure."""
    calls: list[ToolCall] = []
    outputs: list[Output | Failure] = []
    for ref, match in match_results(pair):
        assert pair.ai is not None
        call = pair.ai.parts[ref.part]
        result = pair.rest[match[0]].parts[match[1].part] if match else None
        assert isinstance(call, ToolCall)
        calls.append(call)
        outputs.append(output_of(result, schemas.results.get(ref.name)) if isinstance(result, ToolResult) else MISSING)
    return tuple(calls), tuple(outputs)


def output_of(result: ToolResult, schema: Schema | None = None) -> Output | Failure:
    """An error where the result is marked as one or begins with `Error:`."""
    if is_error(result.content, marked=result.is_error):
        return Failure(result.content.removeprefix(ERROR.strip()).lstrip(" "))
    return Output(value_of(result.content, schema), result.media)


def is_error(content: str, *, marked: bool = False) -> bool:
    return marked or content.startswith(ERROR.strip())


def value_of(content: str, schema: Schema | None = None) -> Any:
    """The JSON value that a stored text represents.

    Without a schema, text of an object or a list is that value, and every other text is a string.
    """
    if allows_text(schema) or (schema is None and content.lstrip()[:1] not in ("{", "[")):
        return content
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return content
