"""Files on the command line: read as chains, written back whole or in another format. Knows no operations."""

from __future__ import annotations

import argparse
import os
import sys
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from chainviz.core.chain.messages import Message
from chainviz.core.documents.assemble import whole_file
from chainviz.core.documents.context import Rewrite, rewritten
from chainviz.core.documents.source import Source, open_source, written
from chainviz.core.errors import DocumentError, OptionsError, Refused
from chainviz.core.formats import FORMATS, get_format
from chainviz.core.formats.contract import Format
from chainviz.core.load import LoadedChain, document_in, export_chain, load_source


@dataclass(frozen=True)
class ChainFile:
    """An open file with its chains."""

    name: str
    source: Source
    chains: tuple[LoadedChain, ...]

    def title(self, chain: LoadedChain) -> str:
        """The file, and where in it the chain lies if there are several."""
        if len(self.chains) == 1:
            return self.name
        return f"{self.name}#/{'/'.join(str(step) for step in chain.pointer)}"


def add_file(parser: argparse.ArgumentParser, name: str = "file") -> None:
    parser.add_argument(name, metavar=name.upper(), help="a transcript: JSON or JSON Lines; - reads standard input")


def add_format(parser: argparse.ArgumentParser) -> None:
    names = ", ".join(format.name for format in FORMATS)
    parser.add_argument("--format", metavar="NAME", help=f"the file's format instead of the detected one: {names}")
    parser.add_argument("--salvage", action="store_true", help="of a file that is cut off, take the complete messages")


def add_choice(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--chain", type=int, metavar="N", help="only the N-th chain of the file, from 1")


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON Lines, one object a chain")


@contextmanager
def opened(name: str, arguments: argparse.Namespace) -> Iterator[ChainFile]:
    """The chains of a file; DocumentError, naming the file, where it cannot be read."""
    format: str | None = arguments.format
    if format:
        get_format(format)
    with ExitStack() as stack:
        try:
            source = stack.enter_context(open_source(sys.stdin.buffer.read() if name == "-" else Path(name)))
            file = ChainFile(name, source, tuple(load_source(source, format, salvage=arguments.salvage)))
        except DocumentError as error:
            raise DocumentError(_with_place(name, error), error.line, error.column, error.offset) from None
        yield file


def _with_place(name: str, error: DocumentError) -> str:
    text = " ".join(str(error).split())
    if error.salvage:
        text += " Add --salvage to keep them."
    if name in text or name == "-":
        return text
    return f"{name}: {text}"


def check_outputs(arguments: argparse.Namespace) -> None:
    if arguments.json and arguments.out == "-":
        raise OptionsError("--json and --out - would both write to standard output; choose a file for one of them.")


def chosen(file: ChainFile, number: int | None) -> tuple[LoadedChain, ...]:
    if number is None:
        return file.chains
    if not 1 <= number <= len(file.chains):
        held = "1 chain" if len(file.chains) == 1 else f"{len(file.chains)} chains"
        raise OptionsError(f"{file.name} holds {held}; there is no chain {number}.")
    return (file.chains[number - 1],)


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
    the messages of chains is written anew."""
    if rewrite is not None:
        ids = {id(chain) for chain, _ in changed}
        changed = [*changed, *apart_from(changed, [chain for chain in file.chains if id(chain) not in ids])]
    ordered = sorted(changed, key=lambda item: item[0].envelope.region.start)
    for (one, _), (other, _) in pairwise(ordered):
        if other.envelope.region.start < one.envelope.region.end:
            raise Refused(f"{file.title(one)} and {file.title(other)} share one object; change one of them: --chain N.")
    regions = [(chain.envelope.region, [_document(file, chain, messages, rewrite)]) for chain, messages in ordered]
    return written(whole_file(file.source.size, regions, file.source.read, rewrite), file.source.encoding)


def _document(file: ChainFile, chain: LoadedChain, messages: Sequence[Message], rewrite: Rewrite | None) -> bytes:
    around = rewritten(chain.envelope, file.source.read, rewrite) if rewrite else None
    envelope, read = (around.envelope, around.read) if around else (chain.envelope, file.source.read)
    document = export_chain(messages, envelope, chain.format, read)
    if chain.envelope.encoding == "utf-8":
        return document
    return document.decode(chain.envelope.encoding, "surrogatepass").encode("utf-8", "surrogatepass")


def in_format(name: str, chains: Sequence[Sequence[Message]]) -> Iterator[bytes]:
    """New documents in another format: one as it is, several as JSON Lines."""
    format = get_format(name)
    check_room(format, len(chains))
    for messages in chains:
        document = document_in(format, messages)
        if len(chains) == 1:
            yield from document
        else:
            # JSON has line breaks between tokens only
            yield b"".join(document).replace(b"\n", b"") + b"\n"


def check_room(format: Format, chains: int) -> None:
    if chains > 1 and format.lines:
        raise OptionsError(f"{format.label} keeps one chain a file; choose one with --chain N.")


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
