"""Summarize: replace old messages by summaries, with a plan that a person sees before anything is written.

In reading order: `options`, `plan` (the plan as a value, and the pair that replaces messages), `folding` and `reference` (create a
plan, with our own rules or exactly as the reference does), `writers` (write the texts), `facts` (with the losses), `operation` (the
entry point).
"""

from __future__ import annotations

from chainviz.core.operations.summarize.facts import Loss, LossReport, Share, losses
from chainviz.core.operations.summarize.folding import plan
from chainviz.core.operations.summarize.operation import Summarize, fold, summarized
from chainviz.core.operations.summarize.options import PRESETS, SummarizeOptions
from chainviz.core.operations.summarize.plan import Material, Piece, Plan, Texts, UnchangedNodes
from chainviz.core.operations.summarize.writers.contract import Manual, Summary, SummaryRequest, Unchanged, Writer, WriterError
from chainviz.core.operations.summarize.writers.extractive import Extractive

SUMMARIZE = Summarize()

__all__ = [
    "PRESETS",
    "SUMMARIZE",
    "Extractive",
    "Loss",
    "LossReport",
    "Manual",
    "Material",
    "Piece",
    "Plan",
    "Share",
    "Summarize",
    "SummarizeOptions",
    "Summary",
    "SummaryRequest",
    "Texts",
    "Unchanged",
    "UnchangedNodes",
    "Writer",
    "WriterError",
    "fold",
    "losses",
    "plan",
    "summarized",
]
