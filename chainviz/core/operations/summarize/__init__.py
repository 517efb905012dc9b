"""Summarize: folds old messages into summaries, with a plan a person sees before anything is written (seed 1).

In reading order: `options`, `plan` (the plan as a value), `planning` (makes one: by `folding`, or exactly as the `reference`
does), with `limits`, `reasons`, `piece_reader`, `summary_pair` and `replacement`; `writers` (who writes the texts), `apply`,
`losses` with `facts`, `cost` (what a model would be sent), `operation` (the entry point).
"""

from __future__ import annotations

from chainviz.core.operations.summarize.apply import fold
from chainviz.core.operations.summarize.losses import Loss, LossReport, Share, losses
from chainviz.core.operations.summarize.operation import Summarize, summarized
from chainviz.core.operations.summarize.options import PRESETS, SummarizeOptions
from chainviz.core.operations.summarize.planning.choose import plan
from chainviz.core.operations.summarize.planning.plan import Kept, Material, Piece, Plan, Texts
from chainviz.core.operations.summarize.writers.contract import Left, Summary, SummaryRequest, Writer, WriterError
from chainviz.core.operations.summarize.writers.extractive.writer import Extractive
from chainviz.core.operations.summarize.writers.manual import Manual

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
    "Summary",
    "SummaryRequest",
    "Texts",
    "Writer",
    "WriterError",
    "fold",
    "losses",
    "plan",
    "summarized",
]
