"""Write chains as bytes: in their file, where everything else stays, or as new documents in another format; and count their usage."""

from __future__ import annotations

import os
import sys
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from chainviz.api.file import ChainFile
from chainviz.core.chain.chain import Chain
from chainviz.core.chain.messages import Message
from chainviz.core.chain.surroundings import Rewrite
from chainviz.core.counts import count_text
from chainviz.core.documents.assemble import whole_file
from chainviz.core.documents.document_context import DocumentContext
from chainviz.core.documents.written_file import written
from chainviz.core.errors import DocumentError, OptionsError, Refused
from chainviz.core.formats.contract import Format
from chainviz.core.load import LoadedChain, export_chain
from chainviz.core.operations.summarize import SummarizeOptions, SummaryRequest, Unchanged, plan
from chainviz.core.operations.summarize.writers.context_window import estimated_usage
from chainviz.core.usage.document_usage import last_call_beside
from chainviz.core.usage.model_catalog import Models, read_overrides
from chainviz.core.usage.recorded import LastCall, TokenUsage, recorded_in
from chainviz.llm import WRITERS, Endpoint, write_all, writer_named
from chainviz.llm.openai_writer import OpenAIWriter


@lru_cache(maxsize=1)
def models() -> Models:
    from chainviz.settings import CHAINVIZ  # only here: other commands need no environment that can be read

    return Models(read_overrides(CHAINVIZ.models))


def last_call_of(messages: Sequence[Message], context: DocumentContext | None) -> LastCall | None:
    """The last call that a session counts beside its messages (`context`), else the one that its last answer counts."""
    beside = None if context is None else last_call_beside(context)
    if beside is not None:
        return beside
    last = next(filter(None, map(recorded_in, reversed(messages))), None)
    return None if last is None else LastCall(last[1], None)


def apart(chains: Sequence[LoadedChain]) -> list[tuple[LoadedChain, Sequence[Message]]]:
    """Chains, as they are, whose documents do not overlap: two lists of one object share a document."""
    return apart_from([], chains)


def apart_from(
    taken: Sequence[tuple[LoadedChain, Sequence[Message]]], chains: Sequence[LoadedChain]
) -> list[tuple[LoadedChain, Sequence[Message]]]:
    """Return the chains that overlap neither with each other nor with those already taken."""
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
    """Join documents in one format to one file: a single one unchanged, several as JSON Lines."""
    check_room(format, len(documents))
    # JSON has line breaks between tokens only
    yield from documents if len(documents) == 1 else (document.replace(b"\n", b"") + b"\n" for document in documents)


def check_room(format: Format, chains: int) -> None:
    if chains > 1 and format.lines:
        raise OptionsError(f"A {format.label} file can hold only one chain; choose one with --chain N.")


def write_out(name: str, chunks: Iterator[bytes]) -> None:
    """Write to a file, completely or not at all, or for - to standard output."""
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


# Writers of summaries by name; several pieces are written at the same time. What a model's tokens cost, in one line.


def writers_in_words() -> str:
    return ", ".join(writer.name for writer in WRITERS)


class SummaryWriters:
    """Writes pieces with the writer of a name. Raises OptionsError if there is none."""

    def __init__(self, name: str) -> None:
        from chainviz.settings import CHAINVIZ  # only here: other commands need no environment that can be read

        self.endpoint = Endpoint.configured(CHAINVIZ)
        self.writer = writer_named(name, self.endpoint)
        self.usage: TokenUsage | None = None
        """Of all pieces so far, as the model's server counted it; None where it did not."""

    def __call__(self, requests: Sequence[SummaryRequest]) -> dict[str, str | Unchanged]:
        written = write_all(requests, self.writer, concurrency=self.endpoint.concurrency)
        for each in written:
            if each.usage is not None:
                self.usage = (self.usage or TokenUsage()) + each.usage
        return {each.request.key: each.text if each.state == "done" else Unchanged(each.cause) for each in written}

    def estimate(self, chain: Chain, options: SummarizeOptions) -> str:
        """Describe the estimated usage before anything is sent; "" if no model is needed."""
        planned = plan(chain, options)
        if not isinstance(self.writer, OpenAIWriter) or self.endpoint.problem or not planned.pieces:
            return ""
        window = options.context_window or self.endpoint.window
        return f"estimate: {self._in_words(estimated_usage(planned, window))}"

    def counted(self) -> str:
        """Describe the counted usage after all is written; "" if no server counted."""
        return f"counted: {self._in_words(self.usage)}" if self.usage is not None else ""

    def _in_words(self, usage: TokenUsage) -> str:
        price = self.endpoint.price(usage)
        cost = "no list price" if price is None else f"${price:,.4f} at list prices"
        prompts = f"{usage.calls:,} prompt{'' if usage.calls == 1 else 's'}"
        return f"{prompts} to {self.endpoint.model}, {count_text(usage.input, 'token')} in, {count_text(usage.output, 'token')} out, {cost}"
