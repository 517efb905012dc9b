"""What people write beside the chains, of hostile strings: reviews, labels, links, recipes, runs in bulk and saved strategies."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.utils import timezone

from chainviz.accounts.audit import record
from chainviz.accounts.members import invite
from chainviz.accounts.models import ApiToken, Invitation, Membership, User
from chainviz.accounts.permissions import Role
from chainviz.accounts.tokens import create_token
from chainviz.bulk.acts import act_named
from chainviz.bulk.job import begin as begin_bulk
from chainviz.bulk.job import start as start_bulk
from chainviz.bulk.models import BulkRow
from chainviz.chains import audit as audit
from chainviz.chains.models import Chain
from chainviz.chains.shares.share_links import make_link
from chainviz.core.operations.execute import get_operation
from chainviz.core.recipes import make_step
from chainviz.core.secrets import WordList as ListValue
from chainviz.drafts.operations.presets import LONGEST_NAME, save_preset
from chainviz.drafts.simulation.simulation_page import EXAMPLES
from chainviz.jobs.lease import storable
from chainviz.jobs.tasks import run_job
from chainviz.recipes.models import Recipe, WordList
from chainviz.recipes.services import create, save_list
from chainviz.review.certificates import begin as certify
from chainviz.review.labels import LabelChoice, set_label
from chainviz.review.models import Comment, Label, Notice, Presence, SignOff, TeamRules, Thread, Verdict
from chainviz.review.models.requests import LONGEST_RECIPIENT
from chainviz.review.models.threads import LONGEST_TAG
from chainviz.review.requests.services import ask, close, dismiss, give_verdict
from chainviz.review.sign_off import sign_off_version
from chainviz.review.threads.writing import NewThread, begin, reply, set_resolved
from chainviz.sessions_index.models import (
    Session,
    SessionDay,
    SessionError,
    SessionProblem,
    SessionRepeat,
    SessionTool,
    Source,
    note_changes,
)
from tests.chains.making import ai, human, make_chain

Known = dict[str, list[Any]]
MOST = 9_000
"""Characters of a string in a comment, which holds it twice."""


def hostile_address(name: str) -> str:
    """What Django takes for an e-mail address."""
    return f'"{name}<img/src=x/onerror=pwned(0)>"@example.org'


def one_line(text: str, limit: int) -> str:
    return " ".join(storable(text).split())[:limit].strip()


def review(chain: Chain, lin: Membership, mei: Membership, strings: Sequence[str]) -> Known:
    line = chain.title
    _threads(chain, lin.user, mei.user, strings)
    close(ask(chain, [lin.user_id], line, by=mei.user), by=lin.user)
    ask(chain, [lin.user_id, mei.user_id], line, by=mei.user)
    dismiss(give_verdict(chain, 6, "changes", line, by=mei.user), line, by=lin.user)
    for kind in ("approve", "comment"):
        give_verdict(chain, 6, kind, line, by=mei.user)
    for tag in filter(None, (one_line(each, LONGEST_TAG) for each in strings)):
        set_label(chain, LabelChoice(6, "s1.p1", "tag", tag), by=lin.user)
    rules = TeamRules.objects.create(team=chain.team, approvals=0, no_open_threads=False)
    signed = sign_off_version(chain, 6, by=lin)
    rules.delete()
    certify(chain, 6, line[:LONGEST_RECIPIENT], "", by=lin)
    Presence.objects.create(chain=chain, person=mei.user, version=6, seen_at=timezone.now() + timedelta(hours=9))
    return {
        "sign_off": [signed.number], "certificate": [SignOff.objects.certificates().get().number],
        "label_id": [Label.objects.latest("pk").pk], "verdict_id": [Verdict.objects.latest("pk").pk],
        "notice_id": [Notice.objects.filter(person=lin.user).latest("pk").pk], "section": [1],
        "comment_id": [Comment.objects.filter(author=lin.user).earliest("pk").pk],
    }  # fmt: skip


def _threads(chain: Chain, lin: User, mei: User, strings: Sequence[str]) -> None:
    """On the chain, a node, a part and a range, with suggestions; one is resolved, one pending."""
    kinds = [
        (Thread.Kind.CHAIN, "", None, None), (Thread.Kind.NODE, "s1.p1", None, None),
        (Thread.Kind.PART, "s1.h.m0.c0", None, None), (Thread.Kind.TEXT, "s1.h.m0.c0", 0, 4),
    ]  # fmt: skip
    made = []
    for number, each in enumerate(text[:MOST] for text in strings):
        kind, path, start, end = kinds[number % 4]
        made.append(begin(chain, lin if number % 2 else mei, NewThread(6, kind, path, start, end, each), f"@lin {each}"))
        reply(made[-1].thread, mei, f"```suggestion\n{each}\n```\n{each}")
    set_resolved(made[0].thread, lin, True)
    begin(chain, lin, NewThread(6, Thread.Kind.CHAIN), strings[0], is_pending=True)


def audit_entry(chain: Chain, lin: User, strings: Sequence[str]) -> Known:
    """Of a chain, and a row of the team's log."""
    rows = [["s1.p1.m1.c0", each, 9, 7] for each in strings]
    facts = {"rows": rows, "strategy": chain.title, "declined": 0, "replaced": list(strings)}
    record(chain.team, lin, "accounts:member", chain=chain.pk, member=chain.title, role=chain.title)
    return {"entry_id": [audit.note(chain, lin, "mask", facts, version=1).pk]}


def index(lin: Membership, line: str) -> int:
    """A session of a folder that is not there, as the index keeps it."""
    source = Source.objects.create(team=lin.team, path=f"/nowhere/{line}", pattern=line, sentence=line)
    words = {"title": line[:200], "project": line[:200], "model": line[:200], "parent": line[:200]}
    row = Session.objects.create(
        team=lin.team, source=source, path=f"/nowhere/{line}", key=line[:200], state="1:1", read_state="1:1", changed_at=timezone.now(),
        health="failed", sentence=line, **words,
    )  # fmt: skip
    note_changes(pk=source.pk)
    SessionDay.objects.create(session=row, day=timezone.now().date(), model=line[:200], calls=1, input=5)
    SessionTool.objects.create(session=row, name=line[:200], calls=1)
    SessionProblem.objects.create(session=row, place=0, rule="result-missing", count=1, text=line)
    SessionError.objects.create(session=row, tool=line[:200], text=line[:200], count=1)
    SessionRepeat.objects.create(session=row, tool=line[:200], arguments=line[:200], count=1, bytes=1)
    return row.pk


def links(chain: Chain, lin: Membership, mei: Membership, line: str) -> Known:
    """Invitations, tokens and share links."""
    token = invite(lin, "ivo@example.org", Role.EDITOR)
    invitation = Invitation.objects.latest("pk")
    invite(lin, hostile_address("eve"), Role.VIEWER)
    create_token(lin, line, ["read"], 90)
    link, shared = make_link(chain, 6, lin, 7)
    return {
        "token": [shared], "invited": [token], "invitation_id": [invitation.pk], "token_id": [ApiToken.objects.latest("pk").pk],
        "link_id": [link.pk], "member_id": [mei.pk],
    }  # fmt: skip


def recipes(lin: Membership, strings: Sequence[str], line: str) -> Known:
    """A word list of words and patterns, and a recipe that uses it."""
    words = [each for each in (one_line(each, 200) for each in strings) if sum(map(str.isalnum, each)) > 3]
    name = one_line(strings[0], 40)
    kept = save_list(WordList(team=lin.team), ListValue(name, "\n".join(words), re.escape(name)), by=lin, seen=0)
    recipe = create(name, (make_step("mask", {"word_lists": [kept.name]}),), by=lin)
    Recipe.objects.filter(pk=recipe.pk).update(name=line)
    return {"list_id": [kept.pk], "recipe_id": [recipe.pk], "position": [1]}


def bulk(lin: Membership, chain: Chain, strings: Sequence[str]) -> Known:
    """An export and a label of one chain; both are done and say something. A recipe masked another and waits for its purge."""
    line = chain.title
    recipe = create(f"{line[:60]} purge", (make_step("mask", {}),), by=lin, purges=True)
    other = make_chain([human(f"{line} Write to anna.meier@example.org."), ai("\n".join(strings))], line[:80])
    named = {"recipe": f"{recipe.pk}.{recipe.edition}"}
    runs = []
    for row, name, options in ((chain, "export", {}), (chain, "label", {"tag": one_line(line, LONGEST_TAG)}), (other, "recipe", named)):
        act = act_named(name)
        assert act is not None
        runs.append(begin_bulk(act, Chain.objects.filter(pk=row.pk), by=lin))
        run_job(start_bulk(runs[-1], act.Options(**options)).pk)
    BulkRow.objects.update(text=line)
    return {"bulk_id": [run.pk for run in runs], "masked": [runs[-1].pk]}


def presets(person: User, strings: Sequence[str]) -> None:
    options = get_operation("compact").Options(strategy=json.dumps(EXAMPLES[0][1]))
    for name in filter(None, (one_line(each, LONGEST_NAME) for each in strings)):
        save_preset(person, "compact", name, options)
