"""Every column that can hold a text of a person or a transcript holds hostile ones: a new column is planted, or named here."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.db import models

from chainviz.jobs.models import AsciiJSONField
from chainviz.store.content.codec import unpack, unpack_body
from tests.attacks.corpus import armed, rounds
from tests.attacks.transcripts import USUAL
from tests.attacks.world import make_world, settings_for

TEXTS = (models.CharField, models.TextField, models.BinaryField, AsciiJSONField)
OURS = {
    "act", "added", "audit_digest", "author", "beginning", "checksum", "digest", "encoding", "first", "format", "function", "hashes",
    "key", "kind", "last", "mark", "operation", "outcome", "owner", "password", "path", "pieces", "previous",
    "request_digest", "rules_broken", "scopes", "sha256", "starts", "store_name", "token_digest", "verdicts", "waiting", "writer",
}  # fmt: skip
"""Names of columns whose values this program chooses: words, numbers, paths of nodes and digests."""
OURS_OF = {
    "store.Message.source", "store.Template.envelope", "store.Outline.listing", "store.Derived.content", "store.Purge.reason",
    "store.Tombstone.reason",
    "sessions_index.Source.agent", "sessions_index.Session.agent", "sessions_index.Session.state", "sessions_index.Session.read_state",
    "sessions_index.Session.provider", "sessions_index.Session.growth", "sessions_index.Session.ending",
    "sessions_index.Session.unread_parts", "sessions_index.SessionProblem.rule",
    "accounts.User.last_name", "chains.Chain.part", "chains.Chain.usage", "drafts.SummaryRun.options", "drafts.Preset.options",
    "drafts.SummaryPiece.usage", "webhooks.Webhook.events", "webhooks.Webhook.nonce", "webhooks.Delivery.event",
    "webhooks.Delivery.message_id", "bulk.BulkRow.facts", "chains.AuditFact.packed",
    "chains.Chain.provider", "recipes.Recipe.purged_steps",
}  # fmt: skip


@pytest.mark.django_db
def test_every_column_of_text_is_planted(settings: Any, tmp_path: Path) -> None:
    settings.CHAINVIZ = settings_for(tmp_path)
    make_world(armed(rounds()[0], "127.0.0.1:9"), USUAL)
    missing = [name for name, values in columns() if not any(b"pwned" in each for each in values)]
    assert missing == []


def columns() -> Iterator[tuple[str, Iterator[bytes]]]:
    """The name and the values of each column of text."""
    for model in apps.get_models(include_auto_created=True):
        for field in model._meta.concrete_fields if model.__module__.startswith("chainviz.") else ():
            name = f"{model._meta.label}.{field.name}"
            if isinstance(field, TEXTS) and not (field.choices or field.name in OURS or name in OURS_OF):
                yield name, read(models.QuerySet(model).values_list(field.attname, flat=True))


def read(values: Any) -> Iterator[bytes]:
    """Each value, and what it holds where it is packed."""
    for value in values:
        content = bytes(value) if isinstance(value, bytes | memoryview) else str(value).encode("utf-8", "replace")
        yield content
        for unpacked in (unpack, unpack_body):
            with suppress(Exception):
                yield str(unpacked(content)).encode("utf-8", "replace")
