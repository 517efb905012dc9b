"""A draft moves a chain into every other format and back; what is exported is a document of that format."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client

from chainviz.accounts.models import local_owner
from chainviz.chains.models import Chain
from chainviz.core.chain.messages import Message
from chainviz.core.formats import FORMATS, get_format
from chainviz.core.load import load_file
from chainviz.core.operations.convert import Convert, ConvertOptions
from chainviz.core.operations.edit import Edit
from chainviz.core.operations.edit.options import EditOptions
from chainviz.drafts.models import Draft
from chainviz.drafts.services import change, ground_of_draft, save, undo
from chainviz.drafts.target import Ground, version_of
from chainviz.store.content.chain import StoredChain
from chainviz.store.fsck import fsck
from chainviz.store.models import Snapshot
from chainviz.store.transfer.document_context import envelope_of
from chainviz.store.transfer.exports import export

pytestmark = [pytest.mark.django_db, pytest.mark.database]
TARGETS = [format.name for format in FORMATS if format.name not in ("openai_chat", "raw")]


def begin(chain: Chain) -> Ground:
    version = version_of(chain, 1)
    return Ground(chain, version, None, StoredChain(version.snapshot))


def converted(ground: Ground, to: str) -> Ground:
    draft, _ = change(ground, local_owner(), Convert(), ConvertOptions(to=to))
    return ground_of_draft(Draft.objects.get(pk=draft.pk))


def edited(ground: Ground, path: str, text: str) -> Ground:
    draft, _ = change(ground, local_owner(), Edit(), EditOptions(path=path, text=text))
    return ground_of_draft(Draft.objects.get(pk=draft.pk))


def content(snapshot: Snapshot) -> bytes:
    return b"".join(export(snapshot))


def read_again(snapshot: Snapshot, folder: Path) -> tuple[str, tuple[Message, ...]]:
    """The exported document as anybody reads it."""
    path = folder / "exported"
    path.write_bytes(content(snapshot))
    [loaded] = load_file(path)
    return loaded.format, loaded.messages


def said(messages: tuple[Message, ...]) -> list[tuple[str, str]]:
    return [(message.role, repr(message.parts)) for message in messages]


@pytest.mark.parametrize("to", TARGETS)
def test_there_and_back(chain: Chain, to: str, tmp_path: Path) -> None:
    ground = begin(chain)
    before = content(ground.stored.snapshot)
    there = converted(ground, to)
    snapshot = there.stored.snapshot
    stored = tuple(there.stored.slice(0, len(there.stored)))
    assert snapshot.format == to and snapshot.template_id != ground.stored.snapshot.template_id
    assert envelope_of(snapshot).lines == get_format(to).lines
    assert read_again(snapshot, tmp_path) == (to, stored)

    changed = edited(there, "s1.h.m1" if stored[1].role == "human" else "s1.h.m0", "Why is it green?")
    found = read_again(changed.stored.snapshot, tmp_path)
    assert found[0] == to and "green" in repr(found[1]) and "Why is it red?" not in repr(found[1])
    assert undo(changed.draft) and content(snapshot) == content(ground_of_draft(there.draft).stored.snapshot)

    back = converted(ground_of_draft(there.draft), "openai_chat")
    name, messages = read_again(back.stored.snapshot, tmp_path)
    assert name == "openai_chat"
    assert said(messages) == said(tuple(back.stored.slice(0, len(back.stored))))
    assert [message.role for message in messages] == [message.role for message in stored]
    save(back.draft, note="there and back", by=local_owner())
    assert content(version_of(chain, 1).snapshot) == before
    assert [finding.text for finding in fsck() if finding.severity == "error"] == []


def test_what_every_format_can_hold_comes_back_as_it_was(chain: Chain, tmp_path: Path) -> None:
    ground = begin(chain)
    old = tuple(ground.stored.slice(0, len(ground.stored)))
    for to in ("neutral", "langchaingo", "openai_chat"):
        ground = converted(ground, to)
    name, messages = read_again(ground.stored.snapshot, tmp_path)
    assert (name, said(messages)) == ("openai_chat", said(old))


def test_the_step_names_the_format_it_moves_into(chain: Chain, client: Client) -> None:
    ground = converted(begin(chain), "anthropic")
    assert ground.draft is not None
    page = client.get(f"/c/{chain.pk}/d/{ground.draft.pk}/").content.decode()
    assert "Convert to Anthropic Messages" in page
