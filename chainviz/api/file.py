"""An open file with its chains, and the rest of the file around the messages of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from pathlib import Path
from typing import Any

from chainviz.core.chain.surroundings import Rewrite, Unread
from chainviz.core.documents.document_context import DocumentContext, stretches_between
from chainviz.core.documents.source import Source, open_source
from chainviz.core.documents.units import Span
from chainviz.core.errors import DocumentError
from chainviz.core.load import LoadedChain, load_source


@dataclass(frozen=True)
class ChainFile:
    name: str
    """How sentences name it."""
    source: Source
    chains: tuple[LoadedChain, ...]
    format: str | None = None
    """The format that was named; None: it was detected."""
    is_salvaged: bool = False

    def with_content(self, content: bytes) -> ChainFile:
        """The file, read in the same way, with other content."""
        return open_file(content, self.name, self.format, salvage=self.is_salvaged)

    def title(self, chain: LoadedChain) -> str:
        """Return the file name, and the place of the chain in it if there are several."""
        if len(self.chains) == 1:
            return self.name
        return f"{self.name}#/{'/'.join(str(step) for step in chain.pointer)}"

    def context(self, chain: LoadedChain) -> DocumentContext:
        return DocumentContext(chain.envelope, self.source.read, rest=self._rest)

    @cached_property
    def _rest(self) -> tuple[Span, ...]:
        regions = [chain.envelope.region for chain in self.chains]
        return stretches_between(regions, self.source.size, self.source.read)


def open_file(origin: Path | bytes, name: str, format: str | None = None, *, salvage: bool = False) -> ChainFile:
    """Opens a file and reads its chains; the caller closes its source.

    Raises DocumentError, naming the file, where no chain can be read from it.
    """
    try:
        source = open_source(origin)
        try:
            return ChainFile(name, source, tuple(load_source(source, format, salvage=salvage)), format, salvage)
        except BaseException:
            source.close()
            raise
    except DocumentError as error:
        raise DocumentError(_with_name(name, error), error.fault, salvage=error.salvage, raw=error.raw) from None


def _with_name(name: str, error: DocumentError) -> str:
    text = " ".join(str(error).split())
    return text if not name or name in text else f"{name}: {text}"


@dataclass(frozen=True, slots=True)
class FileSurroundings:
    """The content of a file beside the messages of a chain, after the operations that rewrote it."""

    context: DocumentContext
    rewrites: tuple[Rewrite, ...] = ()

    @property
    def is_single(self) -> bool:
        return self.context.is_single

    @property
    def ends_single(self) -> bool:
        return self.context.ends_single

    def holders(self) -> Iterator[dict[str, Any]]:
        context = self.context
        for rewrite in self.rewrites:
            context = context.rewritten(rewrite) or context
        return context.holders()

    @property
    def unread(self) -> Sequence[Unread]:
        return self.context.unread

    def texts(self) -> Sequence[str]:
        return [self._rewritten(text) for text in self.context.texts()]

    def document_texts(self) -> Sequence[str]:
        return [self._rewritten(text) for text in self.context.document_texts()]

    def rewritten(self, rewrite: Rewrite) -> FileSurroundings | None:
        after = FileSurroundings(self.context, (*self.rewrites, rewrite))
        return after if after.texts() != self.texts() else None

    def _rewritten(self, text: str) -> str:
        return reduce(lambda given, rewrite: rewrite(given), self.rewrites, text)
