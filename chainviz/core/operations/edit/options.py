"""What a person says about one edit: which node, what to do with it, and the new value."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from chainviz.core.operations.contract import Options

Action = Literal[
    "text", "role", "name", "arguments", "result", "call_id", "insert", "delete", "move_up", "move_down", "split", "merge",
    "append_human", "append", "add_event", "answer", "add_part", "image",
]  # fmt: skip
Where = Literal["before", "after"]
Error = Literal["keep", "yes", "no"]


class EditOptions(Options):
    path: str = Field(
        "",
        title="Node",
        description="The node's path, such as s2, s2.h.m0, s2.p1 or s2.p1.m0.c2. Not needed for append_human, append and add_event.",
        json_schema_extra={"hidden": True},
    )
    action: Action = Field(
        "text", title="Edit", description="What to do with the node.", json_schema_extra={"hidden": True}
    )
    text: str = Field(
        "",
        title="Text",
        description="The new text, or the content of the tool result.",
        json_schema_extra={"long": True},
    )
    role: Literal["system", "human", "ai", "tool"] = Field("human", title="Role", description="The message's role.")
    name: str = Field("", title="Tool name", description="The tool's name. For an answer, empty means the call's own.")
    arguments: str = Field(
        "", title="Arguments", description="The call's arguments, as JSON.", json_schema_extra={"long": True}
    )
    call_id: str = Field(
        "",
        title="Call id",
        description="Links a tool call and its result. A new call without one gets an id like those around it.",
    )
    url: str = Field("", title="Image", description="The address of an image, or the image itself as a data: URL.")
    where: Where = Field("after", title="Place", description="Where to insert: before or after the node.")
    offset: int = Field(0, ge=0, title="Split at", description="Characters of the text that stay in the first message.")
    is_error: Error = Field("keep", title="Is an error", description="Whether the tool result reports an error.")
    with_results: bool = Field(
        True, title="With its results", description="Rename or delete the results of a call with it."
    )
    join: bool = Field(
        False,
        title="Join texts",
        description="When messages merge, join the two adjacent texts. Otherwise they stay separate parts.",
    )
    separator: str = Field("", title="Between the texts", description="Put between two joined texts.")
    allow_invalid: bool = Field(
        False, title="Allow invalid JSON", description="Keep arguments that are not valid JSON."
    )
    drop_reasoning: bool = Field(
        False,
        title="Drop signed reasoning",
        description="Remove the edited message's signed reasoning, which providers refuse once the message has changed.",
    )


FIELDS: dict[Action, tuple[str, ...]] = {
    "text": ("text", "drop_reasoning"),
    "role": ("role",),
    "name": ("name", "with_results", "drop_reasoning"),
    "arguments": ("arguments", "allow_invalid", "drop_reasoning"),
    "result": ("text", "is_error"),
    "call_id": ("call_id", "with_results", "drop_reasoning"),
    "insert": ("where", "role", "text", "call_id", "name", "arguments", "allow_invalid"),
    "delete": ("with_results", "drop_reasoning"),
    "move_up": (),
    "move_down": (),
    "split": ("offset", "drop_reasoning"),
    "merge": ("join", "separator", "drop_reasoning"),
    "append_human": ("text",),
    "append": ("role", "text", "call_id", "name", "arguments", "allow_invalid"),
    "add_event": ("text",),
    "answer": ("text", "name", "call_id", "is_error"),
    "add_part": ("text", "name", "arguments", "call_id", "url", "allow_invalid", "drop_reasoning"),
    "image": ("url", "drop_reasoning"),
}
"""The options that mean something for an action; the others are ignored."""
