"""The exports of a subject: its chain or the whole file, in its own format or another, and the losses of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass
from functools import cached_property, reduce
from pathlib import PurePath
from typing import Any

from chainviz.chains.explorer.subject import Subject
from chainviz.chains.exports.documents import merged
from chainviz.chains.exports.removed_values import rewrite_of
from chainviz.chains.models import Chain, ChainQuerySet
from chainviz.chains.verdicts import VerdictView, verdict_view
from chainviz.core.chain.messages import Message
from chainviz.core.chain.surroundings import Rewrite
from chainviz.core.counts import count_text
from chainviz.core.documents.units import Span
from chainviz.core.errors import DocumentError, Refused
from chainviz.core.formats import FORMATS, WRITTEN, get_format
from chainviz.core.formats.contract import Format
from chainviz.core.formats.conversion import Losses
from chainviz.core.formats.cross_provider import Route
from chainviz.core.load import document_in
from chainviz.core.operations.convert.losses import FieldsLeftOut, judge_written
from chainviz.core.operations.convert.operation import accepted_ids, ids_of, words_for
from chainviz.core.providers.check import Verdict
from chainviz.store.content.chain import StoredChain
from chainviz.store.content.message_reader import messages_of
from chainviz.store.content.uploads import UploadReader
from chainviz.store.derived import DerivedKind
from chainviz.store.models import Snapshot, Upload, Version
from chainviz.store.transfer import exports
from chainviz.store.transfer.document_context import DocumentPlace, place_of

LOOKED_AT = 8_000_000
"""The most bytes of content that are written on trial to find the losses of a format; for the rest, the download finds
them."""
MOST_COPIED = 10_000_000
TRIAL = DerivedKind("export-trial", 2)
USUAL = ("openai_chat", "openai_responses", "anthropic", "gemini", "claude_code", "codex_rollout")
"""The formats that the page offers before anything is typed."""


def usual_formats(own: str) -> tuple[Format, ...]:
    """Return the formats that are often chosen, without the chain's own one."""
    return tuple(get_format(name) for name in USUAL if name != own)


def matching_formats(text: str) -> tuple[Format, ...]:
    """Return the formats that a typed text means: the one with exactly this name or label, else all whose name or label
    contains each of the words."""
    typed = text.strip().lower()
    exact = [format for format in WRITTEN if typed in (format.name, format.label.lower())]
    words = typed.split()
    return tuple(exact or (each for each in WRITTEN if words and all(word in f"{each.name} {each.label}".lower() for word in words)))


@dataclass(frozen=True, slots=True)
class LossView:
    text: str
    path: str = ""
    """The path of the first message that loses it; "" if no message does."""


@dataclass(frozen=True)
class Trial:
    """The chain, or its beginning, written in the chosen format."""

    size: int
    losses: tuple[LossView, ...]
    left_out: str = ""
    verdicts: tuple[tuple[str, VerdictView], ...] = ()
    """The verdicts of the APIs that use the format, by label, read from the written bytes; () if only a beginning was
    written."""


@dataclass(frozen=True)
class Rest:
    """The rest of the file beside the chain."""

    is_clean: bool = False
    """True if something was removed from the other text of the file too."""
    holding: tuple[Chain, ...] = ()
    """Chains with some of the values in their own messages, which are not changed."""
    left_out: str = ""
    refused: str = ""


@dataclass(frozen=True)
class Together:
    """A document with the changes of all its chains."""

    document: bytes
    left_out: tuple[Chain, ...]
    """Chains that are left out because their changes affect the same place as others."""


def _holds(snapshot: Snapshot, rewrite: Rewrite) -> bool:
    sources = (fragment.text for message in messages_of(snapshot) for fragment in message.source)
    return any(rewrite(text) != text for text in sources)


@dataclass(frozen=True)
class Export:
    """A subject on its way into a format."""

    subject: Subject
    format: Format

    @classmethod
    def to(cls, subject: Subject, name: str) -> Export:
        """Refused, in a sentence, for a format nobody knows."""
        try:
            export = cls(subject, get_format(name or subject.snapshot.format))
        except DocumentError as error:
            raise Refused(str(error)) from None
        if not (export.is_own or export.format.writes):
            raise Refused(f"A chain cannot be written as {export.format.label}; choose another format.")
        return export

    @property
    def is_own(self) -> bool:
        return self.format.name == self.subject.snapshot.format

    @property
    def can_be_copied(self) -> bool:
        """True if the text is short enough for the clipboard."""
        return self.trial.size <= MOST_COPIED and not self.trial.left_out

    @property
    def choices(self) -> tuple[Format, ...]:
        """The chain's own format first."""
        own = get_format(self.subject.snapshot.format)
        return (own, *(format for format in WRITTEN if format is not own))

    @property
    def usual(self) -> tuple[Format, ...]:
        return usual_formats(self.format.name)

    @cached_property
    def place(self) -> DocumentPlace | None:
        return place_of(self.subject.snapshot)

    @property
    def upload(self) -> Upload | None:
        template = self.subject.snapshot.template
        return template.run.upload if template is not None else None

    @property
    def is_part(self) -> bool:
        return self.place is not None and (self.place.is_part or bool(self._sharing))

    @property
    def fits_into_file(self) -> bool:
        keeps_place = self.is_own and self.place is not None and self.place.is_of_upload
        return self.is_part and (keeps_place or not self.format.lines)

    @cached_property
    def trial(self) -> Trial:
        if self.is_own:
            return Trial(self._own_size(), ())
        size, losses, left_out, verdicts = TRIAL.get(self.subject.snapshot, self._write_on_trial, self.format.name)
        views = tuple((label, verdict_view(Verdict(*counts))) for label, counts in verdicts)
        return Trial(size, tuple(LossView(*each) for each in losses), left_out, views)

    def _write_on_trial(self) -> list[Any]:
        """Return the fields of a Trial as JSON."""
        snapshot = self.subject.snapshot
        own = get_format(snapshot.format)
        losses, fields = Losses(Route(own, self.format)), FieldsLeftOut(own)
        chain = StoredChain(snapshot)
        ids = accepted_ids(chain.tree, ids_of(self.format))
        taken = Beginning(exports.messages_in(chain, ids))
        document, around = exports.request_in(chain, self.format)
        content = b"".join(document_in(self.format, _judged(taken, losses, fields), own, document))
        rest = snapshot.messages - taken.count
        left_out = f"{count_text(rest, 'more message')} will be written without a check." if rest else ""
        new_ids = words_for(sum(len(chain.shapes()[index].calls and parts) for index, parts in ids.items()))
        judged = {} if rest else judge_written(content, self.format.name)
        verdicts = [[provider.label, astuple(verdict)] for provider, verdict in judged.items()]
        placed = [[loss.sentence(), str(chain.outline.path_at(loss.first))] for loss in losses.each_kind()]
        lost = [*([text] for text in new_ids), *placed, *([text] for text in (*fields.sentences(), *around))]
        return [len(content), lost, left_out, verdicts]

    def _own_size(self) -> int:
        """Estimate the size; the text around many messages is small in comparison."""
        snapshot = self.subject.snapshot
        return sum(map(len, exports.export(snapshot))) if snapshot.stored <= LOOKED_AT else snapshot.stored

    def chain(self) -> Iterator[bytes]:
        if self.is_own:
            return exports.export(self.subject.snapshot)
        return exports.export_in(self.subject.snapshot, self.format)

    def whole_file(self) -> Iterator[bytes]:
        """Yield this chain in its place, and the newest version of every other chain of the file. Values removed from
        one of them remain only in messages of another."""
        if self.place is None:
            raise Refused("The file this chain came in is not kept.")
        span, own = exports.in_its_place(self.subject.snapshot, self.place, self.format, self.rewrite)
        content: Iterable[bytes] = [self._together.document] if self._sharing else own
        return exports.export_whole_file(self.place.upload, [(span, content), *self._others(span)], self.rewrite)

    @cached_property
    def _sharing(self) -> list[tuple[Chain, Snapshot, DocumentPlace]]:
        """Return the changed chains in the document of this one, such as other answers to one request."""
        own = self.place.document if self.place else None
        changed = [(chain, snapshot, place_of(snapshot)) for chain, snapshot in self._newest if chain.version > 1]
        return [(chain, snapshot, place) for chain, snapshot, place in changed if place and place.document == own]

    @cached_property
    def _together(self) -> Together:
        assert self.place is not None
        snapshot, span = self.subject.snapshot, self.place.document
        document = b"".join(exports.in_its_place(snapshot, self.place, self.format, self.rewrite)[1])
        original = UploadReader(self.place.upload.pk)(span.start, span.end)
        left_out: list[Chain] = []
        for chain, other, place in self._sharing:
            content = b"".join(exports.in_its_place(other, place, rewrite=self.rewrite)[1])
            can_share = self.is_own and self.place.is_of_upload and place.is_of_upload
            both = merged(original, document, content) if can_share else None
            document = document if both is None else both
            left_out += [chain] if both is None else []
        return Together(document, tuple(left_out))

    @property
    def excluded_chains(self) -> tuple[Chain, ...]:
        """Return the chains whose changes cannot be written to the same file as those of this one."""
        return self._together.left_out if self._sharing else ()

    def _others(self, own: Span) -> Iterable[tuple[Span, Iterator[bytes]]]:
        """Yield the chains with their own documents."""
        taken = {own}
        for _, snapshot in self._newest:
            place = place_of(snapshot)
            if place is not None and (place.is_of_upload or not get_format(snapshot.format).lines):
                span, content = exports.in_its_place(snapshot, place, rewrite=self.rewrite)
                if span not in taken and (span.end <= own.start or own.end <= span.start):
                    taken.add(span)
                    yield span, content

    @cached_property
    def _newest(self) -> list[tuple[Chain, Snapshot]]:
        """Return each sibling with its newest snapshot."""
        chains = {chain.history: chain for chain in self.siblings}
        versions = Version.objects.select_related("snapshot__template__run__upload").filter(history__in=chains)
        newest = {version.history_id: version for version in versions.order_by("number")}
        return [(chains[history], version.snapshot) for history, version in newest.items()]

    @cached_property
    def rewrite(self) -> Rewrite | None:
        """The rewrite that removes from other text of the file what was removed from its chains; None if nothing was."""
        snapshots = [self.subject.snapshot, *(snapshot for chain, snapshot in self._newest if chain.version > 1)]
        rewrites = [rewrite for rewrite in map(rewrite_of, snapshots) if rewrite is not None]
        return (lambda text: reduce(lambda given, rewrite: rewrite(given), rewrites, text)) if rewrites else None

    @cached_property
    def rest(self) -> Rest:
        try:
            rewrite = self.rewrite
        except Refused as refused:
            return Rest(refused=str(refused))
        if rewrite is None:
            return Rest()
        if sum(snapshot.stored for _, snapshot in self._newest) > LOOKED_AT:
            return Rest(is_clean=True, left_out="They are too long to be scanned while the page loads.")
        return Rest(is_clean=True, holding=tuple(chain for chain, held in self._newest if _holds(held, rewrite)))

    @property
    def siblings(self) -> ChainQuerySet:
        """Return the other chains of the same file."""
        chain = self.subject.chain
        same = Chain.objects.in_library().filter(team=chain.team_id, sha256=chain.sha256, is_branch=False)
        return same.exclude(pointer=chain.pointer)

    @property
    def unchanged_siblings(self) -> ChainQuerySet:
        """Return the unchanged chains of the file, which stay as they were uploaded in a file of another kind."""
        lines = [format.name for format in FORMATS if format.lines]
        return self.siblings.filter(format__in=lines)

    def file_name(self, what: str) -> str:
        file = PurePath(self.subject.chain.file_name or "chain.json")
        ending = file.suffix or ".json"
        if what == "file" or self.is_own:
            return f"{file.stem} {what.lower()}{ending}"
        ending = ".txt" if self.format.name == "raw" else ".jsonl" if self.format.lines else ".json"
        return f"{file.stem} {what.lower()} {self.format.name}{ending}"


class Beginning:
    """The first messages of a chain, as many as a trial needs."""

    def __init__(self, messages: Iterator[Message]) -> None:
        self._messages = messages
        self._size = 0
        self.count = 0

    def __iter__(self) -> Iterator[Message]:
        while self._size <= LOOKED_AT and (message := next(self._messages, None)) is not None:
            self._size += message.size
            self.count += 1
            yield message


def _judged(messages: Iterable[Message], losses: Losses, fields: FieldsLeftOut) -> Iterator[Message]:
    for message in messages:
        losses.add(message)
        fields.add(message)
        yield message
