"""The options of a summary, presets for them, and the number of pairs and sections that stay within the limits."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from chainviz.core.chain.tool_ids import DEFAULT_TEMPLATE, Template, parse_template
from chainviz.core.counts import count_text
from chainviz.core.errors import OptionsError
from chainviz.core.operations.contract import Options

Preset = Literal["default", "assistant", "provider_switch", "pentagi"]

_SEED: dict[str, Any] = {
    "preserve_last": True,
    "last_sec_bytes": 50 * 1024,
    "max_bp_bytes": 16 * 1024,
    "use_qa": False,
    "max_qa_sections": 10,
    "max_qa_bytes": 64 * 1024,
    "summ_human_in_qa": False,
    "keep_qa_sections": 1,
    "reserve_percent": 25,
}
PRESETS: dict[Preset, dict[str, Any]] = {
    "default": _SEED,
    "assistant": {
        **_SEED,
        "last_sec_bytes": 75 * 1024,
        "use_qa": True,
        "max_qa_sections": 7,
        "max_qa_bytes": 75 * 1024,
        "keep_qa_sections": 3,
    },
    "provider_switch": {
        **_SEED,
        "last_sec_bytes": 16 * 1024,
        "max_bp_bytes": 8 * 1024,
        "use_qa": True,
        "max_qa_sections": 3,
        "max_qa_bytes": 20 * 1024,
    },
    "pentagi": _SEED,
}
"""The values of each preset."""
PRESET_LABELS: dict[str, str] = {
    "default": "Default",
    "assistant": "Assistant: larger limits, three sections kept",
    "provider_switch": "After a provider switch: small",
    "pentagi": "As the PentAGI agent summarizes its chains",
}

MOST_BYTES = 1 << 40
LEAST_WINDOW = 4_000
"""In tokens; a smaller window has no room beside the instructions."""
_OR_DEFAULT = "0 means the preset's value."

_ZERO, _NOT_POSITIVE = re.compile("|0+"), re.compile("|0+|-[0-9]+")
"""Values that mean the preset's limit. The reference treats everything below 1 this way."""


def _number(name: str, title: str, description: str, group: str, most: int = MOST_BYTES) -> Any:
    extra = {"group": group, "unit": "bytes"} if name.endswith("bytes") else {"group": group}
    return Field(
        default=_SEED[name],
        ge=0,
        le=most,
        title=title,
        description=f"{description} {_OR_DEFAULT}",
        json_schema_extra=extra,  # type: ignore[arg-type]
    )


class SummarizeOptions(Options):
    preset: Preset = Field(
        default="default",
        title="Preset",
        description=(
            "Fills the settings you do not set. default: the usual values; assistant: long conversations, more kept; "
            "provider_switch: small, for a chain that moves to another provider; pentagi: as the PentAGI agent."
        ),
        json_schema_extra={"choices": {**PRESET_LABELS}, "hint": "Fills the settings that you do not change."},
    )
    preserve_last: bool = Field(
        default=_SEED["preserve_last"],
        title="Keep active sections small",
        description="Fold the oldest pairs of active sections once they exceed the limit.",
        json_schema_extra={"group": "Last sections"},
    )
    last_sec_bytes: int = _number("last_sec_bytes", "Largest last section", "A larger one is folded, oldest pairs first.", "Last sections")
    reserve_percent: int = Field(
        default=_SEED["reserve_percent"],
        ge=0,
        le=100,
        title="Room to leave",
        description="A folded section ends up this far below its limit, to leave room for more.",
        json_schema_extra={"group": "Last sections", "unit": "%"},
    )
    max_bp_bytes: int = _number("max_bp_bytes", "Largest pair", "A larger pair of a last section is folded alone.", "Last sections")
    keep_qa_sections: int = _number(
        "keep_qa_sections",
        "Last sections",
        "How many of the last sections are active; each older one becomes one summary.",
        "Last sections",
        most=1_000_000,
    )
    use_qa: bool = Field(
        default=_SEED["use_qa"],
        title="Join old sections",
        description="Fold the oldest sections into one when there are too many or they are too large.",
        json_schema_extra={"group": "Questions and answers"},
    )
    max_qa_sections: int = _number(
        "max_qa_sections", "Most sections", "With more sections, the oldest are joined.", "Questions and answers",
        most=1_000_000,
    )  # fmt: skip
    max_qa_bytes: int = _number("max_qa_bytes", "Most bytes", "In a larger chain, the oldest are joined.", "Questions and answers")
    summ_human_in_qa: bool = Field(
        default=_SEED["summ_human_in_qa"],
        title="Summarize questions too",
        description="Otherwise the joined section keeps all human messages.",
        json_schema_extra={"group": "Questions and answers"},
    )
    only_tools: bool = Field(
        default=False,
        title="Fold tool exchanges only",
        description="Calls with their results become summaries; requests, answers and the last pair stay.",
        json_schema_extra={"group": "Last sections"},
    )
    tool_call_id_template: str = Field(
        default=DEFAULT_TEMPLATE,
        max_length=200,
        title="Tool call ids",
        description="Template for the id of a summary's tool call, such as call_{r:24:x}.",
        json_schema_extra={"group": "Form"},
    )
    context_window: int = Field(
        default=0,
        ge=0,
        le=100_000_000,
        title="Context window",
        description=(
            "The most that the model accepts. A larger piece is split, and the summaries of its parts are joined. "
            "0 means the model's own, if known."
        ),
        json_schema_extra={"group": "Model", "unit": "tokens"},
    )
    allow_growth: bool = Field(
        default=False,
        title="Allow larger summaries",
        description="Use a summary even if it is larger than what it replaces.",
        json_schema_extra={"group": "Form"},
    )

    @model_validator(mode="before")
    @classmethod
    def _filled_by_preset(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        preset = PRESETS.get(given.get("preset", "default"), _SEED)
        limits = {name for name, value in preset.items() if type(value) is int and name != "reserve_percent"}
        unset = _NOT_POSITIVE if given.get("preset") == "pentagi" else _ZERO
        chosen = {name: value for name, value in given.items() if not (name in limits and unset.fullmatch(str(value).strip()))}
        if given.get("preset") != "pentagi" and chosen.get("tool_call_id_template") == "":
            del chosen["tool_call_id_template"]  # with it, the reference creates empty ids, which no provider accepts
        return {**preset, **chosen}

    @field_validator("context_window")
    @classmethod
    def _has_room(cls, window: int) -> int:
        if 0 < window < LEAST_WINDOW:
            raise ValueError(f"a context window has at least {LEAST_WINDOW:,} tokens, or 0 for the model's own")
        return window

    @field_validator("tool_call_id_template")
    @classmethod
    def _readable(cls, text: str, found: Any) -> str:
        try:
            _template(text, found.data.get("preset") == "pentagi")
        except OptionsError as refused:
            raise ValueError(str(refused)) from None
        return text

    @property
    def template(self) -> Template:
        return _template(self.tool_call_id_template, self.preset == "pentagi")


@lru_cache(maxsize=64)
def _template(text: str, as_reference: bool) -> Template:
    return parse_template(text, least=0, lenient=True) if as_reference else parse_template(text)


QA_RESERVE = 1_000
"""Bytes of the QA limit that are reserved for the summary section."""


def threshold(limit: int, reserve_percent: int) -> int:
    """Return how much of the limit a rotated section may fill, so that there is room for the next messages."""
    return limit * (100 - reserve_percent) // 100


def pairs_to_keep(pairs: Sequence[int], header: int, limit: int, reserve_percent: int) -> int:
    """Return the number of last pairs of a section that stay: always the last one, then those that fit, without gaps."""
    if not pairs:
        return 0
    room = threshold(limit, reserve_percent)
    kept, filled = 1, header + pairs[-1]
    for size in reversed(pairs[:-1]):
        if filled + size > room:
            break
        filled += size
        kept += 1
    return len(pairs) if filled + sum(pairs[:-kept]) <= limit else kept


def exceeds_qa_limits(sections: Sequence[int], most_sections: int, most_bytes: int) -> bool:
    return len(sections) > most_sections or sum(sections) > most_bytes


def sections_to_keep(sections: Sequence[int], most_sections: int, most_bytes: int, keep: int) -> int:
    """Return the number of last sections that stay: always `keep` of them, then older ones that fit, without gaps."""
    kept = min(keep, len(sections))
    filled = sum(sections[len(sections) - kept :])
    room = most_bytes - QA_RESERVE
    if filled > room:
        return kept
    for size in reversed(sections[: len(sections) - kept]):
        if kept >= most_sections or filled + size > room:
            break
        filled += size
        kept += 1
    return kept


# Each reason names a measured value and its limit.


Reason = tuple[str, int, int]
"""Why a piece is folded: a sentence, the measured value, and its limit."""

ONE_SUMMARY = "It is already one summary."
NO_BODY = "It has only a header."
LAST_PAIR = "The last pair of a kept section is never folded: providers check its signatures."
TOO_SMALL = "It is so small that a summary would save nothing."
NO_TOOLS = "It calls no tool."
AS_IT_IS = "Keeping the last sections small is turned off."
ONLY_TOGETHER = "Old sections are only joined together, and the summary of another part cannot be used."
SMALL_ENOUGH = "Its section is within the limit."


def old_section(keep: int) -> str:
    return f"It is older than the last {keep:,} sections." if keep != 1 else "It is older than the last section."


def tool_exchanges(count: int) -> Reason:
    return (f"{count_text(count, 'exchange')} with tools.", count, 0)


def large_pair(size: int, limit: int) -> str:
    return f"The pair has {size:,} bytes; the limit for one is {limit:,}."


def large_section(size: int, limit: int) -> str:
    return f"Its section has {size:,} bytes; the limit is {limit:,}."


def fits(options: SummarizeOptions) -> str:
    room = threshold(options.last_sec_bytes, options.reserve_percent)
    return f"With everything after it, it fits into {room:,} bytes: the limit less a reserve of {options.reserve_percent}%."


def too_many_sections(sizes: Sequence[int], options: SummarizeOptions) -> Reason:
    count, size = len(sizes), sum(sizes)
    if count > options.max_qa_sections:
        return (f"There are {count:,} sections; the limit is {options.max_qa_sections:,}.", count, options.max_qa_sections)
    return f"The sections have {size:,} bytes; the limit is {options.max_qa_bytes:,}.", size, options.max_qa_bytes
