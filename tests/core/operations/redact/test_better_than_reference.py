"""Where redaction differs from the code behind seed 4 on purpose: one test for each row of the table of deviations.md, in its order."""

from __future__ import annotations

import json
from typing import Any

from chainviz.core.chain.chain import MemoryChain, apply_splices
from chainviz.core.chain.messages import Message, ToolResult
from chainviz.core.chain.tree import SUMMARIZATION_TOOL
from chainviz.core.operations.contract import Context
from chainviz.core.operations.redact import REDACT, RedactOptions, audit_record, decide
from tests.core.pictures import ai, call, h, odd, result, s, tool

LONG = "what the tool said " * 20


def asked(id: str = "a", content: str = LONG, name: str = "search") -> tuple[Message, Message]:
    return ai(call(id, name)), tool(result(id, content, name))


def decisions(*messages: Message, **options: Any) -> list[str]:
    return [row.decision for row in decide(MemoryChain(messages), RedactOptions(**options)).rows]


def redacted(*messages: Message, **options: Any) -> tuple[Message, ...]:
    return apply_splices(messages, REDACT.run(MemoryChain(messages), RedactOptions(**options), Context()).changes)


def results(messages: tuple[Message, ...]) -> list[str]:
    return [part.content for message in messages for part in message.parts if isinstance(part, ToolResult)]


def test_row_four_of_the_matrix_is_kept() -> None:
    chain = (h(), *asked("a"), h(), *asked("b"))
    assert decisions(*chain) == ["keep", "keep"]
    assert decisions(*chain, policy="reference") == ["redact", "keep"]


def test_a_user_or_system_message_alone_explains_nothing() -> None:
    for last in (h(), s()):
        assert decisions(h(), *asked(), last) == ["keep"]
        assert decisions(h(), *asked(), last, policy="reference") == ["redact"]


def test_a_result_without_an_id_is_kept_and_warned_about() -> None:
    chain = (h(), *asked(""), ai("done"))
    table = decide(MemoryChain(chain), RedactOptions())
    assert [row.skip for row in table.rows] == ["missing_tool_call_id"]
    assert "no call id" in table.warnings[0]
    assert decisions(*chain, unmatched="redact") == ["redact"]


def test_an_unknown_role_is_redacted_with_a_warning() -> None:
    table = decide(MemoryChain((h(), *asked(), odd("critic"))), RedactOptions())
    assert [row.decision for row in table.rows] == ["redact"]
    assert "unknown role" in table.warnings[0]
    assert "s1.p1.m1.c0" in table.warnings[0]


def test_the_old_role_function_is_a_tool_result() -> None:
    chain = (h(), *asked(), odd("function"))
    for policy in ("seed", "reference"):
        assert decisions(*chain, policy=policy) == ["keep"]


def test_a_summary_is_kept_unless_its_tool_is_named() -> None:
    chain = (h(), *asked("a", name=SUMMARIZATION_TOOL), *asked("b"), ai("done"))
    assert decisions(*chain) == decisions(*chain, policy="every") == ["keep", "redact"]
    assert decide(MemoryChain(chain), RedactOptions()).rows[0].skip == "summary"
    assert decisions(*chain, tools=(SUMMARIZATION_TOOL,)) == ["redact", "keep"]
    assert decisions(*chain, policy="reference") == ["redact", "redact"]


def test_a_small_result_stays_rather_than_grow() -> None:
    chain = (h(), *asked(content="ok"), ai("done"))
    assert results(redacted(*chain)) == ["ok"]
    assert results(redacted(*chain, min_bytes_saved=0)) == ["[redacted]"]


def test_a_second_run_has_nothing_to_do() -> None:
    for placeholder in ("[redacted]", "[{tool}: {bytes} bytes in {lines} lines]"):
        once = redacted(h(), *asked(), ai("done"), placeholder=placeholder)
        assert redacted(*once, placeholder=placeholder) == once
    marked = decide(MemoryChain(once), RedactOptions(), marked={(2, 0)})
    assert [row.skip for row in marked.rows] == ["already_redacted"]


def test_a_placeholder_tells_nothing_of_the_content() -> None:
    contents = [LONG, "\n".join(["line"] * 500), json.dumps({"error": "x" * 200})]
    gone = {results(redacted(h(), *asked(content=content), ai("done")))[0] for content in contents}
    assert gone == {"[redacted]"}
    assert results(redacted(h(), *asked(), ai("done"), placeholder="{bytes}")) == [str(len(LONG))]


def test_parts_tools_size_age_and_single_rows_are_chosen() -> None:
    chain = (h(), *asked("a"), *asked("b", name="list"), *asked("c", "short"), ai("done"))
    assert decisions(*chain) == ["redact", "redact", "keep"]
    assert decisions(*chain, exclude_tools=("list",)) == ["redact", "keep", "keep"]
    assert decisions(*chain, min_bytes=10_000) == ["keep"] * 3
    assert decisions(*chain, protect_last=4) == ["redact", "keep", "keep"]
    assert decisions(*chain, keep_paths=("s1.p1.m1.c0",)) == ["keep", "redact", "keep"]
    assert len(decisions(*chain, parts=("result", "arguments", "text"))) == 8


def test_the_audit_holds_decisions_and_no_content() -> None:
    chain = (h(), *asked("a\n\x1b[31m", "the password is tulip " * 20), ai("done"))
    table = decide(MemoryChain(chain), RedactOptions())
    record = json.dumps(audit_record(table, RedactOptions()))
    assert "tulip" not in record
    assert "\\u001b" not in record.replace("\\\\u001b", "")
    assert json.loads(record)["rows"][0]["decision"] == "redact"
