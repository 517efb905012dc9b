"""A thread as pages show it, with its mentions: @ and the part of a member's e-mail address before its @."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import unescape

from django.conf import settings
from django.urls import reverse
from django.utils.html import strip_tags
from django.utils.safestring import SafeString, mark_safe

from chainviz.accounts.models import Membership, Team, User
from chainviz.chains.models import Chain
from chainviz.chains.render.json_text import prose
from chainviz.chains.render.visible_text import marks, one_line
from chainviz.core.chain.paths import parse_path
from chainviz.review.models import Comment, Place, Thread

# A comment as HTML: Markdown, mentions of members, and suggestion blocks.


_SUGGESTION = re.compile(r"^```suggestion[ \t]*\n(.*?)^```[ \t]*$\n?", re.DOTALL | re.MULTILINE)
_TAG = re.compile(r"(<[^>]*>)")
_CODE = re.compile(r"<(/?)(?:code|pre|a)\b")


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A proposed replacement for the text on which the thread comments."""

    text: str


def suggestions_in(body: str) -> list[Suggestion]:
    return [Suggestion(found[1].removesuffix("\n")) for found in _SUGGESTION.finditer(body)]


def comment_html(body: str, handles: Collection[str]) -> Iterator[SafeString | Suggestion]:
    """Yield the comment in pieces. `handles`: the members who can be mentioned."""
    place = 0
    for found in _SUGGESTION.finditer(body):
        yield from _prose(body[place : found.start()], handles)
        yield Suggestion(found[1].removesuffix("\n"))
        place = found.end()
    yield from _prose(body[place:], handles)


def _prose(text: str, handles: Collection[str]) -> Iterator[SafeString]:
    if text.strip():
        yield mark_safe("".join(_with_mentions(prose(text), handles)))  # sanitised by prose


def _with_mentions(html: str, handles: Collection[str]) -> Iterator[str]:
    depth = 0
    for piece in _TAG.split(html):
        if piece.startswith("<"):
            opens_or_ends = _CODE.match(piece)
            depth += (-1 if opens_or_ends[1] else 1) if opens_or_ends else 0
            yield piece
        elif depth:
            yield piece
        else:
            yield MENTION.sub(lambda found: f'<span class="mention">{found[0]}</span>' if found[1].lower() in handles else found[0], piece)


BADGES = {
    "open": ("open", "open"), "resolved": ("ok", "ok"), "pending": ("changed", "pending"),
    "outdated": ("changed", "clock"), "removed": ("problem", "removed"), "folded": ("summarised", "summary"),
}  # fmt: skip
"""The colour and icon of each word."""
FIRST_WORDS = 100


def title_of(body: str) -> str:
    """Return the beginning of a thread's first comment."""
    return marks(words_of(body, FIRST_WORDS)) or "Deleted comment"


def words_of(body: str, most: int) -> str:
    """Return the first `most` characters of a comment without its Markdown. A suggestion in it is shown as an arrow."""
    words = re.sub(r"```suggestion\b(.*?)(?:```|$)", r"→\1", body[: 4 * most], flags=re.DOTALL)
    return one_line(unescape(strip_tags(prose(words))), most)


@dataclass(frozen=True, slots=True)
class Badge:
    text: str
    state: str
    icon: str


@dataclass(frozen=True, slots=True)
class CommentView:
    comment: Comment
    pieces: tuple[tuple[SafeString | None, Suggestion | None, str], ...]
    """The texts and suggestions, each suggestion with the value that its button sends."""
    is_mine: bool


@dataclass(frozen=True)
class ThreadView:
    thread: Thread
    place: Place
    version: int
    """The version in which it is shown."""
    badges: tuple[Badge, ...]
    comments: tuple[CommentView, ...]
    chain_url: str
    """The address of the place in the chain; "" if it was removed."""

    @property
    def is_here(self) -> bool:
        return self.place.state == Place.State.CARRIED

    @property
    def number(self) -> str:
        return parse_path(self.place.path).number if self.place.path else ""

    @property
    def has_suggestions(self) -> bool:
        return any(suggestion for each in self.comments for _, suggestion, _ in each.pieces)


def thread_views(chain: Chain, version: int, places: Iterable[Place], person: User) -> list[ThreadView]:
    """Return the views of threads. `places` are those of a snapshot, with their threads. Needs two queries, whatever
    their number."""
    found = list(places)
    threads = {place.thread_id: place.thread for place in found}
    comments: dict[int, list[Comment]] = {}
    shown = Comment.objects.visible_to(person).filter(thread__in=threads).select_related("author").order_by("pk")
    for comment in shown:
        comments.setdefault(comment.thread_id, []).append(comment)
    handles = members_by_handle(chain.team_id) if any("@" in comment.body for comment in shown) else {}
    return [
        _view(place, version, _comments(comments[place.thread_id], person, handles.keys()))
        for place in found
        if place.thread_id in comments
    ]


def _view(place: Place, version: int, comments: tuple[CommentView, ...]) -> ThreadView:
    thread = place.thread
    words = ["resolved" if thread.is_resolved else "open"]
    if all(each.comment.is_pending for each in comments):
        words = ["pending"]
    if place.state != Place.State.CARRIED:
        words.append(place.state)
    badges = tuple(Badge(word, *BADGES[word]) for word in words)
    return ThreadView(thread, place, version, badges, comments, _chain_url(thread, place, version))


def _chain_url(thread: Thread, place: Place, version: int) -> str:
    if place.path:
        return f"{reverse('chains:at', args=[thread.chain_id, version, place.path])}#thread-{thread.number}"
    return reverse("chains:version", args=[thread.chain_id, version]) if thread.kind == Thread.Kind.CHAIN else ""


def _comments(comments: Sequence[Comment], person: User, handles: Iterable[str]) -> tuple[CommentView, ...]:
    known = set(handles)
    return tuple(CommentView(comment, tuple(_pieces(comment, known)), comment.author_id == person.pk) for comment in comments)


def _pieces(comment: Comment, handles: set[str]) -> Iterable[tuple[SafeString | None, Suggestion | None, str]]:
    count = 0
    for piece in comment_html(comment.body, handles):
        if isinstance(piece, Suggestion):
            yield None, piece, f"{comment.pk}.{count}"
            count += 1
        else:
            yield piece, None, ""


MENTION = re.compile(r"(?<![\w@./])@(\w(?:[\w.+'-]*\w)?)")

MOST_OFFERED = 8


def handle_of(person: User) -> str:
    return person.get_username().partition("@")[0].lower()


def members_by_handle(team: Team | int) -> dict[str, list[User]]:
    """Return the members by their handle; empty in local mode, which has one person."""
    if settings.CHAINVIZ.mode != "team":
        return {}
    found: dict[str, list[User]] = {}
    for member in Membership.objects.active().filter(team=team).select_related("user"):
        found.setdefault(handle_of(member.user), []).append(member.user)
    return found


def members_like(text: str, team: Team | int) -> list[tuple[str, User]]:
    """Return handles and members, by name, whose handle or a word of whose name begins with the text."""
    wanted = text.lower()
    found = [(handle, person) for handle, people in members_by_handle(team).items() for person in people]
    like = [
        (handle, person)
        for handle, person in found
        if any(word.startswith(wanted) for word in (handle, *person.display_name.lower().split()))
    ]
    return sorted(like, key=lambda each: each[1].display_name)[:MOST_OFFERED]


def mentioned(body: str, team: Team | int) -> list[User]:
    """Return the members of the team that a comment mentions."""
    handles = {handle.lower() for handle in MENTION.findall(body)}
    known = members_by_handle(team) if handles else {}
    return [person for handle, people in known.items() if handle in handles for person in people]
