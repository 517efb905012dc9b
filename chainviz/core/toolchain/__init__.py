"""Tool calls and tool results as text (seed 2, ToolChain): what a model writes to call a tool and reads as the answer.

calls.py reads calls, in json_syntax.py and yaml_syntax.py; results.py writes results, those of a chain come from stored.py
and their types from schemas.py; answer.py reads a model's whole answer.
"""

from __future__ import annotations

from chainviz.core.toolchain.answer import ParsedAnswer, ParseOptions, parse_answer
from chainviz.core.toolchain.calls import Call, Entry, ReadCalls, parse_calls, read_calls
from chainviz.core.toolchain.chain_results import stored_outputs
from chainviz.core.toolchain.results import (
    Failure,
    Output,
    Raw,
    RawResult,
    Result,
    ResultOptions,
    execute,
    format_results,
)
from chainviz.core.toolchain.schemas import NO_SCHEMAS, ToolSchemas, tool_schemas
from chainviz.core.toolchain.section_values import CallsError

__all__ = [
    "NO_SCHEMAS", "Call", "CallsError", "Entry", "Failure", "Output", "ParseOptions", "ParsedAnswer", "Raw", "RawResult",
    "ReadCalls", "Result", "ResultOptions", "ToolSchemas", "execute", "format_results", "parse_answer", "parse_calls",
    "read_calls", "stored_outputs", "tool_schemas",
]  # fmt: skip
