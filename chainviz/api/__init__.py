"""The Python API: chains from files and lists, checked, changed, compared and written back. It imports no Django.

In reading order: `chain` (a chain and the result of an operation), `state` (conversation states, and a model's answer as sections and
calls), `tree` (chains built by hand), `file` (an open file with its chains, and objects of frameworks), `shared_documents` (work on
chains that share one), `writing` (chains back to bytes and files, and their usage), `tree_text` (a chain in words), `tree_html` (for
notebooks), `comparison` (two chains), `sessions` (of this machine's agents, and for another agent), `json_objects` (what the command
line and the HTTP API print).
"""

from __future__ import annotations

from chainviz.api import state, tree
from chainviz.api.chain import Chain, Report, Result, generate, load
from chainviz.api.comparison import Comparison, diff
from chainviz.api.sessions import hand_off, sessions
from chainviz.api.state import parse

__all__ = ["Chain", "Comparison", "Report", "Result", "diff", "generate", "hand_off", "load", "parse", "sessions", "state", "tree"]
