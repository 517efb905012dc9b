"""What a document holds beside the messages of a chain: the members around the list, a slot, lines that are not messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from chainviz.core.chain.unread import Unread

Rewrite = Callable[[str], str]
"""Takes a text of the document and returns it rewritten. A text never begins or ends inside a JSON string."""


class Surroundings(Protocol):
    @property
    def is_single(self) -> bool:
        """Whether the document holds one message where others hold a list, as a provider's response does."""

    @property
    def ends_single(self) -> bool:
        """Whether the last message of the document is in no list: none can be added after it."""

    def holders(self) -> Iterator[dict[str, Any]]:
        """The objects around the list of messages, the nearest first, without the messages; nothing for lines."""

    @property
    def unread(self) -> Sequence[Unread]:
        """What of the document no message shows although its format does not know it; empty where the chain is fully read."""

    def texts(self) -> Sequence[str]:
        """Returns the texts in the order of the document, as the source spells them, and what its file holds beside it where
        they are written together."""

    def document_texts(self) -> Sequence[str]:
        """The same of the document alone."""

    def rewritten(self, rewrite: Rewrite) -> Surroundings | None:
        """Returns the surroundings with every text rewritten, or None where `rewrite` changes nothing. Each text is
        rewritten alone: what spans two of them is not seen as one."""


class NoSurroundings:
    """Of messages that no document holds."""

    is_single = ends_single = False
    unread: Sequence[Unread] = ()

    def holders(self) -> Iterator[dict[str, Any]]:
        return iter(())

    def texts(self) -> Sequence[str]:
        return ()

    document_texts = texts

    def rewritten(self, rewrite: Rewrite) -> Surroundings | None:
        return None


NO_SURROUNDINGS = NoSurroundings()
