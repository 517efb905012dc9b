"""Every address × everybody who could ask for it: anonymous, another team's owner, each role, a removed member."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from django.conf import settings
from django.db import transaction
from django.test import Client
from django.utils import timezone

from chainviz.accounts.models import ApiToken, Invitation, Membership, User, local_owner
from chainviz.accounts.permissions import Role
from chainviz.accounts.tokens import create_token
from chainviz.bulk.acts import act_named
from chainviz.bulk.job import begin as begin_bulk
from chainviz.bulk.job import start as start_bulk
from chainviz.chains import audit as audit
from chainviz.chains.models import Arrival, AuditEntry, Chain, SavedFilter
from chainviz.chains.shares.share_links import make_link
from chainviz.chains.uploads import staging
from chainviz.core.recipes import make_step
from chainviz.core.secrets import WordList as ListValue
from chainviz.drafts.models import Draft, SummaryPiece
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import run_job, start_job
from chainviz.recipes.models import WordList
from chainviz.recipes.services import create, save_list
from chainviz.review.certificates import begin as begin_certificate
from chainviz.review.labels import LabelChoice, set_label
from chainviz.review.models import Notice, TeamRules, Thread
from chainviz.review.requests.services import give_verdict
from chainviz.review.sign_off import sign_off_version
from chainviz.review.threads.writing import NewThread, begin
from chainviz.webhooks.models import Webhook
from tests.accounts.access_rows import CALL, PERSONAL, ROWS, addresses
from tests.accounts.people import client_of, make_member, make_team
from tests.chains.files import lines, send
from tests.chains.making import STORY, human, long_story, make_chain
from tests.drafts.pages import send_form
from tests.own_data import own_data_folder  # noqa: F401
from tests.sessions_index.claude_store import make_session
from tests.web.headers import missing_headers

pytestmark = [pytest.mark.django_db]

HOLE = re.compile(r"<(?:\w+:)?(\w+)>")
SECRET = "Plan of the northern depot"
"""Title of the team's chain: nobody else's page may hold it."""
OUTSIDERS = ("anonymous", "other team", "removed")


@dataclass(frozen=True)
class World:
    clients: dict[str, Client]
    holes: dict[str, str]


@pytest.fixture
def world() -> World:
    """An editor's chain, draft, summaries and upload, made before the installation was in team mode."""
    client, chain = Client(raise_request_exception=False), make_chain([*STORY, *long_story(2, 9)])
    client.post(f"/c/{chain.pk}/rename/", {"title": SECRET})
    make_chain([human("to be forgotten")], "binned.json")
    binned = Chain.objects.latest("pk")
    client.post("/bin/add/", {"chain": binned.pk})
    send_form(client, f"/c/{chain.pk}/repair/?v=1")
    client.post(f"/c/{chain.pk}/d/{Draft.objects.get().pk}/save", {"note": "repaired"})
    send_form(client, f"/c/{chain.pk}/edit/s1.p2?v=2", s1__p2__m0__c0__text="Another drill.")
    send_form(client, f"/c/{chain.pk}/do/summarize/?v=1", writer="manual")
    audit.note(chain, None, "mask", {"rows": [], "strategy": "mask", "declined": 0}, version=1)
    send(client, ("many.jsonl", lines(2)))
    return _world(chain, binned)


def _world(chain: Chain, binned: Chain) -> World:
    team = chain.team
    roles = {role.value: make_member(team, role.label, role) for role in Role}
    author = roles["editor"].user
    for model, field in ((Draft, "author"), (Arrival, "owner"), (Job, "owner")):
        model.objects.filter(**{field: local_owner()}).update(**{field: author})
    piece = SummaryPiece.objects.earliest("pk")
    type(piece.run).objects.update(author=author)
    removed = make_member(team, "Gone", Role.OWNER)
    Membership.objects.filter(pk=removed.pk).update(removed_at=timezone.now())
    stranger = make_member(make_team("Elsewhere"), "Stranger", Role.OWNER)
    people = {**roles, "removed": removed, "other team": stranger}
    invitation = Invitation.objects.create(
        team=team, email="x@example.org", role="viewer", token_digest="x", invited_by=author, expires_at=timezone.now()
    )
    link, _ = make_link(chain, 1, roles["owner"], 7)
    job = start_job("run-operation", owner=author, chain=chain.pk)
    create_token(roles["editor"], "Nightly upload", ["write"], 90)
    settings.CHAINVIZ = settings.CHAINVIZ.model_copy(update={"mode": "team"})
    holes = {
        "chain_id": chain.pk, "draft_id": Draft.objects.latest("pk").pk, "arrival_id": Arrival.objects.get().pk,
        "entry_id": AuditEntry.objects.latest("pk").pk, "run_id": piece.run_id, "piece_id": piece.pk, "number": 1,
        "before": 1, "after": 2, "where": "s1.p1", "path": "s1.p2", "name": "redact", "token": "unknown",
        "one": chain.pk, "other": f"{chain.pk}.1",
        "kind": "csv", "section": 1, "verdict_id": give_verdict(chain, 1, "changes", "", by=author).pk,
        "invitation_id": invitation.pk, "token_id": ApiToken.objects.get().pk, "job_id": job.pk, "link_id": link.pk,
        "member_id": roles["viewer"].pk, "binned": binned.pk,
        "comment_id": begin(chain, author, NewThread(1, Thread.Kind.NODE, "s1.p2"), "Right").pk,
        "sign_off": _signed_off(binned, roles["owner"]), "certificate": _certified(chain, roles["editor"]),
        "notice_id": _notice(chain, author).pk, "filter_id": _saved_filter(roles["editor"]),
        "session_id": make_session(roles["editor"].team).pk,
        "webhook_id": Webhook.objects.create(team=roles["owner"].team, url="https://127.0.0.1:9/", events="version.saved").pk,
        **_kept(roles["editor"]), "position": 1,
        "bulk_id": _bulk_export(chain, roles["editor"]),
        "label_id": set_label(chain, LabelChoice(1, "", "tag", "seen"), by=author).pk,
    }  # fmt: skip
    clients = {"anonymous": Client(), **{name: client_of(member) for name, member in people.items()}}
    for client in clients.values():
        client.raise_request_exception = False
    return World(clients, {name: str(value) for name, value in holes.items()})


def _saved_filter(by: Membership) -> int:
    return SavedFilter.objects.create(team=by.team, owner=by.user, name="Depots", query="q=depot").pk


def _certified(chain: Chain, by: Membership) -> int:
    """The number of a certificate."""
    return int(begin_certificate(chain, 1, "Vendor", "", by=by).result["number"])


def _kept(by: Membership) -> dict[str, int]:
    """Keys of a recipe and of a word list."""
    kept = save_list(WordList(team=by.team), ListValue("People", "Anna"), by=by, seen=0)
    return {"list_id": kept.pk, "recipe_id": create("Vendor", (make_step("mask", {}),), by=by).pk}


def _bulk_export(chain: Chain, by: Membership) -> int:
    """The key of a run that is done."""
    act = act_named("export")
    assert act is not None
    run = begin_bulk(act, Chain.objects.filter(pk=chain.pk), by=by)
    run_job(start_bulk(run, act.Options()).pk)
    return run.pk


def _notice(chain: Chain, person: User) -> Notice:
    return Notice.objects.create(person=person, chain=chain, kind="reply", version=1, actor_name="Mei", at=timezone.now())


def _signed_off(chain: Chain, by: Membership) -> int:
    """The number of a sign-off; the rules ask for nothing meanwhile."""
    rules = TeamRules.objects.create(team=chain.team, approvals=0)
    number = sign_off_version(chain, chain.version, by=by).number
    rules.delete()
    return number


def test_everybody_gets_what_their_role_allows_and_nothing_else(world: World) -> None:
    """And every answer has the headers that keep hostile content harmless."""
    faults = [fault for name, route, _ in addresses() for fault in _faults(world, name, route)]
    assert faults == []


def _faults(world: World, name: str, route: str) -> Iterator[str]:
    holes = {**world.holes, "chain_id": world.holes["binned"]} if name == "chains:delete" else world.holes
    address = HOLE.sub(lambda found: holes[found[1]], route)
    wanted = ROWS[name].split()
    for method, lowest in (("get", wanted[0]), ("post", wanted[-1])):
        for person, client in world.clients.items():
            answer = _ask(client, method, address)
            reason = _fault(person, lowest, set(HOLE.findall(route)), answer) or ", ".join(missing_headers(answer))
            if reason:
                yield f"{method} {address} as {person}: {reason}, got {answer.status_code}"


def _ask(client: Client, method: str, address: str) -> Any:
    """Takes back what the request changed: in the database, in the folder of uploads, and in the cookies."""
    waiting = {file: file.read_bytes() for file in staging.folder().iterdir()}
    cookies = client.cookies.output()
    form = {"data": CALL, "content_type": "application/json"} if method == "post" and "/api/" in address else {}
    with transaction.atomic():
        answer = getattr(client, method)(address, **form)
        answer.body = answer.getvalue().decode(errors="replace")
        transaction.set_rollback(True)
    for file, content in waiting.items():
        file.write_bytes(content)
    client.cookies.load(cookies.replace("Set-Cookie: ", ""))
    return answer


def _fault(person: str, lowest: str, holes: set[str], answer: Any) -> str:
    """Returns what is wrong with an answer; empty where it is right."""
    status = answer.status_code
    asks_to_sign_in = status == 302 and answer["Location"].startswith("/sign-in/")
    if status >= 500:
        return "must not fail"
    if person in OUTSIDERS and SECRET in answer.body:
        return "must not show the title of the team's chain"
    if lowest == "public":
        return "is for everybody" if asks_to_sign_in or status == 403 else ""
    if person == "anonymous":
        return "" if asks_to_sign_in or status == 401 else "must ask to sign in"
    if lowest == "account":
        return "is for whoever is signed in" if asks_to_sign_in or status == 403 else ""
    if person == "removed" or (person == "other team" and holes - {"kind"}):
        return "" if status in (404, 405) else "must not be there"
    if person == "other team":
        return "is also theirs" if status in (403, 404) else ""
    return _fault_of_member(Role(person), Role(lowest), holes, status)


def _fault_of_member(role: Role, lowest: Role, holes: set[str], status: int) -> str:
    order = list(Role)
    if order.index(role) < order.index(lowest):
        return "" if status == 403 else "must be refused"
    if role != Role.EDITOR and holes & PERSONAL:
        return "" if status in (404, 405) else "is its author's only"
    return "must be allowed" if status == 403 else ""
