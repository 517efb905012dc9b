"""The writer without a model: what it keeps, that it always says the same, and that it is quick whatever comes."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainviz.core.chain.chain import MemoryChain
from chainviz.core.chain.messages import Message, Text, ToolResult, byte_size
from chainviz.core.operations.summarize import Extractive, SummarizeOptions, SummaryRequest, WriterError
from chainviz.core.operations.summarize.folding import plan
from chainviz.core.operations.summarize.writers.extractive import sentences
from tests.core.pictures import ai, call, h, result, tool
from tests.core.strategies import chains
from tests.cpu import within_cpu_seconds


def request(messages: Sequence[Message], humans: Sequence[Message] = (), target: int = 2_000) -> SummaryRequest:
    return SummaryRequest("key", 1 if humans else 2, "", tuple(humans), tuple(messages), target)


def written(messages: Sequence[Message], humans: Sequence[Message] = (), target: int = 2_000) -> str:
    return Extractive().write(request(messages, humans, target))


FILLER = "The weather in the north stays mild and the boats remain in the harbour for another week or so. "
STORY = (
    ai("Let me look at the failing test first.", call("a", "run_tests", '{"path": "tests/test_login.py"}')),
    tool(result("a", f"{FILLER * 20}\nValueError: token expired after 3600 s\n", "run_tests")),
    ai(
        "The root cause is the clock: tokens are compared in local time.\n```python\nsecret_code_line = compare(token)\n```\n"
        "| a table | that | says | nothing |",
        call("b", "edit", '{"file": "src/auth/tokens.py"}'),
    ),
    tool(result("b", "written, see https://ci.example.org/run/4711", "edit")),
    ai("Fixed: src/auth/tokens.py now compares in UTC, and 48 tests pass."),
)


def test_it_keeps_request_decision_error_tool_path_number_and_answer() -> None:
    text = written(STORY, [h("Why do people have to log in every hour?")])
    for kept in (
        "Why do people have to log in", "root cause is the clock", "ValueError: token expired after 3600 s", "run_tests",
        "tests/test_login.py", "src/auth/tokens.py", "https://ci.example.org/run/4711", "48 tests pass",
    ):  # fmt: skip
        assert kept in text
    assert "secret_code_line" not in text and "a table" not in text


LOG = """2026-10-01 12:33:44,123 INFO app: started the worker on the new queue as configured
[12:33:45] resolving all packages that the project depends on and their versions
INFO: the server is ready and listens for requests from clients
npm WARN deprecated this package is no longer maintained by anybody
Collecting requests from the index of the mirror that was configured
 45%|████      | of the files were copied to the other machine
level=info msg=ready took=12 the request was answered in good time
tests/test_login.py::test_expiry PASSED [ 12%]"""


def test_lines_of_a_log_are_no_extracts() -> None:
    text = written([ai("I decided to retry the login.", call("a", "run", "{}")), tool(result("a", LOG, "run")), ai("It works now.")])
    assert "decided to retry the login" in text
    assert not [line for line in LOG.splitlines() if line.strip() in text]
    said = "Error handling belongs into the loader. We meet at 12:30 and decide. 3/4 of the users agreed with that."
    assert list(sentences(said)) == said.replace(". ", ".\n").splitlines()


@pytest.mark.parametrize("line", ["{:6}\t{}", "{:>6}→{}", "{}:{}", "{:4} | {}", "feed.py:{}:{}", "{}-   {}"])
def test_numbered_lines_of_code_are_no_findings(line: str) -> None:
    """As `cat -n`, `grep -n` and the viewers of agents print them; a sentence that begins with a number is one."""
    said = "# The importer decides because of the reason that the timetable gives for step {}."
    code = "\n".join(line.format(n, said.format(n)) for n in range(9, 14))
    told = "404: the feed was moved, so the importer has to follow the redirect."
    text = written([ai("I look.", call("c", "cat", "{}")), tool(result("c", f"{code}\n\n{told}", "cat")), ai("Done.")])
    assert "The importer decides" not in text and told in text


def test_with_little_room_the_last_answer_comes_first() -> None:
    assert "Fixed: src/auth" in written(STORY, [h("Why?")], target=120)


def test_it_never_takes_more_bytes_than_it_was_given() -> None:
    for target in range(1, 900, 7):
        assert 0 < byte_size(written(STORY, [h("Warum heißt das so? 日本語")], target)) <= target


@given(chains, st.integers(1, 3_000))
def test_it_writes_something_about_anything_and_always_the_same(messages: list[Message], target: int) -> None:
    text = written(messages, [], target)
    assert text.strip() or target < 5
    assert byte_size(text) <= target
    assert written(messages, [], target) == text


def test_earlier_summaries_weigh_more_than_tool_output() -> None:
    summary = "The customer decided to keep the old contract until March."
    chain = [tool(ToolResult("s", "execute_task_and_return_summary", summary)), ai("ok"), tool(result("a", FILLER * 30))]
    text = written(chain, target=200)
    assert summary in text


def test_it_is_honest_about_itself_and_stops_when_told() -> None:
    assert Extractive().label == "extractive, no model"
    with pytest.raises(WriterError):
        Extractive().write(request(STORY), cancelled=lambda: True)


def prose(length: int) -> str:
    source = random.Random(4)
    words = ["token", "clock", "server", "because", "result", "harbour", "fixed", "error", "schedule", "customer", "invoice"]
    words += [f"word{i}" for i in range(400)]
    text = ""
    while len(text) < length:
        text += " ".join(source.choices(words, k=14)).capitalize() + ". "
    return text


@pytest.mark.parametrize(
    "text",
    [
        prose(64_000), "same words again and again here. " * 2_000, "a" * 64_000, "/a" * 32_000, "1," * 32_000,
        "a/b.c-" * 10_000, "error " * 10_000, "$ " * 32_000, "x.y." * 16_000, "A" * 30_000 + "-1" * 10_000, "e" * 64_000,
    ],
)  # fmt: skip
def test_64_kb_take_half_a_second_at_most(text: str) -> None:
    messages = [ai(Text(text[i : i + 4_000])) for i in range(0, len(text), 4_000)]
    within_cpu_seconds(0.5, lambda: written(messages, target=4_000))


def test_sentences_leave_code_tables_and_headings_out() -> None:
    text = "# A heading of a page\nOne whole sentence stands here. And another one follows it!\n~~~\nThis is code, not prose.\n~~~"
    assert list(sentences(text)) == ["One whole sentence stands here.", "And another one follows it!"]


def test_a_chain_is_summarized_without_any_setting() -> None:
    chain = MemoryChain((h("old"), *STORY, h("new"), ai("yes")))
    planned = plan(chain, SummarizeOptions())
    asked = planned.request(planned.pieces[0])
    assert byte_size(Extractive().write(asked)) <= asked.target_bytes < planned.pieces[0].size


@pytest.mark.parametrize(
    "line",
    [
        "- this.editorContainer = new Container(); // Container to hold editor or selector",
        "    214\tthis.chatContainer.addChild(new Text(the_greeting_of_today, 1, 0));",
        "+ new Text(chalk.dim(credentials removed from the file), 1, 0),",
        "private handleExportCommand(text: string): void {",
    ],
)
def test_a_line_of_code_is_no_finding(line: str) -> None:
    assert list(sentences(line)) == []


def test_a_sentence_that_names_code_is_one() -> None:
    said = "The importer calls station.load() once for every reading (see below)."
    assert list(sentences(said)) == [said]
