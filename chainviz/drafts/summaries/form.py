"""The form of settings: made from the options, filled by a preset, and the writers to choose from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.http import QueryDict

from chainviz.core.operations.summarize import PRESETS, SummarizeOptions
from chainviz.core.operations.summarize.options import Preset
from chainviz.llm import WRITERS, Endpoint, writer_named
from chainviz.web.forms import OptionsForm, options_form

OFFERED: dict[Preset, tuple[str, str]] = {
    "default": ("Default", "One section stays as it is; older sections become one summary each."),
    "assistant": ("Assistant", "Three sections stay as they are, and all limits are larger."),
    "provider_switch": ("After a provider switch", "Small, for a chain that continues with another provider."),
}
"""The reference's own way belongs to the command line: it cannot be taken piece by piece."""
SETTINGS = "set"
"""Stands in an address whose other words are settings: a box that is not ticked sends nothing."""


@dataclass(frozen=True, slots=True)
class PresetChoice:
    name: str
    label: str
    hint: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class WriterChoice:
    name: str
    label: str
    hint: str
    is_chosen: bool
    is_offered: bool = True


def preset_in(given: Mapping[str, str]) -> Preset:
    name = given.get("preset", "default")
    return next((preset for preset in OFFERED if preset == name), "default")


def form_of(given: QueryDict, endpoint: Endpoint) -> OptionsForm[SummarizeOptions]:
    """What somebody chose, or a preset's own values."""
    preset = preset_in(given)
    values: Any = given if SETTINGS in given else {**PRESETS[preset], **_text_defaults()}
    form = options_form(SummarizeOptions)(values, fixed={"preset": preset})
    del form.fields["preset"]
    if endpoint.window:
        form.fields["context_window"].default_text = f"{endpoint.window:,} of {endpoint.model}"  # type: ignore[attr-defined]
    return form


def _text_defaults() -> dict[str, Any]:
    filled = SummarizeOptions()
    return {name: getattr(filled, name) for name in ("tool_call_id_template", "allow_growth", "context_window")}


def presets(chosen: Preset) -> tuple[PresetChoice, ...]:
    return tuple(PresetChoice(name, label, hint, name == chosen) for name, (label, hint) in OFFERED.items())


def writer_choices(endpoint: Endpoint, chosen: str) -> tuple[WriterChoice, ...]:
    hints = {
        "extractive": "Extracts questions, decisions, attempts and findings verbatim. Quick; nothing leaves this machine.",
        "manual": "You write each summary yourself.",
    }
    choices = []
    for writer in WRITERS:
        known = writer_named(writer.name, endpoint)
        is_offered = writer.name != "openai" or not endpoint.problem
        hint = hints.get(writer.name) or _model_hint(endpoint)
        choices.append(WriterChoice(writer.name, known.label, hint, writer.name == chosen, is_offered))
    return tuple(choices)


def _model_hint(endpoint: Endpoint) -> str:
    if not endpoint.problem:
        return f"What is folded is sent to {endpoint.host}."
    return endpoint.refusal or f"{endpoint.problem} Then start chainviz again."


def writer_in(given: Mapping[str, str], endpoint: Endpoint) -> str:
    """The writer somebody chose; the one that needs nothing where that is none."""
    offered = [choice.name for choice in writer_choices(endpoint, "") if choice.is_offered]
    name = given.get("writer", "")
    return name if name in offered else offered[0]
