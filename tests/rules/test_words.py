"""No page, message, help page or README uses a phrase of the left column of “instead of | write”, the project's table of words."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import ROOT

PHRASES = (
    """
by itself|by themselves|Ctrl V pastes|say which format it is|should you want it after all|lies? in the bin|is here already
Open, fold|As written\\b(?! by)|\\d or more hits|mend(s|ed|ing)?\\b(?!-arguments)|Make the call a text|Make it a human message
mended another way|None came|laid out in lines|stand word for word|that (is|are) no (JSON|UTF-8|message|completion)
it is the first there|answer no call and stay|by row of the matrix|still talked in|Of what the agent works on now
Rules know forms|What stands instead|Look for these too|Nobody has looked|A picture in the chain itself
are values of their own|Keep everything\\b(?! (until|in))|how it goes on|Nothing to look at here|takes it as it is
rejects: |as ever\\b|(is|are) told\\b|anew\\b|in vain\\b|whoever\\b
stood (here|there|in|still)|stands? (here|bare|twice|like that|in too many)|lies? here|that shall\\b|after all\\b|begin to differ at
no problems\\b(?! (added|or))|And so in|Nobody has written
row of the matrix|policy seed|as goaitools|as PentAGI|processed_length (is|\\d)|leading system message|(first|next|no) compactor
""".strip()
    .replace("\n", "|")
    .replace(" ", r"\s+")
)
PATTERN = re.compile(rf"\b(?:{PHRASES})", re.IGNORECASE)
FOLDERS = [("templates", "*.html"), ("static/js", "*.js"), ("chainviz/help", "*.md"), (".", "*.md")]


def texts_of(module: Path) -> Iterator[tuple[int, str]]:
    """What the module can show: its literals, without docstrings, and without names in one word."""
    tree = ast.parse(module.read_text())
    documents = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documents and " " in node.value:
            yield node.lineno, node.value


def without_comments(text: str) -> str:
    """JavaScript and templates: comments become spaces, so that lines keep their numbers."""
    return re.sub(r"/\*.*?\*/|{#.*?#}", lambda found: re.sub(r"[^\n]", " ", found[0]), text, flags=re.DOTALL)


def texts() -> Iterator[tuple[Path, int, str]]:
    """Each text that a person can see, with its file and the number of its first line."""
    for folder, pattern in FOLDERS:
        for path in (ROOT / folder).glob(pattern) if folder == "." else (ROOT / folder).rglob(pattern):
            yield path, 1, without_comments(path.read_text())
    for module in (ROOT / "chainviz").rglob("*.py"):
        if "samples" not in module.parts:
            for number, text in texts_of(module):
                yield module, number, text


def test_no_sentence_uses_a_phrase_that_has_a_better_one() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{first + text.count(chr(10), 0, match.start())}: {match[0]}"
        for path, first, text in texts()
        for match in PATTERN.finditer(text)
    ]
    assert wrong == []


@pytest.mark.parametrize(
    "sentence",
    ["6 problems can be mended.", "16 lie in the bin", "Found by itself", "arguments that are no JSON", "None came", "no problems"],
)
def test_the_rule_finds_such_phrases(sentence: str) -> None:
    assert PATTERN.search(sentence)


@pytest.mark.parametrize("sentence", ["Amend the plan", "as written by hand", "mend-arguments", "keep everything until then"])
def test_the_rule_leaves_others(sentence: str) -> None:
    assert not PATTERN.search(sentence)
