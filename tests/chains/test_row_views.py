"""The teaser of a closed row with a call: the first argument, then the words around it."""

from __future__ import annotations

import pytest

from chainviz.chains.explorer.message_words import first_argument


@pytest.mark.parametrize(
    ("preview", "said"),
    [
        ('bash {"command": "ls -la"}', "ls -la"),
        ('I look. bash {"command": "ls \\"x\\"", "t": 1}', 'ls "x" · I look.'),
        ('bash {"n": 12, "m": 3}', "12"),
        ('bash {"ids": ["a", "b"], "m": 3}', '["a", "b"]'),
        ('bash {"command": "cut by the previ', "cut by the previ"),
        ('bash {"command": "find -name \\"*.py\\"', 'find -name "*.py"'),
        ('bash {"command": "cut \\', "cut "),
        ('bash {"command": "cut \\u00e', "cut "),
        ("bash {}", ""),
        ("bash plain words", "plain words"),
        ("Only words", "Only words"),
        ("", ""),
    ],
)
def test_the_first_argument_comes_first(preview: str, said: str) -> None:
    assert first_argument(preview, "bash") == said
