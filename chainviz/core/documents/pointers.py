"""Where in a JSON document a place lies, told from the text before it."""

from __future__ import annotations

import re

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]', re.DOTALL)


def pointer_after(before: str) -> str:
    """JSON pointer of what stands behind `before`, as far as it can be told: a broken document has none."""
    stack: list[str | int] = []
    key = ""
    for found in _TOKEN.finditer(before):
        token = found[0]
        if token == "{":
            stack.append("")
        elif token == "[":
            stack.append(0)
        elif token in "}]":
            if not stack:
                return ""
            stack.pop()
        elif token == ":" and stack and isinstance(stack[-1], str):
            stack[-1] = key
        elif token == "," and stack:
            stack[-1] = stack[-1] + 1 if isinstance(stack[-1], int) else ""
        elif token[0] == '"':
            key = token[1:-1].replace("~", "~0").replace("/", "~1")
    return "".join(f"/{step}" for step in stack)
