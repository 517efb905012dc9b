"""What a notebook shows: a tree without anything that runs or loads; the notebook in this folder runs."""

from __future__ import annotations

import ast
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

import chainviz
from chainviz.api.tree_html import MOST_MESSAGES
from tests.chains.making import STORY, ai, human, make_chain, result

FOLDER = Path(__file__).parent
PAYLOAD = """<script>alert(1)</script><img src=x onerror=alert(1)>"><a href="javascript:alert(1)">"""
ALLOWED = {"div", "p", "b", "i", "ul", "li", "pre", "span", "details", "summary"}


class Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, list[tuple[str, str | None]]]] = []
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, attrs))
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def read(shown: str) -> Reader:
    reader = Reader()
    reader.feed(shown)
    reader.close()
    assert reader.open == []
    return reader


def test_a_hostile_transcript_is_only_text() -> None:
    call = {"id": PAYLOAD, "type": "function", "function": {"name": PAYLOAD, "arguments": PAYLOAD}}
    messages = [
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "http://evil.example/x.png"}}]},
        {"role": "assistant", "content": PAYLOAD, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": PAYLOAD, "content": PAYLOAD},
        {"role": PAYLOAD, "content": [{"type": PAYLOAD, "text": "x"}]},
    ]
    reader = read(chainviz.load(messages)[0]._repr_html_())
    assert {tag for tag, _ in reader.tags} <= ALLOWED
    written = {("open", None), ("style", "white-space: pre-wrap; overflow-wrap: anywhere")}
    assert {attribute for _, attributes in reader.tags for attribute in attributes} == written
    assert "evil.example" not in reader.text and reader.text.count("<script>alert(1)</script>") >= 4


def test_what_is_left_out_is_said() -> None:
    messages = [{"role": "user", "content": f"Question {number}" + "x" * 5000} for number in range(MOST_MESSAGES + 3)]
    text = read(chainviz.load(messages)[0]._repr_html_()).text
    assert "3 more messages" in text and "more characters" in text and f"{MOST_MESSAGES + 3:,} messages" in text


@pytest.mark.django_db
def test_nodes_are_called_as_on_the_page(client: Client) -> None:
    twice = [human("Thanks"), ai(None, ("c9", "price", {"id": 5}), ("c8", "price", {"id": 6})), result("c9", "13")]
    messages = [*STORY, *twice, result("c8", "14"), ai("Done.")]
    shown = chainviz.load(messages)[0]._repr_html_()
    page = client.get(f"/c/{make_chain(messages).pk}/v/1/").content.decode()
    for name in ("System", "Human", "find_tool, price", "price ×2", "Answer"):
        assert f"<b>{name}</b>" in page and f"<b>{name}</b>" in shown
    assert "<b>price result</b>" in shown and "result find_tool (c1)" in shown
    assert not re.search("completion|request-response", shown)


def run_notebook(path: Path) -> list[Any]:
    """Run the code of a notebook; return what its cells show."""
    names: dict[str, Any] = {}
    shown = []
    for cell in json.loads(path.read_text())["cells"]:
        if cell["cell_type"] != "code":
            continue
        *body, last = ast.parse("".join(cell["source"])).body
        exec(compile(ast.Module(body, []), str(path), "exec"), names)
        assert isinstance(last, ast.Expr)
        shown.append(eval(compile(ast.Expression(last.value), str(path), "eval"), names))
    return shown


def test_the_notebook_runs() -> None:
    broken, problems, fixed = run_notebook(FOLDER / "repair_a_chain.ipynb")
    assert problems and not [problem for problem in fixed.problems("anthropic") if problem.severity == "error"]
    assert "§1" in broken._repr_html_()


def test_the_notebook_of_langchain_runs() -> None:
    pytest.importorskip("langchain_core.messages", reason="langchain-core is not installed")
    broken, problems, fixed, messages = run_notebook(FOLDER / "langchain_messages.ipynb")
    assert problems and not fixed.problems("openai_chat") and len(messages) == len(broken) + 1
    assert [message.type for message in messages] == ["human", "ai", "tool", "human"]


def test_the_notebook_of_openai_agents_runs() -> None:
    pytest.importorskip("agents", reason="openai-agents is not installed")
    chain, problems, items = run_notebook(FOLDER / "openai_agents_messages.ipynb")
    assert not problems and len(items) == 4 and len(json.dumps(items)) < chain.size


def test_the_notebook_of_pydantic_ai_runs() -> None:
    pytest.importorskip("pydantic_ai.messages", reason="pydantic-ai is not installed")
    chain, problems, messages = run_notebook(FOLDER / "pydantic_ai_messages.ipynb")
    assert not problems and len(messages) == len(chain) and "ghp_q7" in str(chain.messages) and "ghp_q7" not in str(messages)
