"""Export by ranges of the upload gives the same bytes as export message by message, whatever was edited."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from chainviz.core.chain.chain import Splice
from chainviz.core.chain.messages import HUMAN, Message, Text
from chainviz.core.documents.source import open_source
from chainviz.core.errors import ChainError
from chainviz.core.formats import get_format
from chainviz.core.formats.offers import offers_of
from chainviz.store.content.chain import StoredChain
from chainviz.store.history.drafts import add_step, start_draft
from chainviz.store.history.steps import NewStep
from chainviz.store.models import Snapshot, Version
from chainviz.store.transfer import exports
from chainviz.store.transfer.exports import export
from chainviz.store.transfer.imports import MessageList, import_chain
from chainviz.store.transfer.snapshot_writer import copied
from tests.bench.made_chains import write_chain
from tests.shared_folder import SAMPLES

pytestmark = pytest.mark.django_db


def line(**members: Any) -> str:
    return json.dumps(members)


def said(role: str, *blocks: dict[str, Any], id: str = "") -> str:
    message: dict[str, Any] = {"role": role, "content": list(blocks)}
    if id:
        message["id"] = id
    return line(type=role, uuid=f"u{len(blocks)}", message=message)


def session(turns: int) -> bytes:
    """Lines as Claude Code writes them: one message over several lines, results and other lines between them."""
    lines = [line(type="summary", summary="two words")]
    for turn in range(turns):
        lines.append(said("user", {"type": "text", "text": f"question {turn}"}))
        for part in range(turn % 3 + 1):
            call = {"type": "tool_use", "id": f"c{turn}-{part}", "name": "look", "input": {"n": part}}
            lines.append(said("assistant", call, id=f"msg_{turn}"))
            if part:
                result = {"type": "tool_result", "tool_use_id": f"c{turn}-{part - 1}", "content": "found"}
                lines.append(said("user", result))
        if turn % 4 == 0:
            lines.append(line(type="file-history-snapshot", turn=turn))
        last = {"type": "tool_result", "tool_use_id": f"c{turn}-{turn % 3}", "content": "ok"}
        lines += [said("user", last, {"type": "text", "text": "and?"}), ""]
    return "\n".join(lines).encode()


def messages(pairs: int) -> bytes:
    """An Anthropic request: results and text of one message are two messages of the chain."""
    found: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
    for i in range(pairs):
        found.append({"role": "assistant", "content": [{"type": "tool_use", "id": f"t{i}", "name": "f", "input": {}}]})
        result = {"type": "tool_result", "tool_use_id": f"t{i}", "content": "r"}
        found.append({"role": "user", "content": [result, {"type": "text", "text": f"more {i}"}]})
    return json.dumps({"messages": found, "system": "be brief", "model": "m"}, indent=1).encode()


def imported(origin: bytes | Path) -> list[Version]:
    with open_source(origin) as source:
        return [import_chain(MessageList(source, offer.found, offer.formats[0]), owner="me") for offer in offers_of(source)]


def both(snapshot: Snapshot, monkeypatch: Any) -> bytes:
    monkeypatch.setattr(exports, "SHORTEST", 1 << 40)
    slow = b"".join(export(snapshot))
    monkeypatch.setattr(exports, "SHORTEST", 1)
    assert b"".join(export(snapshot)) == slow
    return slow


def any_change(chain: Sequence[Message], rng: random.Random) -> list[Splice]:
    count = len(chain)
    start = rng.randrange(count)
    length = rng.randint(1, min(4, count - start))
    match rng.choice(["delete", "move", "edit", "insert"]):
        case "delete":
            return [Splice(start, length)]
        case "move":
            to = rng.choice([at for at in range(count + 1) if not start < at < start + length])
            moved = [Splice(start, length), Splice(to, 0, tuple(chain[start : start + length]))]
            return sorted(moved, key=lambda splice: (splice.start, splice.removed))
        case "edit":
            old = chain[start]
            texts = [i for i, part in enumerate(old.parts) if isinstance(part, Text)]
            parts = [replace(part, text="edited") if i in texts else part for i, part in enumerate(old.parts)]  # type: ignore[call-arg]
            return [Splice(start, 1, (replace(old, parts=tuple(parts)),))]
    return [Splice(start, 0, (Message(HUMAN, (Text("new"),)),))]


def walk(version: Version, seed: int, monkeypatch: Any) -> None:
    rng = random.Random(seed)
    draft = start_draft(version, author="me")
    snapshot = version.snapshot
    for _ in range(4):
        chain = StoredChain(snapshot)
        if not len(chain):
            return
        snapshot = add_step(draft, NewStep(any_change(chain.slice(0, len(chain)), rng), "edit"))
        both(snapshot, monkeypatch)


@pytest.mark.database
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("document", [session(9), messages(8)], ids=["session", "messages"])
def test_edits_moves_and_deletions(document: bytes, seed: int, monkeypatch: Any) -> None:
    [version] = imported(document)
    assert both(version.snapshot, monkeypatch) == document
    walk(version, seed, monkeypatch)


def test_samples(monkeypatch: Any) -> None:
    seen = 0
    for number, path in enumerate(sorted(SAMPLES.rglob("*"))):
        if path.is_file() and path.stat().st_size < 200_000:
            try:
                versions = imported(path)
            except ChainError:
                continue
            both(versions[0].snapshot, monkeypatch)
            if get_format(versions[0].snapshot.format).writes:
                walk(versions[0], number, monkeypatch)
            seen += 1
    assert seen


@pytest.mark.database
def test_a_copy_without_some_messages_does_not_bring_them_back(monkeypatch: Any) -> None:
    [version] = imported(session(6))
    snapshot = add_step(start_draft(version, author="me"), NewStep([Splice(5, 3)], "edit"))
    with copied(snapshot) as finish:
        version = finish(author="me")
    assert both(version.snapshot, monkeypatch) == both(snapshot, monkeypatch)


@pytest.mark.database
def test_a_long_chain_is_exported_without_reading_its_messages(tmp_path: Path, django_assert_max_num_queries: Any) -> None:
    path = write_chain(tmp_path / "made.json", 3000)
    [version] = imported(path)
    draft = start_draft(version, author="me")
    snapshot = add_step(draft, NewStep([Splice(1500, 1, (Message(HUMAN, (Text("x"),)),))], "edit"))
    with django_assert_max_num_queries(30):
        content = b"".join(export(snapshot))
    assert content != path.read_bytes() and len(json.loads(content)["messages"]) == 3000
