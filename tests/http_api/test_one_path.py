"""Python, the command line and the API write the same bytes and give the same report."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import chainviz
from chainviz.api.json_objects import result_object
from chainviz.cli import main
from chainviz.drafts.models import Draft
from chainviz.store.transfer import exports
from tests.drafts.pages import snapshot_of
from tests.http_api.test_calls import Program, program  # noqa: F401
from tests.shared_folder import SAMPLES

pytestmark = [pytest.mark.django_db]
FILES = (
    "openai_chat/broken_pending_and_orphan.json", "anthropic/ok_server_tools.json", "gemini/ok_request.json",
    "bedrock_converse/ok_request.json", "pydantic_ai/ok_messages.json", "vercel_ui/ok_messages.json",
    "codex_rollout/ok_rollout.jsonl", "inspect/ok_eval_log.json",
)  # fmt: skip
ASKED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("repair", {}),
    ("mask", {"own_words": "main"}),
    ("redact", {"policy": "every", "parts": ["result", "arguments"]}),
    ("compact", {"max_messages": 3}),
    ("observations", {"to": "markdown", "roles": "to_text", "force": True}),
    ("edit", {"action": "append_human", "text": "Ünd \"now\"?\n"}),
    ("convert", {"to": "anthropic"}),
    ("convert", {"to": "openai_chat", "drop_reasoning": True}),
    ("convert", {"to": "bedrock_converse"}),
    ("convert", {"to": "mistral"}),
)  # fmt: skip


@pytest.fixture(autouse=True)
def ids_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chainviz.drafts.operations.proposal.SystemRandom", lambda: random.Random(0))


def on_the_command_line(file: Path, operation: str, options: dict[str, Any], out: Path) -> bytes:
    words = {name: ",".join(value) if isinstance(value, list) else str(value) for name, value in options.items()}
    settings = [word for name, value in words.items() for word in ("--set", f"{name}={value}")]
    assert main(["apply", operation, str(file), *settings, "--out", str(out)]) == 0
    return out.read_bytes()


@pytest.mark.parametrize("name", FILES)
def test_all_ways_lead_to_the_same_file(
    name: str,
    program: Callable[..., Program],  # noqa: F811
    tmp_path: Path,
) -> None:
    file, editor = SAMPLES / name, program()
    (loaded,) = chainviz.load(file)
    chain = editor.upload(file.read_bytes()).json()["chains"][0]["id"]
    for operation, options in ASKED:
        made = loaded.apply(operation, **options)
        content = made.chain.to_bytes()
        assert on_the_command_line(file, operation, options, tmp_path / "out.json") == content, (operation, options)
        answer = editor.send(f"/chains/{chain}/operations/{operation}", {"options": options})
        if made.chain is loaded:
            assert answer.status_code == 422, (operation, options)
            continue
        draft = Draft.objects.get(pk=answer.json()["id"])
        assert b"".join(exports.export(snapshot_of(draft))) == content, (operation, options)
        (step,) = answer.json()["steps"]
        assert (step["report"], step["warnings"]) == (result_object(loaded, made)["report"], list(made.warnings))
        editor.send(f"/chains/{chain}/drafts/{draft.pk}/discard")


def test_an_export_in_another_format_is_what_convert_writes(program: Callable[..., Program]) -> None:  # noqa: F811
    call = {"id": "call 1!", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call 1!", "content": "one"},
        {"role": "assistant", "content": "It is one."},
        {"role": "user", "content": "and now?"},
    ]
    content, editor = json.dumps(messages).encode(), program()
    chain = editor.upload(content).json()["chains"][0]["id"]
    for name in ("bedrock_converse", "mistral", "anthropic"):
        made = chainviz.load(content)[0].convert(name).chain
        export = editor.get(f"/chains/{chain}/versions/1/export", to=name)
        assert export.getvalue() == made.to_bytes()
        (again,) = chainviz.load(made.to_bytes(), name)
        assert again.verdict(name.removesuffix("_converse")).state == "accepted"


def test_two_chains_are_compared_as_the_command_line_compares_them(
    program: Callable[..., Program],  # noqa: F811
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def run(ids: str, answer: str) -> list[dict[str, Any]]:
        call = {"id": f"call_{ids}", "type": "function", "function": {"name": "find", "arguments": '{"q": 1}'}}
        return [
            {"role": "user", "content": "Find it."},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"call_{ids}", "content": "found"},
            {"role": "assistant", "content": answer},
        ]

    editor = program()
    files = {"one": run("a", "It is here."), "other": run("b", "It is there."), "longer": [*run("a", "It is here."), *run("c", "Again.")]}
    chains = {}
    for name, messages in files.items():
        (tmp_path / name).write_text(json.dumps(messages))
        chains[name] = editor.upload((tmp_path / name).read_bytes()).json()["chains"][0]["id"]
    for old, new, are_runs in (("one", "other", True), ("one", "longer", False), ("one", "one", False)):
        assert main(["diff", str(tmp_path / old), str(tmp_path / new), "--json"]) == 0
        printed = json.loads(capsys.readouterr().out)
        answer = editor.get(f"/compare/{chains[old]}/{chains[new]}.1").json()
        assert answer.pop("next") is None
        assert answer == printed and answer["runs"] is are_runs, (old, new)
    assert editor.get(f"/chains/{chains['one']}/diff/1..1").json() == {**answer, "next": None}
    monkeypatch.setattr("chainviz.http_api.chains.MOST", 1)
    monkeypatch.setattr("chainviz.chains.diff.runs.MOST_COMPARED", 0)
    page = editor.get(f"/compare/{chains['other']}/{chains['longer']}").json()
    rest = editor.get(f"/compare/{chains['other']}/{chains['longer']}", offset=page["next"]).json()
    assert len(page["changes"]) == len(rest["changes"]) == 1, "long chains are compared at once: a program waits"
    for wrong in ("0", "99999", "x", "1.2.3", "1.99"):
        assert editor.get(f"/compare/{chains['one']}/{wrong}").status_code == 404
