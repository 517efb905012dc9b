"""An installation in team mode in which hostile strings stand in every field that a person or a transcript can fill."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from zlib import crc32

from django.conf import settings
from django.test import Client
from django.utils import timezone

from chainviz.accounts.models import Membership, Team, User, local_member
from chainviz.accounts.permissions import Role
from chainviz.chains.library.models import ColumnChoice, Folder, SavedFilter
from chainviz.chains.models import Arrival, Chain, LocalFile
from chainviz.drafts.models import Draft, SummaryPiece, SummaryRun
from chainviz.jobs.lease import storable
from chainviz.jobs.models import Job
from chainviz.jobs.worker import run_waiting_jobs
from chainviz.review.models import MailChoice
from chainviz.webhooks.models import Webhook
from tests.accounts.people import client_of, make_member
from tests.attacks import written
from tests.attacks.transcripts import grafted, keyed, whole
from tests.chains.files import send, send_row
from tests.drafts.pages import send_form

LONGEST = 400
"""Characters of a string that is stored where a person types a line."""
NAME = "<img src=x onerror=pwned(0)>.json"
Known = dict[str, list[Any]]
"""By the name of a part of an address: what leads to something that exists, the usual one first."""


@dataclass(frozen=True)
class World:
    strings: list[str]
    lin: Membership
    chain: Chain
    """Its transcript holds every string in every place."""
    others: list[Chain]
    """Samples of other formats."""
    known: Known

    @property
    def client(self) -> Client:
        """Of the owner, who may open every page."""
        client = client_of(self.lin)
        client.raise_request_exception = False
        return client

    @property
    def line(self) -> str:
        """Many of them, as a person could type them into one field."""
        return line_of(self.strings)

    def string_for(self, name: str) -> str:
        """Another one for each name."""
        return self.strings[crc32(name.encode()) % len(self.strings)]


def line_of(strings: Sequence[str]) -> str:
    return " ".join(each for each in strings if len(each) < LONGEST)


def make_world(strings: Sequence[str], documents: Sequence[Path]) -> World:
    """`documents`: samples that get the strings behind every text."""
    line = storable(line_of(strings))
    lin, mei = _people(line)
    client = client_of(lin)
    webhook = Webhook.objects.create(team=lin.team, url=f"https://127.0.0.1:9/{line}"[:500], events=" ".join(Webhook.Event.values))
    chain, *others = _chains(client, lin, strings, documents)
    known: Known = {"chain_id": [chain.pk], "states": [each.pk for each in reversed(others)]}
    known |= _versions(client, chain, line) | _summaries(client, chain, line) | _arrivals(client, lin, strings, line)
    known |= written.review(chain, lin, mei, strings) | written.audit_entry(chain, lin.user, strings)
    known |= written.links(chain, lin, mei, line) | written.recipes(lin, strings, line) | written.bulk(lin, chain, strings)
    known |= {"binned": [_binned(client, line).pk], "filter_id": [SavedFilter.objects.get().pk]}
    known |= {"webhook_id": [webhook.pk], "session_id": [written.index(lin, line)]}
    written.presets(lin.user, strings)
    run_waiting_jobs()
    chain.refresh_from_db()
    named = {name: [str(value) for value in values] for name, values in known.items()}
    return World(list(strings), lin, chain, others, named)


def _people(line: str) -> tuple[Membership, Membership]:
    """The owner Lin and the commenter Mei; all names are hostile, and one address."""
    team = local_member().team
    members = [make_member(team, name, role) for name, role in (("Lin", Role.OWNER), ("Mei", Role.COMMENTER), ("Sam", Role.VIEWER))]
    User.objects.update(first_name=line)
    address = written.hostile_address("mei")
    User.objects.filter(pk=members[1].user_id).update(username=address, email=address)
    Team.objects.update(name=line)
    for member in members:
        member.refresh_from_db()
    MailChoice.objects.create(person=members[0].user, is_on=True)
    ColumnChoice.objects.create(user=members[0].user, columns=[line, "tools", "model"])
    SavedFilter.objects.create(team=team, owner=members[0].user, name=line, query=urlencode({"q": line}))
    return members[0], members[1]


def _chains(client: Client, lin: Membership, strings: Sequence[str], documents: Sequence[Path]) -> list[Chain]:
    """The first has a title and a file's name of all strings; the others are titled by their content."""
    contents = [whole(strings), *(grafted(path, strings) for path in documents), keyed([line_of(strings)])]
    chains = [_uploaded(client, content) for content in contents]
    line = storable(line_of(strings))
    Chain.objects.update(file_name=line, project=line)
    Chain.objects.filter(pk=chains[0].pk).update(title=line, titled_by=Chain.TitledBy.PERSON)
    LocalFile.objects.create(chain=chains[0], path=f"/nowhere/{line}", sentence=line)
    Folder.objects.create(team=lin.team, path=f"/nowhere/{line}", pattern=line)
    for chain in chains:
        chain.refresh_from_db()
    return chains


def _uploaded(client: Client, content: bytes) -> Chain:
    """Through the API, which takes any name of a file."""
    client.post(f"/api/v1/uploads?{urlencode({'name': NAME})}", content, content_type="application/octet-stream")
    return Chain.objects.latest("pk")


def _binned(client: Client, line: str) -> Chain:
    chain = _uploaded(client, json.dumps([{"role": "user", "content": line}]).encode())
    client.post("/bin/add/", {"chain": chain.pk})
    return chain


def _versions(client: Client, chain: Chain, line: str) -> Known:
    """Six versions with notes, the fourth with summaries; drafts of the first, of the fourth, and one with three steps."""
    home = f"/c/{chain.pk}/"
    send_form(client, f"{home}edit/s2.h.m0?v=1", s2__h__m0__c0__text=f"{line} too late")
    behind = Draft.objects.latest("pk")
    client.post(f"{home}versions/1/restore/")
    _save(client, home, f"{home}edit/s1.h.m0?v=2", line, s1__h__m0__c0__text=line)
    _summarized(client, chain, line)
    client.post(f"{home}versions/3/restore/")
    # no repair: a message with an unknown part is not fully read
    _save(client, home, f"{home}edit/s2.h.m0?v=5", line, s2__h__m0__c0__text=f"{line} again")
    send_form(client, f"{home}edit/s1.h.m0?v=4", s1__h__m0__c1__text=line)
    summarized = Draft.objects.latest("pk")
    send_form(client, f"{home}edit/s1.h.m0?v=6", s1__h__m0__c1__text=f"{line} once more")
    draft = Draft.objects.latest("pk")
    send_form(client, f"{home}do/redact/?v=6&draft={draft.pk}", act="apply")
    client.post(f"{home}versions/3/branch/")
    branch = Chain.objects.latest("pk")
    chain.refresh_from_db()
    assert chain.version == 6
    return {
        "draft_id": [draft.pk, behind.pk], "number": [6, 1, 4], "before": [3], "after": [6], "summarized": [summarized.pk],
        "one": [chain.pk, f"{chain.pk}.1"], "other": [f"{branch.pk}.1"],
    }  # fmt: skip


def _summarized(client: Client, chain: Chain, line: str) -> None:
    """Version 4: summaries that the extractive writer made of the strings."""
    send_form(client, f"/c/{chain.pk}/do/summarize/?v=3")
    run_waiting_jobs()
    client.post(f"/c/{chain.pk}/summaries/{SummaryRun.objects.get().pk}/do", {"act": "take"})
    client.post(f"/c/{chain.pk}/d/{Draft.objects.latest('pk').pk}/save", {"note": line})


def _save(client: Client, home: str, form: str, note: str, **fields: str) -> None:
    send_form(client, form, **fields)
    client.post(f"{home}d/{Draft.objects.latest('pk').pk}/save", {"note": note})


def _summaries(client: Client, chain: Chain, line: str) -> Known:
    """Pieces that wait for a person's text, and one in each other state."""
    send_form(client, f"/c/{chain.pk}/do/summarize/?v=2", writer="manual")
    run = SummaryRun.objects.latest("pk")
    pieces = list(SummaryPiece.objects.filter(run=run).order_by("pk"))
    losses = {"shares": [["path", 2, 1]], "lost": [["path", line, "s1.p1"]], "complete": False}
    for piece, state in zip(pieces, SummaryPiece.State.values * len(pieces), strict=False):
        texts = dict.fromkeys(("text", "author", "cause", "hint", "left", "reason", "stage"), line)
        SummaryPiece.objects.filter(pk=piece.pk).update(**texts, losses=losses, state=state)
    SummaryRun.objects.update(warnings=[line])
    return {"run_id": [run.pk], "piece_id": [each.pk for each in pieces[:5]]}


def _arrivals(client: Client, lin: Membership, strings: Sequence[str], line: str) -> Known:
    """Files of several chains that ask, one that is broken, one that is no transcript, a state, and a job that failed."""
    asks = b"".join(json.dumps([{"role": "user", "content": each}]).encode() + b"\n" for each in strings)
    send(client, ("many.jsonl", asks))
    send(client, ("keys.json", keyed(strings)))
    send_row(client, "cut.json", json.dumps([{"role": "user", "content": each} for each in strings]).encode()[:-9])
    send_row(client, "text.txt", line.encode())
    state = {"version": 9, "provider": line, "messages": [], "checksum": line, line: line}
    send_row(client, "state.json", json.dumps(state).encode())
    found = Arrival.objects.filter(owner=lin.user).order_by("pk")
    found.update(name=line)
    job = Job.objects.create(
        owner=lin.user, function="run-operation", args={"text": line}, created_at=timezone.now(),
        state=Job.State.FAILED, message=line, result={"error": line},
    )  # fmt: skip
    return {"arrival_id": [each.pk for each in found], "job_id": [job.pk]}


def settings_for(folder: Path) -> Any:
    changed = {"mode": "team", "data": folder, "base_url": "http://testserver"}
    return settings.CHAINVIZ.model_copy(update=changed)
