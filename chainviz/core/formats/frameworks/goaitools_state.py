"""goaitools' conversation state: an object with version, provider, processed_length and raw provider messages.

`provider` names the dialect of the messages. Each dialect is a separate format here, so that a message can be read again
from its source alone. The registry passes the dialects in. core/state classifies and writes the documents.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from chainviz.core.chain.messages import Fragment, Message, Role
from chainviz.core.documents.units import Sample, Unit
from chainviz.core.formats.contract import Format, Style

MEMBERS = frozenset(("version", "provider", "processed_length"))
"""The members beside the messages."""


class GoaitoolsState(Format):
    tested_with = "state version 1"

    def __init__(self, dialect: Format, provider: str, name: str = "goaitools_state") -> None:
        self.dialect = dialect
        self.provider = provider
        self.name = name
        self.label = f"goaitools state ({provider})"
        self.blocks_at = dialect.blocks_at
        self.packs = dialect.packs
        self.api = dialect.api
        self.accepts = dialect.accepts
        self.hints = dialect.hints
        self.template = self.new_document(0)

    def new_document(self, stored: int) -> str:
        """Return a document whose processed_length is the number of its messages."""
        return f'{{"version": 1, "provider": "{self.provider}", "messages": [\n], "processed_length": {stored}}}\n'

    def is_message(self, value: object) -> bool:
        return self.dialect.is_message(value)

    def confidence(self, sample: Sample) -> float:
        """Rate a sample. Messages of an unknown provider count as the first dialect's."""
        if sample.key != "messages" or not _is_state(sample.beside):
            return 0.0
        if self.name == "goaitools_state":
            return 0.98
        is_own = sample.beside.get("provider") == self.provider
        return 0.99 if is_own and self.dialect.confidence(Sample(sample.values, {})) else 0.0

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        return self.dialect.read(units)

    def message(self, role: Role, source: tuple[Fragment, ...]) -> Message:
        return self.dialect.message(role, source)

    def write(self, message: Message, style: Style) -> tuple[Fragment, ...]:
        return self.dialect.write(message, style)

    def losses(self, message: Message) -> tuple[str, ...]:
        return self.dialect.losses(message)


def _is_state(beside: Mapping[str, Any]) -> bool:
    """Return True if the members contain processed_length, or only version and provider."""
    keys = beside.keys()
    return "processed_length" in keys or ({"version", "provider"} <= keys <= MEMBERS)
