"""Summarize: folds old messages into summaries, with a plan a person sees before anything is written (seed 1)."""

from __future__ import annotations

from chainviz.core.operations.summarize.apply import execute
from chainviz.core.operations.summarize.extractive.writer import Extractive
from chainviz.core.operations.summarize.losses import Loss, LossReport, Share, losses
from chainviz.core.operations.summarize.manual import Manual
from chainviz.core.operations.summarize.operation import Summarize, summarized
from chainviz.core.operations.summarize.options import PRESETS, SummarizeOptions
from chainviz.core.operations.summarize.plan import Kept, Left, Material, Piece, Plan, Texts
from chainviz.core.operations.summarize.planning import plan
from chainviz.core.operations.summarize.writers import SummaryRequest, Writer, WriterError

SUMMARIZE = Summarize()

__all__ = [
    "PRESETS",
    "SUMMARIZE",
    "Extractive",
    "Kept",
    "Left",
    "Loss",
    "LossReport",
    "Manual",
    "Material",
    "Piece",
    "Plan",
    "Share",
    "Summarize",
    "SummarizeOptions",
    "SummaryRequest",
    "Texts",
    "Writer",
    "WriterError",
    "execute",
    "losses",
    "plan",
    "summarized",
]
