"""Write threads and comments: read the subject of a new thread from a form, and store each act in one transaction with its checksums."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import islice

from django.db import transaction
from django.utils import timezone

from chainviz.accounts.models import User
from chainviz.chains.explorer.inspector import PART_WORDS
from chainviz.chains.models import Chain
from chainviz.chains.render.visible_text import one_line
from chainviz.core.chain.messages import Message
from chainviz.core.chain.paths import Path
from chainviz.core.errors import Refused
from chainviz.core.review import part_text, words_pattern
from chainviz.jobs.lease import storable
from chainviz.review.models import Comment, Discussion, Thread
from chainviz.review.notices import comments_sent, thread_changed
from chainviz.store.checksums import renew_checksums
from chainviz.store.content.chain import StoredChain
from chainviz.store.content.message_shapes import PREVIEW

MOST_TEXT = 20_000


@dataclass(frozen=True, slots=True)
class NewThread:
    """The subject of a new thread: see the columns of Thread."""

    version: int
    kind: Thread.Kind
    path: str = ""
    start: int | None = None
    end: int | None = None
    quote: str = ""


def comment_text(text: str) -> str:
    """Raise Refused if a comment cannot be stored."""
    clean = storable(text).replace("\r\n", "\n").strip()
    if not clean:
        raise Refused("Write something first.")
    if len(clean) > MOST_TEXT:
        raise Refused(f"A comment has at most {MOST_TEXT:,} characters; this one has {len(clean):,}.")
    return clean


@transaction.atomic
def begin(chain: Chain, author: User, about: NewThread, body: str, *, is_pending: bool = False) -> Comment:
    """Return the first comment of a new thread."""
    discussion = _locked(chain)
    discussion.threads_made += 1
    columns = asdict(about) | {"quote": storable(about.quote)}
    thread = Thread.objects.create(chain=chain, number=discussion.threads_made, created_at=timezone.now(), **columns)
    discussion.save()
    return reply(thread, author, body, is_pending=is_pending)


@transaction.atomic
def reply(thread: Thread, author: User, body: str, *, is_pending: bool = False) -> Comment:
    _locked(thread.chain)
    now = timezone.now()
    comment = Comment.objects.create(
        thread=thread,
        author=author,
        author_name=author.display_name,
        body=comment_text(body),
        created_at=now,
        sent_at=None if is_pending else now,
    )
    renew_checksums(Thread, [thread.pk])
    if not is_pending:
        comments_sent([comment])
    return comment


@transaction.atomic
def edit(comment: Comment, body: str) -> None:
    _locked(comment.thread.chain)
    comment.body = comment_text(body)
    if not comment.is_pending:
        comment.edited_at = timezone.now()
    comment.save()


@transaction.atomic
def delete(comment: Comment) -> None:
    """Delete a comment. One that was sent keeps its place; a pending one is removed completely, as is a thread that it
    began."""
    discussion = _locked(comment.thread.chain)
    thread = comment.thread
    if not comment.is_pending:
        comment.body, comment.deleted_at = "", timezone.now()
        comment.save()
        return
    comment.delete()
    if thread.comments.exists():
        renew_checksums(Thread, [thread.pk])
    else:
        thread.delete()
        discussion.save()


@transaction.atomic
def set_resolved(thread: Thread, by: User, is_resolved: bool) -> None:
    _locked(thread.chain)
    thread.resolved_at = timezone.now() if is_resolved else None
    thread.resolved_by = by if is_resolved else None
    thread.resolved_by_name = by.display_name if is_resolved else ""
    thread.save()
    thread_changed(thread, by)


@transaction.atomic
def send_pending(person: User, chain: Chain) -> list[Comment]:
    """Show the person's pending comments on the chain to everybody who may read it; returns them."""
    _locked(chain)
    pending = list(Comment.objects.pending(person, chain).order_by("pk"))
    now = timezone.now()
    Comment.objects.filter(pk__in=[comment.pk for comment in pending]).update(sent_at=now)
    for comment in pending:
        comment.sent_at = now
    comments_sent(pending)
    return pending


@transaction.atomic
def discard_pending(person: User, chain: Chain) -> int:
    """Return how many comments there were."""
    pending = list(Comment.objects.pending(person, chain).select_related("thread__chain"))
    for comment in pending:
        delete(comment)
    return len(pending)


def _locked(chain: Chain) -> Discussion:
    """Lock the threads of a chain, so that writers take turns."""
    Discussion.objects.get_or_create(chain=chain)
    return Discussion.objects.select_for_update().get(chain=chain)


MOST_PARTS = 60
MOST_QUOTE = 5_000
EXCERPT = 300
NOT_FOUND = "These words are not in the node. Copy them exactly, or leave the field empty."


@dataclass(frozen=True, slots=True)
class Choice:
    path: str
    label: str


def choices(chain: StoredChain, path: Path) -> list[Choice]:
    """Return the node, and the parts of its messages."""
    node = path.node
    found = [Choice(str(node), _whole(node))]
    if node.pair is None:
        return found
    for place, row in enumerate(chain.rows(*_bounds(chain, node))):
        message = chain.outline.path_at(_bounds(chain, node)[0] + place)
        for number, part in enumerate(row.shape.parts):
            words = f"{PART_WORDS[part.kind]} {one_line(part.name, 40)}".strip()
            at = Path(message.section, message.pair, message.message, number)
            found.append(Choice(str(at), f"{words} ({at})"))
            if len(found) > MOST_PARTS:
                return found
    return found


def _whole(node: Path) -> str:
    if node.pair is None:
        return f"Section {node.section}"
    return f"The whole pair {node.number}" if node.message is None else "The whole message"


def _bounds(chain: StoredChain, path: Path) -> tuple[int, int]:
    span = chain.span(Path(path.section, path.pair, path.message))
    return span.start, min(span.stop, span.start + MOST_PARTS)


def about(chain: StoredChain, version: int, path: Path | None, quote: str, nth: int = 0) -> NewThread:
    """Return a thread on these words. `nth`: the number of their occurrence, counted from 0; the last one if there are fewer. Raises
    Refused if the words are not in the node, PathError if there is no such node.
    """
    quote = storable(quote).replace("\r\n", "\n")
    if path is None:
        return NewThread(version, Thread.Kind.CHAIN)
    bounds = _bounds(chain, path)
    if quote.strip():
        return _about_words(chain, version, path, quote[:MOST_QUOTE], nth)
    if path.part is None:
        first = next(iter(chain.rows(bounds[0], bounds[0] + 1)), None)
        return NewThread(version, Thread.Kind.NODE, str(path), quote=_excerpt(first.shape.preview, PREVIEW) if first else "")
    parts = chain.slice(bounds[0], bounds[0] + 1)[0].parts
    if path.part >= len(parts):
        raise Refused(f"{path} is not in this chain.")
    return NewThread(version, Thread.Kind.PART, str(path), quote=_excerpt(part_text(parts[path.part]), EXCERPT))


def _excerpt(text: str, most: int) -> str:
    """Cut a text to at most so many characters, with an ellipsis."""
    return text if len(text) < most else f"{text[: most - 1].rstrip()}…"


def _about_words(chain: StoredChain, version: int, path: Path, quote: str, nth: int) -> NewThread:
    if path.pair is None:
        raise Refused("Choose the message that contains these words, or leave the field empty.")
    start, stop = _bounds(chain, path)
    for place, message in enumerate(chain.slice(start, stop)):
        at = chain.outline.path_at(start + place)
        for number, text in _texts(message, path):
            found = _find(text, quote, nth)
            if found is not None:
                where = Path(at.section, at.pair, at.message, number)
                return NewThread(version, Thread.Kind.TEXT, str(where), *found, quote=text[slice(*found)])
    raise Refused(NOT_FOUND)


def _texts(message: Message, path: Path) -> Iterator[tuple[int, str]]:
    for number, part in islice(enumerate(message.parts), MOST_PARTS if path.part is None else None):
        if path.part in (None, number):
            yield number, part_text(part)


def _find(text: str, quote: str, nth: int) -> tuple[int, int] | None:
    """Find the words as they are, else as a page shows them: with other spaces, and without Markdown."""
    exact = [re.compile(re.escape(each)) for each in dict.fromkeys((quote, quote.replace("↵\n", "\\n")))]
    words = words_pattern(quote.replace("↵\n", "\\n"))
    for pattern in [*exact, words] if words else exact:
        found = list(islice(pattern.finditer(text), nth + 1))
        if found:
            return found[-1].span()
    return None
