"""Every flip, deletion and swap in a stored fact is found. The faults are generated from the models."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from django.apps import apps
from django.db import IntegrityError, connection, models, transaction
from django.test import Client

from chainviz.accounts.audit import check_all, record
from chainviz.accounts.models import local_member, local_owner
from chainviz.chains.audit import add, note
from chainviz.chains.fsck import fsck_library
from chainviz.chains.models import Chain
from chainviz.core.operations.convert import Convert, ConvertOptions
from chainviz.core.operations.edit import Edit
from chainviz.core.operations.edit.locate import EditOptions
from chainviz.core.recipes import make_step
from chainviz.core.secrets import WordList as ListValue
from chainviz.drafts.models import Draft
from chainviz.drafts.operations.run import change
from chainviz.drafts.services import fsck_drafts, save
from chainviz.drafts.target import Target, target_of_draft, target_of_version
from chainviz.recipes.models import WordList
from chainviz.recipes.services import create, fsck_recipes, save_list
from chainviz.review.certificates import begin as certify
from chainviz.review.fsck import fsck_review
from chainviz.review.labels import LabelChoice, set_label
from chainviz.review.models import TeamRules, Thread
from chainviz.review.requests.services import ask, give_verdict
from chainviz.review.sign_off import sign_off_version
from chainviz.review.threads.writing import NewThread, begin
from chainviz.store.fsck import fsck
from chainviz.store.history.drafts import undo
from chainviz.store.models import Purge
from tests.chains.files import send

pytestmark = pytest.mark.django_db
APPS = ("accounts", "jobs", "store", "sessions_index", "chains", "recipes", "drafts", "review", "bulk", "webhooks")
EXEMPT = {
    # sessions, jobs, heartbeats and caches; who may sign in; what is not yet, or no longer, part of a chain
    "accounts.User": "accounts",
    "accounts.Team": "accounts",
    "accounts.Membership": "accounts",
    "accounts.Invitation": "accounts",
    "accounts.ApiToken": "accounts",
    "accounts.SignInAttempt": "accounts",
    "accounts.IdempotencyKey": "ids that a program asks for again within a day; nothing stored depends on them",
    "jobs.Job": "jobs",
    "store.Writing": "the heartbeat of a step that is being written",
    "store.OutlineBlock": "a cache",
    "store.Outline": "a cache",
    "store.Derived": "a cache",
    "store.SearchBlock": "a cache",
    "store.SearchState": "a cache",
    "sessions_index.Source": "where sessions are listed from; no part of a chain",
    "sessions_index.Session": "read again from the session's file",
    "sessions_index.SessionDay": "read again from the session's file",
    "sessions_index.SessionTool": "read again from the session's file",
    "sessions_index.SessionProblem": "read again from the session's file",
    "sessions_index.SessionError": "read again from the session's file",
    "sessions_index.SessionRepeat": "read again from the session's file",
    "chains.WorkingCopy": "which chains are collected; nothing stored depends on it",
    "chains.Folder": "where files are listed from; no part of a chain",
    "store.Purge": "empty except during a deletion for good, which fsck reports",
    "store.Tombstone": "digests of what was deleted for good; nothing stored depends on them",
    "chains.ShareLink": "who may read a version",
    "chains.Arrival": "a file on its way into the library",
    "chains.LocalFile": "where the file lies that a chain came from; nothing stored depends on it",
    "bulk.BulkRun": "a job and its report",
    "bulk.BulkRow": "a job and its report",
    "chains.ColumnChoice": "a choice of a person",
    "chains.SavedFilter": "a choice of a person",
    "drafts.Preset": "named options of a form",
    "drafts.SummaryRun": "a job's work before it becomes a step",
    "drafts.SummaryPiece": "a job's work before it becomes a step",
    "review.Place": "a cache",
    "review.LabelPlace": "a cache",
    "review.Notice": "what a person was told, by what is stored elsewhere",
    "review.Mute": "a choice of a person",
    "review.MailChoice": "a choice of a person",
    "review.Presence": "a heartbeat",
    "review.TeamRules": "settings of a team; the audit log has every change of them",
    "review.Viewed": "what a person has looked at; nothing depends on it",
    "webhooks.Webhook": "settings of a team; no part of a chain",
    "webhooks.Delivery": "a job and its report",
}
UNUSED = {
    "accounts_auditrow.id": "nothing names the row by it: rows of a team are numbered",
    "review_signoff.id": "the same",
    "chains_auditfact.id": "the same: facts are in the order of their time",
}
COVERED = [model for label in APPS for model in apps.get_app_config(label).get_models() if model._meta.label not in EXEMPT]


EARLIER = "2020-01-01 00:00:00"
"""A value to write in place of a null: no key, and a valid time."""


@dataclass(frozen=True)
class Fault:
    """Statements that damage the data; what they change belongs to the app `label`."""

    label: str
    text: str
    statements: tuple[tuple[str, list[Any]], ...]


@pytest.fixture
def data(client: Client) -> None:
    """An installation with two chains that have versions, drafts, undone steps, a conversion and an audit."""
    for name, words in (("a.json", "Hello"), ("b.json", "Good morning")):
        messages = [{"role": "user", "content": words}, {"role": "assistant", "content": f"{words} to you"}]
        send(client, (name, json.dumps({"model": name, "messages": messages}).encode()))
    for row in Chain.objects.order_by("pk"):
        record(row.team, local_owner(), "chains:export", chain=row.pk)
        saved = edited(target_of_version(row, 1, local_owner()), "Hi")
        save(saved.draft, note="first", by=local_owner())  # type: ignore[arg-type]
        row.refresh_from_db()
        target = edited(target_of_version(row, 2, local_owner()), "Hi there")
        draft = change(target, Convert(), ConvertOptions(to="anthropic"))
        undo(edited(target_of_draft(draft), "undone").draft.stored)  # type: ignore[union-attr]
        begin(row, local_owner(), NewThread(version=1, kind=Thread.Kind.CHAIN), f"About {row.title}")
        ask(row, [local_owner().pk], f"Look at {row.title}", by=local_owner())
        give_verdict(row, 2, "comment", f"Seen {row.title}", by=local_owner())
        set_label(row, LabelChoice(1, "s1", "rating", "4"), by=local_owner())
        kept = ListValue(f"People {row.pk}", f"Anna{row.pk}", f"T-{row.pk}")
        save_list(WordList(team=row.team), kept, by=local_member(), seen=0)
        create(f"For {row.pk}", (make_step("mask", {"word_lists": [kept.name]}),), by=local_member())
        set_label(row, LabelChoice(2, "", "tag", f"of {row.title}"), by=local_owner())
        TeamRules.objects.get_or_create(team=row.team, defaults={"approvals": 0, "no_open_threads": False})
        sign_off_version(Chain.objects.get(pk=row.pk), 2, by=local_member())
        certify(Chain.objects.get(pk=row.pk), 2, f"Vendor {row.pk}", "", by=local_member())
        for act in ("redact", "mask"):
            entry = note(row, local_owner(), act, {"rows": []}, version=1, draft_key=draft.pk)
            add(entry.pk, became={"saved_as": row.pk})


def edited(target: Target, text: str) -> Target:
    draft = change(target, Edit(), EditOptions(path="s1.h.m0", action="text", text=text))
    return target_of_draft(Draft.objects.get(pk=draft.pk))


def errors(first: str = "store") -> Iterator[str]:
    """`first`: the app that is checked first."""
    checks = {"accounts": check_all, "store": fsck, "chains": fsck_library, "drafts": fsck_drafts}
    checks |= {"review": fsck_review, "recipes": fsck_recipes}
    ordered = sorted(checks, key=lambda label: label != first)
    return (each.text for label in ordered for each in checks[label]() if each.severity == "error")


def rows_of(model: type[models.Model]) -> tuple[list[str], list[list[Any]]]:
    """Columns, and the values as the database has them, keys first."""
    keys = [field.column for field in model._meta.pk_fields]
    others = [f.column for f in model._meta.concrete_fields if f.column and f.column not in keys]
    columns = [*keys, *others]
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {', '.join(map(quoted, columns))} FROM {model._meta.db_table}")
        return columns, [list(row) for row in cursor.fetchall()]


def faults(model: type[models.Model]) -> Iterator[Fault]:
    columns, rows = rows_of(model)
    assert rows, f"{model._meta.label} is neither exempt nor in the data of this test"
    label, table, keys = model._meta.app_label, model._meta.db_table, columns[: len(model._meta.pk_fields)]
    where = " AND ".join(f"{quoted(key)} = %s" for key in keys)

    def changed(row: list[Any], column: str, value: Any) -> tuple[str, list[Any]]:
        return f"UPDATE {table} SET {quoted(column)} = %s WHERE {where}", [value, *row[: len(keys)]]

    for row in rows:
        yield Fault(label, f"delete from {table} {row[0]}", ((f"DELETE FROM {table} WHERE {where}", row[: len(keys)]),))
    first, last = rows[0], rows[-1]
    for place, column in enumerate(columns):
        if f"{table}.{column}" in UNUSED:
            continue
        yield Fault(label, f"flip of {table}.{column}", (changed(last, column, flipped(last[place])),))
        other = next((row for row in rows if row[place] != first[place]), None)
        if other is not None and column not in keys:
            # by way of a third value: the column may be unique
            away, there = changed(first, column, flipped(flipped(first[place]))), changed(other, column, first[place])
            yield Fault(label, f"swap of {table}.{column}", (away, there, changed(first, column, other[place])))


def quoted(column: str) -> str:
    return connection.ops.quote_name(column)


def flipped(value: Any) -> Any:
    if isinstance(value, int):
        return 1 - value if value in (0, 1) else value + 1000
    if isinstance(value, str):
        return chr(ord(value[0]) ^ 1) + value[1:] if value else "x"
    if isinstance(value, bytes):
        middle = len(value) // 2
        return value[:middle] + bytes([value[middle] ^ 1]) + value[middle + 1 :] if value else b"x"
    return EARLIER


def is_found(fault: Fault) -> bool:
    """Return True if the fault is found, or the database refuses it. Everything is restored afterwards."""
    with transaction.atomic():
        purge = Purge.objects.create(reason="test")
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                for statement, values in fault.statements:
                    cursor.execute(statement, values)
        except IntegrityError:
            found = True
        else:
            purge.delete()
            found = next(errors(fault.label), None) is not None
        transaction.set_rollback(True)
    return found


def test_every_fault_is_found(data: None) -> None:
    assert list(errors()) == []
    missed = [fault.text for model in COVERED for fault in faults(model) if not is_found(fault)]
    assert missed == []
    assert list(errors()) == []


def test_the_exempt_tables_exist_and_no_app_is_forgotten() -> None:
    ours = (config for config in apps.get_app_configs() if config.name.startswith("chainviz."))
    assert {config.label for config in ours if list(config.get_models())} == set(APPS)
    assert {apps.get_model(label)._meta.label for label in EXEMPT} == EXEMPT.keys()
