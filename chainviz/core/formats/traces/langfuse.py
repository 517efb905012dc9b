"""Langfuse observations: `input` (a list, or an object with `messages`) and `output` of a generation are one chain, in the
dialect of the traced program.

Each generation of a trace is a chain of its own; the last one holds what came before it.
"""

from __future__ import annotations

from typing import Any

from chainviz.core.formats.mixed_format import MixedFormat

_OBSERVATION = ("traceId", "trace_id")


class Langfuse(MixedFormat):
    name = "langfuse"
    label = "Langfuse trace"
    tested_with = "langfuse 5.0"
    answers = (("output",),)
    sequences = ((("input", "messages"), ("input",), ("output",)),)

    def is_traced(self, document: dict[str, Any]) -> bool:
        if isinstance(document.get("observations"), list):
            return True
        return any(key in document for key in _OBSERVATION) and "type" in document
