"""Redaction: what is chosen goes, pairs and signatures stay whole, and a second run changes nothing."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from chainviz.cli import main
from chainviz.core.chain.chain import MemoryChain, Splice, apply_splices
from chainviz.core.chain.messages import AI, Binary, Image, Message, Reasoning, Text, Thinking, ToolCall, ToolResult
from chainviz.core.chain.tree import message_paths
from chainviz.core.errors import OptionsError
from chainviz.core.load import export_chain, load_file, restyle
from chainviz.core.operations.contract import Context
from chainviz.core.operations.redact import POLICIES, REDACT, DecisionTable, RedactOptions, audit_record, decide
from chainviz.core.operations.redact.options import write_anthropic_settings
from tests.core.pictures import ai, call, h, odd, result, s, tool
from tests.core.strategies import chains
from tests.examples import examples

LONG = "reading " * 40
SECRET = "the-patient-is-called-Ada"


def redacted(messages: tuple[Message, ...] | list[Message], **options: Any) -> tuple[Message, ...]:
    chain = MemoryChain(tuple(messages))
    return apply_splices(chain.messages, REDACT.run(chain, RedactOptions(**options), Context()).changes)


def table(messages: tuple[Message, ...], **options: Any) -> DecisionTable:
    return decide(MemoryChain(messages), RedactOptions(**options), against=[policy.name for policy in POLICIES])


def contents(messages: tuple[Message, ...]) -> list[str]:
    return [part.content for message in messages for part in message.parts if isinstance(part, ToolResult)]


def round_of(id: str, name: str = "search", content: str = LONG) -> tuple[Message, Message]:
    return ai(call(id, name)), tool(result(id, content, name))


MATRIX = [
    ("1 plain answer", (ai("done"),), True, True),
    ("2 only tools", round_of("x"), False, False),
    ("3 nothing", (), False, False),
    ("4 user, then tools", (h(), *round_of("x")), False, True),
    ("5 tools, then answer", (*round_of("x"), ai("done")), True, True),
    ("user only", (h(),), False, True),
    ("system only", (s(),), False, True),
    ("unknown role", (odd("critic"),), True, True),
]


@pytest.mark.parametrize(("row", "behind", "seed", "reference"), MATRIX, ids=[row[0] for row in MATRIX])
def test_the_decision_matrix(row: str, behind: tuple[Message, ...], seed: bool, reference: bool) -> None:
    messages = (h(), *round_of("a"), *behind)
    assert (contents(redacted(messages))[0] == "[redacted]") is seed
    assert (contents(redacted(messages, policy="reference"))[0] == "[redacted]") is reference
    first = table(messages).rows[0]
    assert ("reference" in first.differs) is (seed != reference)


parts = st.lists(st.sampled_from(["result", "arguments", "reasoning", "media", "text"]), unique=True).map(tuple)
choices = st.fixed_dictionaries(
    {
        "policy": st.sampled_from([policy.name for policy in POLICIES]),
        "parts": parts,
        "keep": st.integers(0, 2),
        "trigger": st.sampled_from([0, 20]),
        "unmatched": st.sampled_from(["keep", "redact"]),
        "placeholder": st.sampled_from(["", "[redacted]", "{tool} {bytes} {lines}", "x"]),
        "protect_last": st.integers(0, 2),
        "clear_at_least": st.sampled_from([0, 5]),
        "clear_tool_inputs": st.booleans(),
    }
)


@examples(400)
@given(chains, choices)
def test_ids_and_order_stay_nothing_grows_and_a_second_run_changes_nothing(messages: list[Message], options: dict[str, Any]) -> None:
    before = copy.deepcopy(messages)
    once = redacted(messages, **options)
    assert messages == before
    assert [m.role for m in once] == [m.role for m in messages]
    assert [[(c.id, c.name) for c in (*m.calls, *m.results)] for m in once] == [
        [(c.id, c.name) for c in (*m.calls, *m.results)] for m in messages
    ]
    for old, new in zip(messages, once, strict=True):
        kept_signatures = {p.reasoning for p in new.parts if isinstance(p, Text | ToolCall)} - {None}
        assert kept_signatures <= {p.reasoning for p in old.parts if isinstance(p, Text | ToolCall)}
        assert {p for p in new.parts if isinstance(p, Thinking)} <= {p for p in old.parts if isinstance(p, Thinking)}
        if "reasoning" not in options["parts"]:
            assert new.size <= old.size
    assert redacted(once, **options) == once


@examples(200)
@given(chains, choices)
def test_the_table_tells_exactly_what_happens(messages: list[Message], options: dict[str, Any]) -> None:
    decided = table(tuple(messages), **options)
    after = redacted(messages, **options)
    changed = {i for i, (old, new) in enumerate(zip(messages, after, strict=True)) if old != new}
    assert changed == {row.message for row in decided.rows if row.redact}
    metrics = decided.metrics()
    assert metrics.bytes_saved == sum(row.size - row.bytes_after for row in decided.rows)
    assert sum(metrics.distribution.values()) == len(decided.rows)
    if options["parts"] == ("result",) and not options["clear_tool_inputs"]:
        assert metrics.bytes_saved == sum(m.size for m in messages) - sum(m.size for m in after)


def test_the_same_conversation_is_decided_the_same_in_one_message_or_two() -> None:
    apart = table((ai(call("a"), call("b")), tool("a"), tool("b"), ai("done")))
    together = table((ai(call("a"), call("b")), tool("a", "b"), ai("done")))
    assert [(r.matrix_row, r.follows, r.redact) for r in apart.rows] == [(r.matrix_row, r.follows, r.redact) for r in together.rows]
    assert [r.matrix_row for r in apart.rows] == ["5", "1"]


class TestSelection:
    messages = (h(), *round_of("a", "fetch_page"), *round_of("b", "fetch_rows"), *round_of("c", "write"), ai("done"))

    def cleared(self, **options: Any) -> str:
        found = contents(redacted(self.messages, **options))
        return "".join(letter for letter, content in zip("abc", found, strict=True) if content != LONG)

    @pytest.mark.parametrize(
        ("options", "cleared"),
        [
            ({}, "abc"),
            ({"tools": ("fetch_page",)}, "a"),
            ({"tools": ()}, ""),
            ({"tools": ("fetch_*",)}, ""),
            ({"tool_globs": ("fetch_*",)}, "ab"),
            ({"tools": ("write",), "tool_globs": ("*rows",)}, "bc"),
            ({"exclude_tools": ("write",)}, "ab"),
            ({"exclude_globs": ("fetch_*",)}, "c"),
            ({"tools": ("Write",)}, ""),
            ({"min_bytes": len(LONG)}, "abc"),
            ({"min_bytes": len(LONG) + 1}, ""),
            ({"protect_first": 3}, "bc"),
            ({"protect_last": 2}, "ab"),
            ({"min_bytes_saved": len(LONG) - len("[redacted]") + 1}, ""),
            ({"enabled": False}, ""),
            ({"policy": "keep_last_n", "keep": 1}, "ab"),
            ({"policy": "keep_last_n", "keep": 1, "tools": ("fetch_page", "fetch_rows")}, "a"),
            ({"keep_paths": ("s1.p1.m1.c0",)}, "bc"),
            ({"tools": (), "redact_paths": ("s1.p2.m1.c0",)}, "b"),
        ],
    )
    def test_options(self, options: dict[str, Any], cleared: str) -> None:
        assert self.cleared(**options) == cleared

    def test_a_pattern_among_names_is_hinted_at(self) -> None:
        warnings = table(self.messages, tools=("fetch_*",)).warnings
        assert any("tool_globs" in warning for warning in warnings)

    def test_a_row_decided_by_hand_says_so(self) -> None:
        row = table(self.messages, keep_paths=("s1.p1.m1.c0",)).rows[0]
        assert (row.manual, row.reason, row.decision) == (True, "kept by hand", "keep")


def test_superseded_keeps_the_latest_of_each_tool() -> None:
    messages = (h(), *round_of("a", "read"), *round_of("b", "list"), *round_of("c", "read"))
    assert [content == LONG for content in contents(redacted(messages, policy="superseded"))] == [False, True, True]


def test_superseded_by_the_same_call_keeps_what_was_asked_otherwise() -> None:
    def asked(id: str, arguments: str) -> tuple[Message, Message]:
        return ai(ToolCall(id, "read", arguments)), tool(result(id, LONG, "read"))

    messages = (h(), *asked("a", '{"path": "x", "n": 1}'), *asked("b", '{"path": "y"}'), *asked("c", '{"n":1,"path":"x"}'))
    assert [c == LONG for c in contents(redacted(messages, policy="superseded"))] == [False, False, True]
    by_call = {"policy": "superseded", "superseded_by": "same_call"}
    assert [c == LONG for c in contents(redacted(messages, **by_call))] == [False, True, True]
    both = redacted(messages, parts=("result", "arguments"), **by_call)
    assert [m.parts[0].arguments == "{}" for m in both if m.calls] == [True, False, False]  # type: ignore[union-attr]


def test_parts_of_each_kind() -> None:
    signed = Thinking("because " * 9, "c2ln")
    messages = (
        Message("human", (Text(LONG), Image("data:image/png;base64," + "A" * 99))),
        Message(AI, (signed, Text(LONG, Reasoning("why", "sig")), ToolCall("a", "look", json.dumps({"q": LONG})))),
        Message("tool", (ToolResult("a", "look", LONG, media=(Binary("image/png", b"x" * 99),)),)),
        ai("done"),
    )
    after = redacted(messages, parts=("result", "arguments", "reasoning", "media", "text"))
    assert after[0].parts == (Text("[redacted]"), Text("[redacted]"))
    assert after[1].parts == (Text("[redacted]"), ToolCall("a", "look", "{}"))
    assert after[2].parts == (ToolResult("a", "look", "[redacted]"),)
    assert after[3] == messages[3]
    media = redacted(messages, parts=("media",))
    assert media[2].parts == (ToolResult("a", "look", f"{LONG}\n[redacted]"),)
    assert media[1] == messages[1]
    assert redacted(messages, parts=("text",), roles=("human",))[1:] == messages[1:]


def test_results_without_a_call_are_warned_about_and_kept_unless_wanted() -> None:
    messages = (h(), tool(result("", LONG)), tool(result("zz", LONG)), ai("done"))
    decided = table(messages)
    assert [row.skip for row in decided.rows] == ["missing_tool_call_id", "orphan_result"]
    assert len(decided.warnings) == 2
    assert contents(redacted(messages, unmatched="redact")) == ["[redacted]"] * 2


def test_an_unknown_role_is_warned_about() -> None:
    decided = table((h(), *round_of("a"), odd("critic")))
    assert decided.rows[0].redact
    assert "unknown role" in decided.warnings[0]


def test_a_placeholder_may_tell_tool_bytes_and_lines_and_is_known_again() -> None:
    messages = (h(), *round_of("a", "read", "line\n" * 40), ai("done"))
    once = redacted(messages, placeholder="[{tool}: {bytes} bytes, {lines} lines]")
    assert contents(once) == ["[read: 200 bytes, 40 lines]"]
    assert redacted(once, placeholder="[{tool}: {bytes} bytes, {lines} lines]", min_bytes_saved=0) == once
    with pytest.raises(ValidationError, match="secret"):
        RedactOptions(placeholder="{secret}")


ANTHROPIC = {
    "edits": [
        {
            "type": "clear_tool_uses_20250919",
            "trigger": {"type": "tool_uses", "value": 2},
            "keep": {"type": "tool_uses", "value": 1},
            "clear_at_least": {"type": "input_tokens", "value": 50},
            "exclude_tools": ["list"],
            "clear_tool_inputs": ["read"],
        }
    ]
}


@pytest.mark.parametrize("wrapped", [ANTHROPIC, ANTHROPIC["edits"], ANTHROPIC["edits"][0], {"context_management": ANTHROPIC}])
def test_anthropic_settings_come_in_and_go_out(wrapped: Any) -> None:
    options = RedactOptions(context_management=json.dumps(wrapped))
    assert (options.policy, options.trigger, options.trigger_type, options.keep) == ("clear_tool_uses", 2, "tool_uses", 1)
    assert (options.clear_at_least, options.exclude_tools, options.clear_tool_inputs) == (50, ("list",), ("read",))
    assert json.loads(write_anthropic_settings(options)) == ANTHROPIC
    messages = (h(), *round_of("a", "read"), *round_of("b", "list"), *round_of("c", "read"), ai("done"))
    assert [c == LONG for c in contents(redacted(messages, context_management=json.dumps(wrapped)))] == [False, True, True]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "not JSON"),
        ('{\n "edits": [,]\n}', "at line 2, column 12"),
        ('{"edits": []}', "have no edits"),
        ('{"type": "clear_tool_uses_20250919", "keep": 3}', "keep must be"),
        ('{"type": "clear_tool_uses_20250919", "kep": 3}', "no “kep”"),
        ('{"type": "clear_tool_uses_20250919", "trigger": {"type": "input_tokens", "value": -1}}', "trigger must be"),
    ],
)
def test_broken_anthropic_settings_are_refused_in_a_sentence(text: str, says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        RedactOptions(context_management=text)


def test_what_anthropic_cannot_do_is_not_written_for_it() -> None:
    with pytest.raises(OptionsError):
        write_anthropic_settings(RedactOptions())
    with pytest.raises(OptionsError):
        write_anthropic_settings(RedactOptions(policy="clear_tool_uses", tools=("read",)))
    with pytest.raises(OptionsError, match="“At least”, “Older than”"):
        write_anthropic_settings(RedactOptions(policy="clear_tool_uses", min_bytes=9, protect_last=3))


def test_the_audit_holds_decisions_and_no_content() -> None:
    messages = (h(SECRET), *round_of("a\x1b[31m", "read", SECRET * 9), ai(SECRET))
    options = RedactOptions(placeholder=f"[{SECRET}]")
    record = json.dumps(audit_record(decide(MemoryChain(messages), options), options))
    assert SECRET not in record
    row = json.loads(record)["rows"][0]
    assert row["tool_call_id"] == "a\\u001b[31m"  # written out, so that no terminal or log obeys it
    assert (row["decision"], row["bytes_before"], row["matrix_row"], row["followed_by"]) == ("redact", 225, "1", "A")


def test_a_long_chain_is_decided_in_one_pass() -> None:
    class Counting(MemoryChain):
        reads = 0

        def slice(self, start: int, stop: int) -> Any:
            Counting.reads += 1
            return super().slice(start, stop)

    messages = (h(), *(m for i in range(2_000) for m in round_of(f"c{i}")))
    chain = Counting(messages)
    decide(chain, RedactOptions())
    assert Counting.reads == 0  # nothing is to go, shapes are enough
    by_size = decide(chain, RedactOptions(policy="superseded"))
    assert Counting.reads == 0  # sizes tell what the usual placeholder saves
    by_lines = decide(chain, RedactOptions(policy="superseded", placeholder="[{lines} lines]"))
    assert 0 < Counting.reads < 50
    assert sum(row.redact for row in by_size.rows) == sum(row.redact for row in by_lines.rows) == 1_999
    for row in by_size.rows[:50]:
        assert row.bytes_after == (len("[redacted]") if row.redact else row.size)


def test_messages_are_read_once_to_be_redacted_and_once_to_be_written() -> None:
    class Counting(MemoryChain):
        read = 0

        def slice(self, start: int, stop: int) -> Any:
            Counting.read += len(found := super().slice(start, stop))
            return found

        def stream(self, start: int, stop: int) -> Any:
            return iter(self.slice(start, stop))

    chain = Counting((h(), *(m for i in range(1_000) for m in round_of(f"c{i}")), ai("Done.")))
    changes = REDACT.run(chain, RedactOptions(), Context()).changes
    assert Counting.read == len(chain)
    assert contents(apply_splices((), [Splice(0, 0, change.messages) for change in changes])) == ["[redacted]"] * 1_000
    assert Counting.read <= 2 * len(chain)


ANTHROPIC_CHAIN = {
    "model": "m",
    "messages": [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": SECRET, "signature": "c2ln"},
            {"type": "tool_use", "id": "t1", "name": "read", "input": {"path": SECRET}},
        ]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": SECRET * 5}], "x": 1.50},
            {"type": "text", "text": "and?"},
        ]},
        {"role": "assistant", "content": "done"},
    ],
}  # fmt: skip


def test_an_export_of_a_redacted_chain_holds_nothing_of_it() -> None:
    raw = json.dumps(ANTHROPIC_CHAIN).encode()
    loaded = load_file(raw)[0]
    options = RedactOptions(parts=("result", "arguments", "reasoning"))
    outcome = REDACT.run(MemoryChain(loaded.messages, loaded.format), options, Context())
    after = apply_splices(loaded.messages, outcome.changes)
    written = tuple(
        message if message is old else restyle(after, i, message, loaded.format, loaded.envelope)
        for i, (old, message) in enumerate(zip(loaded.messages, after, strict=True))
    )
    exported = export_chain(written, loaded.envelope, loaded.format, lambda a, b: raw[a:b])
    assert SECRET.encode() not in exported
    assert json.loads(exported)["messages"][2]["content"][1] == {"type": "text", "text": "and?"}
    assert load_file(exported)[0].messages == after


def test_the_command_line_says_where_settings_break(tmp_path: Any, capsys: Any) -> None:
    file = tmp_path / "run.json"
    file.write_text('[{"role": "user", "content": "Hi"}]')
    assert main(["apply", "redact", str(file), "--set", 'context_management={"edits": [,]}']) == 2
    told = "Anthropic's settings are not JSON: Expecting value at line 1, column 12."
    assert capsys.readouterr().err.strip() == f"chainviz: {told}"


def test_the_command_line_redacts(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "chain.json"
    file.write_text(json.dumps(ANTHROPIC_CHAIN))
    out = tmp_path / "out.json"
    command = ["apply", "redact", str(file), "--set", "policy=seed", "--set", "tools=read,other", "--json", "--out", str(out)]
    with pytest.raises(SystemExit) as ended:
        raise SystemExit(main(command))
    assert not ended.value.code
    told = json.loads(capsys.readouterr().out)
    assert [(row["path"], row["action"]) for row in told["report"]] == [("s1.p1.m1.c0", "redact")]
    assert told["warnings"] == ["No tool of this chain is called “other”."]
    assert json.loads(out.read_text())["messages"][2]["content"][0]["content"][0]["text"] == "[redacted]"


@given(chains)
def test_each_message_has_the_path_that_leads_back_to_it(messages: list[Message]) -> None:
    chain = MemoryChain(tuple(messages))
    assert [list(chain.span(path)) for path in message_paths(chain.tree)] == [[i] for i in range(len(messages))]
