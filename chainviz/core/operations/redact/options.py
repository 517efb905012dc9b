"""What a person can choose about a redaction. Names are the seed's and, for clear_tool_uses, Anthropic's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, field_validator, model_validator

from chainviz.core.chain.messages import ROLE_NAMES
from chainviz.core.chain.paths import parse_path
from chainviz.core.errors import ChainError, OptionsError
from chainviz.core.operations.contract import Options
from chainviz.core.operations.redact.anthropic_settings import read as anthropic_settings
from chainviz.core.operations.redact.placeholder import DEFAULT, FIELDS, unknown_fields
from chainviz.core.operations.redact.policies import POLICIES
from chainviz.core.operations.redact.policies.contract import EVERY, KIND_LABELS, Kind

if TYPE_CHECKING:
    PolicyName = str
else:
    PolicyName = Literal[tuple(policy.name for policy in POLICIES)]

RoleName = Literal["system", "human", "ai", "tool"]
_CLEARING: dict[str, Any] = {"group": "Anthropic's clear_tool_uses"}
_WHAT: dict[str, Any] = {"group": "What"}
_WHERE: dict[str, Any] = {"group": "Where"}
_HOW: dict[str, Any] = {"group": "How"}


class RedactOptions(Options):
    policy: PolicyName = Field(
        "seed",
        title="Policy",
        description="When a part is no longer needed.",
        json_schema_extra={"choices": {policy.name: policy.label for policy in POLICIES}},
    )
    tools: tuple[str, ...] = Field(
        (EVERY,),
        title="Tools",
        description="Exact names; * is every tool, empty is none.",
        json_schema_extra={**_WHAT, "hint": "Exact names, separated by commas. * means every tool."},
    )
    tool_globs: tuple[str, ...] = Field(
        (),
        title="Tools by pattern",
        description="Such as fetch_*. Narrows * to the tools that match.",
        json_schema_extra=_WHAT,
    )
    exclude_tools: tuple[str, ...] = Field(
        (), title="Never these tools", description="Exact names.", json_schema_extra=_WHAT
    )
    exclude_globs: tuple[str, ...] = Field(
        (), title="Never these patterns", description="Such as read_*.", json_schema_extra=_WHAT
    )
    parts: tuple[Kind, ...] = Field(
        ("result",),
        title="Parts",
        description="result, arguments, reasoning, media, text. Reasoning goes as a whole; arguments become {}.",
        json_schema_extra={
            **_WHAT, "choices": {**KIND_LABELS}, "hint": "Reasoning is removed with its signature; arguments become {}."
        },
    )
    roles: tuple[RoleName, ...] = Field(
        ("human", "ai", "tool"),
        title="Roles for reasoning, pictures and texts",
        description="Whose reasoning, media and texts: system, human, ai, tool.",
        json_schema_extra={**_WHAT, "choices": {**ROLE_NAMES}, "hint": ""},
    )
    min_bytes: int = Field(
        0, ge=0, title="At least", description="Smaller parts are kept.", json_schema_extra={**_WHERE, "unit": "bytes"}
    )
    protect_first: int = Field(
        0, ge=0, title="Protect the first", description="Messages at the start to keep.", json_schema_extra=_WHERE
    )
    protect_last: int = Field(
        0,
        ge=0,
        title="Older than",
        description="Age, counted from the end. Newer parts are kept.",
        json_schema_extra={**_WHERE, "unit": "messages"},
    )
    unmatched: Literal["keep", "redact"] = Field(
        "keep",
        title="Results without a call",
        description="Results without an id or a matching call: keep them, or treat them like others.",
        json_schema_extra={
            **_WHERE, "choices": {"keep": "Keep", "redact": "Treat like others"}, "hint": "Without an id or a matching call."
        },
    )
    keep_paths: tuple[str, ...] = Field(
        (), title="Keep these", description="Paths; these override the policy.", json_schema_extra={"hidden": True}
    )
    redact_paths: tuple[str, ...] = Field(
        (), title="Redact these", description="Paths; these override the policy.", json_schema_extra={"hidden": True}
    )
    placeholder: str = Field(
        DEFAULT, title="Replace with", description="Can contain {tool}, {bytes} and {lines}.", json_schema_extra=_HOW
    )
    min_bytes_saved: int = Field(
        1,
        ge=0,
        title="Minimum saving",
        description="Parts that would save less are kept. With 0 a part can even grow, as in the reference.",
        json_schema_extra={**_HOW, "unit": "bytes saved"},
    )
    enabled: bool = Field(
        True, title="Redaction is on", description="Off keeps everything.", json_schema_extra={"hidden": True}
    )
    superseded_by: Literal["same_tool", "same_call"] = Field(
        "same_tool",
        title="Superseded by",
        description="A later call of the same tool, or the same call with the same arguments.",
        json_schema_extra={
            "choices": {"same_tool": "A later call of the same tool", "same_call": "The same call with the same arguments"},
            "hint": "",
        },
    )
    keep: int = Field(
        3,
        ge=0,
        title="Keep",
        description="How many of the last to keep (keep_last_n, clear_tool_uses).",
        json_schema_extra={"hint": "How many of the last to keep."},
    )
    trigger: int = Field(
        100_000, ge=0, title="Trigger", description="Clears only above this much.", json_schema_extra=_CLEARING
    )
    trigger_type: Literal["input_tokens", "tool_uses"] = Field(
        "input_tokens",
        title="Trigger counts",
        description="Estimated tokens, or results.",
        json_schema_extra={
            **_CLEARING, "choices": {"input_tokens": "Input tokens, estimated", "tool_uses": "Tool results"}, "hint": ""
        },
    )
    clear_at_least: int = Field(
        0,
        ge=0,
        title="Clear at least",
        description="In tokens. Clearing less is not worth losing the cache.",
        json_schema_extra=_CLEARING,
    )
    at_least: Literal["or_nothing", "then_stop"] = Field(
        "or_nothing",
        title="Clear at least means",
        description="or_nothing as Anthropic: all or nothing; then_stop as LangChain: stop when that much is cleared.",
        json_schema_extra={
            **_CLEARING,
            "choices": {"or_nothing": "All or nothing, as Anthropic", "then_stop": "Stop when that much is cleared, as LangChain"},
            "hint": "",
        },
    )
    clear_tool_inputs: tuple[str, ...] = Field(
        (),
        title="Clear arguments too",
        description="Tool names; * or true is all.",
        json_schema_extra={**_CLEARING, "hint": "Tool names, separated by commas. * means every tool."},
    )
    bytes_per_token: float = Field(
        4, gt=0, title="Bytes per token", description="For token estimates.", json_schema_extra=_CLEARING
    )
    context_management: str = Field(
        "",
        title="Anthropic's JSON",
        description="A context_management or clear_tool_uses object. It overrides the fields.",
        json_schema_extra={**_CLEARING, "long": True},
    )

    @model_validator(mode="before")
    @classmethod
    def _take_json(cls, given: Any) -> Any:
        text = given.get("context_management") if isinstance(given, dict) else None
        if not isinstance(text, str) or not text.strip():
            return given
        try:
            return {**given, **anthropic_settings.read(text)}
        except OptionsError as refused:
            raise ValueError(str(refused).rstrip(".")) from None

    @field_validator("clear_tool_inputs", mode="before")
    @classmethod
    def _all_or_none(cls, given: Any) -> Any:
        said = given[0] if isinstance(given, list | tuple) and len(given) == 1 else given
        word = str(said).lower()
        return (EVERY,) if word == "true" else () if word == "false" else given

    @field_validator("placeholder")
    @classmethod
    def _known_fields(cls, template: str) -> str:
        for name in unknown_fields(template):
            raise ValueError(
                f"a placeholder has no “{{{name[:40]}}}”; it can contain {', '.join(f'{{{f}}}' for f in FIELDS)}"
            )
        return template

    @field_validator("keep_paths", "redact_paths")
    @classmethod
    def _paths(cls, paths: tuple[str, ...]) -> tuple[str, ...]:
        try:
            return tuple(str(parse_path(path)) for path in paths)
        except ChainError as refused:
            raise ValueError(str(refused).rstrip(".")) from None
