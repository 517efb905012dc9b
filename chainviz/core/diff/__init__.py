"""Compare two chains: find the rows, messages, lines and words that differ, in bounded time and memory."""

from chainviz.core.diff.chains import ChainDiff, FirstDifference, Group, Kind, Side, diff_chains
from chainviz.core.diff.lines import DiffRow, Fold, Span, TextDiff
from chainviz.core.diff.messages import FieldChange, MessageDiff, PartDiff
from chainviz.core.diff.rows import Measure, Row, Rows, ShapeRows

__all__ = [
    "ChainDiff", "DiffRow", "FieldChange", "FirstDifference", "Fold", "Group", "Kind", "Measure", "MessageDiff", "PartDiff",
    "Row", "Rows", "ShapeRows", "Side", "Span", "TextDiff", "diff_chains",
]  # fmt: skip
