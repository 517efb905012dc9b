"""Threads of Amp: Anthropic's blocks, whose results say under `run` how the tool ended and what it returned."""

from __future__ import annotations

from functools import partial
from typing import Any

from chainviz.core.dialects.blocks.anthropic_read import ResultForm, read_blocks
from chainviz.core.dialects.blocks.anthropic_write import patched_content
from chainviz.core.dialects.blocks.block_units import Blocks, value_at
from chainviz.core.dialects.members import objects_of, string_of
from chainviz.core.documents.units import Pointer, Sample
from chainviz.core.formats.anthropic_blocks_format import AnthropicBlocksFormat
from chainviz.core.formats.vendors.anthropic import Anthropic

_TEXTS = ("output", "content", "diff")
"""Members of a returned object that hold the text of a shell, of a file and of an edit."""


class _Run(ResultForm):
    id_key = "toolUseID"
    error_at = ("run", "status")
    error_words = ('"done"', '"error"')
    marks_success = True

    def content_at(self, item: dict[str, Any]) -> Pointer:
        result = value_at(item, ("run", "result"))
        if result is None and type(value_at(item, ("run", "error", "message"))) is str:
            return ("run", "error", "message")
        key = next((key for key in _TEXTS if string_of(result, key)), "")
        return ("run", "result", key) if key else ("run", "result")


class Amp(AnthropicBlocksFormat):
    name = "amp"
    label = "Amp thread"
    api = "anthropic"
    accepts = Anthropic.accepts
    tested_with = "exports of Amp, 2026"
    form = _Run()
    blocks = Blocks(("content",), partial(read_blocks, form=form), partial(patched_content, form=form))

    def confidence(self, sample: Sample) -> float:
        is_thread = string_of(sample.beside, "id").startswith("T-") and "v" in sample.beside
        return 0.98 if is_thread or any(map(_has_run, sample.values)) else 0.0


def _has_run(value: Any) -> bool:
    return any("toolUseID" in item and "run" in item for item in objects_of(value, "content"))
