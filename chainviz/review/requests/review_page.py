"""The page of a chain's review: the reviewers and their verdicts, what is missing before sign-off, and the sections to view."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b

from django.db.models import Min, Q
from django.urls import reverse

from chainviz.accounts.audit import DONE
from chainviz.accounts.audit_listing import act_label
from chainviz.accounts.models import AuditRow, Membership, User
from chainviz.chains.explorer.rendered_window import titled_rows
from chainviz.chains.explorer.subject import Subject
from chainviz.chains.models import Chain
from chainviz.core.chain.paths import Path
from chainviz.review.models import Comment, Mute, Reviewer, SignOff, Verdict, Viewed
from chainviz.review.requests.services import Standing, may_judge, saved_by, saver_of, standing_of
from chainviz.review.threads.thread_view import title_of
from chainviz.store.content.chain import StoredChain
from chainviz.store.content.message_reader import pieces_of
from chainviz.store.content.pieces import Cursor, Piece, cut, join
from chainviz.store.query.windows import ALL_CLOSED, window

# The activities on a chain, from the audit log of its team: for every member, without facts that only owners may read.


ACTS = (
    "chains:restore",
    "chains:rename",
    "chains:to_bin",
    "chains:from_bin",
    "chains:export",
    "drafts:save",
    "purged",
    "review:request",
    "review:verdict",
    "review:dismiss",
    "review:labels",
    "review:unlabel",
    "signed off",
    "exported outside",
)
"""Acts that other people see. A person's drafts and marks are private."""
API = {
    "api:save_draft": "Version saved",
    "api:new_thread": "Commented",
    "api:reply_to_thread": "Replied in thread {}",
    "api:resolve_thread": "Resolved or reopened thread {}",
    "api:set_label": "Label set",
    "api:remove_label": "Label removed",
}
SAVED = {"api:run_operation": "Version saved", "bulk": "Version saved in bulk"}
"""Acts that may save a version; listed only if they did."""
DID = {
    "comment": "Commented",
    "reply": "Replied in thread {}",
    "resolve": "Resolved thread {}",
    "reopen": "Reopened thread {}",
    "reopen_and_reply": "Reopened thread {}",
}
"""Words for acts, without comments that wait for their review, which only their authors see."""
VERDICTS = {Verdict.Kind.APPROVE.value: "Approved", Verdict.Kind.CHANGES.value: "Asked for changes", Verdict.Kind.COMMENT.value: "Reviewed"}
COMMENTS = Q(act__in=("review:new_thread", "review:thread"))
SAVED_ONE = Q(act__in=SAVED, details__contains='"version": ')
SENT = Q(act="review:pending", details__contains='"sent": ')


@dataclass(frozen=True, slots=True)
class Activity:
    number: int
    who: str
    what: str
    version: int | None
    at: datetime


def activity_of(chain: Chain, count: int, before: int | None = None) -> list[Activity]:
    """Return the activities, newest first."""
    rows = AuditRow.objects.filter(team=chain.team_id, chain_key=chain.pk, outcome=DONE).filter(_listed_acts())
    rows = rows if before is None else rows.filter(number__lt=before)
    return [_activity(row) for row in rows.order_by("-number")[:count]]


def _listed_acts() -> Q:
    did = Q(*(("details__contains", f'"did": "{name}"') for name in DID), _connector=Q.OR)
    return Q(act__in=(*ACTS, *API)) | SAVED_ONE | SENT | (COMMENTS & did)


def _activity(row: AuditRow) -> Activity:
    words, number = _words(row), row.facts.get("number")
    version = row.facts.get("version", None if "{}" in words else number)
    name = row.who_name.partition(" <")[0]
    return Activity(row.number, name, words.format(number), version if isinstance(version, int) else None, row.at)


def _words(row: AuditRow) -> str:
    if row.act == "review:verdict":
        return VERDICTS.get(row.facts.get("verdict", ""), act_label(row.act))
    return SAVED.get(row.act) or DID.get(row.facts.get("did", "")) or API.get(row.act) or act_label(row.act)


# The sections of a version, and which of them a person has viewed.


SHOWN = 50
"""The number of sections on a page."""


@dataclass(frozen=True, slots=True)
class Section:
    number: int
    title: str
    size: int
    is_viewed: bool

    @property
    def path(self) -> str:
        return str(Path(self.number))


def section_marks(chain: StoredChain) -> list[str]:
    """Name the content of each section by the places of its messages in the store, at which a message never changes."""
    cursor = Cursor(pieces_of(chain.snapshot))
    sections = chain.outline.sections(1, chain.outline.listing.section_count + 1)
    return [_mark(join(cursor.take(place.measure.messages))) for place in sections]


def section_mark(chain: StoredChain, number: int) -> str:
    """Return the mark of one section."""
    place = chain.outline.section(number)
    return _mark(join(cut(pieces_of(chain.snapshot), place.before.messages, place.before.messages + place.measure.messages)))


def _mark(pieces: list[Piece]) -> str:
    return blake2b(repr([tuple(piece) for piece in pieces]).encode(), digest_size=16).hexdigest()


def viewed_marks(chain: Chain, person: User) -> set[str]:
    return set(Viewed.objects.filter(chain=chain, person=person).values_list("mark", flat=True))


def set_viewed(chain: Chain, person: User, mark: str, is_viewed: bool) -> None:
    if is_viewed:
        Viewed.objects.get_or_create(chain=chain, person=person, mark=mark)
    else:
        Viewed.objects.filter(chain=chain, person=person, mark=mark).delete()


def sections_page(chain: StoredChain, first: int, marks: list[str], viewed: set[str]) -> list[Section]:
    """Return at most SHOWN sections, from number `first` on."""
    if not marks:
        return []
    rows = titled_rows(chain, window(chain, Path(first), "down", SHOWN, ALL_CLOSED).rows)
    return [Section(row.path.section, row.name, row.size, marks[row.path.section - 1] in viewed) for row in rows if row.kind == "section"]


SAID = {
    Verdict.Kind.COMMENT: ("open", "comment", "commented"),
    Verdict.Kind.CHANGES: ("problem", "failed", "needs changes"),
    Verdict.Kind.APPROVE: ("ok", "approve", "approved"),
}
"""The colour, icon and words of a verdict."""
SENTENCES = {Verdict.Kind.COMMENT: "commented on", Verdict.Kind.CHANGES: "asked for changes of", Verdict.Kind.APPROVE: "approved"}
ACTIVITIES = 5
THREADS = 20
"""The most open threads that are listed."""
NEWEST = 30
"""The most verdicts that are listed."""


@dataclass(frozen=True, slots=True)
class ReviewerRow:
    person: int
    name: str
    initials: str
    note: str
    state: str
    icon: str
    text: str
    is_stale: bool
    is_asked: bool
    may_be_asked_again: bool
    """True if they were asked only about an earlier version."""


@dataclass(frozen=True, slots=True)
class VerdictRow:
    verdict: Verdict
    state: str
    icon: str
    sentence: str
    is_stale: bool
    why_not_counted: str


@dataclass(frozen=True)
class ReviewPage:
    """The content of the template."""

    subject: Subject
    standing: Standing
    reviewers: list[ReviewerRow]
    to_ask: list[Membership]
    """Members who may give verdicts and were not asked about the newest version. The person who saved it, and cannot
    approve it, is the last."""
    is_alone: bool
    """True if only one person can give a verdict."""
    verdicts: list[VerdictRow]
    threads: list[tuple[int, str, str]]
    """The open threads: number, who began it, its title."""
    sections: list[Section]
    viewed: int
    total: int
    first: int
    my_version: int | None
    """The newest version with a verdict of the person."""
    saved_it: bool
    """True if the reader saved this version."""
    saver: int | None
    """The key of the person who saved the newest version, and who may not approve it."""
    sign_offs: list[SignOff]
    activity: list[Activity]
    is_muted: bool
    pending: int
    """The number of the person's comments that are sent with their verdict."""

    @property
    def chain(self) -> Chain:
        return self.subject.chain

    @property
    def number(self) -> int:
        assert self.subject.version is not None
        return self.subject.version

    @property
    def changes_url(self) -> str:
        """The address of the changes since the person's last verdict."""
        if self.my_version is None or self.my_version >= self.chain.version:
            return ""
        return reverse("chains:diff", args=[self.chain.pk, self.my_version, self.chain.version])

    @property
    def previous(self) -> int | None:
        return max(1, self.first - SHOWN) if self.first > 1 else None

    @property
    def next(self) -> int | None:
        return self.first + SHOWN if self.first + SHOWN <= self.total else None


def review_page(subject: Subject, member: Membership, first: int = 1) -> ReviewPage:
    chain, person = subject.chain, member.user
    standing = standing_of(chain)
    marks, viewed = section_marks(subject.stored), viewed_marks(chain, person)
    first = min(max(1, first), max(1, len(marks)))
    mine = Verdict.objects.filter(chain=chain, person=person).order_by("-version").first()
    reviewers = reviewers_of(standing)
    done = {row.person for row in reviewers if row.is_asked and not row.is_stale}
    saver, judges = saver_of(chain, chain.version), list(may_judge(chain))
    return ReviewPage(
        subject=subject,
        standing=standing,
        reviewers=reviewers,
        to_ask=sorted((each for each in judges if each.user_id not in done), key=lambda each: each.user_id == saver),
        is_alone=len(judges) == 1,
        verdicts=_verdicts(standing),
        threads=_open_threads(chain),
        sections=sections_page(subject.stored, first, marks, viewed),
        viewed=sum(mark in viewed for mark in marks),
        total=len(marks),
        first=first,
        my_version=mine.version if mine else None,
        saver=saver,
        saved_it=saved_by(chain, subject.version or 0, person),
        sign_offs=list(SignOff.objects.sign_offs().filter(team=chain.team, chain_key=chain.pk).order_by("-number")),
        activity=activity_of(chain, ACTIVITIES),
        pending=Comment.objects.pending(person, chain).count(),
        is_muted=Mute.objects.filter(chain=chain, person=person).exists(),
    )


def _open_threads(chain: Chain) -> list[tuple[int, str, str]]:
    """Return the open threads by the first comment of each that everybody sees."""
    sent = Comment.objects.filter(thread__chain=chain, thread__resolved_at=None).exclude(sent_at=None)
    first = sent.order_by().values("thread").annotate(first=Min("pk")).values("first")
    found = Comment.objects.filter(pk__in=first).select_related("thread").order_by("thread__number")[:THREADS]
    return [(each.thread.number, each.author_name, title_of(each.body)) for each in found]


def reviewers_of(standing: Standing) -> list[ReviewerRow]:
    """Return the requested reviewers, then everybody else with a verdict that counts."""
    said = {verdict.person_id: verdict for verdict in standing.verdicts}
    asked = list(standing.request.reviewers.select_related("person").order_by("pk")) if standing.request else []
    others = [verdict for person, verdict in said.items() if person not in {each.person_id for each in asked}]
    rows = [_reviewer(standing, each.person, each.name, said.get(each.person_id), each) for each in asked]
    return rows + [_reviewer(standing, verdict.person, verdict.name, verdict, None) for verdict in others]


def _reviewer(standing: Standing, person: User, name: str, verdict: Verdict | None, asked: Reviewer | None) -> ReviewerRow:
    is_stale = verdict is not None and standing.is_stale(verdict)
    state, icon, text = SAID[Verdict.Kind(verdict.kind)] if verdict else ("quiet", "pending", "waiting")
    if is_stale and verdict is not None and verdict.kind == Verdict.Kind.APPROVE:
        state, icon, text = "quiet", "clock", "stale approval"
    why_not = standing.why_not_reviewer(person.pk)
    if why_not and state == "ok":
        state = "quiet"
    about = verdict.version if verdict else asked.version if asked else standing.chain.version
    note = f"{'on' if verdict else 'asked about'} version {about}"
    return ReviewerRow(
        person=person.pk,
        name=name,
        initials=person.initials,
        note=f"{note}, {why_not}" if why_not else note,
        state=state,
        icon=icon,
        text=text,
        is_stale=is_stale,
        is_asked=asked is not None,
        may_be_asked_again=asked is not None and asked.version < standing.chain.version and not why_not,
    )


def _verdicts(standing: Standing) -> list[VerdictRow]:
    found = Verdict.objects.filter(chain=standing.chain).order_by("-pk")[:NEWEST]
    return [_verdict(standing, each) for each in found]


def _verdict(standing: Standing, verdict: Verdict) -> VerdictRow:
    kind = Verdict.Kind(verdict.kind)
    state, icon, _ = SAID[kind]
    sentence = f"{SENTENCES[kind]} version {verdict.version}"
    is_approval = kind == Verdict.Kind.APPROVE and not verdict.is_dismissed
    why_not = standing.why_not_reviewer(verdict.person_id) if is_approval else ""
    state = "quiet" if verdict.is_dismissed or why_not else state
    return VerdictRow(verdict, state, icon, sentence, standing.is_stale(verdict), why_not)
