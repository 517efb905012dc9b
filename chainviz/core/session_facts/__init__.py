"""The facts of a session in lists and totals: title, project, tokens by day and model, tools, health, secrets.

In reading order: `facts` (the values) and `read`.
"""

from __future__ import annotations

from chainviz.core.session_facts.facts import ErrorCount, Health, ProblemCount, Repeat, SessionFacts, ToolCount
from chainviz.core.session_facts.read import read_facts

FACTS_EDITION = 3
"""If this changes, stored facts are read again."""
__all__ = ["FACTS_EDITION", "ErrorCount", "Health", "ProblemCount", "Repeat", "SessionFacts", "ToolCount", "read_facts"]
