"""Fix a session with the smallest changes after which its API accepts it with one more message."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Generic, TypeVar

from chainviz.api.chain import Chain, Result, chains_of, document_of
from chainviz.api.file import ChainFile, open_file
from chainviz.api.shared_documents import in_turn
from chainviz.core.chain.surroundings import Unread, refuse_unread
from chainviz.core.documents.packed_files import compression_of, decompressed
from chainviz.core.errors import DocumentError, NotFullyRead, Refused
from chainviz.core.formats import get_format, read_only
from chainviz.core.formats.vendors import get_provider
from chainviz.core.operations.execute import WARNING as SIGNED
from chainviz.core.providers.contract import Provider
from chainviz.core.session_records import Records, as_meant, numbered, whole_records, with_kept
from chainviz.fixes.backups import HAND_OVER

RESPELLED = "No text changes; these lines are written in the form that the API takes:"
T = TypeVar("T")
"""The representation of a chain's difference, which the caller chooses."""


@dataclass(frozen=True)
class FixedChain(Generic[T]):
    before: Chain
    provider: Provider
    result: Result
    """The result. Its warnings name the errors that remain, and content that some models may refuse."""
    difference: T

    @property
    def is_changed(self) -> bool:
        return self.result.chain is not self.before

    @property
    def title(self) -> str:
        return self.before.title


@dataclass(frozen=True)
class FixedSession(Generic[T]):
    old: bytes
    new: bytes
    damage: tuple[str, ...]
    """A sentence for each fault in the lines of the file."""
    chains: tuple[FixedChain[T], ...]

    @property
    def is_changed(self) -> bool:
        return self.new != self.old

    @property
    def has_errors_left(self) -> bool:
        return any(said != SIGNED for each in self.chains for said in each.result.warnings)

    @property
    def sentences(self: FixedSession[list[str]]) -> Iterator[str]:
        """Yield sentences about the faults, the changes and the remaining errors. Only for differences that are lists of sentences."""
        yield from self.damage
        for chain in self.chains:
            yield from chain.difference
            yield from chain.result.warnings


@dataclass(frozen=True, slots=True)
class Target:
    """The goal of a fix: the smallest changes that an API requires, or one kind of repair wherever it applies."""

    provider: Provider | None = None
    """The API that must accept the session; None for the API of its agent."""
    only: str = ""
    """The one kind of repair, a name in CHOICES of the operation repair; "" for all required changes."""


ALL_REQUIRED = Target()


def fix_session(
    old: bytes, name: str, show: Callable[[Chain, Result], T], format: str | None = None, target: Target = ALL_REQUIRED
) -> FixedSession[T]:
    """Fix a session. A compressed session is compressed again in the same way.

    `name` is used in sentences. `show` compares a chain with its result; the file is open only during that call.
    Raises DocumentError if no chain can be read, or Refused if the file cannot be written back completely.
    """
    compression = compression_of(old[:4])
    if compression is None:
        return _fix_document(old, name, show, format, target)
    try:
        content = decompressed(old, compression)
    except DocumentError as error:
        raise DocumentError(f"{name}: {error}") from None
    fixed = _fix_document(content, name, show, format, target)
    return replace(fixed, old=old, new=compression.compress(fixed.new) if fixed.is_changed else old)


def _fix_document(old: bytes, name: str, show: Callable[[Chain, Result], T], format: str | None, target: Target) -> FixedSession[T]:
    if b"\0" in old[:4] and old[:4].strip(b"\0"):
        raise Refused(f"{name} is not UTF-8; save it as UTF-8 first. The file is unchanged.")
    file, records = _opened(old, name, format)
    with file.source:
        for chain in file.chains:
            _refuse_unread(chain.envelope.unread, name)
        content = records.content
        fixed, chains = in_turn(chains_of(file), partial(_fixed, target, show))
        if file.source.is_wrapped and any(each.is_changed for each in fixed):
            raise Refused(f"{name} contains more than the messages, which a fix would lose; `chainviz apply repair` writes a fixed copy.")
        new = b"".join(document_of(chains)) if any(each.is_changed for each in fixed) else content
        found = file.chains[0].format
        links = get_format(found).links
    new = numbered(with_kept(content, new, links) if links else new, found)[0]
    return FixedSession(old, new, (*records.damage, *numbered(content, found)[1]), tuple(fixed))


def _refuse_unread(unread: Sequence[Unread], name: str) -> None:
    try:
        refuse_unread(unread)
    except Refused as refused:
        raise NotFullyRead(f"{name}: {refused} The file is unchanged.") from None


def _opened(old: bytes, name: str, format: str | None) -> tuple[ChainFile, Records]:
    """Open a session and restore its damaged records. Return the file and the records."""
    records = whole_records(old)
    file = _open(records.content, name, format)
    is_lines = all(chain.envelope.lines for chain in file.chains)
    meant = as_meant(records, file.chains[0].format, [chain.messages for chain in file.chains]) if is_lines else records
    if meant.damage and not is_lines:
        file.source.close()
        raise Refused(f"{name}: {meant.damage[0]} The file is unchanged.")
    if meant.damage != records.damage:
        file.source.close()
        file = _open(meant.content, name, format)
    return file, meant


def _open(content: bytes, name: str, format: str | None) -> ChainFile:
    """Open a file. Truncated JSON Lines are read up to that point; of a broken JSON document nothing is sure to be complete."""
    try:
        return open_file(content, name, format)
    except DocumentError as error:
        file = open_file(content, name, format, salvage=True)
        if all(chain.envelope.lines for chain in file.chains):
            return file
        file.source.close()
        raise Refused(f"{error} The file is unchanged.") from None


def _fixed(target: Target, show: Callable[[Chain, Result], T], chain: Chain) -> tuple[Chain, FixedChain[T]]:
    goal = target.provider or get_provider(chain.provider)
    try:
        result = chain.run("repair", repair_options(goal, target.only))
    except Refused as refused:
        raise Refused(f"{refused} {HAND_OVER}" if read_only(chain.format) else str(refused)) from None
    return result.chain, FixedChain(chain, goal, result, show(chain, result))


def repair_options(goal: Provider, only: str = "") -> dict[str, object]:
    return {"only": [only]} if only else {"goal": goal.name, "resumes": True}
