"""Lines that try to break out of every section."""

from __future__ import annotations

LINES = (
    "", "plain", "# x", "# a", "#", "## a", "[a]", "[b] Error: x", "[INFO] done", "[a](url)", "<a>", "</a>", "<b>x</b>",
    "<observation>", "</observation>", "# observation", "```", "  ", "\t", "Error: no", "é ☀ 日本", "\r", "\ud800", "&lt;",
    '{"n": 1}', "<error>", "[error] Error: y",
)  # fmt: skip
