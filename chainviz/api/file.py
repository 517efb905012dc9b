"""An open file with its chains and the rest of the file around the messages of each, and message objects of agent frameworks.

Such an object becomes the JSON value that it is stored as.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from chainviz.core.chain.surroundings import Rewrite, Unread
from chainviz.core.documents.document_context import DocumentContext, stretches_between
from chainviz.core.documents.source import Source, open_source
from chainviz.core.documents.units import Span
from chainviz.core.errors import DocumentError
from chainviz.core.load import LoadedChain, load_source


@dataclass(frozen=True)
class ChainFile:
    name: str
    """The name of the file in sentences."""
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

    def first_records(self, most: int) -> Sequence[str]:
        return [self._rewritten(text) for text in self.context.first_records(most)]

    def rewritten(self, rewrite: Rewrite) -> FileSurroundings | None:
        after = FileSurroundings(self.context, (*self.rewrites, rewrite))
        return after if after.texts() != self.texts() else None

    def _rewritten(self, text: str) -> str:
        return reduce(lambda given, rewrite: rewrite(given), self.rewrites, text)


def plain_messages(messages: Sequence[Any]) -> list[Any]:
    """Return messages as JSON values. Mappings stay as they are; objects of LangChain, of the OpenAI Agents SDK and of pydantic-ai
    are written as those libraries write them, without importing the libraries."""
    return [_plain(message) for message in messages]


def _plain(message: Any) -> Any:
    if message is None or isinstance(message, str | int | float | list | Mapping):
        return message
    if hasattr(message, "to_input_item"):  # an item of a run of the OpenAI Agents SDK
        return _plain(message.to_input_item())
    if hasattr(message, "model_dump"):  # a model of pydantic: LangChain, the items of OpenAI
        return message.model_dump(mode="json", exclude_unset=_is_of_openai(message))
    if dataclasses.is_dataclass(message) and not isinstance(message, type):  # pydantic-ai
        return TypeAdapter(type(message)).dump_python(message, mode="json")
    return message


def _is_of_openai(message: object) -> bool:
    """Return True if unset fields have to be omitted, because the API refuses them."""
    return type(message).__module__.startswith("openai.")
