"""The memory of a smolagents agent: its system prompt, the task, and steps with what the model wrote, called and observed.

What the model was sent is repeated in each step and is not shown again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from chainviz.core.chain.messages import Part, Text, ToolCall, ToolResult
from chainviz.core.dialects.members import objects_of, string_of
from chainviz.core.documents.units import Sample
from chainviz.core.formats.read_only_units import ReadOnlyUnits, Said, as_text, inner, with_results


class Smolagents(ReadOnlyUnits):
    name = "smolagents"
    label = "smolagents memory"
    tested_with = "source of smolagents 1.12 to 1.22"
    hints = ("system_prompt", "task", "step_number", "plan", "task_images")
    carried_fields = frozenset(("model_input_messages", "model_output_message"))

    def is_message(self, value: object) -> bool:
        if not isinstance(value, dict) or "role" in value:
            return False
        is_step = "step_number" in value and ("observations" in value or "model_output" in value)
        is_plan = isinstance(value.get("plan"), str) and "model_output_message" in value
        return is_step or is_plan or ("task_images" in value and "task" in value) or [*value] == ["system_prompt"]

    def confidence(self, sample: Sample) -> float:
        """A list of tasks has no steps."""
        steps = [value for value in sample.values if self.is_message(value)]
        return 0.97 if any("step_number" in value or "plan" in value for value in steps) else 0.5 if steps else 0.0

    def messages_in(self, value: Any) -> Sequence[Said]:
        for key, role in (("system_prompt", "system"), ("task", "user"), ("plan", "assistant")):
            if isinstance(value.get(key), str):
                return [(role, [Text(value[key])])]
        wrote = as_text(value.get("model_output") or inner(value, "model_output_message").get("content"))
        calls = [*_calls(value)]
        parts: list[Part] = [*([Text(wrote)] if wrote else []), *calls]
        observed = "\n".join(filter(None, (string_of(value, "observations"), _error(value))))
        if calls:
            return with_results("assistant", parts, [_result(calls[0], observed, value)] if observed else [])
        return [("assistant", parts), *([("user", [Text(observed)])] if observed else [])]


def _calls(step: dict[str, Any]) -> Iterator[ToolCall]:
    for call in objects_of(step, "tool_calls"):
        function = inner(call, "function") or call
        yield ToolCall(string_of(call, "id"), string_of(function, "name"), as_text(function.get("arguments")))


def _error(step: dict[str, Any]) -> str:
    return string_of(inner(step, "error"), "message")


def _result(call: ToolCall, observed: str, step: dict[str, Any]) -> ToolResult:
    return ToolResult(call.id, call.name, observed, bool(_error(step)))
