"""The options of converting tool results, and the inputs and results of the three ways of converting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from chainviz.core.chain.chain import Chain, Splice
from chainviz.core.observations.contract import LABELS
from chainviz.core.observations.reader import Recognition
from chainviz.core.observations.round_trip import Loss
from chainviz.core.operations.contract import Context, Options

ConventionName = Literal["raw", "brackets", "markdown", "xml"]


class ObservationsOptions(Options):
    to: ConventionName = Field(
        "xml",
        title="Write results as",
        description="raw has no headers, brackets has [tool] lines, markdown # headers, xml <tool> tags.",
        json_schema_extra={
            "choices": {**LABELS},
            "hint": "Raw has no headers, brackets [tool] lines, Markdown # headers, XML <tool> tags.",
        },
    )
    roles: Literal["keep", "to_text", "to_tools"] = Field(
        "keep",
        title="Message roles",
        description="keep rewrites results in texts; to_text turns tool messages into text, to_tools text into tool messages.",
        json_schema_extra={
            "choices": {"keep": "Keep", "to_text": "Tool messages to text", "to_tools": "Text to tool messages"},
            "hint": "",
        },
    )
    wrapper: Literal["auto", "none", "section"] = Field(
        "auto",
        title="Wrapper",
        description="auto wraps XML and brackets in <observation>; section also wraps Markdown, under a header.",
        json_schema_extra={
            "choices": {"auto": "Automatic", "none": "None", "section": "Always"},
            "hint": "Automatic: <observation> around XML and brackets, none around Markdown.",
        },
    )
    sources: tuple[ConventionName, ...] = Field(
        ("brackets", "markdown", "xml"),
        title="Rewrite from",
        description="Conventions to rewrite. raw reads the text after an AI message with one call as its result.",
        json_schema_extra={"choices": {**LABELS}, "hint": "Raw reads the text after an AI message with one call as its result."},
    )
    names: tuple[str, ...] = Field((), title="More tools", description="Names of tools that have results in the chain but no calls.")
    section: str = Field("action", title="Calls in", description="The section of AI messages that holds calls as text.")
    action_text: Literal["remove", "keep"] = Field(
        "remove",
        title="Text of calls",
        description="With to_tools: remove or keep the sections that become calls.",
        json_schema_extra={"hint": "When text becomes tool messages."},
    )
    force: bool = Field(False, title="Convert anyway", description="Convert even if results would not read back or call ids are lost.")


@dataclass(frozen=True, slots=True)
class Task:
    chain: Chain
    options: ObservationsOptions
    recognition: Recognition
    context: Context


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A change to consecutive messages."""

    splice: Splice
    what: str
    """The change in words: `brackets to XML`."""
    results: int
    survived: int
    """The number of results that read back with the same name, order and bytes."""
    size_before: int
    """The size in bytes of the old messages."""
    losses: tuple[Loss, ...] = ()
    ids: int = 0
    """The number of call ids that are lost or generated."""

    @property
    def size_after(self) -> int:
        return sum(message.size for message in self.splice.messages)


@dataclass(frozen=True, slots=True)
class Skip:
    """A message that could not be converted, and why."""

    message: int
    reason: str
