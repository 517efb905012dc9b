"""Files that grow or are rewritten while they are watched: each state is a version, and what it shares with the one before
is stored once."""

from __future__ import annotations

import json
import random
from itertools import pairwise

import pytest

from chainviz.core.documents.source import open_source
from chainviz.core.errors import DocumentError
from chainviz.core.formats.offers import offers_of
from chainviz.core.load import load_file
from chainviz.store.content.chain import StoredChain
from chainviz.store.content.uploads import CHUNK, UploadReader
from chainviz.store.errors import Conflict
from chainviz.store.fsck import fsck
from chainviz.store.history.drafts import head_of
from chainviz.store.models import History, Message, Run, Upload, UploadChunk, Version, Writing
from chainviz.store.purge.delete import delete_for_good
from chainviz.store.purge.values import purge_values, reach
from chainviz.store.transfer import imports
from chainviz.store.transfer.exports import export, original
from chainviz.store.transfer.imports import MessageList, import_chain
from tests.shared_folder import SAMPLES

pytestmark = [pytest.mark.django_db, pytest.mark.database]
SECRET = "hunter2-hunter2"


def grown(content: bytes, head: Version | None = None, owner: str = "me") -> Version | None:
    """Imports the first chain of a file, or takes it in as the next version; None where no message is new."""
    with open_source(content) as source:
        offer = offers_of(source)[0]
        messages = MessageList(source, offer.found, offer.formats[0])
        if head is None:
            return import_chain(messages, owner=owner)
        before = imports.last_file_state(head.history_id)
        assert before is not None
        difference = imports.compare(before, messages)
        if difference.is_none:
            return None
        return imports.grow(head, difference, author=owner, note="grew", arrived=lambda version: None)


def versions_of(states: list[bytes]) -> list[tuple[Version, bytes]]:
    """The version that each state of a file became, where it has new messages."""
    found: list[tuple[Version, bytes]] = []
    for content in states:
        version = grown(content, found[-1][0] if found else None)
        if version is not None:
            found.append((version, content))
    return found


def check(found: list[tuple[Version, bytes]]) -> None:
    for version, content in found:
        assert b"".join(export(version.snapshot)) == content
        upload = version.snapshot.template.run.upload  # type: ignore[union-attr]
        assert upload is not None and b"".join(original(upload)) == content
        stored = StoredChain(version.snapshot)
        assert tuple(stored.slice(0, len(stored))) == load_file(content)[0].messages
    assert [finding.text for finding in fsck() if finding.severity == "error"] == []


def session(count: int, say: str = "hello") -> bytes:
    """Lines of a Claude Code session with so many requests and answers."""
    lines = []
    for number in range(count):
        parent = f"u{number - 1}" if number else None
        role = "assistant" if number % 2 else "user"
        message = {"role": role, "content": [{"type": "text", "text": f"{say} {number}"}]}
        if number % 2:
            message |= {"id": f"m{number}", "type": "message", "model": "claude", "usage": {"input_tokens": 5, "output_tokens": 2}}
        lines.append({"type": role, "uuid": f"u{number}", "parentUuid": parent, "sessionId": "s", "message": message})
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


@pytest.mark.parametrize("name", ["claude_code/ok_session.jsonl", "claude_code/ok_compacted.jsonl", "codex_rollout/ok_rollout.jsonl"])
def test_a_session_that_grows_line_by_line(name: str) -> None:
    lines = (SAMPLES / name).read_bytes().splitlines(keepends=True)
    states = [b"".join(lines[:end]) for end in range(1, len(lines) + 1)]
    readable = [content for content in states if _is_readable(content)]
    found = versions_of(readable)
    assert len(found) > 2
    check(found)
    assert sum(len(bytes(chunk.content)) for chunk in UploadChunk.objects.all()) == len(found[-1][1])


def _is_readable(content: bytes) -> bool:
    with open_source(content) as source:
        try:
            return offers_of(source)[0].is_certain
        except DocumentError:
            return False


def test_only_what_is_new_is_stored() -> None:
    states = [session(count) for count in (10, 12, 30, 31)]
    found = versions_of(states)
    check(found)
    assert [version.number for version, _ in found] == [1, 2, 3, 4]
    assert Message.objects.count() == 31
    assert sum(len(bytes(chunk.content)) for chunk in UploadChunk.objects.all()) == len(states[-1])
    assert len({upload.base_id for upload in Upload.objects.all()}) == 2
    assert not Writing.objects.exists()


def test_a_file_that_is_rewritten_keeps_what_it_begins_with() -> None:
    """A compaction replaces the end of a session, an edit by hand something in between, and then it goes on."""
    whole = session(20)
    lines = whole.splitlines(keepends=True)
    states = [
        whole,
        b"".join(lines[:15]) + session(3, "compacted").splitlines(keepends=True)[2],
        b"".join(lines[:15]),
        whole.replace(b"hello 12", b"bye 12"),
        b"".join([*lines[:4], *lines[6:]]),
        session(24),
    ]
    found = versions_of(states)
    assert [version.snapshot.messages for version, _ in found] == [20, 15, 15, 20, 18, 24]
    check(found)
    shared = [Upload.objects.get(runs=version.snapshot.template.run).start for version, _ in found]  # type: ignore[union-attr, misc]
    assert shared[0] is None and all(shared[1:4])


def test_states_of_many_chunks_and_of_any_length() -> None:
    rng = random.Random(12)
    text, found = "x" * 40_000, []
    content = session(6, text)
    for _ in range(8):
        cut = rng.randrange(len(content) // 2, len(content)) if rng.random() < 0.4 else len(content)
        content = content[: content.rfind(b"\n", 0, cut) + 1] + session(rng.randrange(1, 12), text[: rng.randrange(9, 40_000)])
        found.append(content)
    check(versions_of(found))
    for upload in Upload.objects.all():
        read = UploadReader(upload.pk)
        whole = b"".join(original(upload))
        for _ in range(20):
            start = rng.randrange(len(whole))
            end = min(len(whole), start + rng.randrange(1, 2 * CHUNK))
            assert read(start, end) == whole[start:end]


def test_very_many_new_messages_are_written_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imports, "MOST_NEW", 5)
    found = versions_of([session(4), session(30), session(32)])
    check(found)
    assert Message.objects.count() == 4 + 30 + 2


def test_a_file_stored_whole_again_after_many_states(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chainviz.store.content.uploads.LATER", 3)
    check(versions_of([session(count) for count in range(2, 12)]))
    assert Upload.objects.filter(base=None).count() == 4


def test_a_version_that_came_between_is_not_overwritten() -> None:
    first = grown(session(2))
    assert first is not None
    second = grown(session(4), first)
    with pytest.raises(Conflict):
        grown(session(6), first)
    assert second is not None and head_of(second.history) == second
    assert not Writing.objects.exists() and Run.objects.count() == 2
    assert Upload.objects.count() == 2 and UploadChunk.objects.count() == 2, "what was written for it is gone"


def test_a_value_is_purged_from_every_state() -> None:
    begin = session(9, "y" * 30_000)
    with_secret = begin + session(2, f"the word is {SECRET}")
    later = begin + session(2, f"the word is {SECRET}, again {SECRET}") + session(3)
    found = versions_of([begin, with_secret, later])
    history = found[0][0].history_id
    counted = reach([history], [SECRET]).places
    done, renamed = purge_values([history], [SECRET], reason="test")
    assert done.places == counted > 2 and len(renamed) == 2
    for version, content in found:
        assert b"".join(export(version.snapshot)) == content.replace(SECRET.encode(), b"x" * len(SECRET)), version
    assert [finding.text for finding in fsck() if finding.severity == "error"] == []


def test_states_that_another_chain_is_read_with_stay() -> None:
    states = [session(2), session(4), session(6)]
    found = versions_of(states)
    other = grown(states[1])  # the same bytes in a chain of its own
    assert other is not None
    delete_for_good(found[0][0].history)
    assert Upload.objects.count() == 2
    assert b"".join(export(other.snapshot)) == states[1]
    delete_for_good(other.history)
    assert not Upload.objects.exists() and not UploadChunk.objects.exists() and not History.objects.exists()


def test_versions_follow_one_another() -> None:
    found = versions_of([session(count) for count in (2, 4, 6)])
    for (before, _), (after, _) in pairwise(found):
        assert after.parent_id == before.pk and after.snapshot.parent_id == before.snapshot_id
        assert Version.objects.get(pk=after.pk).note == "grew"
