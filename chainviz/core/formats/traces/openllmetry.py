"""Spans of OpenLLMetry (Traceloop) and of others that follow it: `gen_ai.prompt.0.role`, `gen_ai.completion.0.content` and so
on. Newer versions write the messages as the OpenTelemetry conventions have them, which is another format."""

from __future__ import annotations

from chainviz.core.formats.traces.flat_attributes import FlatAttributes, attribute_of


class OpenLLMetry(FlatAttributes):
    name = "openllmetry"
    label = "OpenLLMetry spans"
    tested_with = "attributes of opentelemetry-semantic-conventions-ai 0.4"
    attribute = attribute_of(r"gen_ai\.(prompt|completion)\.(\d{1,6})\.([\w.]+)")
    marks = ('"gen_ai.prompt.0.', '"gen_ai.completion.0.')
