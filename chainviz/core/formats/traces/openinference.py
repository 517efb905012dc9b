"""OpenInference spans (Arize Phoenix, agent-prism): `llm.input_messages.0.message.role`,
`llm.output_messages.0.message.tool_calls.0.tool_call.function.name` and so on."""

from __future__ import annotations

from chainviz.core.formats.traces.flat_attributes import FlatAttributes, attribute_of


class OpenInference(FlatAttributes):
    name = "openinference"
    label = "OpenInference spans"
    tested_with = "OpenInference instrumentation 0.1"
    attribute = attribute_of(r"llm\.(input|output)_messages\.(\d{1,6})\.message\.([\w.]+)")
    marks = ('"openinference.', '"llm.input_messages.', '"llm.output_messages.')
