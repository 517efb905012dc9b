"""Facts of sessions with several threads, and of those that count tokens in lines of their own."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chainviz.core import session_records
from chainviz.core.documents.detection.detect import survey
from chainviz.core.errors import ChainError
from chainviz.core.formats import detect, offers
from chainviz.core.load import load_file
from chainviz.core.session_facts import read_facts
from chainviz.core.session_records import whole_records
from chainviz.core.sources import STORES
from tests.cpu import cpu_seconds


def line(number: int, parent: int | None, kind: str, content: object, **more: object) -> dict[str, Any]:
    inner = {"role": kind, "content": content} | ({"id": f"msg_{number}"} if kind == "assistant" else {})
    own: dict[str, Any] = {"type": kind, "uuid": f"u{number}", "parentUuid": None if parent is None else f"u{parent}", "sessionId": "s"}
    return own | {"timestamp": "2026-11-20T10:00:00.000Z", "message": inner} | more


def written(lines: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(each) + "\n" for each in lines).encode()


def rewound(branches: int, turns: int) -> bytes:
    """A session whose person went back to its first answer, again and again."""
    lines = [line(0, None, "user", "Fix the build."), line(1, 0, "assistant", [{"type": "text", "text": "Which one?"}])]
    for branch in range(branches):
        parent = 1
        for turn in range(turns):
            number = len(lines)
            call = {"type": "tool_use", "id": f"toolu_{number}", "name": "Bash", "input": {"command": f"make {branch} {turn}"}}
            lines.append(line(number, parent, "user", f"Try {branch}, {turn}."))
            lines.append(line(number + 1, number, "assistant", [call]))
            result = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": "done " * 100}
            lines.append(line(number + 2, number + 1, "user", [result]))
            parent = number + 2
    return written(lines)


def test_each_message_of_a_rewound_session_counts_once() -> None:
    content = rewound(branches=5, turns=3)
    facts, chains = read_facts(content), load_file(content)
    assert len(chains) == 5
    assert facts.messages == max(len(chain.messages) for chain in chains) == 11
    assert sum(tool.calls for tool in facts.tools.values()) == 15


def test_the_longest_thread_is_judged() -> None:
    lines = [line(0, None, "user", "Look around."), line(1, 0, "assistant", [{"type": "text", "text": "Done."}])]
    side = [line(10, None, "user", "Find the file.", isSidechain=True)]
    for number in range(11, 15):
        side.append(line(number, number - 1, "assistant" if number % 2 else "user", f"Step {number}.", isSidechain=True))
    call = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {}}
    side.append(line(15, 14, "assistant", [call], isSidechain=True))
    side.append(line(16, 15, "user", "Stop.", isSidechain=True))
    snapshots = [{"type": "file-history-snapshot", "messageId": str(number)} for number in range(20)]
    facts = read_facts(written([*snapshots, *lines, *side]))
    assert facts.messages == 7
    assert facts.problems and facts.health == "refused"


def test_time_grows_with_the_threads_of_a_session() -> None:
    small, large = rewound(branches=8, turns=6), rewound(branches=64, turns=6)
    read_facts(small)
    assert cpu_seconds(lambda: read_facts(large)) < 24 * cpu_seconds(lambda: read_facts(small))  # usually 8; 64 if each reads all lines


def test_growth_is_read_from_lines_that_count_tokens() -> None:
    def counted(tokens: int) -> dict[str, Any]:
        usage = {"input_tokens": tokens, "cached_input_tokens": 0, "output_tokens": 10, "total_tokens": tokens + 10}
        info = {"total_token_usage": usage, "last_token_usage": usage}
        return {"timestamp": "2026-11-20T10:00:02.000Z", "type": "event_msg", "payload": {"type": "token_count", "info": info}}

    def said(role: str, kind: str, text: str) -> dict[str, Any]:
        payload = {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
        return {"timestamp": "2026-11-20T10:00:01.000Z", "type": "response_item", "payload": payload}

    meta = {"timestamp": "2026-11-20T10:00:00.000Z", "type": "session_meta", "payload": {"id": "a", "cli_version": "0.169.0"}}
    question, answer = said("user", "input_text", "Why?"), said("assistant", "output_text", "Because.")
    assert read_facts(written([meta, question, answer, counted(500), question, answer, counted(900)])).growth == (500, 400)


SAMPLES = [path for path in sorted((Path(__file__).parents[1] / "samples").rglob("*")) if path.is_file()]
WRITTEN_BY_AGENTS = tuple({name: None for store in STORES for name in store.formats})


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name)
def test_expected_formats_change_no_facts(sample: Path) -> None:
    content = sample.read_bytes()
    try:
        facts = read_facts(content)
    except ChainError as error:
        with pytest.raises(type(error), match=re.escape(str(error))):
            read_facts(content, WRITTEN_BY_AGENTS)
        return
    assert read_facts(content, WRITTEN_BY_AGENTS) == read_facts(content, (facts.format,)) == facts


HARMS: dict[str, Callable[[bytes], bytes]] = {
    "cut off": lambda line: line[: len(line) // 2] + b"\n",
    "with remains": lambda line: line.rstrip() + b'{"type": "\n',
    "twice on a line": lambda line: line.rstrip() * 2 + b"\n",
    "repeated": lambda line: line * 2,
    "with a control character": lambda line: line.replace(b" ", b"\x01", 1),
    "with a raw line break": lambda line: line.replace(b" ", b"\n", 1),
    "with a carriage return": lambda line: line.replace(b" ", b"\r", 1),
    "not UTF-8": lambda line: line.replace(b" ", b"\xff", 1),
    "gone": lambda line: b"",
    "indented": lambda line: b"  " + line,
    "behind zeros": lambda line: b"\0\0" + line,
    "behind a mark": lambda line: "\ufeff".encode() + line,
}


@pytest.mark.parametrize("harm", HARMS)
@pytest.mark.parametrize("sample", [path for path in SAMPLES if path.suffix == ".jsonl"], ids=lambda path: path.name)
def test_damage_is_found_without_decoding_again(sample: Path, harm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def facts(content: bytes) -> object:
        try:
            return read_facts(content)
        except ChainError as error:
            return str(error)

    lines = sample.read_bytes().splitlines(keepends=True)
    for place in range(0, len(lines), max(1, len(lines) // 6)):
        content = b"".join([*lines[:place], HARMS[harm](lines[place]), *lines[place + 1 :]])
        found = facts(content)
        with monkeypatch.context() as patch:
            patch.setattr(session_records, "whole_records", lambda content, read: whole_records(content))
            assert facts(content) == found


def test_valid_lines_are_not_decoded_for_their_damage(monkeypatch: pytest.MonkeyPatch) -> None:
    content, decoded = rewound(branches=1, turns=20), list[bytes]()
    for name in ("_is_json", "value_of"):
        real = getattr(session_records, name)
        monkeypatch.setattr(session_records, name, lambda line, real=real: (decoded.append(line), real(line))[1])
    assert read_facts(content).messages and not decoded


def test_log_in_its_expected_format_is_not_compared_with_others(monkeypatch: pytest.MonkeyPatch) -> None:
    content, asked = rewound(branches=2, turns=1), list[object]()
    monkeypatch.setattr(offers, "detect", lambda sample: asked.append(sample) or detect(sample))
    assert read_facts(content, ("claude_code",)) == read_facts(content, ("pi_session", "claude_code"))
    assert not asked
    straight, whole = written([line(0, None, "user", "Hello."), line(1, 0, "assistant", [{"type": "text", "text": "Hi."}])]), list[object]()
    monkeypatch.setattr(offers, "survey", lambda source, recognition, **more: whole.append(source) or survey(source, recognition, **more))
    assert read_facts(straight, ("claude_code",)).messages == 2 and not whole
    assert read_facts(content, ("pi_session",)).format == "claude_code"
    assert asked
