"""A draft moves a chain into every other format and back; what is exported is a document of that format."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import pytest
from django.test import Client

from chainviz.accounts.models import local_owner
from chainviz.chains.models import Chain
from chainviz.core.chain.messages import Message
from chainviz.core.formats import WRITTEN, get_format
from chainviz.core.load import load_file
from chainviz.core.operations.convert import Convert, ConvertOptions
from chainviz.core.operations.edit import Edit
from chainviz.core.operations.edit.locate import EditOptions
from chainviz.drafts.models import Draft
from chainviz.drafts.operations.run import change
from chainviz.drafts.services import save
from chainviz.drafts.target import Target, target_of_draft, target_of_version, version_of
from chainviz.store.fsck import fsck
from chainviz.store.history.drafts import undo
from chainviz.store.models import Snapshot
from chainviz.store.transfer.document_context import envelope_of
from chainviz.store.transfer.exports import export
from tests.chains.files import send

pytestmark = [pytest.mark.django_db, pytest.mark.database]
TARGETS = [format.name for format in WRITTEN if format.name not in ("openai_chat", "raw")]

UNTOLD = ("mistral", "ollama", "cohere", "hf_chat", "kimi_cli", "swe_agent", "langsmith", "langfuse", "hermes")
"""Formats whose messages look like those of OpenAI if they have no reasoning and no images."""


def begin(chain: Chain) -> Target:
    return target_of_version(chain, 1, local_owner())


def converted(target: Target, to: str) -> Target:
    draft = change(target, Convert(), ConvertOptions(to=to))
    return target_of_draft(Draft.objects.get(pk=draft.pk))


def edited(target: Target, path: str, text: str) -> Target:
    draft = change(target, Edit(), EditOptions(path=path, text=text))
    return target_of_draft(Draft.objects.get(pk=draft.pk))


def content(snapshot: Snapshot) -> bytes:
    return b"".join(export(snapshot))


def read_again(snapshot: Snapshot, folder: Path) -> tuple[str, tuple[Message, ...]]:
    """The exported document as anybody reads it."""
    path = folder / "exported"
    path.write_bytes(content(snapshot))
    [loaded] = load_file(path, snapshot.format if snapshot.format in UNTOLD else None)
    return loaded.format, loaded.messages


def said(messages: tuple[Message, ...]) -> list[tuple[str, str]]:
    return [(message.role, repr(message.parts)) for message in messages]


@pytest.mark.parametrize("to", TARGETS)
def test_there_and_back(chain: Chain, to: str, tmp_path: Path) -> None:
    target = begin(chain)
    before = content(target.stored.snapshot)
    there = converted(target, to)
    snapshot = there.stored.snapshot
    stored = tuple(there.stored.slice(0, len(there.stored)))
    assert snapshot.format == to and snapshot.template_id != target.stored.snapshot.template_id
    assert envelope_of(snapshot).lines == get_format(to).lines
    name, again = read_again(snapshot, tmp_path)
    assert name == to
    if not getattr(get_format(to), "halves", False):  # there a result whose call is elsewhere stands in one of its own
        assert again == stored

    changed = edited(there, "s1.h.m1" if stored[1].role == "human" else "s1.h.m0", "Why is it green?")
    found = read_again(changed.stored.snapshot, tmp_path)
    assert found[0] == to and "green" in repr(found[1]) and "Why is it red?" not in repr(found[1])
    assert undo(changed.draft.stored) and content(snapshot) == content(target_of_draft(changed.draft).stored.snapshot)

    back = converted(target_of_draft(changed.draft), "openai_chat")
    name, messages = read_again(back.stored.snapshot, tmp_path)
    assert name == "openai_chat"
    assert said(messages) == said(tuple(back.stored.slice(0, len(back.stored))))
    assert [message.role for message in messages] == [message.role for message in stored]
    save(back.draft, note="there and back", by=local_owner())
    assert content(version_of(chain, 1).snapshot) == before
    assert [finding.text for finding in fsck() if finding.severity == "error"] == []


def test_what_every_format_can_hold_comes_back_as_it_was(chain: Chain, tmp_path: Path) -> None:
    target = begin(chain)
    old = tuple(target.stored.slice(0, len(target.stored)))
    for to in ("neutral", "langchaingo", "openai_chat"):
        target = converted(target, to)
    name, messages = read_again(target.stored.snapshot, tmp_path)
    assert (name, said(messages)) == ("openai_chat", said(old))


def test_the_step_names_the_format_it_moves_into(chain: Chain, client: Client) -> None:
    target = converted(begin(chain), "anthropic")
    assert target.draft is not None
    page = client.get(f"/c/{chain.pk}/d/{target.draft.pk}/").content.decode()
    assert "Convert to Anthropic Messages" in page


def test_what_a_conversion_leaves_out_is_shown_before_and_after_it_is_saved(chain: Chain, client: Client) -> None:
    target = converted(begin(chain), "react_log")
    assert target.draft is not None
    lost = "call ids become numbers, and results are not marked as errors"
    assert lost in client.get(f"/c/{chain.pk}/d/{target.draft.pk}/").content.decode()
    save(target.draft, note="", by=local_owner())
    page = client.get(f"/c/{chain.pk}/versions/2/report/").content.decode()
    assert lost in page and "to=react_log" in page and "Convert to ReAct log" in page
    assert "This version is the upload." in client.get(f"/c/{chain.pk}/versions/1/report/").content.decode()


def test_tools_and_settings_move_in_a_draft_and_at_export(client: Client) -> None:
    """They also move there and back within one draft, and into a line for fine-tuning."""
    function = {"name": "look", "parameters": {"type": "object", "properties": {"at": {"type": "string"}}}}
    request = {
        "model": "gpt-5", "tools": [{"type": "function", "function": function}], "temperature": 0.5,
        "messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yes"}, {"role": "user", "content": "go"}],
    }  # fmt: skip
    send(client, ("request.json", json.dumps(request).encode()))
    chain = Chain.objects.get(file_name="request.json")
    page = client.get(f"/c/{chain.pk}/v/1/export?to=anthropic").content.decode()
    assert "Anthropic Messages: accepted" in page and "the model gpt-5 is left out" in page
    download = client.get(f"/c/{chain.pk}/v/1/export?to=anthropic&scope=chain")
    exported = json.loads(b"".join(download.streaming_content))  # type: ignore[attr-defined]
    form = client.get(f"/c/{chain.pk}/do/convert/").content.decode()
    assert 'name="model"' in form and 'name="fine_tuning"' in form
    there = converted(begin(chain), "anthropic")
    assert json.loads(content(there.stored.snapshot)) == exported
    assert exported["tools"] == [{"name": "look", "input_schema": function["parameters"]}]
    line = change(there, Convert(), ConvertOptions(to="openai_chat", fine_tuning=True))
    written = content(target_of_draft(Draft.objects.get(pk=line.pk)).stored.snapshot)
    assert json.loads(written) == {"messages": request["messages"], "tools": request["tools"]} and written.count(b"\n") == 1


def test_losses_are_shown_before_the_preview(chain: Chain, client: Client) -> None:
    address = f"/c/{chain.pk}/do/convert/?v=1"
    lost = "call ids become numbers, and results are not marked as errors"
    first = client.get(address).content.decode()
    assert "Choose a format" in first and lost not in first
    links = [html.unescape(link) for link in re.findall(r'href="([^"]*to=[^"]*)"', first.partition('id="losses"')[2])]
    assert len(links) >= 5 and "would be lost" in client.get(links[0]).content.decode()
    shown = client.post(address, {"to": "react_log", "act": "look"})
    assert shown.status_code == 200 and lost in shown.content.decode() and not Draft.objects.exists()
    fragment = client.post(address, {"to": "react_log", "act": "look"}, headers={"HX-Request": "true"}).content.decode()
    assert lost in fragment and "<html" not in fragment
    unknown = client.post(address, {"to": "nonsense", "act": "look"})
    assert unknown.status_code == 200 and "would be lost" not in unknown.content.decode().partition('id="losses"')[2]
