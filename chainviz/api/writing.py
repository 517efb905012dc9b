"""Chains back to bytes: in their file, where everything else stays as it is, or as new documents in another format."""

from __future__ import annotations

import os
import sys
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from chainviz.api.file import ChainFile
from chainviz.core.chain.messages import Message
from chainviz.core.chain.surroundings import Rewrite
from chainviz.core.documents.assemble import whole_file
from chainviz.core.documents.document_context import DocumentContext
from chainviz.core.documents.written_file import written
from chainviz.core.errors import DocumentError, OptionsError, Refused
from chainviz.core.formats.contract import Format
from chainviz.core.load import LoadedChain, export_chain


def apart(chains: Sequence[LoadedChain]) -> list[tuple[LoadedChain, Sequence[Message]]]:
    """Chains, as they are, whose documents do not overlap: two lists of one object share a document."""
    return apart_from([], chains)


def apart_from(
    taken: Sequence[tuple[LoadedChain, Sequence[Message]]], chains: Sequence[LoadedChain]
) -> list[tuple[LoadedChain, Sequence[Message]]]:
    """The same, and they do not overlap with those that are taken either."""
    found: list[tuple[LoadedChain, Sequence[Message]]] = []
    spans = sorted((chain.envelope.region.start, chain.envelope.region.end) for chain, _ in taken)
    for chain in sorted(chains, key=lambda chain: chain.envelope.region.start):
        region = chain.envelope.region
        at = bisect_right(spans, (region.start, region.end))
        if (not at or spans[at - 1][1] <= region.start) and (at == len(spans) or region.end <= spans[at][0]):
            found.append((chain, chain.messages))
            spans.insert(at, (region.start, region.end))
    return found


def whole_document(
    file: ChainFile, changed: Sequence[tuple[LoadedChain, Sequence[Message]]], rewrite: Rewrite | None = None
) -> Iterator[bytes]:
    """The file with the documents of these chains in their places; everything else is as it was. With `rewrite` all but
    the messages of chains is rewritten."""
    if rewrite is not None:
        ids = {id(chain) for chain, _ in changed}
        changed = [*changed, *apart_from(changed, [chain for chain in file.chains if id(chain) not in ids])]
    ordered = sorted(changed, key=lambda item: item[0].envelope.region.start)
    for (one, _), (other, _) in pairwise(ordered):
        if other.envelope.region.start < one.envelope.region.end:
            raise Refused(f"{file.title(one)} and {file.title(other)} share one object; change one of them: --chain N.")
    regions = [(chain.envelope.region, [_document(file, chain, messages, rewrite)]) for chain, messages in ordered]
    chunks = whole_file(file.source.size, regions, file.source.read, rewrite)
    return written(chunks, file.source.encoding, is_rewritten=rewrite is not None)


def _document(file: ChainFile, chain: LoadedChain, messages: Sequence[Message], rewrite: Rewrite | None) -> bytes:
    context = DocumentContext(chain.envelope, file.source.read)
    context = (context.rewritten(rewrite) if rewrite else None) or context
    document = export_chain(messages, context.envelope, chain.format, context.read)
    if chain.envelope.encoding == "utf-8":
        return document
    return document.decode(chain.envelope.encoding, "surrogatepass").encode("utf-8", "surrogatepass")


def together(format: Format, documents: Sequence[bytes]) -> Iterator[bytes]:
    """Documents in one format as one file: one as it is, several as JSON Lines."""
    check_room(format, len(documents))
    # JSON has line breaks between tokens only
    yield from documents if len(documents) == 1 else (document.replace(b"\n", b"") + b"\n" for document in documents)


def check_room(format: Format, chains: int) -> None:
    if chains > 1 and format.lines:
        raise OptionsError(f"A {format.label} file can hold only one chain; choose one with --chain N.")


def write_out(name: str, chunks: Iterator[bytes]) -> None:
    """To a file, or to standard output for -. The file is complete or as it was."""
    if name == "-":
        sys.stdout.buffer.writelines(chunks)
        sys.stdout.buffer.flush()
        return
    target = Path(name)
    try:
        if target.exists() and not target.is_file():
            with target.open("wb") as device:  # or a pipe: no file may take its place
                device.writelines(chunks)
        else:
            _replace(Path(os.path.realpath(target)), chunks)
    except OSError as error:
        raise DocumentError(f"{name} cannot be written: {error.strerror or error}.") from None


def _replace(target: Path, chunks: Iterator[bytes]) -> None:
    part = target.with_name(f".{target.name}.part")
    try:
        with part.open("wb") as file:
            file.writelines(chunks)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
