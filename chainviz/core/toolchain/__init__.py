"""Tool calls and tool results as text: what a model writes to call a tool, and what it reads as the answer.

`calls` reads calls and whole answers, `syntax` their JSON or YAML; `results` writes results.
"""

from __future__ import annotations

from chainviz.core.toolchain.calls import Call, Entry, ParsedAnswer, ParseOptions, ReadCalls, parse_answer, parse_calls, read_calls
from chainviz.core.toolchain.results import Failure, Output, Raw, RawResult, Result, ResultOptions, execute, format_results, stored_outputs
from chainviz.core.toolchain.syntax import CallsError
from chainviz.core.usage.document_usage import NO_SCHEMAS, ToolSchemas, tool_schemas

__all__ = [
    "NO_SCHEMAS", "Call", "CallsError", "Entry", "Failure", "Output", "ParseOptions", "ParsedAnswer", "Raw", "RawResult",
    "ReadCalls", "Result", "ResultOptions", "ToolSchemas", "execute", "format_results", "parse_answer", "parse_calls",
    "read_calls", "stored_outputs", "tool_schemas",
]  # fmt: skip
