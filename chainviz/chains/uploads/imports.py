"""Import a message list of an upload as a chain: find the offers, the formats, and chains that exist already."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings
from django.db import IntegrityError
from django.http import QueryDict
from django.utils import timezone

from chainviz.accounts.audit import record
from chainviz.accounts.models import Membership
from chainviz.chains.models import Chain
from chainviz.chains.titles import file_title, set_title
from chainviz.chains.versions import heads
from chainviz.core.chain.messages import Message, Part
from chainviz.core.chain.problems import tree_problems
from chainviz.core.chain.tree import parse
from chainviz.core.documents.detection.detect import raw_list
from chainviz.core.documents.detection.sequences import Beginnings, beginnings, earlier_states, final_states
from chainviz.core.documents.packed_files import plain_name
from chainviz.core.documents.source import Source
from chainviz.core.documents.units import Pointer
from chainviz.core.errors import DocumentError
from chainviz.core.formats import FORMATS, get_format
from chainviz.core.formats.offers import Offer
from chainviz.core.formats.reader import read_chain
from chainviz.core.progress import Progress, ignore_progress
from chainviz.core.sources.head import HEAD, read_head
from chainviz.jobs.lease import storable
from chainviz.store.models import Version
from chainviz.store.transfer.document_context import envelope_of
from chainviz.store.transfer.imports import MessageList, import_chain

RAW_TEXT = "raw"
RECORDED = "added"
"""The act in the audit log, with a row for each chain. A request only shows that a file arrived, which a job may import
later."""


def pointer_text(pointer: Pointer) -> str:
    """Return a JSON pointer (RFC 6901). NUL and lone surrogates, which no database stores, are escaped."""
    text = "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in pointer)
    return text.encode("utf-8", "backslashreplace").decode("utf-8").replace("\x00", "\\x00")


def key_of(offer: Offer) -> str:
    """Return what names the list in its file."""
    return pointer_text(offer.found.pointer)


def size_of(offer: Offer) -> int:
    """Return the size of the chain's own document in bytes."""
    return offer.found.region.end - offer.found.region.start


def raw_offer(source: Source) -> Offer:
    return Offer(raw_list(source), (get_format(RAW_TEXT),), is_certain=True)


def known_chain(member: Membership, source: Source, offer: Offer) -> Chain | None:
    same = Chain.objects.visible_to(member).filter(sha256=source.sha256, pointer=key_of(offer), is_branch=False)
    return same.first()


def import_offer(member: Membership, source: Source, offer: Offer, *, file_name: str, progress: Progress = ignore_progress) -> Chain:
    """Return the new chain, or the existing one from this list, since two tabs may upload the same file at once."""
    known = known_chain(member, source, offer)
    if known is not None:
        return known
    try:
        return _import(member, source, offer, plain_name(file_name), progress)
    except IntegrityError:
        known = known_chain(member, source, offer)
        if known is None:
            raise
        return known


def _import(member: Membership, source: Source, offer: Offer, file_name: str, progress: Progress) -> Chain:
    def arrived(version: Version) -> None:
        now = timezone.now()
        chain = Chain(
            team=member.team,
            owner=member.user,
            part=storable(offer.found.title)[:200],
            history=version.history_id,
            file_name=file_name,
            sha256=source.sha256,
            pointer=key_of(offer),
            created_at=now,
            changed_at=now,
            changed_by=member.user,
        )
        heads.copy_head(chain, version)
        chain.project = storable(read_head(source.read(0, min(source.size, HEAD))).project)[:500] or None
        set_title(chain, version.snapshot)
        chain.save()
        if settings.CHAINVIZ.mode == "team":
            record(member.team, member.user, RECORDED, chain=chain.pk)

    version = import_chain(
        replace(list_of(source, offer), filename=file_name),
        owner=member.team.store_name,
        author=heads.store_name(member.user),
        progress=progress,
        arrived=arrived,
    )
    return Chain.objects.get(history=version.history_id)


def list_of(source: Source, offer: Offer) -> MessageList:
    earlier = tuple(list_of(source, each) for each in offer.earlier)
    return MessageList(source, offer.found, offer.formats[0], offer.salvage, earlier)


def file_notes(chain: Chain) -> tuple[str, ...]:
    """Return what was unusual about the file, a sentence each."""
    return envelope_of(Version.objects.get(history=chain.history, number=1).snapshot).warnings


# The chains of a file as rows to pick from: the content of each, and which are earlier states of another one. A log of
# requests repeats a growing chain in every request. So a chain whose messages all begin another one is folded under that
# one. If nobody is asked, earlier states become the first versions.


JUDGED = 32_000_000
"""The largest chain, in bytes, whose problems are counted before the person chooses, because its messages are held in
memory."""


@dataclass(frozen=True, slots=True)
class _Content:
    begins: str = ""
    """The beginning of the first text of the person."""
    problems: int | None = None
    """The number of problems, or None if they were not counted."""
    is_understood: bool = True
    """False if providers cannot be fully checked (Envelope.unread)."""
    beginnings: Beginnings = ()


def rows_of(source: Source, offers: Sequence[Offer], known: Sequence[Chain | None], file_name: str) -> list[dict[str, Any]]:
    """Return the offers in the form in which they are stored until a person chooses."""
    contents = [_content(source, offer) for offer in offers]
    finals = _finals(contents)
    return [
        {
            "key": key_of(offer),
            "title": file_title(file_name, offer.found.title),
            "formats": [each.name for each in offer.formats],
            "messages": None if content is None else len(content.beginnings),
            "begins": content.begins if content else "",
            "problems": content.problems if content else None,
            "size": size_of(offer),
            "notes": list(offer.found.warnings),
            "unchecked": bool(offer.found.unread) if content is None else not content.is_understood,
            "chain": chain.pk if chain is not None else None,
            "final": "" if final == place else key_of(offers[final]),
        }
        for place, (offer, chain, content, final) in enumerate(zip(offers, known, contents, finals, strict=True))
    ]


def with_earlier_states(offers: Sequence[Offer], rows: Sequence[dict[str, Any]]) -> list[Offer]:
    """Return the offers, each with its earlier states. Of equal states only the first is kept."""
    places = {key_of(offer): place for place, offer in enumerate(offers)}
    finals = [places[row["final"]] if row.get("final") else place for place, row in enumerate(rows)]
    return _with_states(offers, finals, [row["messages"] for row in rows])


def folded(source: Source, offers: Sequence[Offer]) -> list[Offer]:
    """Return each chain of the file with its earlier states."""
    if len(offers) == 1:
        return list(offers)
    contents = [_content(source, offer, is_judged=False) for offer in offers]
    finals = _finals(contents)
    lengths = [None if content is None else len(content.beginnings) for content in contents]
    together = _with_states(offers, finals, lengths)
    return [offer for place, offer in enumerate(together) if finals[place] == place]


def _with_states(offers: Sequence[Offer], finals: Sequence[int], lengths: Sequence[int | None]) -> list[Offer]:
    earlier = earlier_states(finals, lengths)
    return [replace(offer, earlier=tuple(offers[each] for each in places)) for offer, places in zip(offers, earlier, strict=True)]


def _finals(contents: Sequence[_Content | None]) -> list[int]:
    return final_states([content.beginnings if content else () for content in contents])


def _content(source: Source, offer: Offer, *, is_judged: bool = True) -> _Content | None:
    """Read the content of an offer, or return None if it cannot be read to its end."""
    messages: list[Message] = []
    begins = ""
    is_judged = is_judged and size_of(offer) <= JUDGED
    reader = read_chain(source, offer.found, offer.formats[0])

    def contents() -> Iterator[tuple[str, tuple[Part, ...]]]:
        nonlocal begins
        for message in reader:
            begins = begins or (heads.first_words(message) if message.role == "human" else "")
            if is_judged:
                # sources are not needed, and take the most memory
                messages.append(replace(message, source=()))
            yield message.role, message.parts

    try:
        keys = tuple(beginnings(contents()))
    except DocumentError:
        return None
    problems = [each for each in tree_problems(parse(messages)) if each.is_counted]
    return _Content(begins, len(problems) if is_judged else None, not reader.envelope.unread, keys)


# The format in which a person wants a file to be read, with the choices for reading it.


_PREFIX = "read-"


@dataclass(frozen=True, slots=True)
class ChoiceView:
    name: str
    """The name of the form's field."""
    label: str
    values: Sequence[tuple[str, str, bool]]
    """The name and label of each value, and whether it is chosen."""


def format_in(form: QueryDict) -> str:
    """Return the name of the format in a form, with the choices; "" if it asks for none."""
    name = form.get("format", "").partition(":")[0]
    format = next((each for each in FORMATS if each.name == name), None)
    if format is None:
        return ""
    return format.chosen([form.get(_PREFIX + choice.name, "") for choice in format.choices]).name


def choices_of(name: str) -> list[ChoiceView]:
    """Return the choices for reading a format, with the values that `name` contains."""
    given = set(name.partition(":")[2].split(","))
    views = []
    for choice in get_format(name).choices:
        chosen = next((value for value, _ in choice.values if value in given), choice.values[0][0])
        values = [(value, label, value == chosen) for value, label in choice.values]
        views.append(ChoiceView(_PREFIX + choice.name, choice.label, values))
    return views
