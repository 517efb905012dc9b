"""The act Export: choose the versions for one zip and scan each of them. The zip is written while it is downloaded."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import PurePath

from pydantic import Field

from chainviz.accounts.permissions import Permission
from chainviz.bulk.acts.contract import Act, Finish, Outcome, Result, Work
from chainviz.bulk.models import BulkRow, BulkRun
from chainviz.chains.exports.downloads import locked_reason
from chainviz.chains.exports.export import Export
from chainviz.chains.models import Chain
from chainviz.chains.secrets.findings import scan
from chainviz.core.counts import count_text
from chainviz.core.errors import ChainError, Refused
from chainviz.core.formats import WRITTEN
from chainviz.core.operations.contract import Options
from chainviz.drafts.target import target_of_version
from chainviz.web.formatting import csv_lines


class ExportOptions(Options):
    to: str = Field(
        "",
        title="Format",
        description="The report lists what a format cannot hold.",
        json_schema_extra={"choices": {"": "Each in its own format", **{each.name: each.label for each in WRITTEN}}},
    )


class ExportZip(Act):
    name, label, doing, done, icon = "export", "Export", "Preparing the export", "ready", "export"
    permission: Permission = "export"
    hint = "Every chain is scanned for secrets first, and the report shows what was found. Then you download one zip."
    first: tuple[str, ...] = ("to",)
    Options = ExportOptions

    def prepare(self, work: Work) -> Finish:
        assert isinstance(work.options, ExportOptions)
        number = work.chain.version
        reason = locked_reason(work.chain, number)
        if reason:
            raise Refused(reason)
        target = target_of_version(work.chain, number, work.member.user)
        export = Export.to(target.subject, work.options.to)
        values = {spot.mark for spot in scan(target.stored, work.progress)}
        losses = [loss.text for loss in export.trial.losses]
        found = f"{count_text(len(values), 'secret value')} found." if values else "No secrets found."
        text = " ".join((found, *losses))
        facts = {"secrets": len(values), "losses": len(losses)}
        return lambda: Result(Outcome.CHANGED, text, number, facts=facts)

    def undo(self, work: Work, made: BulkRow) -> Finish:
        raise Refused("An export changes nothing.")


# The zip with the versions of an export. It is written while it is sent, and not stored.


COLUMNS = ("chain", "title", "version", "file", "format", "bytes", "sha256", "note")
LIST = "chains.csv"
"""The name of the file in the zip that lists its contents and the chains left out."""
_UNSAFE = re.compile(r'[\x00-\x1f/\\:*?"<>|]')
LONGEST_NAME = 150


class _Sink(io.RawIOBase):
    """Keeps the bytes written to it until they are taken."""

    def __init__(self) -> None:
        self._held = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: object, /) -> int:
        content = bytes(data)  # type: ignore[call-overload]
        self._held += content
        return len(content)

    def take(self) -> bytes:
        content, self._held = bytes(self._held), bytearray()
        return content


def zip_of(run: BulkRun, rows: Iterable[BulkRow]) -> Iterator[bytes]:
    """Yield the zip: one file for each chain, then a list of the files with their digests."""
    sink, taken = _Sink(), {LIST}
    told: list[list[object]] = []
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED, allowZip64=True) as archive:
        for row in rows:
            digest, size, name, format, note = sha256(), 0, "", "", ""
            try:
                export = _export_of(run, row)
                name, format = _free_name(export.file_name(export.subject.title), taken), export.format.label
                with archive.open(name, "w", force_zip64=True) as file:
                    for piece in export.chain():
                        digest.update(piece)
                        size += len(piece)
                        file.write(piece)
                        yield sink.take()
            except ChainError as refused:
                name, note = "", str(refused)
            told.append([row.chain_id, row.chain.title, row.before, name, format, size, digest.hexdigest() if name else "", note])
        archive.writestr(LIST, "".join(csv_lines(COLUMNS, told)))
    yield sink.take()


def _export_of(run: BulkRun, row: BulkRow) -> Export:
    """Return the content of a version. Raises Refused if it must no longer be exported."""
    assert row.before is not None
    chain = Chain.objects.in_library().filter(pk=row.chain_id).first()
    if chain is None:
        raise Refused("It is in the bin.")
    reason = locked_reason(chain, row.before)
    if reason:
        raise Refused(reason)
    return Export.to(target_of_version(chain, row.before, run.author).subject, run.options.get("to", ""))


def _free_name(wanted: str, taken: set[str]) -> str:
    """Return a name that every file system accepts and that is unique in the zip."""
    path = PurePath(_UNSAFE.sub("_", wanted.encode("utf-8", "replace").decode()).strip(" ."))
    stem, suffix = path.stem[:LONGEST_NAME] or "chain", path.suffix[:20]
    name, number = f"{stem}{suffix}", 2
    while name.lower() in taken:
        name, number = f"{stem} ({number}){suffix}", number + 1
    taken.add(name.lower())
    return name
