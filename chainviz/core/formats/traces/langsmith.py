"""LangSmith runs: the messages of `inputs` and the answer of `outputs` are one chain, in the dialect of the traced program.

Each run of a trace is a chain of its own; those of an agent repeat what came before them.
"""

from __future__ import annotations

from typing import Any

from chainviz.core.formats.mixed_format import MixedFormat


class LangSmith(MixedFormat):
    name = "langsmith"
    label = "LangSmith run"
    tested_with = "langsmith 0.15"
    answers = (("outputs", "generations", "message"), ("outputs", "choices", "message"))
    sequences = ((("inputs", "messages"), *answers),)

    def is_traced(self, document: dict[str, Any]) -> bool:
        return "run_type" in document and "inputs" in document
