"""What a document records of the request beside its messages, as far as rules ask for it: the model, the tools, the members."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from chainviz.core.chain.surroundings import Surroundings
from chainviz.core.providers.rules.cache_marks import marked_beside
from chainviz.core.usage.beside import declared_tools
from chainviz.core.usage.recorded import find_model


@dataclass(frozen=True, slots=True)
class Request:
    model: str = ""
    """The recorded model; "" where none is recorded, as in a bare list of messages."""
    members: tuple[str, ...] = ()
    """Names of the members beside the messages whose value is not null, in alphabetical order."""
    tools: tuple[str, ...] | None = None
    """Names of the tools that the request defines, in alphabetical order; None where it has no definitions."""
    marked: int = 0
    """How many blocks with cache_control are beside the messages."""
    is_answer: bool = False
    """The document is one answer of an API and no request."""
    ends_with_answer: bool = False
    """The last message is an answer of the API that the document holds beside the messages of the request."""

    @property
    def is_known(self) -> bool:
        """Whether the document is a request or another object around the messages, not a bare list."""
        return bool(self.members)


NO_REQUEST = Request()


def request_of(surroundings: Surroundings) -> Request:
    """Read what surrounds the messages of a document."""
    holders = list(surroundings.holders()) or [{}]
    members = tuple(sorted(key for key, value in holders[0].items() if value is not None))
    names = tuple(sorted({tool["name"] for tool in declared_tools(holders[0])}))
    tools = names if names or {"tools", "toolConfig"} & set(members) else None
    model = next(filter(None, map(find_model, holders)), "")
    marked = marked_beside(surroundings)
    return Request(model, members, tools, marked, surroundings.is_single, surroundings.ends_single)


def to_list(request: Request) -> list[Any]:
    """The request as values that the store can pack."""
    return list(asdict(request).values())


def from_list(values: list[Any]) -> Request:
    """The request that `to_list` made these values of."""
    model, members, tools, *others = values
    return Request(model, tuple(members), None if tools is None else tuple(tools), *others)
